"""Each spec and job in the pages of this directory and in `cases` has the diagnostics that its markers say, at those
lines, and no others; and what a page quotes of them or of `meshc explain` is printed.
"""

from pathlib import Path

import pytest
from pages import Block, blocks

PAGES = sorted(Path(__file__).parent.rglob("*.md"))
BLOCKS = [block for page in PAGES for block in blocks(page)]


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.language in ("mesh", "yaml")], ids=str)
def test_diagnostics(block: Block, tmp_path: Path):
    assert block.found(tmp_path) == block.expected


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.says], ids=str)
def test_what_is_said(block: Block, tmp_path: Path):
    said = block.said(tmp_path)
    assert [line for line in block.says if not any(line in found for found in said)] == [], "\n".join(said)


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.explains], ids=str)
def test_what_is_explained(block: Block, tmp_path: Path):
    explained = block.explained(tmp_path)
    assert [line for line in block.explains if not any(line in found for found in explained)] == [], "\n".join(
        explained
    )


def test_every_page_has_blocks():
    assert PAGES
    assert all(any(block.page == page for block in BLOCKS) for page in PAGES)
