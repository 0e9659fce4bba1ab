"""From a body to lines: dead ones go, single uses move, names stay right."""

from meshc.codegen.lines import Assign, Give, Line, Put, Scan, Writer, inlined, without_dead
from meshc.codegen.text import ANY, PRODUCT, UNARY, Text, Var, atom, call, ref, text

x, y, z, w = (Var(n) for n in "xyzw")


def name(target: object) -> str:
    assert isinstance(target, Var)
    return target.name


def code(*lines: Line, given: tuple[Var, ...] = ()) -> list[str]:
    writer = Writer(name, frozenset())
    for target in given:
        writer.bind(target, set())
    return writer.write(inlined(without_dead(lines), name, 0), 0)


def times(left: object, right: object) -> Text:
    return text(PRODUCT, (ref(left), PRODUCT), " * ", (ref(right), UNARY))


def test_what_is_used_once_moves_to_its_use():
    assert code(Assign((y,), call("f", ref(x))), Give(call("g", ref(y))), given=(x,)) == ["return g(f(x))"]


def test_what_is_used_twice_stays():
    assert code(Assign((y,), call("f", ref(x))), Give(times(y, y)), given=(x,)) == ["y = f(x)", "return y * y"]


def test_what_the_spec_named_stays():
    assert code(Assign((y,), call("f", ref(x)), keep=True), Give(ref(y)), given=(x,)) == ["y = f(x)", "return y"]


def test_no_line_grows_beyond_what_is_readable():
    long = call("f" * 90, ref(x))
    assert code(Assign((y,), long), Give(call("g" * 20, ref(y))), given=(x,)) == [
        f"y = {'f' * 90}(x)",
        f"return {'g' * 20}(y)",
    ]


def test_what_nobody_reads_goes_unless_it_has_an_effect():
    lines = [Assign((y,), call("f", ref(x))), Assign((z, w), call("g", ref(x)), effect=True), Give(ref(z))]
    assert code(*lines, given=(x,)) == ["z, _ = g(x)", "return z"]


def test_a_name_still_read_is_not_taken_again():
    other = Var("x")
    lines = [Assign((other,), call("f", ref(x)), keep=True), Give(times(other, x))]
    assert code(*lines, given=(x,)) == ["x2 = f(x)", "return x2 * x"]


def test_a_name_no_longer_read_is():
    other = Var("x")
    lines = [Assign((other,), call("f", ref(x)), keep=True), Give(times(other, other))]
    assert code(*lines, given=(x,)) == ["x = f(x)", "return x * x"]


def test_state_is_put_where_it_belongs():
    assert code(Put("self.s[...]", call("f", ref(x))), Give(ref(x)), given=(x,)) == ["self.s[...] = f(x)", "return x"]


def test_a_scan_names_its_turn_and_what_it_reads_of_the_outside():
    start, end, after = Var("x"), Var("x"), Var("x")
    body = (Assign((end,), times(start, y), keep=True), Give(text(ANY, ref(end), ", None")))
    scan = Scan(
        Var("layer"), "@remat", ((ref(x), start, after),), (), (), ((atom("self.block"), Var("block")),),
        Var("structure"), Var("weights"), "LAYERS", body,
    )  # fmt: skip
    assert code(scan, Give(ref(after)), given=(x, y)) == [
        "structure, weights = nnx.split(self.block)",
        "",
        "@remat",
        "def layer(x, weights):",
        "    block = nnx.merge(structure, weights, copy=True)",
        "    x = x * y",
        "    return x, None",
        "",
        "x, _ = lax.scan(layer, x, weights)",
        "return x",
    ]
