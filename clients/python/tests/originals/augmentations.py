"""All pictures that torchvision's automatic augmentations can give of one picture, as hashes.

`ATEN_CPU_CAPABILITY=avx2 python augmentations.py` prints them by their names, for the arithmetic of that capability.
"""

import hashlib
import itertools
import json
import sys

import numpy as np

# Of what the sizes of magnitudes depend on: neither side is a multiple of the other or of a bin.
HEIGHT, WIDTH = 44, 61
RAND_MAGNITUDES = {"RandAugment": (31, 9), "RandAugment of 10 bins": (10, 7)}
POLICIES = ("imagenet", "cifar10", "svhn")


def picture():
    """Noise over a ramp, so that each operation changes it."""
    ramp = np.linspace(0, 200, HEIGHT * WIDTH * 3).reshape(HEIGHT, WIDTH, 3)
    return (ramp + np.random.default_rng(11).integers(0, 56, ramp.shape)).astype(np.uint8)


def digest(pixels):
    """A name of pixels."""
    return hashlib.blake2b(np.ascontiguousarray(pixels).tobytes(), digest_size=12).hexdigest()


def results():
    """The hashes of each augmentation's results."""
    import torch
    from PIL import Image
    from torchvision.transforms import v2

    torch.set_num_threads(1)
    whole = Image.fromarray(picture())

    def applied(transform, image, name, bins, chosen):
        """Each picture that an operation can make, with one of the chosen bins and with either sign."""
        magnitudes, is_signed = transform._AUGMENTATION_SPACE[name]
        magnitudes = magnitudes(bins, HEIGHT, WIDTH)
        values = [0.0] if magnitudes is None else [float(magnitudes[each]) for each in chosen]
        if is_signed and magnitudes is not None:
            values += [-value for value in values]
        for value in values:
            more = {"interpolation": transform.interpolation, "fill": transform._fill}
            yield transform._apply_image_or_video_transform(image, name, value, **more)

    def all_of(transform, image, bins, chosen):
        for name in transform._AUGMENTATION_SPACE:
            yield from applied(transform, image, name, bins, chosen)

    found = {}
    trivial = v2.TrivialAugmentWide()
    found["TrivialAugmentWide"] = {digest(made) for made in all_of(trivial, whole, 31, range(31))}
    for name, (bins, magnitude) in RAND_MAGNITUDES.items():
        rand = v2.RandAugment(2, magnitude, bins)
        # One for each different picture of the first operation.
        first = {digest(made): made for made in all_of(rand, whole, bins, [magnitude])}
        found[name] = {digest(made) for each in first.values() for made in all_of(rand, each, bins, [magnitude])}
    for policy in POLICIES:
        auto = v2.AutoAugment(v2.AutoAugmentPolicy(policy))
        made = {digest(whole)}
        for steps in auto._policies:
            (first, _, one), (second, _, two) = ((name, chance, bin_ or 0) for name, chance, bin_ in steps)
            for image in itertools.chain([whole], applied(auto, whole, first, 10, [one])):
                made.add(digest(image))
                made |= {digest(last) for last in applied(auto, image, second, 10, [two])}
        found[f"AutoAugment {policy}"] = made
    return {
        "capability": torch.backends.cpu.get_cpu_capability(),
        **{name: sorted(all_) for name, all_ in found.items()},
    }


if __name__ == "__main__":
    json.dump(results(), sys.stdout)
