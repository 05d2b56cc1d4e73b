"""Parts of `scripts/test.py`: commands that are counted, Rust's test programs, pytest, and the slowest tests."""
