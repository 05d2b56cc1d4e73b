"""A small model in ResNet-50's place."""

import torch


def resnet50():
    pool = torch.nn.AdaptiveAvgPool2d(1)
    layers = torch.nn.Conv2d(3, 16, 7, stride=16), pool, torch.nn.Flatten(), torch.nn.Linear(16, 1000)
    return torch.nn.Sequential(*layers)
