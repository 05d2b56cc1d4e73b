"""The instructions of the compiled kernel, counted on the CPU."""
