# SPDX-License-Identifier: BSD-3-Clause
"""The rows of each paper's table: a row is one policy.

RULES[task] maps a row's name to its rules, as flow mappings without braces; None is MPI
itself, without the library. LAST is the task's last layer, EARLY its first epochs.
"""
LAST = {"residual": "fc.*", "lars": "fc.*", "scenes": "classify.*",
        "lstm": "output.*", "transformer": "output.*"}

FP32 = "FP32, MPI"


def floats(formats):
    """Each format with APS and without a scale."""
    for format in formats:
        yield f"{format}, APS", [f"format: {format}, scale: aps"]
        yield f"{format}, no scale", [f"format: {format}, scale: none"]


def scales(format):
    for word in ("backoff", "logmax", "underflow", "unit", "delayed", "aps-tight"):
        yield f"{format}, {word}", [f"format: {format}, scale: {word}"]
    yield f"{format}, fixed 2^10", ["format: %s, scale: {fixed: 2^10}" % format]


def fp32_at_times(task, format, epochs):
    """The last layer in FP32; and the first epochs (hybrid precision)."""
    rule = f"format: {format}, scale: aps"
    yield f"{format}, APS, last layer in FP32", [
        f'layers: "{LAST[task]}", format: fp32', rule]
    yield f"{format}, APS, {epochs} epochs in FP32", [
        f"epochs: 0-{epochs - 1}, format: fp32", rule]


def blocks():
    for format in ("mx-e4m3fn", "mx-e2m1fn", "nvfp4", "flex16", "bfp7/64", "bfp4/64",
                   "bfp3/64"):
        yield format, [f"format: {format}"]


def low_rank(ranks, schedule=None):
    for rank in ranks:
        yield f"PowerSGD {rank}", ["compress: {powersgd: {rank: %d}}" % rank]
    if schedule:
        yield f"PowerSGD 4, from epoch {schedule} on 1", [
            "epochs: 0-%d, compress: {powersgd: {rank: 4}}" % (schedule - 1),
            "compress: {powersgd: {rank: 1}}"]


def sparse():
    yield "MSTopK 0.05", ["compress: {mstopk: 0.05}"]
    yield "MSTopK 0.2, PowerSGD 2", [
        "compress: {mstopk+powersgd: {density: 0.2, rank: 2}}"]


def few_bits():
    yield "TernGrad", ["compress: {ternary: {clip: 2.5}}"]
    yield "QSGD, 4 bits", ["format: qsgd7/512"]
    yield "QSGD, 2 bits", ["format: qsgd1/128"]
    yield "sign", ["format: sign/64"]


def plain():
    yield FP32, None
    yield "bf16", ["format: bf16, scale: none"]


RULES = {
    "residual": [*plain(), *floats(["e5m2", "e4m3", "e3m2", "e3m0"]),
                 *scales("e4m3"), *scales("e3m2"),
                 *fp32_at_times("residual", "e3m0", 2), *blocks(),
                 *low_rank([1, 2, 4], 6), *sparse(), *few_bits()],
    "lars": [*plain(), *floats(["e5m2", "e4m3", "e3m2", "e3m0"]),
             *fp32_at_times("lars", "e3m0", 4)],
    "scenes": [*plain(), *floats(["e5m2", "e4m3", "e3m2", "e3m0"]),
               *fp32_at_times("scenes", "e3m0", 3)],
    "lstm": [*plain(), *floats(["e5m2", "e4m3", "e3m2"]), *blocks(),
             *low_rank([1, 2, 4])],
    "transformer": [*plain(), *floats(["e5m2", "e4m3", "e3m2"]), *scales("e4m3"),
                    *low_rank([1, 4])],
}
RULES = {task: dict(rows) for task, rows in RULES.items()}
