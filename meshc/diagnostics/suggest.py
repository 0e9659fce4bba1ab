"""What the user may have meant: the nearest known name, the legal sizes near a value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def edit_distance(a: str, b: str) -> int:
    """Damerau-Levenshtein distance (optimal string alignment): insertions, deletions, substitutions, neighbours
    swapped.
    """
    before: list[int] = []
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        current = [i]
        for j, y in enumerate(b, 1):
            cost = min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            current.append(cost)
        before, previous = previous, current
    return previous[-1]


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` is most likely a slip of, or None. Near is a third of its letters, at least one.

    Two names of two letters are near only if the letters are the same: `tp` and `pp` are two names, not one and a slip.
    """
    name = name[:100]
    limit = max(1, len(name) // 3)
    ranked = []
    for candidate in known:
        if abs(len(candidate) - len(name)) > limit and not _begins(name, candidate):
            continue
        distance, same = edit_distance(name.lower(), candidate.lower()), _same_letters(name, candidate)
        short = max(len(name), len(candidate)) < 3
        if _begins(name, candidate) or (same if short else distance <= limit):
            ranked.append((distance, not same, candidate))
    return min(ranked)[2] if ranked else None


def _same_letters(name: str, candidate: str) -> bool:
    return sorted(name.lower()) == sorted(candidate.lower())


def _begins(name: str, candidate: str) -> bool:
    """`embedding` for `embed`, `opt` for `optimizer`: one begins with the other, and has three letters or more."""
    shorter, longer = sorted((name.lower(), candidate.lower()), key=len)
    return len(shorter) >= 3 and longer.startswith(shorter)


def did_you_mean(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The help line for an unknown name: the nearest known one, else all known ones if they are few."""
    known = sorted(set(known))
    if found := nearest(name, known):
        return (f"did you mean `{found}`?",)
    if 0 < len(known) <= 12:
        return (f"known are {quoted(known)}",)
    return ()


def quoted(names: Iterable[str], last: str = "and") -> str:
    """Names in backticks, as prose: `a`, `b` and `c`."""
    return prose([f"`{name}`" for name in names], last)


def prose(texts: Sequence[str], last: str) -> str:
    """`1, 2 or 4`."""
    return "".join(texts) if len(texts) < 2 else f"{', '.join(texts[:-1])} {last} {texts[-1]}"


def divisors(n: int) -> list[int]:
    """All divisors of a positive number, ascending."""
    small = [d for d in range(1, min(int(n**0.5) + 1, 1_000_000)) if n % d == 0]
    return sorted({*small, *(n // d for d in small)})


def legal_sizes(value: int, multiple: int) -> tuple[int, ...]:
    """The positive multiples of `multiple` next below and above `value`; `value` alone if it is one."""
    if value % multiple == 0:
        return (value,)
    below = value // multiple * multiple
    return tuple(size for size in (below, below + multiple) if size > 0)


def listed(numbers: Iterable[int], near: int | None = None, most: int = 8) -> str:
    """Numbers as prose, `1, 2, 4 or 8`; of many, the `most` nearest to `near`."""
    shown = sorted(set(numbers))
    if len(shown) > most:
        centre = near or shown[0]
        shown = sorted(sorted(shown, key=lambda n: abs(n - centre))[:most])
    return prose([str(n) for n in shown], "or")
