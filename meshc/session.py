"""One spec, checked again after each edit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from meshc.driver import check
from meshc.source import SourceFile
from meshc.uncollected import uncollected

if TYPE_CHECKING:
    from meshc.driver import Checked
    from meshc.job.target import Request


class Session:
    """Checks the texts that a file has while someone edits it. The diagnostics are those of a check of its own; what an
    edit does not touch is not worked out again.

    `placed` of what a check finds, and the spans in it, hold until the next one: what is used again moves to where it
    stands in the newest text. Diagnostics stay as they are.
    """

    def __init__(self, request: Request, with_job: bool = False) -> None:
        from meshc.semantics.memory import Memory

        self.request = request
        self.with_job = with_job
        self._memory = Memory()

    @uncollected()
    def check(self, text: str, cures: bool = True) -> Checked:
        """What is wrong with the file when this is its text. Without `cures`, what could do in its place is untried."""
        source = SourceFile(self.request.path, text)
        return check(replace(self.request, source=source), self.with_job, cures, self._memory)
