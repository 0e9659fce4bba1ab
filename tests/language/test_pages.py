"""Each spec and job in the pages of this directory has the diagnostics that its markers say, at those lines, and no
others.
"""

from pathlib import Path

import pytest
from pages import Block, blocks

PAGES = sorted(Path(__file__).parent.glob("*.md"))
BLOCKS = [block for page in PAGES for block in blocks(page)]


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.language in ("mesh", "yaml")], ids=str)
def test_diagnostics(block: Block, tmp_path: Path):
    assert block.found(tmp_path) == block.expected


def test_every_page_has_blocks():
    assert PAGES
    assert all(any(block.page == page for block in BLOCKS) for page in PAGES)
