"""The page of a code, and what a slip in a code may have meant."""

from __future__ import annotations

import re
from importlib import resources

from meshc.diagnostics.codes import TITLES
from meshc.diagnostics.model import Diagnostic
from meshc.diagnostics.run import unknown_code

_CODE = re.compile(r"(?:(?:error|warning)\W*)?([EW]?)([O\d]{2,6})\W?", re.IGNORECASE)
_LETTERS = ("E", "W")


def page_of(subject: str) -> str | Diagnostic | None:
    """The page of a code as `meshc explain` takes it, what is wrong with it, or None for what is no code at all.

    `e0201` and `error[E0201]`, as it is printed, are the code; what is near to it is suggested.
    """
    match = _CODE.fullmatch(subject.strip())
    if match is None:
        return None
    letter, digits = match[1].upper(), match[2].upper().replace("O", "0")
    code = f"{letter}{digits}"
    if code in TITLES:
        return resources.files("meshc.diagnostics").joinpath("explain", f"{code}.md").read_text(encoding="utf-8")
    padded = digits.zfill(4)[-4:]
    likely = [f"{one}{padded}" for one in (letter, *_LETTERS) if f"{one}{padded}" in TITLES]
    return unknown_code(subject, likely[0] if likely else None, sorted(TITLES))
