"""`forebay parity`: compares our pixels with Pillow's on the user's own pictures. docs/parity.md is made by it.

It needs Pillow. If torch, torchvision and OpenCV are installed, resizes and recipes are compared with theirs.
"""
