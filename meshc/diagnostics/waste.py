"""What is said about waste: what it costs in bytes, operations or time, and what would cost less."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from meshc.diagnostics.model import Diagnostic, Edit, Label
from meshc.diagnostics.suggest import quoted
from meshc.diagnostics.units import duration, rate, size
from meshc.source import Span

SHOWN = 3


def _few(paths: Sequence[str]) -> str:
    """`a`, `b` and 4 more."""
    if len(paths) <= SHOWN:
        return quoted(paths)
    return f"{', '.join(f'`{path}`' for path in paths[:SHOWN])} and {len(paths) - SHOWN} more"


def _at(span: Span | None, text: str) -> tuple[Label, ...]:
    return (Label(span, text),) if span else ()


# ---------------------------------------------------------------- work and traffic


def products_alike(
    axis: str, number: int, span: Span, share: float, products: Sequence[str], dims: Sequence[str]
) -> Diagnostic:
    """`dims` are those of the largest product that could be split `number` ways more."""
    cure = (
        f"split one of its dims over `{axis}`: {quoted(dims, 'or')}"
        if dims
        else (f"make `{axis}` 1 and give its devices to an axis that splits the work")
    )
    return Diagnostic(
        "W0325",
        f"{share:.1%} of a device's products are what the other devices along `{axis}` do, too: {_few(products)}",
        (Label(span, f"{number} groups of devices, and neither operands nor results are split over it"),),
        (cure,),
    )


def unasked_gather(
    value: str, dim: str, axes: Sequence[str], held: int, sent: int, share: float, labels: Sequence[Label],
    free: Sequence[str], reduced: bool,
) -> Diagnostic:  # fmt: skip
    """`held` and `sent` are bytes of a device, `free` other dims that the axes could split."""
    helps = ["`next_token` and `cross_entropy` take logits whose vocabulary is split"] if reduced else []
    rules = [f"{other} -> .., {', '.join(axes)} where free" for other in free]
    if rules:
        helps.append(f"{'or ' if helps else ''}split what takes it over {quoted(axes)}, too: {' or '.join(rules)}")
    if not reduced:
        helps.append(f"{'or ' if helps else ''}ask for it in the layer that needs it: within LAYER {{ {dim} -> none }}")
    return Diagnostic(
        "W0324",
        f"`{value}` is gathered over {quoted(axes)}, and all devices do the same with it: {size(held)} on each, "
        f"{size(sent)} sent a step, {share:.0%} of all",
        tuple(labels),
        tuple(helps),
    )


def split_again(
    value: str, axes: Sequence[str], span: Span, sent: int, share: float, order: Sequence[str], left: float,
    edits: tuple[Edit, ...],
) -> Diagnostic:  # fmt: skip
    """`order` of the axes is better, if there is one: `left` of all bytes are sent there."""
    helps = (f"order the axes `{', '.join(order)}`: a device then sends {left:.0%} of what it does",) if order else ()
    return Diagnostic(
        "W0332",
        f"`{value}` and the like are gathered over {quoted(axes)} and split over it again: {size(sent)} a device and "
        f"step, {share:.0%} of all that is sent",
        (Label(span, "lies inside of an axis that leaves the dim, and so has to make way for it"),),
        helps,
        edits,
    )


def held_several_times(
    number: int, dim: str, times: int, axes: Sequence[str], span: Span, work: float, sent: float
) -> Diagnostic:
    costs = [f"{work:.1%} of the products' work"] if work else []
    costs += [f"{sent:.1%} of what is sent"] if sent else []
    return Diagnostic(
        "W0327",
        f"each of the {number} {dim} is held {times} times along {quoted(axes)}: {' and '.join(costs)} for the copies",
        (Label(span, f"repeats {dim}"),),
        (f"with {number} devices or fewer along {quoted(axes)} each is held once",),
    )


def much_padding(name: str, real: int, held: int, work: float, memory: float, span: Span, cure: str) -> Diagnostic:
    """`work` and `memory` are shares of a device's products and weights."""
    return Diagnostic(
        "W0328",
        f"{held - real} of {held} {name} are padding: {work:.1%} of a device's products and {memory:.1%} of its "
        "weights",
        (Label(span, f"{real}, padded to {held}"),),
        (cure,),
    )


# ---------------------------------------------------------------- links against products


