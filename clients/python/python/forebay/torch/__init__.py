"""Batches as PyTorch tensors. `Loader.torch()` imports this package; nothing else needs PyTorch.

Example:
    >>> from forebay.torch import DataLoader                                                # doctest: +SKIP
    >>> train = DataLoader(ImageFolder("/data/train", transform), batch_size=256, shuffle=True)     # doctest: +SKIP
    >>> for images, labels in train:                                                        # doctest: +SKIP
    ...     step(images, labels)
"""

from forebay.torch.data_loader import DataLoader
from forebay.torch.tensors import TorchBatch, TorchLoader, TorchRagged

__all__ = ["DataLoader", "TorchBatch", "TorchLoader", "TorchRagged"]
