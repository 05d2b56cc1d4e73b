"""Runs this project and its peers side by side, in turn, on the same files and the same work."""
