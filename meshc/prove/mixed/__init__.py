"""Specs drawn at random from all that the language can say, so that the proofs meet what nobody thought of.

`draw.draw(number)` is a spec for each number; most of them the checker refuses, and the rest are proven.
"""
