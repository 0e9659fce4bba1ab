"""Many specs proven, a few at a time: each compiled here, each run in child processes of its own."""

from __future__ import annotations

import errno
import os
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from meshc.diagnostics.model import Diagnostic
from meshc.prove import process, proofs
from meshc.prove.model import Proof
from meshc.prove.variants import Builder, Built

COMPILER = threading.Lock()
"""Specs are compiled one at a time: that is quick, and all of it holds the interpreter."""


@dataclass(frozen=True)
class Subject:
    """What is proven. text: the spec, to be shown where it fails and no file holds it"""

    name: str
    build: Builder
    text: str = ""


@dataclass(frozen=True)
class Row:
    """A subject's proofs, or what kept them from running (of a bug in meshc, the traceback).

    `devices` is 0 where nothing was built.
    """

    subject: Subject
    proofs: tuple[Proof, ...] = ()
    devices: int = 0
    seconds: float = 0.0
    bug: str = ""

    @property
    def holds(self) -> bool:
        return not self.bug and all(proof.holds for proof in self.proofs)


def rows(
    subjects: Iterable[Subject], jobs: int, begun: Callable[[str], None] = lambda name: None
) -> Generator[Row, None, None]:
    """A row a subject, in their order, each as soon as it and those before it are done; `jobs` at a time.

    begun: is told each name when its proofs begin
    However this ends (an interrupt, a caller that wants no more), no child process is left.
    """
    pool = ThreadPoolExecutor(jobs)
    waiting: deque[Future[Row]] = deque()

    def prove(subject: Subject) -> Row:
        begun(subject.name)
        return row(subject)

    with process.ended_with(pool):
        for subject in _compiling(subjects):
            waiting.append(pool.submit(prove, subject))
            while waiting and (waiting[0].done() or len(waiting) > 2 * jobs):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def row(subject: Subject) -> Row:
    devices: list[int] = []

    def build(flags: Sequence[str], on_slice: bool) -> Built | Sequence[Diagnostic]:
        with COMPILER:
            found = subject.build(flags, on_slice)
        if isinstance(found, Built):
            devices.append(found.placed.devices)
        return found

    start = time.monotonic()
    made = Row(subject)
    try:
        made = replace(made, proofs=tuple(proofs.run(subject.name, build)))
    except process.Stopped:
        raise
    except Exception as error:  # one spec that meshc fails on does not keep the others from being proven
        made = replace(made, bug=_no_room(error) or traceback.format_exc())
    return replace(made, devices=max(devices, default=0), seconds=time.monotonic() - start)


def _no_room(error: Exception) -> str:
    """Where files cannot be written, which is the machine's trouble: a line in place of a traceback."""
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS):
        return f"cannot write `{error.filename}`: {os.strerror(error.errno).lower()}"
    return ""


def _compiling(subjects: Iterable[Subject]) -> Iterator[Subject]:
    """Subjects as they come, where finding the next one may compile."""
    source = iter(subjects)
    while True:
        with COMPILER:
            subject = next(source, None)
        if subject is None:
            return
        yield subject
