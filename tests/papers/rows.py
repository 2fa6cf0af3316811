# SPDX-License-Identifier: BSD-3-Clause
"""The rows of each paper's table: a row is one policy.

RULES[task] maps a row's name to its rules, as flow mappings without braces; None is MPI
itself, without the library. LAST has the last layer of a task.
"""
LAST = {"residual": "fc.*", "lars": "fc.*", "scenes": "classify.*"}

FP32 = "FP32, MPI"
PROGRAM = {"hbfp": "lstm"}      # the task of tasks.py, where it has another name


def floats(formats):
    """Each format with APS and without a scale."""
    for format in formats:
        yield f"{format}, APS", [f"format: {format}, scale: aps"]
        yield f"{format}, no scale", [f"format: {format}, scale: none"]


def scales(format):
    for word in ("backoff", "logmax", "underflow", "unit", "delayed", "aps-tight"):
        yield f"{format}, {word}", [f"format: {format}, scale: {word}"]
    yield f"{format}, fixed 2^10", ["format: %s, scale: {fixed: 2^10}" % format]


def rising_minimum(format, epoch):
    """Loss scaling whose least scale rises (Mellempudi et al. 2019)."""
    yield f"{format}, backoff, later at least 2^8", [
        f"epochs: 0-{epoch - 1}, format: {format}, scale: backoff",
        "format: %s, scale: {backoff: {min: 2^8}}" % format]


def fp32_at_times(task, format, epochs):
    """The last layer in FP32; and the first epochs (hybrid precision)."""
    rule = f"format: {format}, scale: aps"
    yield f"{format}, APS, last layer FP32", [
        f'layers: "{LAST[task]}", format: fp32', rule]
    yield f"{format}, APS, {epochs} epochs FP32", [
        f"epochs: 0-{epochs - 1}, format: fp32", rule]


def blocks():
    for format in ("mx-e4m3fn", "mx-e2m1fn", "nvfp4", "flex16", "bfp7/64", "bfp4/64",
                   "bfp3/64"):
        yield format, [f"format: {format}"]


def low_rank(ranks, schedule=None):
    for rank in ranks:
        yield f"PowerSGD {rank}", ["compress: {powersgd: {rank: %d}}" % rank]
    if schedule:
        yield f"PowerSGD 4, after {schedule} epochs 1", [
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


def reductions(ranks):
    """{name: keys} of all-reduces whose partial sums are rounded as in the APS paper;
    and `direct`, which rounds no partial sum."""
    return {"direct": "reduce: direct", "ring": "reduce: ring, accumulate: format",
            **{f"groups of {k}": "reduce: {master: %d}, accumulate: format" % k
               for k in (2, 4, 8, 16, 32, 64, 128) if k < ranks}}


def by_group(format):
    for name, keys in reductions(256).items():
        yield name, [f"format: {format}, scale: aps, {keys}"]


def low_rank_products():
    """HBFP in all products of matrices, and PowerSGD in the sums (GC-HBFP)."""
    for bits in (8, 6, 5, 4):
        for block in (64, 576):
            yield (f"HBFP {bits}/{block}", "format: fp32",
                   "{format: hbfp%d/%d}" % (bits, block))
        for rank in (2, 1):
            yield (f"HBFP {bits}/64, PowerSGD {rank}",
                   "compress: {powersgd: {rank: %d}}" % rank,
                   "{format: hbfp%d/64}" % bits)
    yield ("HBFP 4/64, stochastic", "format: fp32",
           "{format: hbfp4/64, rounding: stochastic}")
    # Accuracy Boosters (Harma et al. 2022): more bits in the last layer and epoch. The
    # first layer is an embedding, which has no products.
    yield ("HBFP 4/64, 6/64 last", "format: fp32",
           "[{dimensions: OUTPUT, format: hbfp6/64}, "
           "{products: [LAST_EPOCH], format: hbfp6/64}, {format: hbfp4/64}]")


def plain():
    yield FP32, None
    yield "bf16", ["format: bf16, scale: none"]


RULES = {
    "residual": [*plain(), *floats(["e5m2", "e4m3", "e3m2", "e3m0"]),
                 *scales("e4m3"), *scales("e3m2"),
                 *rising_minimum("e3m2", 4),
                 *fp32_at_times("residual", "e3m0", 2), *blocks(),
                 *low_rank([1, 2, 4], 6), *sparse(), *few_bits()],
    "lars": [*plain(), *floats(["e5m2", "e4m3", "e3m2", "e3m0"]),
             *fp32_at_times("lars", "e3m0", 4)],
    "scenes": [*plain(), *floats(["e5m2", "e4m3", "e3m2", "e3m0"]),
               *fp32_at_times("scenes", "e3m0", 3)],
    "lstm": [*plain(), *floats(["e5m2", "e4m3", "e3m2"]), *blocks(),
             *low_rank([1, 2, 4])],
    "hbfp": [*plain(), *low_rank([1, 2]),
             *((row, [rule]) for row, rule, _ in low_rank_products())],
    "transformer": [*plain(), *floats(["e5m2", "e4m3", "e3m2"]), *scales("e4m3"),
                    *low_rank([1, 4])],
    # 256 ranks, which play.py plays
    "groups": [("FP64", None), *by_group("e5m2")],
}
RULES = {task: dict(rows) for task, rows in RULES.items()}
# The rows whose loss and score are drawn by epoch.
CURVES = {
    **dict.fromkeys(("residual", "lars", "scenes"), [
        FP32, "e4m3, APS", "e4m3, no scale", "e3m2, APS", "e3m2, no scale", "e3m0, APS",
        "e3m0, no scale"]),
    "lstm": [FP32, "e4m3, APS", "e4m3, no scale", "e3m2, APS", "e3m2, no scale",
             "bfp4/64", "PowerSGD 4"],
    "hbfp": [FP32, "PowerSGD 2", "HBFP 8/64", "HBFP 8/64, PowerSGD 2", "HBFP 5/64",
             "HBFP 4/64", "HBFP 4/64, stochastic"],
    "transformer": [FP32, "e5m2, APS", "e4m3, APS", "e4m3, no scale", "e3m2, APS",
                    "e3m2, no scale", "PowerSGD 4"],
    "groups": ["FP64", "direct", "groups of 2", "groups of 16", "groups of 128", "ring"],
}
# The rows whose products of matrices have a format, too, as sections `gemm`. papers.py
# replaces OUTPUT by the outputs of the last layer, and LAST_EPOCH by the numbers of the
# products in the last epochs of all seeds.
PRODUCTS = {"hbfp": {row: gemm for row, _, gemm in low_rank_products()}}
