#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""python_package.py DATA MANUAL: the package apsmpi by itself: doctests, the programs
of its manual page, arrays of all kinds, bad arguments, and state. TAP."""

import array
import contextlib
import doctest
import importlib
import importlib.util
import io
import itertools
import json
import math
import os
import re
import sys
import tempfile

import numpy as np

sys.dont_write_bytecode = True

import apsmpi  # noqa: E402
from python_checks import counted, ok, refuses, same, skip  # noqa: E402
from python_torch import test_torch  # noqa: E402

MODULES = ("cluster", "compressors", "formats", "policies", "products", "quantizing",
           "roundoff", "scalers")


def test_doctests():
    for name in MODULES:
        result = doctest.testmod(importlib.import_module("apsmpi." + name))
        ok(result.attempted > 0 and result.failed == 0, "doctests of %s" % name)


def test_manual(path):
    """Each block after a line `.\\" python` is a program; what it prints is in the next
    block."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    programs = re.findall(r'(?s)\.\\" python\n\.Bd[^\n]*\n(.*?)\.Ed\n(.*?)\.Ed', text)
    ok(len(programs) > 1, "%s has programs" % os.path.basename(path))
    for i, (program, after) in enumerate(programs):
        shown = after[after.index(".Bd"):].split("\n", 1)[1]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(program.replace("\\-", "-").replace("\\e", "\\"), {})
        ok(out.getvalue() == shown.replace("\\-", "-"), "program %d of the manual" % i)
        if out.getvalue() != shown.replace("\\-", "-"):
            print("# " + out.getvalue().replace("\n", "\n# "))


def test_arrays():
    x = np.linspace(-3, 3, 1000, dtype=np.float32)
    want = apsmpi.quantize(x, "e4m3")
    ok(want is not x and not same(want, x), "quantize returns another array")
    ok(same(apsmpi.quantize(array.array("f", x), "e4m3"), want),
       "an object with a buffer")

    class Exporter:
        def __dlpack__(self, **arguments):
            return x.__dlpack__(**arguments)

        def __dlpack_device__(self):
            return x.__dlpack_device__()

    ok(same(apsmpi.quantize(Exporter(), "e4m3"), want), "an object with DLPack")
    ok(apsmpi.quantize(x, "e4m3", out=x) is x and same(x, want), "out may be x")
    table = np.arange(12, dtype=np.float32).reshape(3, 4)
    ok(apsmpi.quantize(table, "bfp3/4").shape == (3, 4), "the shape stays")
    ok(same(apsmpi.quantize(table, "e3m0", 3),
            apsmpi.quantize(table * 8, "e3m0") / np.float32(8)), "an exponent as scale")
    a = apsmpi.quantize(table, "e2m1fn", rounding="stochastic", seed=1)
    b = apsmpi.quantize(table, "e2m1fn", rounding="stochastic", seed=2)
    ok(not same(a, b), "random bits depend on the seed")


def test_bad_arrays():
    x = np.ones(8, np.float32)
    read_only = x.copy()
    read_only.flags.writeable = False
    refuses("float64", TypeError, "astype(numpy.float32)", apsmpi.quantize,
            np.ones(4), "e4m3")
    refuses("integers", TypeError, "float32", apsmpi.quantize, np.arange(4), "e4m3")
    refuses("a list", TypeError, "numpy.float32", apsmpi.quantize, [1.0], "e4m3")
    refuses("not contiguous", ValueError, "ascontiguousarray", apsmpi.quantize, x[::2],
            "e4m3")
    refuses("read-only", ValueError, "read-only", apsmpi.quantize, x, "e4m3",
            out=read_only)
    refuses("empty", ValueError, "empty", apsmpi.quantize, x[:0], "e4m3")
    refuses("out of another shape", ValueError, "shape", apsmpi.quantize, x, "e4m3",
            out=x[:4])
    refuses("no such format", apsmpi.ApsError, "formats()", apsmpi.quantize, x, "e9m9")
    refuses("no such rounding", apsmpi.ApsError, "nearest", apsmpi.quantize, x, "e4m3",
            rounding="up")
    refuses("no such scale", apsmpi.ApsError, "Scaler", apsmpi.quantize, x, "e4m3",
            "backoff")
    refuses("qsgd to nearest", apsmpi.ApsError, "qsgd", apsmpi.quantize, x, "qsgd7/8")
    ok(same(apsmpi.quantize(read_only, "e4m3"), x), "a read-only input is allowed")
    refuses("out and x overlap", ValueError, "shares memory", apsmpi.quantize, x[:-1],
            "e4m3", out=x[1:])
    refuses("out is not contiguous", ValueError, "contiguous array", apsmpi.quantize,
            x[:4], "e4m3", out=x[::2])
    for name, value in (("scale", 2 ** 32), ("seed", -1), ("layer", 2 ** 32),
                        ("step", -1), ("ranks", -1)):
        refuses("%s is %d" % (name, value), apsmpi.ApsError, name + " is",
                apsmpi.quantize, x, "e4m3", **{name: value})
    refuses("a float for an int", TypeError, "pass an integer", apsmpi.quantize, x,
            "e4m3", step=2.0)
    refuses("a scale for blocks", apsmpi.ApsError, "blocks itself", apsmpi.quantize, x,
            "bfp7/8", 3)
    ok(same(apsmpi.quantize(x, "e4m3", np.int64(3)), apsmpi.quantize(x, "e4m3", 3)),
       "a scale from NumPy")
    refuses("negative bytes", apsmpi.ApsError, "count", apsmpi.Format("e4m3").bytes, -1)
    ok(math.isnan(apsmpi.snr(np.zeros(8, np.float32), x)), "snr of nothing is NaN")


