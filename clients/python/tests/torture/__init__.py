"""The torture test: its world, its trainers, and what they have written down."""
