# SPDX-License-Identifier: BSD-3-Clause
"""How long candidates take on a cluster: what `apsmpi explain` predicts for the
all-reduce of each layer, and for native MPI's in FP32."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

from apsmpi_log.text import UserError

# Options of explain with their values.
OPTIONS = ("hosts", "ranks-per-host", "rate", "latency", "cores", "measured")


def asked(options):
    """The arguments for explain; none: no times are asked for."""
    arguments = []
    for name in OPTIONS:
        value = getattr(options, name.replace("-", "_"))
        if value is not None:
            arguments += ["--" + name, value]
    return arguments


def find_command():
    """The apsmpi that is installed with this command, or the one in PATH."""
    for path in (sys.argv[0], os.path.realpath(sys.argv[0])):
        stem, found, rest = path.rpartition("-suggest")
        if found and not rest and os.access(stem, os.X_OK) and os.path.isfile(stem):
            return stem
    command = shutil.which("apsmpi")
    if command is None:
        raise UserError("times are predicted by the command apsmpi, which is neither "
                        "beside %s nor in PATH" % sys.argv[0])
    return command


def write_policy(folder, candidates, counts):
    """A rule for each candidate, for a layer of each count; its path."""
    table, policy = (os.path.join(folder, name) for name in ("t.csv", "p.yaml"))
    with open(table, "w", encoding="utf-8") as file:
        # A scale from the table takes equal time with any factor.
        file.write("layer,name,count,scale\n")
        for layer in range(len(candidates) * len(counts)):
            file.write("%d,l%d,%d,1\n" % (layer, layer, counts[layer % len(counts)]))
    with open(policy, "w", encoding="utf-8") as file:
        file.write("version: 1\nmin_count: 1\ntable: t.csv\nrules:\n")
        for i, candidate in enumerate(candidates):
            first = i * len(counts)
            file.write("  - {layers: %d-%d, %s}\n" % (
                first, first + len(counts) - 1,
                ", ".join("%s: %s" % pair for pair in candidate.rule())))
    return policy


def explain(command, policy, arguments):
    """Returns the layers of the policy in the output of `apsmpi explain`."""
    try:
        done = subprocess.run([command, "explain", "--json", *arguments, policy],
                              capture_output=True, check=False)
    except OSError as error:
        raise UserError("%s: %s" % (command, error.strerror)) from None
    try:
        told = json.loads(done.stdout)
    except ValueError:
        told = {"ok": False, "errors": []}
    if not told["ok"]:
        raise UserError("apsmpi explain: " + ("; ".join(
            (error["file"] + ": " if error["file"] else "") + error["text"]
            for error in told["errors"]) or "status %d, %s" % (
                done.returncode, done.stderr.decode("utf-8", "replace").strip())))
    return told["prediction"]


class Times:
    """Seconds of a call: of a candidate, and of native MPI."""

    def __init__(self, candidates, counts, arguments):
        candidates, counts = list(candidates), sorted(set(counts))
        command = find_command()
        try:
            with tempfile.TemporaryDirectory(prefix="apsmpi-suggest-") as folder:
                told = explain(command, write_policy(folder, candidates, counts),
                               arguments)
        except OSError as error:
            raise UserError("a policy for apsmpi explain cannot be written: %s"
                            % error) from None
        self.hosts = told["cluster"]["hosts"]
        self.ranks = told["cluster"]["ranks_per_host"]
        self.busy = told["cluster"]["busy_because"]     # None: idle machines
        self.seconds, self.native = {}, {}
        layers = iter(told["spans"][0]["layers"])
        for candidate in candidates:
            for count in counts:
                layer = next(layers)
                self.seconds[candidate, count] = layer["seconds"]
                if layer["seconds"] is not None:
                    self.native[count] = layer["native"]["mpich"]

    def of(self, candidate, count):
        """None where nothing is predicted: a compressor takes such layers."""
        return self.seconds[candidate, count]