def test_products():
    random = np.random.default_rng(1)
    a = random.standard_normal((7, 5)).astype(np.float32)
    b = random.standard_normal((5, 6)).astype(np.float32)
    want = np.zeros((7, 6), np.float32)
    first, second = apsmpi.quantize(a, "e4m3"), apsmpi.quantize(b, "e4m3")
    for k in range(5):
        product = np.outer(first[:, k], second[k])
        want = apsmpi.quantize(want + apsmpi.quantize(product, "e4m3"), "e5m10")
    ok(same(apsmpi.gemm(a, b, "e4m3", "e5m10"), want), "gemm rounds each operation")
    ok(same(apsmpi.gemm(np.ascontiguousarray(a.T), b, "e4m3", "e5m10",
                        transpose_a=True), want), "... of a transposed matrix")
    ok(not same(apsmpi.gemm(a, b, "e4m3", "e4m3", kahan=True),
                apsmpi.gemm(a, b, "e4m3", "e4m3")), "... with Kahan's sums")
    key = {"rounding": "stochastic", "seed": 5, "step": 3, "rank": 2}
    columns = apsmpi.quantize(np.ascontiguousarray(b.T), "e4m3", stage=1, **key).T
    ok(same(apsmpi.gemm(a, b, "e4m3", "e5m10", **key),
            apsmpi.gemm(apsmpi.quantize(a, "e4m3", **key),
                        np.ascontiguousarray(columns), "e4m3", "e5m10")),
       "... of operands that are rounded stochastically")
    refuses("gemm: rounding", ValueError, "one of nearest, stochastic", apsmpi.gemm, a, b,
            rounding="cpd")
    refuses("gemm: shapes", ValueError, "columns", apsmpi.gemm, a, a)
    refuses("gemm: a vector", ValueError, "matrix", apsmpi.gemm, a[0], b)
    refuses("gemm: beta", ValueError, "out", apsmpi.gemm, a, b, beta=1)
    square = np.ones((6, 6), np.float32)
    refuses("gemm: out is an input", ValueError, "shares memory", apsmpi.gemm, square,
            square, out=square)
    # quant_gemm of CPD: products and Kahan's sums in the format.
    result = carry = np.zeros((7, 6), np.float32)
    for k in range(5):
        y = apsmpi.quantize(apsmpi.quantize(np.outer(first[:, k], second[k]), "e4m3") -
                            carry, "e4m3")
        t = apsmpi.quantize(result + y, "e4m3")
        carry = apsmpi.quantize(apsmpi.quantize(t - result, "e4m3") - y, "e4m3")
        result = t
    ok(same(apsmpi.gemm(first, second, "e4m3", kahan=True), result),
       "gemm as CPD's quant_gemm")


