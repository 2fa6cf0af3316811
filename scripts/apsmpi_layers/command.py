# SPDX-License-Identifier: BSD-3-Clause
"""The arguments of apsmpi-layers, and the work of the command."""

import argparse
import os
import sys
import tempfile

from . import limits
from .library import VERSION
from .reading import read_model
from .scales import read_scales
from .table import Table, read_names
from .tensor import LayersError


def note(text):
    print("apsmpi-layers: " + text.encode("ascii", "backslashreplace")
          .decode("ascii"), file=sys.stderr)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="apsmpi-layers",
        description="Write the layer table of a model, in forward order, from "
        "a file of safetensors, numpy (.npz), ONNX, PyTorch or Keras (HDF5).")
    parser.add_argument("model", metavar="MODEL", help="the file")
    parser.add_argument("--output", metavar="FILE",
                        help="the table (default: standard output)")
    parser.add_argument("--order", choices=["forward", "backward", "any", "ddp"],
                        default="forward",
                        help="order in which the program sums its layers "
                        "(default: forward); ddp: as DistributedDataParallel does")
    parser.add_argument("--bucket-mb", type=int, default=25, metavar="N",
                        help="bucket_cap_mb of DistributedDataParallel (default: 25)")
    parser.add_argument("--like", metavar="TABLE",
                        help="the rows in the order of the names in TABLE")
    parser.add_argument("--scales", metavar="LOG",
                        help="a column scale for `scale: {unit: table}`, from the last "
                        "run in LOG, under `scale: unit`")
    parser.add_argument("--all", action="store_true",
                        help="also tensors that are not floats, statistics and "
                        "masks")
    parser.add_argument("--version", action="version",
                        version="apsmpi-layers " + VERSION)
    return parser.parse_args(arguments)


def make_table(options):
    """Returns the table. A LayersError names the file."""
    path = options.model
    try:
        table = Table(read_model(path), options.all)
        if options.like:
            path = options.like
            names = read_names(path)
            path = options.model
            table.order_like(names, options.like)
        if options.scales:
            path = options.scales
            scales = read_scales(path)
            path = options.model
            table.take_scales(scales, options.scales)
        if options.order == "ddp":
            table.order_ddp(options.bucket_mb)
        return table
    except LayersError as error:
        raise LayersError("%s: %s" % (path, error)) from None
    except OSError as error:
        raise LayersError("%s: %s" % (path, error.strerror)) from None
    except MemoryError:
        raise LayersError("%s: reading it takes more than %d MiB of memory"
                          % (path, limits.MEBIBYTES)) from None
    except Exception as error:      # the file decides which
        raise LayersError("%s: it cannot be read: %s" % (path, error)) from None


def write_file(path, text):
    """Replaces the file as a whole, or leaves it as it is."""
    mask = os.umask(0)
    os.umask(mask)
    try:
        if os.path.exists(path) and not os.path.isfile(path):  # a pipe
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(text)
            return
        made, name = tempfile.mkstemp(dir=os.path.dirname(path) or ".")
        try:
            with open(made, "w", encoding="utf-8") as stream:
                stream.write(text)
            os.chmod(name, 0o666 & ~mask)
            os.replace(name, path)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise LayersError("%s: %s" % (path, error.strerror)) from None


def write_standard_output(text):
    """A reader that closes the pipe early (head) is not an error; a full disk is."""
    try:
        sys.stdout.reconfigure(encoding="utf-8")
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # Python flushes once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise LayersError("standard output: %s" % error.strerror) from None


def main(arguments):
    """Returns twice: in the child, which reads and writes, and in its parent."""
    options = parse_arguments(arguments)
    child = os.fork()
    if child:
        status = limits.wait_for(child)
        if isinstance(status, int):
            return status
        note("%s: %s" % (options.model, status))
        return 2
    try:
        table = make_table(options)
        text = table.text(os.path.basename(options.model), options.order)
        if options.output:
            write_file(options.output, text)
        else:
            write_standard_output(text)
    except LayersError as error:
        note(str(error))
        return 2
    if table.guessed:
        note("%s: its tensors are sorted by name, so the order of the rows is "
             "a guess; see the comments of the table" % options.model)
    return 0
