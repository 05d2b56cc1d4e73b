"""Pictures on which operations are compared with other libraries: of all sizes, and with extreme values."""

import numpy as np

# Height and width. Kernels, histograms and fixed points have their edges here.
SIZES = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 3), (1, 600), (600, 1), (2, 301), (4, 5), (16, 17), (97, 61), (224, 224)]


def pictures():
    """Names and pictures. They are the same in each run."""
    random = np.random.default_rng(7)
    sizes = [*SIZES, *(tuple(int(side) for side in random.integers(1, 601, 2)) for _ in range(6))]
    for height, width in sizes:
        shape = (height, width, 3)
        yield f"noise {height} x {width}", random.integers(0, 256, shape, dtype=np.uint8)
        ramp = np.linspace(0, 255, height * width * 3).reshape(shape)
        yield f"ramp {height} x {width}", ramp.astype(np.uint8)
    for colour in [(0, 0, 0), (255, 255, 255), (1, 254, 128), (255, 0, 0), (7, 7, 7)]:
        yield f"only {colour}", np.full((33, 44, 3), colour, np.uint8)
    for low, high in [(0, 2), (254, 256), (100, 102), (0, 20), (90, 255)]:
        yield f"from {low} to {high - 1}", random.integers(low, high, (120, 140, 3), dtype=np.uint8)
    yield "black and white", random.choice(np.array([0, 255], np.uint8), (99, 101, 3))
    sparse = np.zeros((80, 90, 3), np.uint8)
    sparse[3, 4] = (255, 1, 17)
    yield "one bright pixel", sparse


def all_colours():
    """Every colour once: 4096 x 4096 pixels."""
    numbers = np.arange(1 << 24, dtype=np.uint32).reshape(4096, 4096)
    return np.stack([numbers >> 16, numbers >> 8, numbers], axis=-1).astype(np.uint8)
