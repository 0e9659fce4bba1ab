"""What a user is told: the code, the words, the place, and where it is known the cure."""

import pytest

from tests.syntax.spec_texts import read

MANY = "x" * 200


def one(text):
    _, (diagnostic,) = read(text)
    return diagnostic


# Each: the text, with the marked place in « », the code, the message.
CASES = [
    ("dims { a = «,» b = 2 }", "E0101", "expected a value, found `,`"),
    ("dims { a =«» \n}", "E0101", "expected a value, found the end of the line"),
    ("layer F(x)«:»\n  return x\n", "E0115", "no `:` stands before a block"),
    ("dims { a = 3 «4» }", "E0101", "expected an operator or the end of the line, found `4`"),
    ("layer F(x) { x = f(y «z») }", "E0101", "expected an operator, `)` or `,`, found `z`"),
    ("layer F(x) { x «y» = 3 }", "E0101", "expected `:=` or `=`, found `y`"),
    ("layer F(x) { «3» }", "E0101", "expected a statement or `}`, found `3`"),
    ("partition { «3» }", "E0101", "expected a rule or `}`, found `3`"),
    ("partition { tensor «tp» }", "E0101", "expected `(`, `->` or `{`, found `tp`"),
    ("partition { exchange kv «over» a }", "E0101", "expected `by`, found `over`"),
    ("partition { a -> .. «b» }", "E0101", "expected `,`, found `b`"),
    ("layer F(x) { y = f(x)\n  z = [\n a\n «b» ] }", "E0101", "expected an operator, `,` or `]`, found `b`"),
    ("import «std»/llama.mesh", "E0101", "expected a text in double quotes, found `std`"),
    ("mesh a = «{» }", "E0101", "expected `regroup`, found `{`"),
    ("layer«»", "E0101", "expected a name, found the end of the file"),
    ("layer F(x)«»\n", "E0101", "expected `{`, found the end of the file"),
    ("layer F(«a'») { }", "E0101", "expected a name or `)`, found `a'`"),
    ("mesh «{» a = 1", "E0102", "this `{` is never closed"),
    ("mesh { a = 1 } «}»", "E0103", "this `}` closes nothing"),
    ("layer F(x) { y = f«(»x }", "E0104", "this `(` is never closed"),
    ("layer F(x) { y = f(x«]» }", "E0104", "`(` is closed by `]`"),
    ("layer F(x) { y = x«)» }", "E0104", "this `)` closes nothing"),
    ("layer F(x) {\n y = «\"abc»\n}", "E0105", "this text is never closed"),
    ("dims { a = b «→» c }", "E0106", "`→` (U+2192, rightwards arrow) is no character of the language"),
    ("dims { a = «\0» }", "E0106", "the character U+0000 is no character of the language"),
    ("dims { a = «😀» }", "E0106", "`😀` (U+1F600, grinning face) is no character of the language"),
    ("import «'»a'", "E0106", "`'` is no character of the language"),
    ("dims { a = 2 «^» 3 }", "E0106", "`^` is no character of the language"),
    ("dims { a = «12ab» }", "E0107", "`12ab` is no number"),
    ("dims { a = «1e999» }", "E0107", "`1e999` is too large a number"),
    (f"dims {{ a = «{'9' * 200}» }}", "E0107", f"`{'9' * 40}…` is too large a number"),
    ("«modle» X(x) { }", "E0108", "`modle` begins no item"),
    ("«param» x: a -> b", "E0108", "`param` begins no item"),
    ("layer «if»(x) { }", "E0109", "`if` is a word of the language and cannot be a name"),
    ("dims { a = «return» }", "E0109", "`return` is a word of the language and cannot be a name"),
    ("partition { «weights» { } }", "E0112", "`weights` is no place for rules"),
    ("partition { «within» { } }", "E0112", "`within` needs the name of a layer or primitive"),
    ("partition { a -> b zigzag «zigzag» }", "E0113", "`zigzag` is said twice"),
    ("partition { grads, «grads» { } }", "E0113", "`grads` is said twice"),
    ("partition { a -> none «repeat» }", "E0113", "`repeat` says how axes are used, but there are none"),
    ("layer F(x) { y = f(a = 1, «2») }", "E0114", "an argument without a name stands after one with a name"),
    ("partition { a «=>» b }", "E0115", "`=>` is written `->` here"),
    ("partition { a «=» b }", "E0115", "`=` is written `->` here"),
    ("dims { a«:» 3 }", "E0115", "`:` is written `=` here"),
    ("dims { a «:=» 3 }", "E0115", "`:=` is written `=` here"),
    ("layer F(x) { param w «=» a -> b }", "E0115", "`=` is written `:` here"),
    ("layer F(x) { y «+=» 3 }", "E0115", "there is no `+=`"),
    ("partition { a -> b, «..» }", "E0115", "`..` stands before the axes that it appends"),
    ("dims { a = «*» }", "E0116", "`*` stands alone, and only for the size of a `mesh` axis"),
    ("mesh { a = «*» 2 }", "E0116", "`*` stands alone, and only for the size of a `mesh` axis"),
    ("layer F(x) { y = a < b «<» c }", "E0117", "comparisons do not chain"),
    ("layer F(x) { «if» x { } }", "E0118", "`if` cannot stand here"),
    ("layer F(x) { a «->» b }", "E0118", "`->` cannot stand here"),
    ("partition { «param» w: a -> b }", "E0118", "`param` cannot stand here"),
    ("partition { «return» a }", "E0118", "`return` cannot stand here"),
    ("partition { if a { } «else» { } }", "E0118", "there is no `else`"),
    ("model M(x) {\n «layer» F(x) { return x }\n}", "E0118", "`layer` cannot stand inside another item"),
    ("partition { «mesh» { a = 2 } }", "E0118", "`mesh` cannot stand inside another item"),
    (r'layer F(x) { y = "a«\q»b" }', "E0119", r"`\q` means nothing in a text"),
]  # fmt: skip


