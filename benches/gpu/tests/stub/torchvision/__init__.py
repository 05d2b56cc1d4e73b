"""As much of torchvision as benches/gpu calls, by Pillow and torch on the CPU, with a model of two layers."""
