"""Every error is of one kind, in which the checker and the oracle can be compared."""

from meshc.diagnostics.codes import TITLES
from meshc.prove.sound.kinds import CODES, KINDS, kind_of


def test_every_error_has_a_kind():
    assert {kind_of(code) for code in TITLES if code.startswith("E")} <= set(KINDS)


def test_a_code_is_of_one_kind():
    codes = [code for some in CODES.values() for code in some]
    assert len(codes) == len(set(codes)), "a code stands under two kinds"
    assert set(codes) <= set(TITLES)
