"""Who takes part: script, packages, settings, and what exactly is timed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

ALL = ("train", "eval", "big")
# Those whose transforms DALI, tf.data, FFCV and the bare loop do not have in the same form.
TRANSFORMS = ("trivial", "simclr", "dinov2")
# Those with functions in Python.
FUNCTIONS = ("python", "python-after-crop")


@dataclass(frozen=True)
class Entrant:
    """One row of the tables."""

    name: str
    script: str
    # The virtual environment, and the file of `requirements/` that it needs beside what it has ("forebay": the wheel).
    venv: str
    packages: str
    says: str
    works: tuple[str, ...] = ALL
    options: dict[str, Any] = field(default_factory=dict)
    # "ours", "peer" (as its documentation shows it), "tuned" (as few would write it), "limit" (no loader at all).
    kind: str = "peer"
    # Passes over the dataset before the clock starts.
    passes: int = 0
    # Another file of `requirements/`.
    also: str = ""

    @property
    def requirements(self) -> tuple[str, ...]:
        """What its environment needs, in the order of installation; nothing where it has none."""
        return tuple(filter(None, (self.packages, self.also)))


def ours(name: str, says: str, **more: Any) -> Entrant:  # noqa: ANN401 - passed on
    """A row of this project's."""
    return Entrant(name, "forebay_loader.py", "forebay", "forebay", says, kind="ours", **more)


def bare(name: str, says: str, **more: Any) -> Entrant:  # noqa: ANN401 - passed on
    """A loop without a loader, of this project's decoder."""
    return Entrant(name, "bare", "", "", says, kind="limit", **more)


