"""A random walk of one trainer, and the model that its history is compared with."""
