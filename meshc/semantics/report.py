"""Where a phase puts what it finds: one cause once, in the order in which it is found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from meshc.diagnostics.model import Diagnostic, Label
from meshc.source import Span


@dataclass
class Report:
    """Collects diagnostics. A layer is elaborated once a call, so the same code at the same place is one cause.

    `calls` are the calls being elaborated, outermost first; what is found in a callee says where it is called.
    """

    found: list[Diagnostic] = field(default_factory=list)
    calls: list[Span] = field(default_factory=list)
    asked: int = 0  # how often something was found, be it the same again
    _seen: set[tuple[object, ...]] = field(default_factory=set)

    def __call__(self, diagnostic: Diagnostic) -> None:
        self.asked += 1
        span = diagnostic.span
        key = (diagnostic.code, diagnostic.message) if span is None else (diagnostic.code, span)
        if key in self._seen:
            return
        self._seen.add(key)
        self.found.append(self._called(diagnostic))

    def _called(self, found: Diagnostic) -> Diagnostic:
        """Adds the call, in the file of the model, by which the place is reached."""
        if not self.calls or found.span is None:
            return found
        call = next(call for call in reversed(self.calls) if call.source is self.calls[0].source)
        if found.span.source is call.source and call.start <= found.span.start < call.end:
            return found
        return replace(found, labels=(*found.labels, Label(call, "as called here")))

    @property
    def failed(self) -> bool:
        return any(d.severity == "error" for d in self.found)
