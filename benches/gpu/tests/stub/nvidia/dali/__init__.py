"""Pipelines that read no picture and say that they have made a batch."""

from types import SimpleNamespace


class types:  # noqa: N801 - as it is called there
    """Names of types."""

    RGB, FLOAT16 = "RGB", "FLOAT16"


def _read(files, random_shuffle, initial_fill):
    assert all((files, random_shuffle, initial_fill))
    return "files", "labels"


def _decoded(files, device, output_type, hw_decoder_load, **random):
    assert (files, device, output_type) == ("files", "mixed", types.RGB)
    assert 0 <= hw_decoder_load <= 1
    assert not random or random["random_area"][1] == 1.0
    return "pictures"


def _resized(pictures, size, antialias):
    assert (pictures, size, antialias) == ("pictures", [224, 224], True)
    return "resized"


def _normalized(pictures, dtype, output_layout, mirror):
    assert (pictures, dtype, output_layout) == ("resized", types.FLOAT16, "CHW")
    assert mirror in (0, "coin")
    return "batch"


fn = SimpleNamespace(
    readers=SimpleNamespace(file=_read),
    decoders=SimpleNamespace(image=_decoded, image_random_crop=_decoded),
    random=SimpleNamespace(coin_flip=lambda: "coin"),
    resize=_resized,
    crop_mirror_normalize=_normalized,
)


class _Pipeline:
    def __init__(self, batch, result):
        assert result == "batch"
        self._batch = batch

    def build(self):
        pass

    def run(self):
        return ([None] * self._batch,)


def pipeline_def(batch_size, num_threads, device_id):
    assert num_threads > 0
    assert device_id == 0
    return lambda make: lambda: _Pipeline(batch_size, make())
