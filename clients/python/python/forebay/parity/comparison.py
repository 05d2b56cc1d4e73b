"""Compares both sides' pixels, picture by picture."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from PIL import Image

from forebay.errors import PictureError
from forebay.image import read
from forebay.parity.contact_sheet import Sheet
from forebay.parity.dataset import Record, shown
from forebay.parity.difference import Difference
from forebay.parity.pillow import Opened
from forebay.parity.report import Report
from forebay.parity.tasks import Task
from forebay.transforms.in_process import BYTE_LIMIT

__all__ = ["Comparison"]


class Comparison:
    """The comparisons of a command. The first task takes pictures as they are, so that formats and orientations show.

    Attributes:
        sheet: The worst pictures so far.
    """

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tasks
        self.sheet = Sheet()

    def dataset(self, path: str, records: Sequence[Record]) -> Report:
        """Compares all pictures of a dataset."""
        report = Report(shown(path), (task.name for task in self._tasks))
        with warnings.catch_warnings(), ThreadPoolExecutor(1) as ours:
            warnings.simplefilter("ignore")
            for record, (file, name) in enumerate(records):
                _progress(record, len(records))
                try:
                    data, _ = read(file, BYTE_LIMIT)
                except (OSError, PictureError) as error:
                    report.unreadable.append((name, _reason(error, file)))
                else:
                    self._picture(name, record, data, report, ours)
        _progress(len(records), len(records))
        return report

    def _picture(self, name: str, record: int, data: bytes, report: Report, ours: ThreadPoolExecutor) -> None:
        """One picture: Pillow works on it while we do."""
        made = ours.submit(lambda: [task.ours(data, record, name) for task in self._tasks])
        opened = refusal = fault = None
        arrays: list[np.ndarray] = []
        theirs: list[Image.Image] = []
        try:
            opened = Opened(data)
            theirs = [task.theirs(opened, task.plan(data, record)) for task in self._tasks]
        except PictureError:
            # We cannot open it, which our side says too. That Pillow can is known by then.
            pass
        except Exception as error:
            refusal = f"{type(error).__name__}: {error}"
        try:
            arrays = made.result()
        except PictureError as error:
            fault = _reason(error, name)
        if fault is None and refusal is None and opened is not None:
            self._count(name, arrays, opened, [np.asarray(each) for each in theirs], report)
        elif refusal is None:
            report.refused_by_us.append((name, str(fault)))
        elif fault is None:
            report.refused_by_pillow.append((name, refusal))
        else:
            report.refused_by_both += 1

    def _count(
        self, name: str, ours: Sequence[np.ndarray], opened: Opened, theirs: Sequence[np.ndarray], report: Report
    ) -> None:
        for task, our, their in zip(self._tasks, ours, theirs):
            difference = Difference.between(our, their)
            if difference is None:
                report.other_size.append(name)
                return
            if task is self._tasks[0]:
                report.add_whole(name, opened.kind, opened.turned, opened.coloured, difference)
            if report.tasks[task.name].add(name, difference):
                self.sheet.keep(report.path, task.name, name, our, their, difference)


def _reason(error: Exception, name: str) -> str:
    """What is wrong with a picture, without its name and without what to do about it."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text.replace(f"{name}: ", "", 1).partition(". ")[0]


def _progress(done: int, of: int) -> None:
    """A line for who watches a terminal."""
    if sys.stderr.isatty():
        line = f"{done} of {of} pictures" if done < of else ""
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
