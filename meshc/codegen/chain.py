"""The optimizer of a job as the optax chain that a reader would write."""

from __future__ import annotations

from meshc.codegen.text import broken, quoted
from meshc.codegen.views import OptimizerView
from meshc.job.model import Group, Optimizer, Train


def optimizer_view(train: Train) -> OptimizerView:
    optimizer = train.optimizer
    parts = []
    frozen = any(g.frozen for g in optimizer.groups)
    if frozen:
        parts.append('optax.masked(optax.set_to_zero(), {path: group == "frozen" for path, group in GROUPS.items()})')
    if optimizer.clip is not None:
        parts.append(f"optax.clip_by_global_norm({optimizer.clip!r})")
    labels = _labels(optimizer.groups)
    if not optimizer.groups:
        parts.append(_update(optimizer, None))
    else:
        default = [f'"default": {_update(optimizer, None)}']
        entries = default + [f"{quoted(label)}: {_update(optimizer, group)}" for label, group in labels.items()]
        parts.append(f"optax.partition({{{', '.join(entries)}}}, GROUPS)")
    chain = broken(f"optimizer = optax.chain({', '.join(parts)})")
    if len(parts) == 1:
        chain = broken(f"optimizer = {parts[0]}")
    return OptimizerView(tuple(broken(_schedule(train))), tuple(chain), tuple(_groups(optimizer.groups, labels)))


def _schedule(train: Train) -> str:
    optimizer = train.optimizer
    arguments = [quoted(optimizer.schedule), f"peak={optimizer.lr!r}", f"steps={_decayed(train)}"]
    if optimizer.warmup:
        arguments.append(f"warmup={optimizer.warmup}")
    if optimizer.schedule != "constant" and optimizer.final:
        arguments.append(f"end={optimizer.final!r} * {optimizer.lr!r}")
    return f"learning_rate = runtime.schedule({', '.join(arguments)})"


def _decayed(train: Train) -> str:
    """The update at which the learning rate has come down."""
    decay = train.optimizer.decay
    return "STEPS" if decay is None else str(train.optimizer.warmup + decay)


def _labels(groups: tuple[Group, ...]) -> dict[str, Group]:
    """A label for each group, by what it does."""
    labels: dict[str, Group] = {}
    for group in groups:
        label = _label(group)
        number = 2
        while label in labels and labels[label].model_copy(update={"match": group.match}) != group:
            label, number = f"{_label(group)}{number}", number + 1
        labels.setdefault(label, group)
    return labels


def _label(group: Group) -> str:
    if group.frozen:
        return "frozen"
    return "no_decay" if group.weight_decay == 0 and group.lr_scale == 1 else "other"


def _groups(groups: tuple[Group, ...], labels: dict[str, Group]) -> list[str]:
    if not groups:
        return []
    lines = [
        "GROUPS = runtime.label_paths(  # the first pattern that matches a weight's path holds",
        "    PLACEMENT,",
        "    {",
    ]
    for group in groups:
        label = next(n for n, g in labels.items() if g.model_copy(update={"match": group.match}) == group)
        lines.append(f"        {quoted(group.match)}: {quoted(label)},")
    return [*lines, "    },", ")"]


def _update(optimizer: Optimizer, group: Group | None) -> str:
    """One optax optimizer, with what a group changes of it."""
    if group is not None and group.frozen:
        return "optax.set_to_zero()"
    rate = "learning_rate"
    if group is not None and group.lr_scale != 1:
        rate = f"lambda count: {group.lr_scale!r} * learning_rate(count)"
    decay = optimizer.weight_decay
    if group is not None and group.weight_decay is not None:
        decay = group.weight_decay
    o = optimizer
    match o.name:
        case "adamw":
            return f"optax.adamw({rate}, b1={o.b1!r}, b2={o.b2!r}, eps={o.eps!r}, weight_decay={decay!r})"
        case "lion":
            return f"optax.lion({rate}, b1={o.b1!r}, b2={o.b2!r}, weight_decay={decay!r})"
        case "lamb":
            return f"optax.lamb({rate}, b1={o.b1!r}, b2={o.b2!r}, eps={o.eps!r}, weight_decay={decay!r})"
        case "adam":
            plain = f"optax.adam({rate}, b1={o.b1!r}, b2={o.b2!r}, eps={o.eps!r})"
        case "sgd":
            plain = f"optax.sgd({rate}, momentum={o.momentum!r})" if o.momentum else f"optax.sgd({rate})"
        case "adafactor":
            return f"optax.adafactor({rate}, decay_rate=0.8, eps={o.eps!r}, weight_decay_rate={decay or None!r})"
    return f"optax.chain(optax.add_decayed_weights({decay!r}), {plain})" if decay else plain
