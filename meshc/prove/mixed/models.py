"""Models of a drawn spec: each kind of block that ships with the compiler, in small, and what may stand around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True)
class Drawn:
    """A model as text.

    imports: of `std/`; dims: name -> size as written; items: layers of its own; inputs, lines: of the model
    """

    name: str
    imports: tuple[str, ...]
    dims: dict[str, str]
    inputs: str
    lines: tuple[str, ...]
    items: str = ""

    @property
    def has_experts(self) -> bool:
        return "experts" in self.dims

    @property
    def text(self) -> str:
        body = "\n".join(f"  {line}" for line in self.lines)
        return f"{self.items}model {self.name}({self.inputs}) {{\n{body}\n}}"


def draw_model(r: Random) -> Drawn:
    return r.choices(KINDS, WEIGHTS)[0](r)


TOKENS = "tokens: [batch, seq] of vocab"
PADDED = ("pad(29, 8)", "pad(27, 16)", "pad(50, 64)")
NEXT = "loss next_token(logits, tokens)"


def _rate(r: Random) -> str:
    return r.choice(("", "", ", rate = 0.1"))


def _window(r: Random) -> str:
    return r.choice(("", "", ", window = 4", ", window = 5"))


def _sizes(r: Random, odd: float = 0.12) -> dict[str, str]:
    """Sizes of a decoder. Most divide by all meshes, some by few."""

    def size(even: tuple[int, ...], others: tuple[int, ...]) -> str:
        return str(r.choice(others if r.random() < odd else even))

    kv_heads = int(size((4, 8), (1, 2, 3)))
    return {
        "batch": size((16, 32, 32), (8, 12, 48)),
        "seq": size((16, 32), (8, 12, 24)),
        "embed": size((16, 32), (12, 24)),
        "heads": str(kv_heads * r.choice((1, 1, 2, 2, 4, 3))),
        "kv_heads": str(kv_heads),
        "head_dim": r.choice(("2", "4", "6")),
        "mlp": size((32, 48), (16, 24, 36)),
        "vocab": r.choice(PADDED) if r.random() < 0.3 else size((32, 64), (24, 40)),
        "layers": r.choice(("1", "2", "2", "4", "4", "3")),
    }  # fmt: skip


def _without_groups(sizes: dict[str, str]) -> dict[str, str]:
    """Of attention with as many key and value heads as query heads."""
    return {name: size for name, size in sizes.items() if name != "kv_heads"}


def _repeats(r: Random, block: Callable[[str], str]) -> list[str]:
    """The layers: one kind, two kinds in turn, two repeats in a row, or one layer before them."""
    match r.randrange(6):
        case 0:
            return [f"repeat layers {{ {block('local')}; {block('wide')} }}"]
        case 1:
            return [f"repeat layers {{ {block('block')} }}", f"repeat 2 {{ {block('last')} }}"]
        case 2:
            return [block("first"), f"repeat layers {{ {block('block')} }}"]
        case _:
            return [f"repeat layers {{ {block('block')} }}"]


def _head(r: Random, norm: str, bias: float) -> list[str]:
    """Logits from the table or from a head of their own."""
    lines, head = ([], "table") if r.random() < 0.35 else (["param head: embed -> vocab"], "head")
    added = ""
    if r.random() < bias:
        lines.append("param head_bias: [vocab] = zeros")
        added = " + head_bias"
    return [*lines, f"logits = {norm} @ {head}{added}", NEXT]


def _beside(r: Random) -> list[str]:
    """Other terms of the loss, and metrics."""
    return [line for line in ("loss 0.01 * mean(square(x))", "metric size = mean(abs(x))") if r.random() < 0.15]


def llama(r: Random) -> Drawn:
    def block(name: str) -> str:
        return f"x = LlamaBlock(x{_window(r)}{_rate(r)}) as {name}"

    lines = ["param table: vocab -> embed", "x = table[tokens]", *_repeats(r, block), *_beside(r)]
    lines += _head(r, "RMSNorm(x) as norm", 0.1)
    return Drawn("Llama", ("std/llama.mesh",), _sizes(r), TOKENS, tuple(lines))


def gpt(r: Random) -> Drawn:
    """Learned positions and biases everywhere."""

    def block(name: str) -> str:
        return f"x = GptBlock(x{_rate(r)}) as {name}"

    lines = ["param table: vocab -> embed = normal(0.02)", "param positions: [seq, embed] = normal(0.02)"]
    lines += ["x = table[tokens] + positions", *_repeats(r, block), *_beside(r)]
    lines += _head(r, "LayerNorm(x) as norm", 0.5)
    return Drawn("Gpt", ("std/gpt.mesh",), _without_groups(_sizes(r)), TOKENS, tuple(lines))


def gptj(r: Random) -> Drawn:
    def block(name: str) -> str:
        return f"x = GptJBlock(x{_rate(r)}) as {name}"

    sizes = {**_without_groups(_sizes(r)), "rotary_dim": "2", "pass_dim": "head_dim - rotary_dim"}
    sizes["head_dim"] = r.choice(("4", "6"))
    lines = ["param table: vocab -> embed", "x = table[tokens]", *_repeats(r, block)]
    lines += _head(r, "LayerNorm(x) as norm", 0.5)
    return Drawn("GptJ", ("std/gpt.mesh",), sizes, TOKENS, tuple(lines))


def encoder(r: Random) -> Drawn:
    """Masked tokens: a label below zero is not counted."""

    def block(name: str) -> str:
        return f"x = EncoderBlock(x{_rate(r)}) as {name}"

    lines = ["param table: vocab -> embed = normal(0.02)", "param positions: [seq, embed] = normal(0.02)"]
    lines += ["x = LayerNorm(table[tokens] + positions) as table_norm", *_repeats(r, block)]
    lines += ["param head_bias: [vocab] = zeros", "logits = EncoderHead(x) as head @ table + head_bias"]
    lines += ["loss cross_entropy(logits, labels)"]
    inputs = f"{TOKENS}, labels: [batch, seq] of vocab"
    return Drawn("Encoder", ("std/gpt.mesh",), _without_groups(_sizes(r)), inputs, tuple(lines))


def moe(r: Random) -> Drawn:
    """Mixtures of each kind, dense layers before them or not."""
    kind = r.choice(("MoeBlock", "MoeBlock", "ZLossMoe", "SharedMoe", "BalancedMoe", "GptOssBlock"))
    top_k = f"top_k = {r.choice((1, 2, 2, 3))}"

    def block() -> str:
        match kind:
            case "MoeBlock":
                return f"x = MoeBlock(x, {top_k}{_window(r)}{_rate(r)}) as block"
            case "GptOssBlock":
                return f"x = GptOssBlock(x, {top_k}{_window(r)}) as block"
            case _:
                attention = f"x = x + Attention(RMSNorm(x) as attention_norm{_window(r)}) as attention"
                return f"{attention}; x = x + {kind}(RMSNorm(x) as moe_norm, {top_k}) as moe"

    sizes = {**_sizes(r), "experts": r.choice(("8", "8", "8", "16", "6"))}
    lines = ["param table: vocab -> embed", "x = table[tokens]"]
    if r.random() < 0.4:
        lines.append(f"repeat {r.choice(('2', '1'))} {{ x = LlamaBlock(x) as dense }}")
    lines += [f"repeat layers {{ {block()} }}", *_beside(r), *_head(r, "RMSNorm(x) as norm", 0)]
    imports = ("std/llama.mesh", "std/gpt_oss.mesh" if kind == "GptOssBlock" else "std/moe.mesh")
    return Drawn("Mixtral", imports, sizes, TOKENS, tuple(lines))


PACKED = """\
layer Packed(x: [batch, seq, embed], of: [batch, seq] of seq) {{
  param wq: embed -> heads, head_dim
  param wk, wv: embed -> kv_heads, head_dim
  param wo: heads, head_dim -> embed
  param sinks: [heads] = normal(0.02)
  return attend(rope(x @ wq), rope(x @ wk), x @ wv{options}) @ wo
}}

