"""A step that is a function of the caller's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable, NoReturn

from forebay.transforms.importable import name_of
from forebay.transforms.transform import Transform

__all__ = ["Python"]


@dataclass(frozen=True)
class Python(Transform):
    """Calls a function in Python with each picture, and continues with what it returns; or with each finished batch.

    Processes of the daemon import the function by its name. It gets a picture, which is a `uint8` array of height x
    width x 3 that it may change, and a `Sample`: `record`, `epoch`, `view`, `repeat`, `label`, `columns`, `targets`,
    `seed` and `rng()`. It returns such an array, or None if it has changed the picture itself, or a tuple of that and a
    `dict` with new values of the label, boxes and other columns. It may raise `forebay.Skip` to leave a record out, and
    `forebay.Outage` if something is down that it needs. docs/python-steps.md says more.

    Before the first crop of the list, it gets each picture in its own size. Then it has an `output`, or what follows it
    makes the pictures one size.

    With `scope="batch"`, the function is called with each batch once it is finished. It changes the arrays of the
    batch, such as `batch.images` and `batch.labels`, and returns None or a `dict` of new arrays. It must be the last of
    the list.

    Args:
        function: The function, as "module:name"; or the function itself, whose module and name are used. One of the
            script is imported from the script's file. So what makes the Loader must be below
            `if __name__ == "__main__":` there. With `python_workers=0`, a Loader calls it in its own process: then it
            may be any object that can be called.
        output: Height and width of its results; one number means a square. If None, they have the size of the pictures
            that it gets.
        seeded: Objects with generators of their own, as "module:name". `set_random_seed` of each is called before each
            call.
        columns: Columns that the function returns and the dataset does not have, or not with so many items, by name:
            a type such as "f32 [2]", or for lists a tuple of it and the most items of a record, such as
            `("f32 [*, 4]", 20)`.
        scope: "picture", or "batch".

    Example:
        >>> Python("my_steps:augment").to_settings()
        {'python': {'function': 'my_steps:augment'}}
        >>> Python("my_steps:tiles", output=(112, 448)).to_settings()
        {'python': {'function': 'my_steps:tiles', 'output': [112, 448]}}
        >>> Python("my_steps:augment", seeded=["my_steps:pipeline"]).to_settings()
        {'python': {'function': 'my_steps:augment', 'seeded': ['my_steps:pipeline']}}
        >>> Python("my_steps:tags", columns={"blur": "f32", "tags": ("i64 [*]", 5)}).to_settings()["python"]["columns"]
        {'blur': 'f32', 'tags': {'type': 'i64 [*]', 'most': [5]}}
        >>> Python("my_steps:smooth", scope="batch", columns={"soft_labels": "f32 [10]"}).to_settings()
        {'python': {'function': 'my_steps:smooth', 'columns': {'soft_labels': 'f32 [10]'}, 'scope': 'batch'}}
        >>> import numpy
        >>> Python(numpy.fliplr).to_settings()
        {'python': {'function': 'numpy:fliplr'}}
    """

    function: str | Callable[..., Any]
    output: int | Sequence[int] | None = None
    seeded: Sequence[str] | None = None
    columns: Mapping[str, str | Sequence[Any]] | None = None
    scope: str = "picture"

    def to_settings(self) -> dict[str, dict[str, Any]]:
        """The step as a table. A function is named by its module and its name there.

        Raises:
            SettingsError: No other process can import the function by a name.
        """
        ((key, table),) = super().to_settings().items()
        table["function"] = name_of(self.function) if callable(self.function) else self.function
        if self.scope == "picture":
            del table["scope"]
        if isinstance(self.columns, Mapping):
            table["columns"] = {name: _declared(column) for name, column in self.columns.items()}
        return {key: table}

    def __call__(self, *_given: object, **_named: object) -> NoReturn:
        """Has no meaning in this process.

        Raises:
            ValueError: Always; child processes of the daemon call the function.
        """
        raise ValueError(
            f"{self.function} is called in child processes, so only a Loader can carry it out; call the function itself"
        )


def _declared(column: object) -> object:
    """A declared column as the daemon takes it."""
    if isinstance(column, (list, tuple)) and column:
        return {"type": column[0], "most": list(column[1:])}
    return column
