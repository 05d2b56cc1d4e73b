"""Measures decoding on GPUs: what the machine has, each lane, all of them, and peers on the same files."""
