"""Each code has a page; its first example has that diagnostic, its second has neither that nor any error."""

from importlib import resources
from pathlib import Path

import pytest
from pages import blocks

from meshc.diagnostics.codes import TITLES

PAGES = Path(str(resources.files("meshc.diagnostics").joinpath("explain")))


@pytest.mark.parametrize("code", TITLES)
def test_examples(code: str, tmp_path: Path):
    page = PAGES / f"{code}.md"
    found = [block for block in blocks(page) if block.language in ("mesh", "yaml", "console")]
    for_jobs = {block.spec for block in found if block.language == "yaml"}
    bad, good = (block for block in found if block.language != "mesh" or block.text not in for_jobs)
    (tmp_path / "bad").mkdir()
    (tmp_path / "good").mkdir()
    assert code in bad.codes(tmp_path / "bad")
    assert not {found for found in good.codes(tmp_path / "good") if found == code or found.startswith("E")}


@pytest.mark.parametrize("code", TITLES)
def test_heading(code: str):
    assert (PAGES / f"{code}.md").read_text().startswith(f"# {code}: {TITLES[code]}\n")


def test_no_page_without_a_code():
    assert {page.stem for page in PAGES.glob("*.md")} == set(TITLES)
