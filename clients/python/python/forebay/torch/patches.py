"""The patches of a batch as tensors, with the names that packages have for them."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch

__all__ = ["NAMES", "TorchPatches", "named_patches", "torch_patches"]

# Gemma 4 makes one token of so many patches.
_POOLED = 9


class TorchPatches(NamedTuple):
    """The patches of a batch: `TorchBatch.patches()` gives them.

    Attributes:
        patches: `(n, length, side * side * channels)` of the stream's dtype. In a patch, rows of pixels follow each
            other, and the channels of a pixel are together.
        coord: `(n, length, 2)` of int32: row and column of each patch in its picture, and 0 in padding.
        valid: `(n, length)` of bool: False in padding.
    """

    patches: torch.Tensor
    coord: torch.Tensor
    valid: torch.Tensor


def torch_patches(images: torch.Tensor, grid: torch.Tensor) -> TorchPatches:
    """Patches of a batch.

    Args:
        images: `(n, length, pixels, channels)`.
        grid: `(n, 2)`: rows and columns of patches of each picture.
    """
    number = torch.arange(images.shape[1], dtype=torch.int32, device=grid.device)
    # A place without a picture has no columns.
    columns = grid[:, 1:].clamp(min=1)
    valid = number < grid.prod(dim=1, keepdim=True)
    coord = torch.stack((number // columns, number % columns), dim=2) * valid[:, :, None]
    return TorchPatches(images.flatten(2), coord, valid)


def _timm(images: torch.Tensor, grid: torch.Tensor) -> dict[str, Any]:
    patches, coord, valid = torch_patches(images, grid)
    return {"patches": patches, "patch_coord": coord.long(), "patch_valid": valid, "seq_len": images.shape[1]}


def _siglip2(images: torch.Tensor, grid: torch.Tensor) -> dict[str, Any]:
    patches, _, valid = torch_patches(images, grid)
    return {"pixel_values": patches, "pixel_attention_mask": valid.int(), "spatial_shapes": grid.long()}


def _gemma4(images: torch.Tensor, grid: torch.Tensor) -> dict[str, Any]:
    patches, coord, valid = torch_patches(images, grid)
    positions = coord.flip(2).long().masked_fill(~valid[:, :, None], -1)
    tokens = grid.prod(dim=1).long() // _POOLED
    return {"pixel_values": patches, "image_position_ids": positions, "num_soft_tokens_per_image": tokens}


# What `loader.torch(names=...)` takes, with the smallest picture of the package in patches.
NAMES = {"timm": (_timm, 1), "siglip2": (_siglip2, 1), "gemma4": (_gemma4, 3)}


def named_patches(names: str, images: torch.Tensor, grid: torch.Tensor) -> dict[str, Any]:
    """The inputs of a model of a package, as its own loader or processor gives them.

    A place without a picture has the smallest one, of padding: models do not take a row without a valid patch.

    Args:
        names: One of `NAMES`.
        images: `(n, length, pixels, channels)`.
        grid: `(n, 2)`: rows and columns of patches of each picture.
    """
    inputs, least = NAMES[names]
    return inputs(images, grid.clamp(min=least))
