"""Measures decoding and rings on GPUs: what the machine has, each lane, all of them, each ring, and peers on the same files."""
