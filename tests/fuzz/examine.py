"""What must hold of any text whatsoever."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from meshc.diagnostics.codes import TITLES
from meshc.diagnostics.model import Diagnostic
from meshc.diagnostics.render import concise, full, json
from meshc.driver import check
from meshc.job.target import Request
from meshc.source import SourceFile, Span
from meshc.syntax.format import format_source
from tests.fuzz.corpus import Seed

LONGEST = 10.0
"""Seconds of processor time for one text of a few thousand letters, which takes about 0.02."""

SLICES = (None, "cpu-8", "v5e-16")


class Hang(BaseException):
    """Not an Exception, so that nothing on the way takes it for one."""


def complaints(seed: Seed, directory: Path, slice: str | None = None) -> list[str]:
    """What is wrong with how meshc takes this text: nothing, if all is well."""
    spec = directory / "spec.mesh"
    path = spec
    if seed.spec is not None:
        _write(spec, seed.spec)
        path = directory / "job.yaml"
    _write(path, seed.text)
    try:
        with _bounded():
            checked = check(Request(str(path), None if seed.spec is not None else slice))
            wrong = [said for d in checked.diagnostics for said in _of(d)]
            for form in (full, concise, json):
                form.render(checked.diagnostics)
            return wrong + (list(_formatted(seed.text)) if seed.spec is None else [])
    except Hang:
        return [f"took more than {LONGEST:g} s"]
    except RecursionError:
        return ["RecursionError"]
    except Exception:  # whatever it is, it is what the fuzzer is there to find
        return [traceback.format_exc()]


def _write(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf-8", "surrogatepass"))


def _of(diagnostic: Diagnostic) -> Iterator[str]:
    if diagnostic.code not in TITLES:
        yield f"{diagnostic.code} is no code"
    if not diagnostic.message:
        yield f"{diagnostic.code} says {diagnostic.message!r}"
    places = [label.span for label in diagnostic.labels] + [edit.span for edit in diagnostic.edits]
    yield from (
        f"{diagnostic.code} is outside of its file: {span.start} to {span.end}" for span in places if not _inside(span)
    )


def _inside(span: Span) -> bool:
    return 0 <= span.start <= span.end <= len(span.source.text)


def _formatted(text: str) -> Iterator[str]:
    """What the formatter writes, it leaves as it is."""
    written, problems = format_source(SourceFile("t.mesh", text))
    if written is None or problems:
        return
    again, problems = format_source(SourceFile("t.mesh", written))
    if again != written:
        yield f"formatting is not stable: {problems[:1]}"


@contextmanager
def _bounded() -> Iterator[None]:
    def late(_signal: int, _frame: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