def test_policies():
    table = "layer,name,count\n0,conv,8192\n1,fc,4096\n"
    text = ("version: 1\ntable: layers.csv\nrules:\n  - {layers: fc, format: fp32}\n"
            "  - {format: e4m3, scale: aps}\n")
    policy = apsmpi.Policy(text, table)
    plan = policy.plan(name="conv")
    ok(plan.rule == 1 and plan.format == apsmpi.Format("e4m3") and plan.bytes == 8192
       and str(plan) == "{format: e4m3, scale: aps}", "the plan of a layer by its name")
    ok(not policy.plan(name="fc").is_reduced, "a layer in FP32")
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (("policy.yaml", text), ("layers.csv", table)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        read = apsmpi.Policy.read(os.path.join(folder, "policy.yaml"))
        ok(str(read.plan(name="conv")) == str(plan), "a policy and its table in files")
        refuses("no file", apsmpi.ApsError, "none.yaml", apsmpi.Policy.read,
                os.path.join(folder, "none.yaml"))
    refuses("no rule", apsmpi.ApsError, "Policy.read", apsmpi.Policy, "e4m3")
    refuses("a wrong key", apsmpi.ApsError, "policy:4:", apsmpi.Policy, "formt: e4m3")
    refuses("a layer without a table", apsmpi.ApsError, "'fc'",
            apsmpi.Policy("format: e4m3").plan, 4096, name="fc")


def test_clusters():
    x = [np.full(3, 1 + rank, np.float32) for rank in range(4)]
    cluster = apsmpi.Cluster(2, 2, "format: e4m3, scale: aps")
    total = cluster.allreduce(x)
    ok(same(total, np.full(3, 10, np.float32)), "an exact sum")
    refuses("too few arrays", ValueError, "4 ranks", cluster.allreduce, x[:3])
    refuses("shapes", ValueError, "gradients[3]", cluster.allreduce,
            x[:3] + [x[0][:2]])
    refuses("out is an input", ValueError, "another array", cluster.allreduce, x,
            out=x[1])
    refuses("too many ranks", apsmpi.ApsError, "nodes is", apsmpi.Cluster, 2 ** 32, 1,
            "format: e4m3")
    refuses("MPI's own sums", apsmpi.NotPlayed, "leaves the layer to MPI",
            apsmpi.Cluster(2, 2, "format: fp32").allreduce, x)
    refuses("a compressor", apsmpi.NotPlayed, "compresses",
            apsmpi.Cluster(2, 2, "format: e4m3, compress: {topk: 0.1}").allreduce, x)
    refuses("no ranks", apsmpi.ApsError, "pass 1 to", apsmpi.Cluster, 0, 2,
            "format: e4m3")
    many = apsmpi.Cluster(32, 8, "format: e5m2, scale: aps")
    x = np.random.default_rng(2).standard_normal((256, 2000)).astype(np.float32)
    error = apsmpi.snr(x.sum(axis=0, dtype=np.float64), many.allreduce(list(x)))
    ok(20 < error < 60, "256 ranks: %.1f dB" % error)
    ok(same(apsmpi.sum_gradients(list(x[:3]), "format: e8m23, reduce: direct"),
            x[0] + x[1] + x[2]), "sum_gradients in FP32")


def sum_of_cpd(gradients, form, aps, kahan):
    """sum_gradients(model, use_APS=aps, ...) of CPD's CPDtorch/utils/dist_util.py, for
    one array of each rank."""
    exponent = math.ceil(max(
        math.log2(float(np.abs(x * np.float32(len(gradients))).max()))
        for x in gradients))
    greatest = 2 ** (apsmpi.Format(form).exponent_bits - 1) - 1
    shift = greatest - exponent if aps else 0

    def rounded(x):
        return apsmpi.quantize(x, form, rounding="cpd")

    result = carry = np.zeros_like(gradients[0])
    for x in gradients:
        value = rounded(x * np.float32(2.0 ** shift))
        if not kahan:
            result = rounded(result + value)
            continue
        y = rounded(value - carry)
        t = rounded(result + y)
        carry = rounded(rounded(t - result) - y)
        result = t
    return result / np.float32(2.0 ** shift)


def test_cpd():
    x = np.random.default_rng(4).standard_normal((8, 3000)).astype(np.float32)
    for form, scale, accumulate in itertools.product(
            ("e4m3", "e5m2", "e3m0"), ("aps", "none"), ("format", "kahan")):
        policy = ("format: %s, scale: %s, reduce: gather, accumulate: %s"
                  % (form, scale, accumulate))
        ok(same(apsmpi.sum_gradients(list(x), policy),
                sum_of_cpd(list(x), form, scale == "aps", accumulate == "kahan")),
           "8 ranks as CPD's emulate_node: %s" % policy)


class Optimizer:
    """As an optimizer of PyTorch, with arrays of NumPy."""

    def __init__(self, gradients):
        class Parameter:
            grad = None

        self.parameter = Parameter()
        self.parameter.grad = gradients
        self.param_groups = [{"params": [self.parameter]}]
        self.steps = 0

    def step(self):
        self.steps += 1


def test_scalers():
    scaler = apsmpi.Backoff(start=1024.0, window=2)
    optimizer = Optimizer(np.float32([2048, 1024]))
    ok(scaler.get_scale() == 1024 and scaler.scale(2.0) == 2048, "a loss is scaled")
    scaler.step(optimizer)
    scaler.update()
    ok(optimizer.steps == 1 and same(optimizer.parameter.grad, np.float32([2, 1])),
       "a step with finite gradients, which are unscaled")
    optimizer.parameter.grad = np.float32([math.inf, 1])
    scaler.step(optimizer)
    scaler.update()
    ok(optimizer.steps == 1 and scaler.get_scale() < 1024,
       "INF: no step, and a smaller scale (%g)" % scaler.get_scale())
    state = scaler.state_dict()
    other = apsmpi.Backoff(start=1024.0, window=2)
    other.load_state_dict(state)
    ok(other.get_scale() == scaler.get_scale(), "the state is loaded")
    refuses("the state of another scale", apsmpi.ApsError, "scale",
            apsmpi.LogMax().load_state_dict, state)
    refuses("a scale that asks", apsmpi.ApsError, "arrays",
            apsmpi.Scaler("underflow", "e4m3").get_scale)
    refuses("an unknown parameter", apsmpi.ApsError, "speed", apsmpi.Backoff, speed=3)
    refuses("the state of other parameters", apsmpi.ApsError, "parameter",
            apsmpi.Backoff(start=512.0, window=2).load_state_dict, state)
    refuses("no state", apsmpi.ApsError, "state_dict()", other.load_state_dict, {})
    first, second = Optimizer(np.float32([64])), Optimizer(np.float32([math.inf]))
    other = apsmpi.Backoff(start=64.0)
    other.unscale_(second)
    refuses("unscale_ twice", RuntimeError, "update", other.unscale_, second)
    other.step(first)
    other.step(second)
    ok(first.parameter.grad[0] == 1 and (first.steps, second.steps) == (1, 0),
       "two optimizers: each is unscaled, and the one with INF makes no step")
    refuses("two steps", RuntimeError, "update", other.step, first)
    other.update()
    ok(other.get_scale() < 64, "... and the scale is smaller")
    first.parameter.grad = np.float32([[1, 2], [3, 4]]).T * 16
    second.parameter.grad = np.ones(2)
    refuses("a gradient of float64", TypeError, "gradient 0", other.step, second)
    refuses("... is refused again", TypeError, "gradient 0", other.step, second)
    other.step(first)
    ok(first.parameter.grad[1, 0] == 32 / other.get_scale(), "a transposed gradient")
    for name in "logmax", "delayed", "autoflex", "dfxp":
        learnt = apsmpi.Scaler(name, "e4m3")
        scales = []
        for step in range(4):
            scales.append(learnt.get_scale())
            learnt.unscale_([np.float32([2.0 ** -12]) * np.float32(scales[-1])])
            learnt.update()
        ok(scales[0] == 1 and scales[-1] >= 256, "%s as a loss scale: %s"
           % (name, scales))
    refuses("a magnitude that is none", apsmpi.ApsError, "in_max is nan", other.update,
            in_max=math.nan)
    refuses("more arrays than ranks", ValueError, "2 arrays",
            apsmpi.Scaler("aps", "e4m3").exponent, np.float32([1]), np.float32([1]))
    x = np.float32([3, 0.5])
    ok(apsmpi.Scaler("aps", "e4m3", 2).exponent(x, x) ==
       apsmpi.Scaler("aps", "e4m3", 2).exponent(x), "aps: the exponent of two ranks")


def test_compressors():
    x = np.random.default_rng(3).standard_normal((3, 4096)).astype(np.float32)
    for rule in ("format: fp32, compress: {topk: 0.1}",
                 "format: fp32, compress: {powersgd: 2}",
                 "compress: ternary, feedback: on", "compress: vote",
                 "format: sign/64, feedback: on"):
        ranks = [apsmpi.Compressor(rule, 4096, rank, 3) for rank in range(3)]
        total = ranks[0].reduce(list(x), ranks[1:])
        if ranks[0].memory is None:
            ok(total.shape == (4096,), rule)
            continue
        kept = sum(one.memory.astype(np.float64) for one in ranks)
        ok(np.allclose(total + kept, x.sum(axis=0, dtype=np.float64), atol=1e-4),
           "%s: result and memories add up" % rule)
    refuses("no compressor", apsmpi.ApsError, "does not compress", apsmpi.Compressor,
            "format: e4m3", 4096)
    one = apsmpi.Compressor("format: fp32, compress: {topk: 0.1}", 4096)
    refuses("decode before encode", apsmpi.ApsError, "encode()", one.decode, [b""])
    for rule in "format: fp32, compress: {topk: 0.1}", "compress: {powersgd: 2}":
        ranks = [apsmpi.Compressor(rule, 4096, rank, 3) for rank in range(3)]
        bad = x.copy()
        bad[2, 5] = math.inf
        refuses("INF on one rank", apsmpi.ApsError, "not finite", ranks[0].reduce,
                list(bad), ranks[1:])
        ok(np.isfinite(ranks[0].reduce(list(x), ranks[1:])).all(),
           "... and the next call reduces")
        refuses("a rank twice", ValueError, "in order", ranks[0].reduce, list(x),
                [ranks[1], ranks[1]])
        ranks[0].encode(x[0])
        refuses("too few messages", apsmpi.ApsError, "3 ranks", ranks[0].decode, [b""])
        refuses("a call inside another", apsmpi.ApsError, "restart()",
                ranks[0].reduce, list(x), ranks[1:])
        for rank in ranks:
            rank.restart()
        memory = np.asarray(apsmpi.Compressor(rule, 4096, 0, 1).memory)
        ok(not memory.any(), "the memory outlives its compressor")
        refuses("too few gradients", ValueError, "2 gradients", ranks[0].reduce,
                list(x[:2]), ranks[1:])
    low = np.random.default_rng(5).standard_normal(160).astype(np.float32)
    low = np.outer(low[:32], low[32:])
    for size, least, most in (4096, -5, 20), ((32, 128), 60, 400):
        error = apsmpi.snr(low, apsmpi.Compressor("compress: {powersgd: {rank: 1}}",
                                                  size).reduce([low]))
        ok(least < error < most, "PowerSGD of %s: %.1f dB" % (size, error))
    one.encode(x[0])
    refuses("a damaged message", apsmpi.ApsError, "damaged", one.decode, [b"1234567"])


def test_logs(data):
    if importlib.util.find_spec("pandas") is None:
        skip("logs", "pandas is not installed")
        return
    frame = apsmpi.read_log(os.path.join(data, "report.csv"))
    ok(len(frame) > 10 and frame.attrs["events"] and set(frame["type"]) == {"float"} and
       {"name", "layer", "err_mean", "call", "rank"} <= set(frame.columns),
       "a log as a DataFrame")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "summary.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps({"rank": 0, "passed": {"integers": 3}}) + "\n")
        ok(apsmpi.read_summary(path)["passed.integers"].tolist() == [3],
           "summaries as a DataFrame")
        refuses("a log that is none", apsmpi.ApsError, "not a round-off log",
                apsmpi.read_log, path)
        with open(path, "a", encoding="utf-8") as file:
            file.write("no JSON\n")
        refuses("a summary that is none", apsmpi.ApsError, "summary.json:2",
                apsmpi.read_summary, path)


def test_plots(data):
    if importlib.util.find_spec("matplotlib") is None:
        skip("figures", "matplotlib is not installed")
        return
    import matplotlib
    matplotlib.use("svg")
    path = os.path.join(data, "report.csv")
    for kind in "errors", "scales", "residuals", "lost":
        figure = apsmpi.plot(path, kind=kind)
        ok(isinstance(figure, matplotlib.figure.Figure) and figure.axes,
           "a figure of a log: %s" % kind)
    ok(len(apsmpi.plot(path, path).axes) > 1, "... of two logs")
    ok(matplotlib.get_backend() == "svg", "... with the program's backend")
    refuses("a figure that is none", apsmpi.ApsError, "not one of errors, scales",
            lambda: apsmpi.plot(path, kind="speed"))
    refuses("a figure of no file", apsmpi.ApsError, "--help", apsmpi.plot, "--help")
    refuses("a figure of no log", apsmpi.ApsError, "not a round-off log", apsmpi.plot,
            os.path.join(data, "policies.txt"))


def main(data, manual):
    test_doctests()
    test_manual(manual)
    test_arrays()
    test_bad_arrays()
    test_products()
    test_policies()
    test_clusters()
    test_cpd()
    test_scalers()
    test_compressors()
    test_logs(data)
    test_plots(data)
    test_torch()
    print("1..%d" % counted[0])
    return counted[1] > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
