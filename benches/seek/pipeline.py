"""Prints pictures per second with seek points and without: pipeline.py FOREBAY PHOTOGRAPHS LARGE [ROUNDS [SECONDS]]."""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

#: What is measured: a name, the arguments of `forebay bench`, and whether the pictures are the large ones.
WORKS = [
    ("photographs, training", [], False),
    ("photographs, evaluation", ["--evaluation"], False),
    ("photographs, crops under a tenth", ["--scale", "0.02,0.1"], False),
    ("12 megapixels, training", ["--batch-size", "4"], True),
    ("12 megapixels, evaluation", ["--batch-size", "4", "--evaluation"], True),
    ("12 megapixels, crops under a tenth", ["--batch-size", "4", "--scale", "0.02,0.1"], True),
]

#: Names of each large picture. The last batch of an epoch waits for its trainers, so a short epoch measures that wait.
LINKS = 16


def linked(folder: str) -> str:
    """A folder beside this one, where each of its pictures has several names."""
    links = Path(f"{folder}-linked")
    links.mkdir(exist_ok=True)
    for picture in Path(folder).iterdir():
        for number in range(LINKS):
            link = links / f"{number}-{picture.name}"
            link.unlink(missing_ok=True)
            os.link(picture, link)
    return str(links)


def rate(forebay: str, folder: str, seek: str, seconds: str, arguments: list[str]) -> float:
    """Pictures per second, from the third epoch on: the first decodes of a picture may not reach its end."""
    command = [forebay, "bench", folder, "--json", "--seek", seek, "--after-epochs", "2", "--seconds", seconds]
    output = subprocess.run([*command, *arguments], check=True, capture_output=True).stdout
    return json.loads(output)["pictures_per_second"]


def main(forebay: str, photographs: str, large: str, rounds: str = "5", seconds: str = "8") -> None:
    """Both ways take turns, so that the machine's other work is shared."""
    large = linked(large)
    print(f"\n`forebay bench`, {rounds} rounds of {seconds} s, medians\n")
    print("| work | without: pictures/s | with | ratio (median of the rounds') |")
    print("|---|---|---|---|")
    for name, arguments, is_large in WORKS:
        folder = large if is_large else photographs
        pairs = [
            [rate(forebay, folder, seek, seconds, arguments) for seek in ("off", "memory")] for _ in range(int(rounds))
        ]
        without, with_points = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(after / before for before, after in pairs)
        print(f"| {name} | {without:.0f} | {with_points:.0f} | {ratio:.3f} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
