"""Every diagnostic code and what it says in one line. A code is never reused and never changes its meaning.

E01xx syntax and files, E02xx names, types and claims, E03xx sizes, E04xx mesh and axes, E05xx job and slice,
E06xx building and running; W as E, for what does not stop a build. The page of a code is `explain/CODE.md`.
"""

from __future__ import annotations

TITLES: dict[str, str] = {
    # ---------------------------------------------------------------- syntax (E0101 to E0129)
    # ---------------------------------------------------------------- files and suppressions (E0130 to E0149)
    "E0130": "a file does not exist",
    "E0131": "a directory stands where a file is needed",
    "E0132": "a file cannot be read",
    "E0133": "a file is not UTF-8 text",
    "E0134": "a file holds NUL bytes",
    "E0135": "a file is too large to be a spec",
    "E0136": "a directory holds no specs",
    "E0140": "a suppression gives no reason",
    "E0141": "a suppression names no warning",
    "W0140": "a suppression silences nothing",
    # ---------------------------------------------------------------- names and types (E0202 to E0249)
    # ---------------------------------------------------------------- claims (E0201, E0250 to E0299)
    "E0201": "a dim is claimed twice",
    "E0250": "an axis splits two dims of one tensor",
    "E0251": "a strategy that matches nothing",
    "E0252": "heads and kv heads lie on different axes",
    "E0253": "attention with split keys and no exchange",
    "E0299": "a placement that programs are not generated for yet",
    # ---------------------------------------------------------------- sizes (E03xx)
    "E0301": "a dim does not divide by its shards",
    "E0303": "the mesh is larger than the slice",
    "E0304": "the mesh leaves devices idle",
    # ---------------------------------------------------------------- mesh and axes (E04xx)
    # ---------------------------------------------------------------- job and slice (E05xx)
    "E0501": "a YAML file does not parse",
    "E0502": "an unknown key",
    "E0503": "a key given twice",
    "E0504": "a value of the wrong kind",
    "E0505": "an anchor, alias, tag or merge key",
    "E0506": "several documents in one YAML file",
    "E0507": "a required key is missing",
    "E0508": "an unknown slice",
    "E0509": "a slice that contradicts itself",
    "E0510": "an override that is not `name=value`",
    "E0511": "an optimizer group that matches no weight",
    "E0512": "microsteps do not divide the batch",
    "E0513": "YAML nested too deeply",
    "E0514": "a job where a spec is needed, or a spec where a job is",
    # ---------------------------------------------------------------- building and running (E06xx)
    "E0601": "the directory to build into holds something else",
    "E0602": "a file or directory cannot be written",
    "E0603": "a directory is not a built program",
    "E0604": "the machine to run on is not this one",
    "E0605": "no weight, tensor or strategy of that name",
    "E0606": "no diagnostic of that code",
    # ---------------------------------------------------------------- waste (W03xx)
    "W0304": "an axis that splits nothing",
    "W0305": "a rule that matches no tensor",
}


def title(code: str) -> str:
    """The one-line title of a code; KeyError for a code that nobody registered."""
    return TITLES[code]
