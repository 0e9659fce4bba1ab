"""The command line. Exit codes: 0 fine, 1 the user's problem, 2 usage, 3 a bug in meshc."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from meshc import __version__
from meshc.console import bug, exit_code, fail, rewritten, show, unprinted, unwind_when_told_to_end
from meshc.diagnostics.arrange import arranged, has_errors, plural
from meshc.diagnostics.model import Diagnostic
from meshc.job.target import Request

if TYPE_CHECKING:
    from meshc.driver import Compiled
    from meshc.launch.ready import Ready

MOST_JOBS = 8
"""Programs that run side by side: each has its own devices, threads and memory."""

FORMS = ("full", "concise", "json", "sarif", "github")

Command = Callable[..., Any]
_slice = click.option(
    "--slice", metavar="NAME", help="The machine: `cpu-8`, `v5e-256`; `meshc schema slice` for one of your own."
)
_set = click.option(
    "--set", "sets", metavar="KEY=VALUE", multiple=True, help="Change a dim, `mesh.AXIS`, or a job's key."
)
_strict = click.option("--strict", is_flag=True, help="Take warnings for errors.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="meshc", message="%(prog)s %(version)s")
def cli() -> None:
    """A compiler and launcher for distributed training: write what a model is and where its dims lie, read the
    program.
    """


@cli.command()
@click.argument("paths", metavar="SPEC|JOB|DIR...", nargs=-1, required=True)
@_slice
@_set
@_strict
@click.option("--format", "form", type=click.Choice(FORMS), default="full", help="How to say what is wrong.")
@click.option("--fix", is_flag=True, help="Mend what is surely meant otherwise, in the files named.")
@click.option("--unsafe-fixes", "unsafe", is_flag=True, help="With --fix or --diff: all cures, also those to look at.")
@click.option("--diff", is_flag=True, help="Show what --fix would change, and write nothing.")
@click.option("--stdin-filename", "stdin_name", metavar="NAME", help="What to call the text that `-` reads.")
def lint(paths: Sequence[str], unsafe: bool, **flags: Any) -> int:
    """Check specs or jobs, and say all that is wrong with them.

    A directory stands for the specs in it, `-` for the standard input.
    """
    from meshc.lint.run import Options, lint

    if unsafe and not (flags["fix"] or flags["diff"]):
        raise click.UsageError("--unsafe-fixes goes with --fix or --diff")
    return lint(paths, Options(unsafe=unsafe, **flags))


@cli.command()
@click.argument("paths", metavar="SPEC...", nargs=-1, required=True)
@click.option("--check", "only_check", is_flag=True, help="Change nothing; exit 1 if a file is not as fmt writes it.")
def fmt(paths: Sequence[str], only_check: bool) -> int:
    """Write specs in the one way there is to write them."""
    from meshc.driver import formatted

    diagnostics: list[Diagnostic] = []
    others = 0
    for path in dict.fromkeys(paths):
        old, new, problems = formatted(path)
        diagnostics += problems
        if new is None or new == old:
            continue
        others += 1
        if only_check:
            click.echo(f"{path} would be written anew")
        elif failed := rewritten(Path(path), new):
            diagnostics += failed
        else:
            click.echo(f"wrote {path} anew")
    show(arranged(diagnostics), "full", sys.stderr)
    return 1 if has_errors(diagnostics) or (only_check and others) else 0


@cli.command()
@click.argument("path", metavar="SPEC|JOB")
@click.option("-o", "directory", metavar="DIR", help="Where to; default: build/NAME of the spec.")
@_slice
@_set
@_strict
def build(path: str, directory: str | None, slice: str | None, sets: tuple[str, ...], strict: bool) -> int:
    """Write the training program of a spec or job."""
    from meshc.launch.program_dir import write_program

    compiled = _compile(Request(path, slice, sets), strict)
    if compiled is None:
        return 1
    target = Path(directory or Path("build", Path(compiled.target.spec.name).stem))
    if problems := write_program(target, compiled.files, compiled.manifest):
        show(problems, "full", sys.stderr)
        return 1
    click.echo(f"wrote {target / 'train.py'} for {plural(compiled.report.devices, 'device')}")
    return 0


@cli.command(short_help="Train: build and run a spec or job, or run a built program.")
@click.argument("path", metavar="SPEC|JOB|DIR")
@_slice
@_set
@click.option("--steps", type=click.IntRange(1), metavar="N", help="How many steps in all.")
@click.option("--out", metavar="RUN_DIR", help="Where metrics and checkpoints go; default: runs/NAME-TIME.")
@click.option("--resume", is_flag=True, help="Go on from the newest checkpoint in RUN_DIR.")
@click.argument("arguments", nargs=-1, metavar="[-- ARGUMENTS]")
def run(
    path: str,
    slice: str | None,
    sets: tuple[str, ...],
    steps: int | None,
    out: str | None,
    resume: bool,
    arguments: Sequence[str],
) -> int:
    """Train: build a spec or job and run it on this machine, or run a program that is built.

    ARGUMENTS go to the program; `-- --help` lists them.
    """
    from meshc.launch.local import run_program
    from meshc.launch.ready import built

    if resume and not out:
        raise click.UsageError("--resume goes on with a run: name its directory with --out")
    directory = Path(path)
    if directory.is_dir() and (slice or sets):
        raise click.UsageError("a built program has its slice and settings: give --slice and --set with a spec or job")
    ready = built(directory, out) if directory.is_dir() else _build_to_run(Request(path, slice, sets, steps), out)
    if isinstance(ready, Diagnostic):
        return fail(ready)
    if ready is None:
        return 1
    flags = [
        "--out",
        str(ready.run_dir),
        *(["--steps", str(steps)] if steps else []),
        *(["--resume"] if resume else []),
    ]
    code = run_program(ready.program, [*flags, *arguments], ready.environment)
    return _killed(-code) if code < 0 else code


@cli.command(short_help="Say where tensors lie and what travels, or what a CODE means.")
@click.argument("subject", metavar="SPEC|CODE")
@click.argument("name", required=False)
@_slice
@_set
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def explain(subject: str, name: str | None, slice: str | None, sets: tuple[str, ...], form: str) -> int:
    """Say where each tensor of a spec lies, what travels and what it takes; or what a diagnostic's CODE means."""
    from meshc.cost.report import as_json
    from meshc.diagnostics.pages import page_of

    page = page_of(subject)
    if page is not None and not Path(subject).exists():
        return fail(page) if isinstance(page, Diagnostic) else click.echo(page, nl=False) or 0

    compiled = _compile(Request(subject, slice, sets), emit=False)
    if compiled is None:
        return 1
    report = compiled.report
    if name is not None:
        report = report.named(name)
        if not report.tensors and not report.collectives:
            from meshc.diagnostics.run import unknown_tensor

            return fail(unknown_tensor(name, [t.path for t in compiled.report.tensors]))
    if form == "json":
        import json

        click.echo(json.dumps(as_json(report), indent=2))
    else:
        from meshc.cost import tables

        click.echo(tables.text(report) if name is None else tables.part(report), nl=False)
    return 0


