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
    "E0140": "a suppression gives no reason",
    "E0141": "a suppression names no warning",
    "W0140": "a suppression silences nothing",
    # ---------------------------------------------------------------- names and types (E0202 to E0249)
    "E0202": "an unknown name in an expression",
    "E0203": "a dim that is not declared",
    "E0204": "an axis that the mesh does not have",
    "E0205": "an unknown layer or function",
    "E0206": "an unknown strategy",
    "E0207": "a place for rules that does not exist",
    "E0208": "an override of something that is not declared",
    "E0209": "an argument that the callee does not take",
    "E0210": "a name defined twice",
    "E0212": "imports that form a cycle",
    "E0213": "a spec without a model",
    "E0214": "a spec with two models",
    "E0216": "a size that depends on itself",
    "E0217": "a size that is no positive integer",
    "E0218": "two axes of the size `*`",
    "E0219": "an axis of the size `*` that cannot be filled",
    "E0220": "a view of another number of devices",
    "E0221": "a view that cuts the devices where the mesh does not",
    "E0222": "too few, too many or repeated arguments",
    "E0223": "a value of the wrong type",
    "E0224": "a tensor with other dims than declared",
    "E0225": "a product with no dim to contract",
    "E0226": "a tensor with a dim twice",
    "E0227": "ids that do not index the table",
    "E0228": "attention over tensors that do not fit",
    "E0229": "parts that do not make the whole",
    "E0230": "an operation over a dim that the tensor does not have",
    "E0231": "a layer or strategy that uses itself",
    "E0232": "a value that changes its dims from turn to turn of a repeat",
    "E0233": "a statement after the return",
    "E0234": "a call that yields another number of tensors",
    "E0235": "a loss whose logits and ids do not fit",
    "E0236": "an initial value that is none",
    "E0237": "an update of something that is no state",
    "E0238": "a model without a loss",
    "E0239": "a primitive that names no function",
    "E0240": "query heads that are no multiple of the key and value heads",
    "E0241": "a rule in a place where it says nothing",
    "E0242": "an option that does not exist",
    "E0243": "an input without dims",
    "E0244": "routing to experts that does not fit",
    "E0245": "an axis used outside its view",
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
    "E0512": "microsteps that do not divide the batch",
    "E0513": "YAML nested too deeply",
    # ---------------------------------------------------------------- building and running (E06xx)
    "E0601": "the directory to build into holds something else",
    "E0602": "a file or directory cannot be written",
    "E0603": "a directory is not a built program",
    "E0604": "the machine to run on is not this one",
    "E0605": "no weight, tensor or strategy of that name",
    "E0606": "no diagnostic of that code",
    # ---------------------------------------------------------------- waste (W03xx)
    "W0310": "a weight that nothing uses",
    "W0311": "a dim that no tensor has",
    "W0312": "an input that nothing uses",
    "W0304": "an axis that splits nothing",
    "W0305": "a rule that matches no tensor",
}


def title(code: str) -> str:
    """The one-line title of a code; KeyError for a code that nobody registered."""
    return TITLES[code]
