# SPDX-License-Identifier: BSD-3-Clause
"""The scales of layers in a round-off log, for `scale: {unit: table}`."""

from apsmpi_log.columns import COLUMNS, NEEDED
from apsmpi_log.lines import LogFile
from apsmpi_log.runs import LastRun
from apsmpi_log.text import UserError

from .tensor import LayersError


class ScaleLog(LogFile):
    """scales: {name: standard deviation} of the last run, by each layer's last row."""

    columns = {name: COLUMNS[name] for name in (
        *NEEDED, "run", "reduce", "name", "scale", "scale_value", "shadow")}

    def __init__(self, path):
        super().__init__(path, lambda note: None)
        self.last_run, self.scales = LastRun(), {}

    def read_rows(self, columns, events):
        rows, begin = self.last_run.select(columns)
        if begin is not None:
            self.scales.clear()
        for row in rows:
            if (row >= (begin or 0) and columns["scale"][row] == "unit"
                    and columns["shadow"][row] == 0):
                self.scales[columns["name"][row]] = 1 / columns["scale_value"][row]

    def take_events(self, events):
        """Events have no scales."""


def read_scales(path):
    """Returns {name: standard deviation} of the last run in a log, apsmpi-log(5): the
    inverse of what unit multiplied the layer's values by at last."""
    log = ScaleLog(path)
    try:
        log.read()
    except UserError:
        raise LayersError("it is no log of apsmpi") from None
    return log.scales
