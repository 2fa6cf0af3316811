# SPDX-License-Identifier: BSD-3-Clause
"""Logs and summaries of jobs, as DataFrames of pandas and as figures."""

from __future__ import annotations

import json
import os
import warnings
from typing import Any, Union

from .library import ApsError

Path = Union[str, "os.PathLike[str]"]


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("logs become DataFrames of pandas; install pandas") from None
    return pandas


def read_log(path: Path) -> Any:
    """The rows of a round-off log (apsmpi-log(5)), one a sample, with the names of
    layers. Events of the log are in .attrs["events"]. Lines that are not whole are
    skipped with a warning."""
    from apsmpi_log.columns import COLUMNS, NAN, floats
    from apsmpi_log.lines import LogFile
    from apsmpi_log.text import UserError

    class Rows(LogFile):  # type: ignore[misc]
        columns = {**COLUMNS, "call": (list, ""), "type": (list, "float"),
                   "density": (floats, NAN), "rank": (floats, NAN)}

        def __init__(self) -> None:
            super().__init__(os.fspath(path), warnings.warn)
            self.cells: dict[str, list[Any]] = {name: [] for name in self.columns}
            self.events: list[str] = []

        def read_rows(self, columns: Any, events: Any) -> None:
            for name, cells in self.cells.items():
                cells.extend(columns[name])
            self.take_events([event for _, event in events])

        def take_events(self, events: Any) -> None:
            self.events.extend(events)

    pandas = _pandas()
    rows = Rows()
    try:
        rows.read()
    except UserError as error:
        raise ApsError(str(error)) from None
    frame = pandas.DataFrame(rows.cells)
    frame.attrs["events"] = rows.events
    return frame


def plot(path: Path, *more: Path, kind: str = "errors", last: bool = False) -> Any:
    """A figure of matplotlib, as apsmpi-report(1) draws it of these logs. kind: errors,
    scales, residuals, or lost, what formats lose over the scale. last: only the last
    run of each log."""
    from apsmpi_log.text import UserError
    from apsmpi_report.command import PLOTS, parse_arguments, read_logs, shown_by
    from apsmpi_report.figures import load_matplotlib

    if kind not in PLOTS:
        raise ApsError("kind %r is not one of %s" % (kind, ", ".join(PLOTS)))
    options = parse_arguments(
        [*["--last"] * last, "--", *(str(os.fspath(log)) for log in (path, *more))])
    try:
        shown = shown_by(kind, read_logs(options, True))
        if not shown:
            raise ApsError("no rows to draw in %s" % ", ".join(options.logs))
        return PLOTS[kind][1](*load_matplotlib("plot()", backend=None), shown)
    except UserError as error:
        raise ApsError(str(error)) from None


def read_summary(path: Path) -> Any:
    """The summaries that APSMPI_SUMMARY=json:FILE has appended, one row a job. A
    member inside a member has a name such as "passed.integers"."""
    pandas = _pandas()
    jobs = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                jobs.append(json.loads(line))
            except ValueError:
                raise ApsError("%s:%d: not a summary in JSON; a job writes one with "
                               "APSMPI_SUMMARY=json:FILE"
                               % (os.fspath(path), number)) from None
    return pandas.json_normalize(jobs)