@pytest.mark.parametrize("marked, code, message", CASES, ids=[c[0][:50].replace("\n", " ") for c in CASES])
def test_message_and_place(marked, code, message):
    start, end = marked.index("«"), marked.index("»") - 1
    diagnostic = one(marked.replace("«", "").replace("»", ""))
    assert (diagnostic.code, diagnostic.message) == (code, message)
    assert diagnostic.span is not None
    assert (diagnostic.span.start, diagnostic.span.end) == (start, end)


@pytest.mark.parametrize(
    "text, right",
    [
        ("partition { a => b }", "partition { a -> b }"),
        ("partition { a = b }", "partition { a -> b }"),
        ("dims { a: 3 }", "dims { a= 3 }"),
        ("mesh = { a = 2 }", "mesh { a = 2 }"),
        ("partition {\n  // data\n  data(a)\n}", "partition {\n  # data\n  data(a)\n}"),
        ("def F(x) { }", "layer F(x) { }"),
        ("sharding { }", "partition { }"),
        ("dims { a = 2 ^ 3 }", "dims { a = 2 ** 3 }"),
        ("partition { a → b }", "partition { a -> b }"),
        ("modle M(x) { }", "model M(x) { }"),
        ("partition { gradients { } }", "partition { grads { } }"),
        ("partition { a -> ..., b }", "partition { a -> .., b }"),
    ],
)
def test_an_edit_makes_it_right(text, right):
    (edit,) = one(text).edits
    assert text[: edit.span.start] + edit.text + text[edit.span.end :] == right
    assert not read(right)[1]


@pytest.mark.parametrize(
    "text, cure",
    [
        ("import std", 'write the path in double quotes: `import "std/llama.mesh"`'),
        ("layer F(x) { y = 3 z = 4 }", "a statement ends at the end of its line or at `;`"),
        ("layer F(x) { y' = 3 }", "a `'` makes a second dim of the same size, and only dims have it"),
        ("layer F(x) { y -= 3 }", "write the whole expression: `x = x - …`"),
        ("modle M(x) { }", "did you mean `model`?"),
        ("partition { weights { } }", "did you mean `params`?"),
        ("mesh { a = * 2 }", "`axis = *` takes whatever the slice leaves"),
    ],
)
def test_cures(text, cure):
    assert one(text).helps == (cure,)


def test_a_second_place_says_why():
    labels = one("layer F(x) { y = f(x] }").labels
    assert [(label.span.text, label.text) for label in labels] == [("]", "expected `)`"), ("(", "opened here")]


@pytest.mark.parametrize("text", [f"«{MANY}»", "`a` {", "\x1b[31m", "a\u202eb", "{" * 50])
def test_text_of_the_user_is_shown_on_one_line_and_without_control_characters(text):
    for diagnostic in read(text + "\n" + f"dims {{ a = b {text} }}")[1]:
        words = [diagnostic.message, *diagnostic.helps, *(label.text for label in diagnostic.labels)]
        assert all(word.isprintable() and len(word) < 200 for word in words)
        assert all(word.count("`") % 2 == 0 for word in words)


def test_every_code_of_this_room_is_shown_once_above():
    assert {code for _, code, _ in CASES} == {f"E01{n:02}" for n in range(1, 20)} - {"E0110", "E0111"}


@pytest.mark.parametrize(
    "text, safe",
    [
        ("mesh { a: 2 }", True),
        ("dims { a: 2 }", True),
        ("partition { a => b }", True),
        ("partition { a → b }", True),
        ("layer F(x) { w: a }", False),  # `param` may be missing
        ("partition { a = b }", False),  # it may be an argument of a strategy that lost its bracket
    ],
)
def test_an_edit_is_safe_only_where_nothing_else_can_be_meant(text, safe):
    assert [edit.safe for edit in one(text).edits] == [safe]


@pytest.mark.parametrize(
    "text, cure",
    [
        ("layer F(x) { f(x) }", "name what it yields, as in `y = f(x)`, or write `return` before it"),
        ("partition { a -> (b, c) }", "axes stand without brackets: `dim -> a, b`"),
        ("partition { a -> b c }", "axes are parted by commas: `dim -> a, b`"),
        ("partition { a -> b; c d }", ""),
    ],
)
def test_a_help_where_the_place_tells_what_was_meant(text, cure):
    assert one(text).helps == ((cure,) if cure else ())
