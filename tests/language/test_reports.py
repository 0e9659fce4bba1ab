"""Public reports of what went wrong elsewhere: each has a section that tells it and shows its legal control, or a test
of values, or both; and each that is named in them stands here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent.parent
LINK = re.compile(r"[A-Za-z][\w-]*/[A-Za-z][\w.-]*#[0-9]+")

REPORTS: dict[str, tuple[str, ...]] = {
    # sizes and axes
    "pytorch/torchtitan#1184": ("devices.md: Two axes of 8 do not share 8 devices",),
    "huggingface/accelerate#4177": (
        "divisibility.md: Windows where the sequence is split",
        "cases/test_masks.py: test_pairs_of_query_and_key",
        "cases/test_sequence.py: test_loss_and_gradients_are_those_of_one_device",
    ),
    "pytorch/torchtitan#2184": (
        "devices.md: An axis of size 1 is as no axis",
        "cases/test_experts.py: test_an_axis_of_size_one_beside_experts_is_no_axis",
    ),
    "young-geng/EasyLM#33": ("memory.md: FSDP over one device",),
    "pytorch/torchtitan#932": ("divisibility.md: Half a head",),
    "verl-project/verl#1226": ("language/test_case_tables.py: test_sizes_of_ulysses",),
    "jzhang38/EasyContext#47": (
        "divisibility.md: Half-chunks of a balanced ring",
        "cases/test_sequence.py: test_a_sequence_that_does_not_divide_is_padded",
    ),
    "NVIDIA/Megatron-LM#1304": ("pipelines.md: Layers that vanish", "cases/test_stages.py: test_no_layer_vanishes"),
    "pytorch/pytorch#126600": (
        "pipelines.md: Microbatches of 3, 3 and 2",
        "cases/test_stages.py: test_loss_and_gradients_are_those_of_one_device",
    ),
    "jax-ml/jax#26946": (
        "divisibility.md: A vocabulary that does not divide is not replicated in silence",
        "cases/test_shards.py: test_every_device_holds_three_rows_of_seventeen_padded",
    ),
    "pytorch/torchtitan#1561": (
        "divisibility.md: More shards than experts",
        "cases/test_experts.py: test_banks_lie_on_both_axes",
    ),
    "LargeWorldModel/LWM#39": ("divisibility.md: One sequence on an axis that carries the batch",),
    # claims and ranks
    "google/flax#1702": ("claims.md: Two rules for one name",),
    "AI-Hypercomputer/maxtext#2369": ("claims.md: Low-rank dims on the axis of the dim they project",),
    "jax-ml/jax#21480": ("ranks.md: Data of two dims for an input of three",),
    "pytorch/torchtitan#1309": ("devices.md: An axis of size 1 is as no axis",),
    # memory
    "marin-community/marin#7987": (
        "memory.md: Moments of a weight that is whole on purpose",
        "language/waste.md: Weights and moments that every device holds",
    ),
    "areal-project/AReaL#664": (
        "memory.md: Logits are not gathered for the loss",
        "language/waste.md: Logits that are gathered",
        "cases/test_losses.py: test_no_device_holds_the_whole_of_a_split_vocabulary",
    ),
    # values
    "ByteDance-Seed/VeOmni#338": (
        "cases/test_losses.py: test_a_loss_of_one_a_token_is_one",
        "cases/test_sequence.py: test_loss_and_gradients_are_those_of_one_device",
    ),
    "huggingface/transformers#36607": ("cases/test_losses.py: test_the_last_token_of_a_shard_keeps_its_target",),
    "deepspeedai/DeepSpeed#5618": ("cases/test_experts.py: test_gradients_of_experts_do_not_grow_with_their_axis",),
    "tenstorrent/tt-metal#55947": ("cases/test_shards.py: test_masks_are_the_same_on_every_mesh",),
    "NVIDIA/Megatron-LM#1754": (
        "divisibility.md: A vocabulary that does not divide is not replicated in silence",
        "cases/test_losses.py: test_padding_of_a_vocabulary_is_no_word",
    ),
    "huggingface/accelerate#3092": ("cases/test_rows.py: test_processes_of_one_model_read_the_same",),
    "AI-Hypercomputer/maxtext#4364": ("cases/test_masks.py: test_chunks_are_of_positions",),
    # launching
    "jax-ml/jax#13944": ("launching.md: A coordinator that is everybody's own machine",),
    "jax-ml/jax#16788": (
        "launching.md: One process a node drives one GPU",
        "devices.md: Two machines of 8 are not one of 16",
    ),
    "jax-ml/jax#19971": (
        "launching.md: A script on one of four hosts",
        "devices.md: Two machines of 8 are not one of 16",
    ),
    "AI-Hypercomputer/maxtext#30": ("devices.md: Two machines are two slices only where a network joins them",),
    # checkpoints
    "google/orbax#648": (
        "cases/test_checkpoints.py: test_what_8_devices_saved_is_read_on_fewer",
        "semantics/test_resumes.py: test_another_mesh_or_padding_is_the_same_model",
    ),
    "NVIDIA/Megatron-LM#2829": (
        "divisibility.md: A row for each group, not for each host",
        "cases/test_checkpoints.py: test_twice_the_devices_and_half_the_accumulation",
    ),
    "google/flax#3364": ("launching.md: Checkpoints in a directory of each host",),
    # data
    "AI-Hypercomputer/torchprime#267": (
        "devices.md: A size larger than the machine is never clipped",
        "cases/test_rows.py: test_two_hosts_share_the_batch",
    ),
    "apple/axlearn#773": (
        "divisibility.md: A row for each group, not for each host",
        "cases/test_rows.py: test_a_row_feeds_the_hosts_of_its_group",
    ),
}


@pytest.mark.parametrize(("link", "place"), [(link, place) for link, places in REPORTS.items() for place in places])
def test_each_report_has_its_test(link: str, place: str):
    name, _, title = place.partition(": ")
    assert link in _told(name, title)


def _told(name: str, title: str) -> str:
    """A section of a page, with what it shows; or the words of a test, which begins on one line with its name."""
    if name.endswith(".md"):
        page = TESTS / name if "/" in name else TESTS / "language" / "cases" / name
        sections = page.read_text().split("\n## ")
        [section] = [text for text in sections if text.startswith(f"{title}\n")]
        assert "```mesh" in section or "```yaml" in section
        return section
    tests = re.split(r"^(?=def )", (TESTS / name).read_text(), flags=re.MULTILINE)
    [test] = [text for text in tests if text.startswith(f"def {title}(")]
    return test


@pytest.mark.parametrize("page", sorted((TESTS / "language" / "cases").glob("*.md")), ids=lambda page: page.stem)
def test_each_section_that_refuses_shows_what_is_right(page: Path):
    """Its legal control: a spec or job without an error."""
    for section in page.read_text().split("\n## ")[1:]:
        if LINK.search(section.partition("```")[0]):
            shown = re.findall(r"^```(?:mesh|yaml)[^\n]*\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
            assert any("# error:" not in text for text in shown), section.partition("\n")[0]


def test_no_report_is_told_that_is_not_listed():
    told = {link for text in _texts() for link in LINK.findall(text)}
    assert told <= REPORTS.keys()


def _texts() -> Iterator[str]:
    for directory in ("language/cases", "cases"):
        for file in sorted((TESTS / directory).glob("*.*")):
            yield file.read_text()
