"""The examples of docs/python-steps.md: functions of other libraries give the same pictures in each run (rule 59)."""

import importlib
import re
from pathlib import Path

import forebay
import numpy as np
import pytest
from forebay import transforms

pytestmark = [pytest.mark.daemon, pytest.mark.originals, pytest.mark.usefixtures("binary")]

PAGE = Path(__file__).parents[3] / "docs" / "python-steps.md"
# The modules of the page, with what they import of others.
EXAMPLES = {
    "albumentations_steps": ["albumentations"],
    "opencv_steps": ["cv2"],
    "pillow_steps": ["PIL"],
    "torchvision_steps": ["torch", "torchvision"],
    "kornia_steps": ["torch", "kornia"],
}


def examples():
    """The code of each module that the page shows."""
    blocks = re.findall(r"```python\n# (\w+_steps)\.py\n(.*?)```", PAGE.read_text(), re.DOTALL)
    return {name: code for name, code in blocks if name != "my_steps"}


def pictures(source, function, **given):
    """The picture of each record in each of two epochs."""
    steps = [transforms.RandomResizedCrop(32), *([] if function is None else [function])]
    seen = {}
    with forebay.Loader(source, batch_size=4, epochs=2, transform=steps, seed=5, **given) as loader:
        for epoch in range(2):
            for batch in loader:
                seen.update(
                    ((record, epoch), np.array(image)) for image, record in zip(batch.images, batch.records.tolist())
                )
    return seen


def test_the_page_has_an_example_for_each_library_and_no_other():
    assert list(examples()) == list(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_rule_59_an_example_changes_each_picture_and_in_the_same_way_in_each_run(name, jpegs, tmp_path, monkeypatch):
    for library in EXAMPLES[name]:
        pytest.importorskip(library, reason=f"{library} is not installed; `make originals` installs it")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / f"{name}.py").write_text(examples()[name])
    # Others of this process may draw too.
    seeded = [f"{name}:pipeline"] if hasattr(importlib.import_module(name), "pipeline") else None
    step = transforms.Python(f"{name}:augment", seeded=seeded)
    plain = pictures(jpegs, None)
    first, second = (pictures(jpegs, step, python_workers=workers) for workers in (1, 3))
    assert first.keys() == second.keys() == plain.keys()
    for turn in plain:
        assert np.array_equal(first[turn], second[turn]), turn
        assert not np.array_equal(first[turn], plain[turn]), turn
