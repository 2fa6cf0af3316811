# SPDX-License-Identifier: BSD-3-Clause
"""Tells layers from other tensors, and writes the layer table as text."""

import csv
import io
import re

from . import ddp
from .library import VERSION
from .order import forward_key, like
from .tensor import LayersError

COUNT_MAX = 2 ** 63 - 1  # largest count of the library, on 64 bits
DIMENSIONS_MAX = 8       # dimensions of a shape, apsmpi-policy(5)
MIN_COUNT = 1024         # the policy's default
NAMED_MAX = 5            # names of tensors that a comment lists

# Tensors of floats without gradients: statistics, masks, constants.
BUFFER = re.compile(r"(^|[./])(running_mean|running_var|num_batches_tracked|"
                    r"moving_mean|moving_variance|position_ids|inv_freq|"
                    r"masked_bias)$|(^|[./])h\.\d+\.attn\.bias$")


def is_buffer(tensor):
    if tensor.buffer:
        return True
    found = BUFFER.search(tensor.name)
    # GPT-2's attention has a causal mask of the name "bias", 1x1xNxN.
    return bool(found) and (not tensor.name.endswith(".attn.bias") or
                            len(tensor.shape) == 4)


class Table:
    """The layers of a model, in forward order.

    layers  Tensors
    left    reason -> names of tensors that are not layers
    guessed True if the order is a guess from the names
    first   name -> place in the first step, if that has an order of its own
    calls   then the elements of the calls of later steps
    scales  name -> standard deviation of the gradients, or nothing
    """

    def __init__(self, model, everything=False):
        self.layers, self.left = [], dict(model.left)
        self.first, self.calls, self.scales = {}, [], {}
        for tensor in model.tensors:
            reason = self.reason(tensor, everything)
            if reason:
                self.left.setdefault(reason, []).append(tensor.name)
            else:
                self.layers.append(tensor)
        self.guessed = not model.ordered
        if self.guessed:
            self.layers.sort(key=lambda tensor: forward_key(tensor.name))
        self.check()

    @staticmethod
    def reason(tensor, everything):
        """Returns why a tensor is not a layer, or None if it is one."""
        if tensor.count == 0:
            return "without elements"
        if tensor.alias is not None:
            return "the same memory as another"
        if everything:
            return None
        if not tensor.is_float():
            return "not floats"
        return "not a parameter, by its name or the graph" \
            if is_buffer(tensor) else None

    def check(self):
        if not self.layers:
            raise LayersError("it holds no tensor of floats with elements")
        names = set()
        for tensor in self.layers:
            if not tensor.name.isprintable():
                raise LayersError("the name of tensor %r is not printable"
                                  % tensor.name)
            if tensor.name in names:
                raise LayersError("two tensors have the name %s" % tensor.name)
            names.add(tensor.name)
        if self.total > COUNT_MAX:
            raise LayersError("it would have %d elements: its sizes are wrong"
                              % self.total)

    @property
    def total(self):
        return sum(tensor.count for tensor in self.layers)

    def order_like(self, wanted, path):
        """Sorts the layers in the order of another table, at `path`."""
        by_name = {tensor.name: tensor for tensor in self.layers}
        names, missing, more = like(list(by_name), wanted)
        if missing or more:
            raise LayersError("%s names other layers: %s" % (path, "; ".join(
                "%s %s" % (what, some(found)) for what, found in
                (("it lacks", more), ("only it has", missing)) if found)))
        self.layers = [by_name[name] for name in names]
        self.guessed = False

    def take_scales(self, scales, path):
        """Gives each layer its scale; scales of read_scales, from the log `path`."""
        missing = [t.name for t in self.layers if t.name not in scales]
        if missing:
            raise LayersError("%s has no row of its last run with `scale: unit` for %s"
                              % (path, some(missing)))
        self.scales = scales

    def order_ddp(self, megabytes):
        """Sorts the layers in the order of DistributedDataParallel's calls."""
        self.first = {tensor.name: place for place, tensor in enumerate(self.layers)}
        self.layers = ddp.later_order(self.layers)
        self.calls = ddp.calls_of(self.layers, megabytes)

    def comments_ddp(self):
        yield "The rows are in the order in which DistributedDataParallel sums them"
        yield "from the second step on, by %s elements. The first" % some(
            ["%d" % call for call in self.calls])
        yield "step sums all of them by one call, in the order of the column first."
        yield "The policy needs no `order`."
        yield "This holds if the program uses its modules in the order in which it"
        yield "made them, and without find_unused_parameters=True; else write the"
        yield "table with the hook of apsmpi-recipes(7)."

    def comments(self, source, order):
        small = sum(tensor.count < MIN_COUNT for tensor in self.layers)
        yield "Written by apsmpi-layers %s from %s: %d layers, %d elements." \
            % (VERSION, source, len(self.layers), self.total)
        for reason, names in sorted(self.left.items()):
            yield "Left out: %s (%s)." % (some(names), reason)
        if self.guessed:
            yield "The file has its tensors sorted by name: the order is a"
            yield "guess. Compare it with model.named_parameters(), or give"
            yield "--like a table in the right order."
        if self.first:
            yield from self.comments_ddp()
        else:
            yield "The rows are in forward order. The program sums %s:" % {
                "forward": "its first layer first",
                "backward": "its last layer first",
                "any": "its layers in an order that changes, each by a call"}[order]
            yield "say `steps: {order: %s}` in the policy." % order
        if order != "any":
            yield "A call may carry any run of consecutive rows, up to the whole"
            yield "table: each row keeps its own scale and format."
        if small:
            yield "%d of the layers have fewer than %d elements, the default " \
                "of min_count." % (small, MIN_COUNT)

    def text(self, source, order):
        stream = io.StringIO()
        for line in self.comments(source, order):
            stream.write("# %s\n" % "".join(
                c if c.isprintable() else "?" for c in line))
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["layer", "name", "count", "shape"] + ["first"] * bool(
            self.first) + ["scale"] * bool(self.scales))
        for index, tensor in enumerate(self.layers):
            fits = len(tensor.shape) <= DIMENSIONS_MAX
            writer.writerow([index, tensor.name, tensor.count, "x".join(
                map(str, tensor.shape)) if fits else ""] + [
                    self.first.get(tensor.name)] * bool(self.first) + [
                        "%.9g" % self.scales.get(tensor.name, 0)] * bool(self.scales))
        return stream.getvalue()


def some(names):
    rest = len(names) - NAMED_MAX
    return ", ".join(names[:NAMED_MAX]) + \
        (" and %d more" % rest if rest > 0 else "")


def read_names(path):
    """Returns the names of a layer table, in its order."""
    with open(path, encoding="utf-8-sig", newline="") as stream:
        lines = [line for line in stream if line.strip() and
                 not line.lstrip().startswith("#")]
    rows = [[field.strip() for field in row] for row in
            csv.reader(lines, skipinitialspace=True)]
    if not rows or "name" not in rows[0]:
        raise LayersError("its first line does not name a column 'name'")
    place = rows[0].index("name")
    if any(len(row) <= place for row in rows):
        raise LayersError("a line of it has no name")
    return [row[place] for row in rows[1:]]
