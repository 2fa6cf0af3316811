# SPDX-License-Identifier: BSD-3-Clause
"""The way in which a run identified its layers. All logs, the options and the layer
table must agree on it, because the rules of the policy name layers in this way."""

import csv

from apsmpi_log.text import UserError, plural

TABLE = "a layer table"


def way_of(said, layers):
    """Returns the way in words, or None if the log lacks it."""
    steps = said.get("steps")
    if steps == "table" or "table" in said or any(layer.name for layer in layers):
        return TABLE
    if steps == "no":
        return "their sizes"
    if not steps:
        return None
    return "steps: %s" % steps + (
        ", order: %s" % said["order"] if said.get("order") else "")


def check_options(options, path, said, way):
    """Raises UserError if an option contradicts the log."""
    steps = said.get("steps")
    if not steps:
        return
    told = {"steps": "auto" if steps == "auto" else steps.replace("calls ", ""),
            "order": said.get("order", "forward"), "per-epoch": said.get("per_epoch")}
    for name, value in told.items():
        given = getattr(options, name.replace("-", "_"))
        if given is None or value in (None, "%s" % given):
            continue
        raise UserError("--%s %s: %s, and the second run must count as the first did: "
                        "leave the option out" % (name, given, (
                            "%s identifies layers by %s" % (path, way)
                            if name == "steps" else "%s has %s: %s" % (
                                path, name.replace("-", "_"), value))))


class Agreement:
    """The agreement of several logs. Raises UserError if a log differs from earlier
    ones."""

    def __init__(self, options):
        self.options = options
        self.way = None         # (path, result of way_of()) of the first such log
        self.places = {}        # {index of a layer: (path, Layer)}

    def add(self, path, said, layers):
        way = way_of(said, layers)
        if self.way and way and way != self.way[1]:
            raise UserError("%s identifies layers by %s, %s by %s: give logs of one "
                            "kind" % (*self.way, path, way))
        if way and not self.way:
            self.way = (path, way)
        check_options(self.options, path, said, way)
        for layer in layers:
            if layer.layer < 0:
                continue
            other, first = self.places.setdefault(layer.layer, (path, layer))
            if first != layer and other != path:
                raise UserError("layer %d is %s in %s, and %s in %s: give logs of the "
                                "same layers" % (layer.layer, show(first), other,
                                                 show(layer), path))

    def check_table(self, path):
        """Raises UserError if the user's table has other layers than the logs."""
        table = read_table(path)
        if self.way and self.way[1] != TABLE:
            raise UserError("--table %s: %s identifies layers by %s, whose numbers are "
                            "not those of a table: leave the option out" % (
                                path, *self.way))
        for index, (log, layer) in sorted(self.places.items()):
            if index >= len(table):
                raise UserError("--table %s: it has %s, and %s has layer %d, %s: name "
                                "the table of that run" % (
                                    path, plural(len(table), "layer"), log, index,
                                    show(layer)))
            name, count = table[index]
            if count != layer.count or (layer.name and layer.name != name):
                raise UserError("--table %s: layer %d is %s, and %s in %s: name the "
                                "table of that run" % (
                                    path, index, show(layer._replace(
                                        count=count, name=name)), show(layer), log))


def show(layer):
    """Returns a text such as `fc1.bias of 64 elements`."""
    return (layer.name + " of " if layer.name else "") + plural(layer.count, "element")


def read_rows(path):
    """Yields pairs of the number of a line and its fields, without comments."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            lines = [(number, line) for number, line in enumerate(file, 1)
                     if line.strip() and not line.lstrip().startswith("#")]
        rows = csv.reader((line for _, line in lines), skipinitialspace=True,
                          strict=True)
        return [(number, [field.strip() for field in row])
                for (number, _), row in zip(lines, rows)]
    except OSError as error:
        raise UserError("--table %s: %s" % (path, error.strerror)) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError("--table %s: no layer table: %s" % (path, error)) from None


def read_table(path):
    """Returns [(name, count)] of a layer table, by the layers' indices."""
    rows = read_rows(path)
    if not rows:
        raise UserError("--table %s: the table has no layers" % path)
    header = rows[0][1]
    for name in ("layer", "name", "count"):
        if name not in header:
            raise UserError("--table %s:%d: the table has no column '%s'"
                            % (path, rows[0][0], name))
    places = [header.index(name) for name in ("layer", "name", "count")]
    table = []
    for number, row in rows[1:]:
        if len(row) <= max(places):
            raise UserError("--table %s:%d: too few fields" % (path, number))
        index, name, count = (row[place] for place in places)
        if index != "%d" % len(table):
            raise UserError("--table %s:%d: layer index '%s' out of order: expected %d"
                            % (path, number, index, len(table)))
        if not count.isdecimal():
            raise UserError("--table %s:%d: count '%s' is not a whole number"
                            % (path, number, count))
        table.append((name, int(count)))
    if not table:
        raise UserError("--table %s: the table has no layers" % path)
    return table
