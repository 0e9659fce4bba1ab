"""Drawn specs with mistakes: the same for a number, of every kind, and judged by what they do."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from meshc.cli import _builder, _errors
from meshc.prove.model import Measure
from meshc.prove.sound import judge
from meshc.prove.sound.draw import draw
from meshc.prove.sound.kinds import KINDS, Kind, kind_of
from meshc.prove.sound.plants import PLANTS
from meshc.prove.sound.session import Soundness
from meshc.prove.sound.sketch import Draw, Planted
from meshc.prove.sound.trial import Trial, trials
from meshc.prove.sound.verdicts import Verdict, strata, verdict, write

NUMBERS = range(3000, 3120)


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> list[Verdict]:
    directory = tmp_path_factory.mktemp("sound")
    return [verdict(number, directory, _errors) for number in NUMBERS]


def test_a_number_is_one_spec():
    assert draw(7) == draw(7)
    assert draw(7).text != draw(8).text


def test_draws_are_legal_and_not_and_nothing_makes_the_checker_fail(verdicts: list[Verdict]):
    accepted = sum(v.accepted for v in verdicts)
    assert len(verdicts) // 8 < accepted < len(verdicts) // 2
    assert len({kind for v in verdicts for kind in v.kinds}) >= 10
    assert not list(judge.bugs(verdicts))


def test_what_was_planted_is_refused(verdicts: list[Verdict]):
    assert not [finding for v in verdicts if (finding := judge.by_plants(v))]
    planted = Counter(planted.kind for v in verdicts for planted in v.draw.planted)
    assert len(planted) >= 12


def test_mistakes_of_every_kind_can_be_planted():
    """But of what has no words of its own: broken text is for the fuzzer, what is not built yet is no mistake, and what
    wastes too much, or has no room on a chip, is legal otherwise.
    """
    assert set(KINDS) - set(PLANTS) == {"syntax", "unbuilt", "idle", "room"}


def test_a_sample_has_as_much_of_each_stratum_as_can_be():
    some = [("a",)] * 10 + [("b",), ("b", "c"), ("c",)]
    some = [(*names, str(i)) for i, names in enumerate(some)]
    chosen = strata(some, lambda one: one[:-1], 5)
    counted = Counter(name for one in chosen for name in one[:-1])
    assert counted == {"a": 2, "b": 2, "c": 2}
    assert len(strata(some, lambda one: one[:-1], 50)) == len(some)


# ---------------------------------------------------------------- who is wrong

ACCEPTED = Verdict(Draw(1, "", None, None))
REFUSED = Verdict(Draw(2, "", None, None), (("E0301", "17 embed cannot be split"),))
WRONG = Measure("loss", "step 1", 0.5, 1e-5)


def test_an_accepted_spec_that_does_not_train_right_is_a_false_accept():
    assert judge.by_trial(Trial(ACCEPTED)) is None
    for trial in (Trial(ACCEPTED, failed="ValueError"), Trial(ACCEPTED, wrong=(WRONG,))):
        found = judge.by_trial(trial)
        assert found is not None and found.fault == "false accept"
    assert judge.by_trial(Trial(ACCEPTED, unbuilt="this cannot be built (E0299)")) is None


def test_a_refused_spec_that_trains_right_is_a_false_reject():
    found = judge.by_trial(Trial(REFUSED))
    assert found is not None and found.fault == "false reject"
    for trial in (Trial(REFUSED, failed="x"), Trial(REFUSED, wrong=(WRONG,)), Trial(REFUSED, dropped="a claim")):
        assert judge.by_trial(trial) is None


def test_a_planted_mistake_that_is_accepted_is_a_false_accept():
    sure, unsure = Planted("divide", "17"), Planted("divide", "17", sure=False)
    assert judge.by_plants(Verdict(Draw(1, "", None, None, (sure,)))) is not None
    assert judge.by_plants(Verdict(Draw(1, "", None, None, (unsure,)))) is None
    assert judge.by_plants(Verdict(Draw(1, "", None, None, (sure,)), REFUSED.errors)) is None


def test_the_oracle_is_believed_where_it_is_complete():
    wrong, right = frozenset[Kind]({"divide"}), frozenset[Kind]()
    accept, reject = judge.Witnessed(ACCEPTED, wrong), judge.Witnessed(REFUSED, right)
    found = accept.finding({"divide"}), reject.finding({"divide"})
    assert [one and one.fault for one in found] == ["false accept", "false reject"]
    assert accept.finding({"name"}) is None
    assert reject.finding({"name"}) is None
    assert judge.Witnessed(REFUSED, frozenset({"claim"})).for_other_reasons
    assert not judge.Witnessed(REFUSED, frozenset({"claim", "divide"})).for_other_reasons


class Contrary:
    """An oracle that finds nothing wrong, and says that it would."""

    COMPLETE = frozenset(KINDS)

    def decide(self, text: str, devices: int | None, job: Mapping[str, Any] | None) -> frozenset[Kind]:
        return frozenset()


def test_a_run_tells_what_the_oracle_sees_otherwise():
    """Each refused spec is then a false reject, told whole; none of so few is run."""
    out = io.StringIO()
    session = Soundness(
        _errors, lambda path, slice, unchecked: _builder(path, slice, (), unchecked), 1, False, out, Contrary()
    )
    session.sample = 0
    session.prove(8, NUMBERS[0])
    refused = re.search(r"8 specs drawn \(3000 to 3007\): \d+ accepted, (\d+) refused", out.getvalue())
    assert refused and int(refused[1]) > 0
    assert len(session.findings) == int(refused[1])
    assert {finding.fault for finding in session.findings} == {"false reject"}
    assert not session.holds
    assert f"0 false accepts, {refused[1]} false rejects, 0 bugs" in out.getvalue()
    assert all(finding.verdict.draw.text in out.getvalue() for finding in session.findings)


# ---------------------------------------------------------------- runs

SPEC = """\
mesh {{ x = 2, y = 2 }}
dims {{ batch = 8, feature = {feature}, mlp = 8 }}
model Rows(rows: [batch, feature]) {{
  param up: feature -> mlp
  loss mean(square(rows @ up))
}}
partition {{ {rules} }}
"""
CASES = {
    "right": (SPEC.format(feature=8, rules="data(x); feature -> y"), "trains right"),
    "uneven": (SPEC.format(feature=9, rules="data(x); feature -> y"), "fails in JAX"),
    "twice": (SPEC.format(feature=8, rules="data(x); feature -> y; mlp -> y"), "a claim is dropped without a word"),
}


def test_programs_run_with_the_check_off(tmp_path: Path):
    """The legal neighbour trains; a size that does not divide fails in JAX; one of two claims is left out."""
    some = []
    for number, (text, _) in enumerate(CASES.values()):
        drawn = Draw(number, text, None, None)
        some.append(Verdict(drawn, tuple(_errors(*write(drawn, tmp_path)))))
    assert [v.accepted for v in some] == [True, False, False]

    def builder(v: Verdict, unchecked: bool):
        return _builder(*write(v.draw, tmp_path), (), unchecked)

    outcomes = {trial.verdict.draw.number: trial.outcome for trial in trials(some, builder, 1)}
    assert outcomes == {number: outcome for number, (_, outcome) in enumerate(CASES.values())}


def test_kinds_of_what_is_run_are_of_the_checker():
    assert {kind_of("E0301"), kind_of("E0250"), kind_of("E0253")} <= judge.RUN <= set(KINDS)