"""


def packed(r: Random) -> Drawn:
    """Documents side by side in a row, and all that attention can be told."""
    every = (", segments = of", ", chunk = 4", ", window = 5", ", cap = 20.0", ", sinks = sinks")
    options = ", segments = of" if r.random() < 0.3 else "".join(one for one in every if r.random() < 0.5)
    options = options or ", segments = of"
    if "sinks" not in options:
        items = PACKED.format(options=options).replace("  param sinks: [heads] = normal(0.02)\n", "")
    else:
        items = PACKED.format(options=options)
    block = (
        "x = x + Packed(RMSNorm(x) as attention_norm, of) as attention; x = x + SwiGLU(RMSNorm(x) as mlp_norm) as mlp"
    )
    lines = ["param table: vocab -> embed", "x = table[tokens]", f"repeat layers {{ {block} }}"]
    lines += [f"loss next_token(RMSNorm(x) as norm @ table, tokens{r.choice(('', ', segments = of'))})"]
    return Drawn("Documents", ("std/llama.mesh",), _sizes(r), f"{TOKENS}, of: [batch, seq] of seq", tuple(lines), items)


def running(r: Random) -> Drawn:
    """A state: the running mean of what enters the layers."""

    def block(name: str) -> str:
        return f"x = LlamaBlock(x{_window(r)}) as {name}"

    over = r.choice(("[batch, seq]", "[batch, seq]", "batch", "[batch, seq, embed]"))
    dims = {"[batch, seq]": "[embed]", "batch": "[seq, embed]"}.get(over, "[]")
    lines = ["param table: vocab -> embed", f"state centre: {dims} = zeros", "x = table[tokens]"]
    lines += [f"centre := 0.9 * centre + 0.1 * mean(x, over = {over})", "x = x - centre"]
    lines += ["metric drift = mean(square(centre))", *_repeats(r, block), *_head(r, "RMSNorm(x) as norm", 0.1)]
    return Drawn("Running", ("std/llama.mesh",), _sizes(r), TOKENS, tuple(lines))


def plain(r: Random) -> Drawn:
    """No ids and no sequence: rows of numbers through a perceptron, its dims by names that strategies do not know."""
    sizes = {"batch": r.choice(("16", "32", "24")), "feature": r.choice(("8", "16", "12")), "mlp": "32"}
    sizes |= {"kind": r.choice(("8", "4", "6")), "embed": r.choice(("16", "8"))}
    function = r.choice(("tanh", "silu", "gelu", "softplus", "sigmoid"))
    lines = ["param first: feature -> mlp", "param shift: [mlp] = zeros", "param second: mlp -> embed"]
    lines += ["param last: embed -> kind", f"h = {function}(rows @ first + shift)"]
    lines += [f"y = {r.choice(('h', 'dropout(h, 0.2)'))} @ second", "s = softmax(y @ last, over = kind)"]
    lines += [
        r.choice(("loss mean(square(s - wanted))", "loss mean(abs(s - wanted)) + 0.1 * mean(max(y, over = embed))"))
    ]
    inputs = "rows: [batch, feature], wanted: [batch, kind]"
    return Drawn("Rows", (), sizes, inputs, tuple(lines))


KINDS = (llama, gpt, gptj, encoder, moe, packed, running, plain)
WEIGHTS = (7, 3, 2, 2, 7, 3, 2, 1)
