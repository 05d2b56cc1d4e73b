"""Calls the function of a stream's batches. docs/python-steps.md says what it gets and may change.

The arena of this child has the layout of a slot. The function works on the arrays where they are.
"""

from __future__ import annotations

import sys
from typing import Any

from forebay_sample import TYPES, WrongResultError


class Batch:
    """A finished batch, of which a function may change values.

    Columns are found by their names too, as in a trainer's batch: `batch["boxes"]` or `batch.boxes`. One with a list
    for each place is a list of arrays.

    Attributes:
        images: The pictures in the type and layout of the stream.
        labels: The labels, -1 without.
        records: The numbers of the records in the dataset, -1 without. To read.
        mask: False where a place repeats a record or replaces a bad one. To read.
        epoch: The epoch, from 0.
        seed: 128 random bits. They depend on the stream's seed, the epoch, and the first record whose mask is True.
    """

    def __init__(self, arrays: dict[str, Any], validity: dict[str, Any], epoch: int, seed: int) -> None:
        self.epoch, self.seed = epoch, seed
        self._arrays, self._validity = arrays, validity
        self._rng: Any = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns: images, labels, records, mask, and those of the stream."""
        return tuple(self._arrays)

    def validity(self, name: str) -> Any:  # noqa: ANN401 - an array
        """False where a place has no value in this column."""
        if name in self._validity:
            return self._validity[name]
        return self["mask"] | True

    def rng(self) -> Any:  # noqa: ANN401 - numpy is imported later
        """The `numpy.random.Generator` of this call. It is made when it is asked for."""
        if self._rng is None:
            from numpy.random import PCG64, Generator

            self._rng = Generator(PCG64(self.seed))
        return self._rng

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - an array, or a list of them
        return self._arrays[name]

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as above
        arrays = self.__dict__.get("_arrays", {})
        if name in arrays:
            return arrays[name]
        raise AttributeError(f"the batch has no {name!r}; its columns are: {', '.join(arrays)}")

    def __len__(self) -> int:
        return len(self._arrays["labels"])


class BatchArena:
    """Where the arrays of a batch are in the arena."""

    def __init__(self, np: Any, arena: Any, forms: dict[str, Any]) -> None:  # noqa: ANN401 - numpy, and mapped memory
        self.np, self.arena = np, arena
        self.arrays, self.lists = forms["arrays"], forms["lists"]
        self.changes = [form["name"] for form in self.arrays if form["changes"]]

    def batch(self, shown: int, epoch: int, seed: int) -> Batch:
        """The batch that is there, with its first places."""
        arrays = {form["name"]: self.array(form, shown) for form in self.arrays}
        arrays |= {form["name"]: self.list(form, shown) for form in self.lists}
        columns = [form for form in [*self.arrays, *self.lists] if form["validity"] is not None]
        validity = {form["name"]: self.fixed(bool, [shown], form["validity"]) for form in columns}
        return Batch(arrays, validity, epoch, seed)

    def array(self, form: dict[str, Any], shown: int) -> Any:  # noqa: ANN401 - an array
        """An array with as many items in each place. bfloat16 is a tensor if PyTorch is imported, or else its bits."""
        shape, place = [shown, *form["dims"]], form["at"]
        torch = sys.modules.get("torch")
        if form["element"] == "bf16" and form["changes"] and torch is not None:
            bits = self.view("<i2", shape, place)
            return torch.from_numpy(bits).view(torch.bfloat16)
        if form["changes"]:
            return self.view(TYPES[form["element"]], shape, place)
        return self.fixed(TYPES[form["element"]], shape, place)

    def list(self, form: dict[str, Any], shown: int) -> Any:  # noqa: ANN401 - lists of arrays
        """A column with lists: for each place an array, or lists of them. They cannot be changed."""
        ends, count = [], shown
        for place in form["offsets"]:
            ends.append(self.fixed("<i8", [count + 1], place).tolist())
            count = ends[-1][-1]
        rows = self.fixed(TYPES[form["element"]], [count, *form["dims"]], form["at"])
        for level in reversed(ends):
            rows = [rows[start:end] for start, end in zip(level, level[1:])]
        return rows

    def view(self, dtype: Any, shape: list[int], place: int) -> Any:  # noqa: ANN401 - an array
        """What is at this place of the arena."""
        count = 1
        for length in shape:
            count *= length
        return self.np.frombuffer(self.arena, dtype, count, place).reshape(shape)

    def fixed(self, dtype: Any, shape: list[int], place: int) -> Any:  # noqa: ANN401 - an array
        """The same, to read."""
        array = self.view(dtype, shape, place)
        array.flags.writeable = False
        return array

    def keep(self, result: Any, batch: Batch) -> None:  # noqa: ANN401 - whatever it returned
        """Puts what a function has returned into the arena: arrays that take the place of others."""
        if result is None:
            return
        if not isinstance(result, dict):
            raise WrongResultError(
                f"it has returned a {type(result).__name__}: change the arrays of the batch and return None, or return "
                "a dict of new arrays by their names"
            )
        for name, value in result.items():
            if name not in self.changes:
                raise WrongResultError(
                    f"it has returned something for {name!r}, but may do so for: {', '.join(self.changes)}"
                )
            target, array = self.bits(batch[name]), self.bits(value)
            if array.dtype != target.dtype or array.shape != target.shape:
                given, wanted = f"{array.dtype} {list(array.shape)}", f"{target.dtype} {list(target.shape)}"
                raise WrongResultError(
                    f"its {name!r} is {given}, but must be {wanted}: a function of batches changes no type and no shape"
                )
            target[...] = array

    def bits(self, array: Any) -> Any:  # noqa: ANN401 - arrays
        """An array of numpy. Of bfloat16, its bits."""
        torch = sys.modules.get("torch")
        if torch is not None and isinstance(array, torch.Tensor) and array.dtype == torch.bfloat16:
            array = array.detach().view(torch.int16).numpy().view("<u2")
        return self.np.asarray(array)
