"""The libraries that pixels are compared with: their versions, if they are installed."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Versions"]


class Versions(NamedTuple):
    """Versions of the libraries of this interpreter. None: not installed, or unknown."""

    pillow: str
    libjpeg: str | None = None
    torch: str | None = None
    torchvision: str | None = None
    opencv: str | None = None

    def others(self) -> str:
        """The libraries beside Pillow, each after a comma."""
        named = (
            self.torch and f"torch {self.torch} on its CPU",
            self.torchvision and f"torchvision {self.torchvision}",
            self.opencv and f"OpenCV {self.opencv}",
        )
        return "".join(f", {each}" for each in named if each)
