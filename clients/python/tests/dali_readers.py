"""Pipelines of `forebay.dali` over small pictures, and what their batches are."""

import forebay
import numpy as np
from forebay.dali import FileReader, Pipeline


class Readers:
    """Makes readers of pictures whose label and colour is their number."""

    def __init__(self, pictures):
        self._pictures = pictures
        self._listed = {}

    def __call__(self, records, **arguments):
        if records not in self._listed:
            self._listed[records] = sorted(self._pictures(records, name=f"of-{records}").iterdir())
        return FileReader(files=self._listed[records], name="Reader", **arguments)


def pipeline_of(reader, batch_size, **settings):
    return Pipeline(reader, batch_size, **{"transform": forebay.transforms.Resize((8, 8)), **settings})


def numbers(output, name="label"):
    """The records of a batch, by its labels. Its pictures must be theirs."""
    labels = np.asarray(output[name])[:, 0]
    images = np.asarray(output["data"])
    assert images.shape == (len(labels), 8, 8, 3)
    np.testing.assert_array_equal(images[:, 0, 0, 0], labels % 256)
    return labels.tolist()
