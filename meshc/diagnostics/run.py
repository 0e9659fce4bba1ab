"""What is said about building and running."""

from __future__ import annotations

from meshc.diagnostics.model import Diagnostic
from meshc.diagnostics.suggest import did_you_mean, quoted


def cannot_write(path: str, why: str) -> Diagnostic:
    return Diagnostic("E0602", f"cannot write `{path}`: {why}", (), ("nothing was left half-written",))


def no_spec(path: str) -> Diagnostic:
    return Diagnostic("E0136", f"`{path}` is a job, and `meshc fmt` writes specs", (), ("name its `spec` instead",))


def no_specs_in(path: str) -> Diagnostic:
    help_line = "name a file, or a directory with specs: files that end in `.mesh`"
    return Diagnostic("E0131", f"`{path}` is a directory without specs", (), (help_line,))


def read_only(path: str) -> Diagnostic:
    return Diagnostic("E0602", f"cannot write `{path}`: it is read-only", (), (f"`chmod u+w {path}` lets meshc write",))


def unprinted(why: str) -> Diagnostic:
    return Diagnostic("E0602", f"cannot write the output: {why}")


def not_a_directory(path: str) -> Diagnostic:
    return Diagnostic("E0601", f"`{path}` is not a directory", (), ("name another one",))


def foreign_directory(path: str, example: str) -> Diagnostic:
    message = f"`{path}` holds what meshc did not build: `{example}`"
    return Diagnostic("E0601", message, (), ("name an empty or new directory",))


def edited_file(path: str) -> Diagnostic:
    helps = ("keep it: build into another directory", "or delete it, and it is written anew")
    return Diagnostic("E0601", f"`{path}` was edited since it was built", (), helps)


def not_a_program(path: str, missing: str) -> Diagnostic:
    help_line = "make one with `meshc build SPEC -o DIR`"
    return Diagnostic("E0603", f"`{path}` is not a built program: it has no `{missing}`", (), (help_line,))


def program_of_a_run(path: str, program: str) -> Diagnostic:
    helps = (f"`meshc run {program} --out {path} --resume` goes on with it",)
    return Diagnostic("E0603", f"`{path}` is the directory of a run; its program is `{program}`", (), helps)


def unreadable_program(path: str) -> Diagnostic:
    return Diagnostic("E0603", f"`{path}` is damaged", (), ("build it again",))


def several_hosts(slice_name: str, hosts: int, chips: int) -> Diagnostic:
    helps = (f"`--slice cpu-{chips}` runs it on virtual devices of this machine",) if chips <= 64 else ()
    return Diagnostic("E0604", f"slice `{slice_name}` is {hosts} hosts, and this is one machine", (), helps)


def other_backend(backend: str, program: str | None, one_host: bool) -> Diagnostic:
    """`program` is the directory of a built one. `one_host`: as far as its slice goes, it could run here."""
    flag = "`--set launch.backend=local`"
    helps = (f"{flag} runs it here",) if one_host else ()
    helps += ("`meshc build` writes the program to start there",)
    if program is not None:
        helps = (f"`{program}/train.py` is what to start there",)
        helps += (f"built with {flag}, it runs here",) if one_host else ()
    return Diagnostic("E0604", f"the job is for `{backend}`, which `meshc run` does not start yet", (), helps)


def killed(signal: str) -> Diagnostic:
    helps = ("the machine may have run out of memory", "--resume goes on from the newest checkpoint, if there is one")
    return Diagnostic("E0607", f"the program was ended by {signal}", (), helps if signal == "SIGKILL" else helps[1:])


def unknown_tensor(name: str, paths: list[str]) -> Diagnostic:
    if any(sign in name for sign in "*?["):
        return Diagnostic("E0605", f"no tensor matches `{name}`", (), ("a glob is held against whole paths",))
    parts = {part for path in paths for part in path.split(".")}
    return Diagnostic("E0605", f"no tensor is called `{name}`", (), did_you_mean(name, {*paths, *parts}))


def unknown_code(code: str, likely: str | None, known: list[str]) -> Diagnostic:
    near = [one for one in known if one[:4] == code[:4].upper()]
    if likely:
        helps = (f"did you mean `{likely}`?",)
    elif near:
        helps = (f"there are {quoted(near)}",)
    else:
        helps = ("a code is `E` or `W` and four digits, as in `error[E0201]`",)
    return Diagnostic("E0606", f"no diagnostic has the code `{code}`", (), helps)
