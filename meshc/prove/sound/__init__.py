"""Whether the checker says what is: drawn specs, legal and not, held against runs and against a second reading.

`draw.draw(number)` is a spec for each number, with what was planted in it. What the checker accepts must train; what
it refuses must fail once the check is off, or be refused by the oracle, too, which reads the language's rules anew.
"""
