"""What the programs of `benches/` share: time limits, the machine, and folders of pictures."""