ENTRANTS = (
    ours(
        "forebay",
        "Loader with its own daemon, exact pixels; from the third epoch on, with seek points",
        passes=2,
    ),
    ours(
        "forebay, no seek points",
        'Loader on a stream of a daemon with decode.seek = "off"',
        works=ALL + TRANSFORMS,
        options={"seek": "off"},
    ),
    ours(
        "forebay, Python",
        "Loader with `transforms.Python`, and no seek points: Albumentations in processes of its daemon",
        works=FUNCTIONS,
        options={"seek": "off"},
        also="albumentations",
    ),
    ours(
        "forebay fast",
        "Loader with reducing_gap=2.0: big pictures are decoded at a smaller scale",
        options={"reducing_gap": 2.0},
    ),
    ours(
        "forebay, libjpeg-turbo",
        'Loader on a stream of a daemon with decode.jpeg = "libjpeg-turbo": the decoder that its peers have',
        options={"jpeg": "libjpeg-turbo"},
    ),
    ours(
        "forebay fast, libjpeg-turbo",
        "Loader with reducing_gap=2.0 on such a stream",
        works=("big",),
        options={"jpeg": "libjpeg-turbo", "reducing_gap": 2.0},
    ),
    ours(
        "forebay, decoded cache",
        "Loader with decoded pictures in its daemon's memory, longer side at most 500; second epoch and later",
        works=("train", "eval"),
        options={"cache": {"keep": "decoded", "memory": "4gb", "max_side": 500}},
        passes=2,
    ),
    bare(
        "bare loop",
        "this project's decoder and resizer in a Rust loop over bytes in memory: no daemon, no ring, no Python",
    ),
    bare(
        "bare loop, seek points",
        "the bare loop, which keeps seek points as the daemon does",
        options={"seek": "memory"},
    ),
    bare("bare loop fast", "the bare loop with reducing_gap=2.0", works=("big",), options={"reducing_gap": 2.0}),
    bare("bare loop, libjpeg-turbo", "the bare loop with libjpeg-turbo alone", options={"jpeg": "libjpeg-turbo"}),
    bare(
        "bare loop fast, libjpeg-turbo",
        "the bare loop with both",
        works=("big",),
        options={"jpeg": "libjpeg-turbo", "reducing_gap": 2.0},
    ),
    bare(
        "bare decode",
        "the bare loop, taking the nearest pixels instead of resizing",
        options={"interpolation": "nearest"},
    ),
    bare(
        "bare decode, fast",
        "bare decode with reducing_gap=2.0",
        works=("big",),
        options={"interpolation": "nearest", "reducing_gap": 2.0},
    ),
    Entrant(
        "libjpeg-turbo, whole pictures",
        "libjpeg_whole.py",
        "libjpeg",
        "libjpeg",
        "simplejpeg in threads over bytes in memory: decode alone, accurate IDCT, fancy upsampling",
        kind="limit",
    ),
    Entrant(
        "torchvision, its reader",
        "torchvision_loader.py",
        "torch",
        "torchvision",
        "DataLoader, decode_image, transforms v2",
        works=ALL + TRANSFORMS,
        options={"reader": "torchvision"},
    ),
    Entrant(
        "torchvision, Pillow",
        "torchvision_loader.py",
        "torch",
        "torchvision",
        "DataLoader, Image.open, transforms v2",
        works=ALL + TRANSFORMS,
        options={"reader": "pillow"},
    ),
    Entrant(
        "DALI",
        "dali_pipeline.py",
        "dali",
        "dali",
        "CPU pipeline as its ResNet example has it: image_random_crop for training, image, resize and crop else",
    ),
    Entrant(
        "DALI, tuned",
        "dali_pipeline.py",
        "dali",
        "dali",
        "fast IDCT; evaluation decodes the middle alone",
        options={"fast_idct": True, "centre": True},
        kind="tuned",
    ),
    Entrant(
        "DataLoader, Albumentations",
        "torchvision_loader.py",
        "torch",
        "torchvision",
        "DataLoader, Image.open, Albumentations; where the crop comes first, it is torchvision's",
        works=FUNCTIONS,
        options={"reader": "pillow"},
        also="albumentations",
    ),
    Entrant(
        "DataLoader, torchvision's reader, Albumentations",
        "torchvision_loader.py",
        "torch",
        "torchvision",
        "the same with decode_image",
        works=FUNCTIONS,
        options={"reader": "torchvision"},
        also="albumentations",
    ),
    Entrant(
        "DALI, python_function",
        "dali_pipeline.py",
        "dali",
        "dali",
        "CPU pipeline whose decoder, and crop where it comes first, are DALI's; Albumentations by python_function",
        works=FUNCTIONS,
        options={"python": "function"},
        also="albumentations",
    ),
    Entrant(
        "DALI, parallel external source",
        "dali_pipeline.py",
        "dali",
        "dali",
        "external_source with worker processes: OpenCV's decoder and Albumentations in Python",
        works=("python",),
        options={"python": "source"},
        also="albumentations",
    ),
    Entrant(
        "tf.data",
        "tf_data.py",
        "tensorflow",
        "tensorflow",
        "decode_and_crop_jpeg for training, decode_jpeg else, antialiased resize",
    ),
    Entrant(
        "FFCV, original bytes",
        "ffcv_loader.py",
        "torch",
        "ffcv",
        "the files' bytes in FFCV's container; area resize, libjpeg-turbo's fast settings",
        options={"mode": "jpg"},
        kind="tuned",
    ),
    Entrant(
        "FFCV, raw",
        "ffcv_loader.py",
        "torch",
        "ffcv",
        "decoded beforehand, longer side at most 500; beside the decoded cache",
        works=("train", "eval"),
        options={"mode": "raw"},
        kind="tuned",
        passes=1,
    ),
    Entrant(
        "Pillow-SIMD loop",
        "pillow_loop.py",
        "pillow",
        "pillow-simd",
        "threads that open, resize with a box and store into a batch",
        kind="tuned",
    ),
    Entrant(
        "Pillow-SIMD loop, reducing_gap",
        "pillow_loop.py",
        "pillow",
        "pillow-simd",
        "the same with draft() at reducing_gap 2.0",
        works=("big",),
        options={"gap": 2.0},
        kind="tuned",
    ),
)
