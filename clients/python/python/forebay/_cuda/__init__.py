"""The functions of the CUDA driver that a trainer needs to map a GPU ring and to lock pages, by ctypes.

All calls use the GPU's primary context, which PyTorch, CuPy and JAX use too. They are calls of the driver, not of the
CUDA runtime: PyTorch would report a failed call of the runtime once more, as an error of its own next launch.
"""
