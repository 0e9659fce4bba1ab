"""A session says after each edit what a check of the new text by itself says, and works out anew only what changed."""

from __future__ import annotations

import re
from random import Random

import pytest

from benchmarks.long_specs import long_spec
from meshc.driver import check
from meshc.job.target import Request
from meshc.semantics.placed import PlacedInvoke, PlacedModule
from meshc.session import Session
from meshc.source import SourceFile
from tests.session.edits import SPECS, edits, placed, spec, told


def compared(seed: int, number: int) -> None:
    """A random spec and random edits of it: both checks agree after each."""
    random = Random(seed)
    path = random.choice(SPECS)
    slice_name = random.choice((None, "cpu-8", "h100-16"))
    text = spec(path, random)
    session = Session(Request(str(path), slice_name))
    for step, now in enumerate((text, *edits(text, random, number))):
        again = session.check(now)
        alone = check(Request(str(path), slice_name, source=SourceFile(str(path), now)))
        assert told(again) == told(alone), (seed, step, now)
        assert placed(again) == placed(alone), (seed, step, now)


@pytest.mark.parametrize("seed", range(10))
def test_a_session_says_what_a_check_says(seed: int):
    compared(seed, 8)


def test_the_same_text_again_is_told_the_same_with_the_same_cures():
    path = next(path for path in SPECS if path.name == "02_data.mesh")
    idle = path.read_text(encoding="utf-8").replace("  dp = 16\n", "  dp = 8\n  idle = 2\n")
    session = Session(Request(str(path)))
    first = told(session.check(idle))
    assert "data(idle)" in str(first)
    assert told(session.check(idle)) == first


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1_000, 1_400, 20))
def test_a_session_says_what_a_check_says_for_hours(start: int):
    for seed in range(start, start + 20):
        compared(seed, 12)


def session_of(lines: int) -> tuple[Session, str]:
    text = long_spec(lines)
    session = Session(Request("long.mesh"))
    assert session.check(text).diagnostics == ()
    return session, text


def modules(checked) -> list[PlacedModule]:
    return [s.module for s in checked.placed.model.body if isinstance(s, PlacedInvoke)]


def test_layers_that_an_edit_does_not_touch_are_not_worked_out_anew():
    session, text = session_of(200)
    before = modules(session.check(text))
    after = modules(session.check("\n\n" + text.replace("silu(x @ up3)", "gelu(x @ up3)")))
    assert [one is other for one, other in zip(before, after, strict=True)] == [
        module.module.layer != "Block3" for module in before
    ]


def test_places_are_right_below_an_edit():
    session, text = session_of(200)
    wrong = text.replace("x + h @ down9", "x + h @ down8").replace("param up2: embed -> mlp", "param up2: embed -> mpl")
    for above in ("", "# a\n", "# a\n# b\n\n", "\n"):
        checked = session.check(above + wrong)
        spans = [d.span for d in checked.diagnostics if d.span]
        assert [span.text for span in spans] == ["mpl", "down8"]
        assert spans[0].line == (above + wrong)[: (above + wrong).index("mpl")].count("\n") + 1


def test_what_was_said_stays_where_it_was():
    session, text = session_of(200)
    wrong = text.replace("x + h @ down9", "x + h @ down8")
    first = session.check(wrong)
    places = told(first)
    session.check("\n\n\n" + wrong)
    assert told(first) == places


def test_a_spec_that_is_broken_for_a_while_is_known_again_after_it():
    session, text = session_of(200)
    before = modules(session.check(text))
    for broken in (text.replace("silu(x @ up3)", "silu(x @ "), text.replace("x = Block3(x)", "x = Blo"), "", "}"):
        assert session.check(broken).failed
    assert [m.module.layer for m in modules(session.check(text))] == [m.module.layer for m in before]
    assert session.check(text).diagnostics == ()


@pytest.mark.parametrize("size", ["a", "0", "2 - 2", "1 / 0", "2.5"])
def test_a_layer_met_with_a_size_that_is_none_is_worked_out_anew_with_a_sound_one(size: str):
    """What is wrong with the size is said where it stands, so that the layer itself has nothing to say."""
    path = next(path for path in SPECS if path.name == "spec.mesh" and path.parent.name == "quickstart")
    text = path.read_text("utf-8")
    sizes = re.findall(r"kv_heads = \d+", text)
    assert len(sizes) == 1
    session = Session(Request(str(path), "cpu-8"))
    assert session.check(text.replace(sizes[0], f"kv_heads = {size}")).failed
    again, alone = session.check(text), check(Request(str(path), "cpu-8"))
    assert told(again) == told(alone)
    assert placed(again) == placed(alone)


def test_a_session_does_not_grow():
    session, text = session_of(200)
    memory = session._memory

    def size() -> int:
        books = [book.modules for _, book in memory.books]
        answers = (memory.calls, *books, memory.stamps, memory.callees, memory.expansions)
        items = sum(len(found) for found in memory.files["long.mesh"].items.now.values())
        return sum(len(a.now) + len(a.before) for a in answers) + items

    sizes = []
    for number in range(60):
        session.check(text.replace("silu(x @ up3)", f"silu(x @ up3) * {number}"))
        session.check(text.replace("x = Block5(x)", f"x = Block5(x) as b{number}") + "}" * (number % 2))
        sizes.append(size())
    assert max(sizes[30:]) <= max(sizes[:30])
