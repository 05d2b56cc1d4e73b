"""The diffs in docs/ that show how a training loop changes to Forebay: they are those of the loops in `examples/`."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
# Each loop that is promised, and the page with its diff.
LOOPS = {
    "torch_classification": "pytorch",
    "lightning_module": "pytorch",
    "timm_train": "pytorch",
    "keras_fit": "tensorflow",
    "flax_loop": "jax",
}
MOST = 10


def diffs(page):
    """The diffs of a page, each with the examples that the text before it names."""
    text = (ROOT / "docs" / f"{page}.md").read_text()
    parts = re.split(r"```diff\n(.*?)```", text, flags=re.DOTALL)
    for before, diff in zip(parts[::2], parts[1::2]):
        changed = [line for line in diff.splitlines() if line.startswith(("-", "+"))]
        yield re.findall(r"\(\.\./examples/(\w+)\.py\)", before), changed


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_changes_ten_lines_or_fewer_which_its_page_shows(loop):
    of_loop = [changed for examples, changed in diffs(LOOPS[loop]) if loop in examples]
    assert len(of_loop) == 1, f"docs/{LOOPS[loop]}.md has a diff behind the link to {loop}.py"
    (changed,) = of_loop
    assert {line[0] for line in changed} == {"-", "+"}
    assert len(changed) <= MOST
    lines = {line.strip() for line in (ROOT / "examples" / f"{loop}.py").read_text().splitlines()}
    assert [line for line in changed if line[1:].strip() not in lines] == []


def test_nothing_else_of_a_loop_depends_on_the_loader():
    for loop in LOOPS:
        source = (ROOT / "examples" / f"{loop}.py").read_text()
        assert source.count('if args.loader == "forebay":') == 1, loop
