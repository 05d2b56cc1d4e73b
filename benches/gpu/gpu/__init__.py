"""Measures decoding and rings on GPUs: what the machine has, each lane and ring, and peers on the same files."""