@cli.command(short_help="Prove programs against the one-device program.")
@click.argument("paths", metavar="SPEC...", nargs=-1)
@_slice
@_set
@click.option("--mixed", type=click.IntRange(0), default=0, metavar="N", help="Prove N specs drawn at random, too.")
@click.option("--sound", type=click.IntRange(0), default=0, metavar="N", help="Hold the checker to N drawn specs, too.")
@click.option("--seed", type=click.IntRange(0), default=0, metavar="S", help="The number of the first draw.")
@click.option(
    "--jobs", type=click.IntRange(1), metavar="J", help="How many at a time; default: as this machine has cores."
)
@click.option("-v", "--verbose", is_flag=True, help="Say what each proof found.")
def prove(
    paths: Sequence[str],
    slice: str | None,
    sets: tuple[str, ...],
    mixed: int,
    sound: int,
    seed: int,
    jobs: int | None,
    verbose: bool,
) -> int:
    """Prove programs against the one-device program: parity, placement, traffic.

    Each runs on virtual devices of this machine, as many as its mesh has.
    """
    from meshc.prove.session import Session

    if not paths and not mixed and not sound:
        raise click.UsageError("name a spec, or ask for --mixed or --sound ones")
    jobs = jobs or min(os.cpu_count() or 1, MOST_JOBS)
    unwind_when_told_to_end()
    sound_holds = not sound or _sound(sound, seed, jobs, verbose)
    if not paths and not mixed:
        return 0 if sound_holds else 1
    session = Session(jobs, verbose, sys.stdout, sys.stderr)
    right = [path for path in dict.fromkeys(paths) if _compile(Request(path, slice, sets), emit=False)]
    session.wrong = len(set(paths)) - len(right)
    session.prove(
        right, lambda path: _builder(path, slice, sets), mixed, seed, lambda path, own: _builder(path, None, own)
    )
    return 0 if session.holds and sound_holds else 1


