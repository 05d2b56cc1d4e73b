"""torchcodec's reader of JPEG."""

from __future__ import annotations

import timing
import torch
from torchcodec.decoders import decode_jpeg

torch.set_num_threads(1)
timing.run({}, decode_jpeg)