def batch_too_small(
    axes: Sequence[str], span: Span | None, link: str, bandwidth: float | None, seconds: float, busy: float,
    tokens: tuple[int, str], grown: tuple[str, int],
) -> Diagnostic:  # fmt: skip
    """`seconds` that weights and gradients travel at least, `busy` those of all products, of `tokens` a device; both
    are the same with a batch `grown` to so many.
    """
    number, what = tokens
    return Diagnostic(
        "W0330",
        f"weights and gradients travel {duration(seconds)} a step over {quoted(axes)}, and the products of "
        f"{number:,} {what} a device take {duration(busy)}",
        _at(span, f"crosses `{link}` at {rate(bandwidth)}: both are the least that it takes"),
        (
            f"{number * seconds / busy:,.0f} {what} a device would take as long: {grown[0]} = {grown[1]} or more",
            "or fewer devices along it, and more where they split the work of a token",
        ),
    )


def activations_travel(
    axes: Sequence[str], span: Span | None, link: str, bandwidth: float | None, seconds: float, busy: float
) -> Diagnostic:
    return Diagnostic(
        "W0326",
        f"activations travel {duration(seconds)} a step over {quoted(axes)}, and all products take {duration(busy)}",
        _at(span, f"crosses `{link}` at {rate(bandwidth)}: both are the least that it takes"),
        ("take a smaller axis, or one that crosses faster links: more tokens travel longer, too",),
    )


# ---------------------------------------------------------------- memory


def no_room(
    total: int, memory: int, slice: str, parts: Mapping[str, int], span: Span | None,
    largest: Sequence[tuple[Span, str, int]], helps: tuple[str, ...],
) -> Diagnostic:  # fmt: skip
    counted = ", ".join(f"{what} {size(number)}" for what, number in parts.items() if number)
    holders = tuple(Label(place, f"`{path}`: {size(held)} a device") for place, path, held in largest)
    return Diagnostic(
        "E0401",
        f"state at rest takes {size(total)} a device, and one of `{slice}` has {size(memory)}: {counted}",
        (*_at(span, "the devices that it is split over"), *holders),
        helps,
    )


def split_over_all(devices: int, each: float) -> str:
    return f"split all of it over all {devices} devices: {size(each)} on each"


def more_devices(least: int) -> str:
    return f"split over all devices it takes {least} of them or more"


def fits_with(what: str, total: int) -> str:
    return f"with {what} it takes {size(total)}"


def whole_weights(
    weights: Sequence[str], devices: int, held: int, of_optimizer: int, share: float, span: Span | None,
    axes: Sequence[str], dims: Sequence[str],
) -> Diagnostic:  # fmt: skip
    """`dims` could be split over the axes; `share` is of a chip's memory."""
    one = len(weights) == 1
    state = f", and {'its' if one else 'their'} optimizer state {size(of_optimizer)}" if of_optimizer else ""
    once = f"{size((held + of_optimizer) / devices)} where all are split"
    first = dims[0] if len(dims) == 1 else f"first({', '.join(dims)})"
    rule = f"{{ {first} -> .., {', '.join(axes)} }}"
    helps = [f"params {rule}, gathered where they are used: {once}"]
    if of_optimizer:
        helps.append(f"or optimizer {rule}: the state alone is {size(of_optimizer / devices)}, and no more is sent")
    return Diagnostic(
        "W0322",
        f"{_few(weights)} {'lies' if one else 'lie'} whole on each of {devices} devices: {size(held)}{state}, "
        f"{share:.0%} of a chip's memory",
        _at(span, "the largest of them" if len(weights) > 1 else ""),
        tuple(helps),
    )


def alike_moments(
    weights: Sequence[str], devices: int, held: int, share: float, span: Span | None, axes: Sequence[str],
    dims: Sequence[str],
) -> Diagnostic:  # fmt: skip
    first = dims[0] if len(dims) == 1 else f"first({', '.join(dims)})"
    return Diagnostic(
        "W0323",
        f"the optimizer state of {_few(weights)} is the same on {devices} devices along {quoted(axes)}: {size(held)} "
        f"on each, {share:.0%} of a chip's memory",
        _at(span, "the largest of them" if len(weights) > 1 else ""),
        (f"optimizer {{ {first} -> .., {', '.join(axes)} }}: {size(held / devices)}, and no more is sent",),
    )