@cli.command()
@click.argument("what", type=click.Choice(["job", "slice"]))
def schema(what: str) -> int:
    """Print the JSON Schema of a job or slice, for editors."""
    import json

    from meshc.job.model import Job
    from meshc.job.slice_fields import SliceFields

    model = Job if what == "job" else SliceFields
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()}
    click.echo(json.dumps(document, indent=2))
    return 0


# ---------------------------------------------------------------- what commands share


def _compile(request: Request, strict: bool = False, emit: bool = True) -> Compiled | None:
    """The compiled spec or job, or None with its problems printed."""
    from meshc.driver import Compiled, compile_program

    found, diagnostics = compile_program(request, emit)
    show(diagnostics, "full", sys.stderr)
    return found if isinstance(found, Compiled) and not exit_code(diagnostics, strict) else None


def _sound(count: int, seed: int, jobs: int, verbose: bool) -> bool:
    """Whether the checker is right about drawn specs."""
    from meshc.prove.sound import oracle
    from meshc.prove.sound.session import Soundness

    def build(path: str, slice: str | None, unchecked: bool) -> Any:
        return _builder(path, slice, (), unchecked)

    soundness = Soundness(_errors, build, jobs, verbose, sys.stdout, oracle)
    soundness.prove(count, seed)
    return soundness.holds


def _errors(path: str, slice: str | None) -> list[tuple[str, str]]:
    """Code and message of each error of a spec or job, as a build finds them."""
    from meshc.driver import check

    found = check(Request(path, slice), with_job=True, cures=False).diagnostics
    return [(d.code, d.message) for d in found if d.severity == "error"]


def _builder(path: str, slice: str | None, sets: tuple[str, ...], unchecked: bool = False) -> Any:
    """What `meshc prove` builds variants of a spec with."""
    from meshc.driver import compile_program
    from meshc.prove.variants import Built

    def build_variant(flags: Sequence[str], on_slice: bool) -> Built | Sequence[Diagnostic]:
        here = (*flags, "launch.backend=local")  # on virtual devices, whoever starts the job
        request = Request(path, slice if on_slice else "cpu-1", sets, over=here)  # a job may name a slice, too
        compiled, diagnostics = compile_program(request, unchecked=unchecked)
        if compiled is None:
            return [d for d in diagnostics if d.severity == "error"]
        return Built(compiled.job, compiled.placed, compiled.collectives, compiled.files)

    return build_variant


def _build_to_run(request: Request, out: str | None) -> Ready | Diagnostic | None:
    """A spec or job, built into the directory of its run; None where its problems are printed."""
    from meshc.launch.local import environment
    from meshc.launch.program_dir import run_directory, write_program
    from meshc.launch.ready import Ready
    from meshc.semantics.resumes import run_fits

    compiled = _compile(request)
    if compiled is None:
        return None
    env = environment(compiled.target.slice, compiled.report.devices, compiled.job.launch.backend)
    if isinstance(env, Diagnostic):
        return env
    run_dir = run_directory(Path(compiled.target.spec.name).stem, out)
    if out and compiled.target.job and (others := arranged(run_fits(compiled.target.job, compiled.placed, out))):
        show(others, "full", sys.stderr)
        return None
    problems = write_program(run_dir / "program", compiled.files, compiled.manifest)
    return problems[0] if problems else Ready(run_dir / "program", run_dir, env)


def _killed(number: int) -> int:
    """The exit code of a program that a signal ended, which itself could not say so."""
    import signal

    from meshc.diagnostics.run import killed

    show([killed(signal.Signals(number).name)], "full", sys.stderr)
    return 128 + number


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    # A process may be started with its streams closed.
    sys.stdout, sys.stderr = (stream or open(os.devnull, "w") for stream in (sys.stdout, sys.stderr))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that has not all characters is no error
    sys.exit(_main(arguments))


def _main(arguments: Sequence[str] | None) -> int:
    try:
        code = cli.main(arguments, prog_name="meshc", standalone_mode=False) or 0
        sys.stdout.flush()
        return code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except BrokenPipeError:  # `meshc explain … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return unprinted(error) if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO) else bug(error)
    except Exception as error:
        return bug(error)


if __name__ == "__main__":
    main()
