# SPDX-License-Identifier: BSD-3-Clause
"""Rows of compressors.py: a row is one policy. S3 is "Gradient-Compressed HBFP
for Distributed Deep Learning Workloads"."""


class Row:
    """table: the paper's table. claimed: the factor by which the paper claims
    fewer bytes than FP32, or that its bits of a value imply; None: no claim.
    rule: the last rule of the policy. early: another rule, for all epochs
    except the last tenth. first: a rule before both. wide: also trained with
    hidden layers of 512. rate: the learning rate."""

    def __init__(self, table, name, rule, claimed=None, early=None, first=None,
                 wide=False, rate=0.1):
        self.table, self.name, self.rule = table, name, rule
        self.claimed, self.early, self.first = claimed, early, first
        self.wide, self.rate = wide, rate

    def rules(self, epochs):
        """Returns the rules of a policy, as flow mappings without braces."""
        rules = [self.first] if self.first else []
        last = max(1, epochs // 10)
        if self.early and epochs > last:
            rules.append("epochs: 0-%d, %s" % (epochs - last - 1, self.early))
        return rules + [self.rule]


def plain(format, more=""):
    return "reduce: direct, format: %s%s" % (format, more)


def low_rank(rank, format="e8m23", warm="on", feedback="on"):
    return ("reduce: direct, format: %s, feedback: %s, "
            "compress: {powersgd: {rank: %d, warm: %s}}"
            % (format, feedback, rank, warm))


def sparse_low_rank(density, rank, on):
    """on: on, or off for feedback and warm, as the algorithm is printed."""
    return ("reduce: direct, feedback: %s, compress: {mstopk+powersgd: "
            "{density: %g, rank: %d, warm: %s}}" % (on, density, rank, on))


def sparse(word, feedback="on"):
    return "feedback: %s, compress: {%s}" % (feedback, word)


# S3 claims 243 times for rank 1, the ratio of ResNet18, and divides it.
RATIO = 243
PAIRS = [(0.2, 1), (0.2, 2), (0.1, 1), (0.1, 2), (0.01, 2)]
FORMATS = {"fp32": "e8m23", "bfp7/64": "bfp7/64", "bfp4/64": "bfp4/64",
           "bfp3/64": "bfp3/64"}


def pair_name(density, rank, on):
    return "(%g, %d)%s" % (density, rank, ", feedback, warm" if on == "on" else "")


def s3_table_1():
    """Columns w/o, r1, r2, r4 and the two schedules, which are taken as rank 4
    and another rank in the last tenth of the epochs."""
    for name, format in FORMATS.items():
        yield Row("S3, Table I", name, plain(format), 1 if name == "fp32" else None,
                  wide=name == "fp32")
        for rank in (1, 2, 4):
            if name != "bfp3/64" or rank == 2:
                yield Row("S3, Table I", "%s, r%d" % (name, rank),
                          low_rank(rank, format), RATIO / rank,
                          wide=name == "fp32")
    for format in ("bfp7/576", "bfp5/64"):
        yield Row("S3, Table I", format, plain(format))
    for rank in (2, 1):
        yield Row("S3, Table I", "fp32, r4, r%d at the end" % rank, low_rank(rank),
                  None, early=low_rank(4))


def without_memory():
    """Rows that S3 has no columns for: low rank without feedback and warm start."""
    for rank in (1, 2):
        for name, warm, feedback in (("no feedback", "on", "off"),
                                     ("cold", "off", "on"),
                                     ("cold, no feedback", "off", "off")):
            yield Row("low rank, forgetful", "fp32, r%d, %s" % (rank, name),
                      low_rank(rank, warm=warm, feedback=feedback), RATIO / rank,
                      wide=rank == 1)


def s3_table_3():
    """As printed, without feedback and warm start; and with both."""
    for on in ("off", "on"):
        for density, rank in PAIRS:
            yield Row("S3, Table III" + (", remembered" if on == "on" else ""),
                      pair_name(density, rank, on),
                      sparse_low_rank(density, rank, on),
                      RATIO / rank / density, wide=density == 0.01)


def selections():
    """S3 says that MSTopK sends 1/k of the bytes."""
    yield Row("selections", "mstopk 0.1", sparse("mstopk: 0.1"), 10)
    yield Row("selections", "mstopk 0.01", sparse("mstopk: 0.01"), 100, wide=True)
    yield Row("selections", "mstopk 0.01, no feedback",
              sparse("mstopk: 0.01", "off"), 100)
    yield Row("selections", "topk 0.01", sparse("topk: 0.01"), 100)
    yield Row("selections", "threshold 0.001",
              sparse("threshold: {value: 0.001, density: 0.1}"))


def few_bits():
    """TernGrad's ratio is that of the bytes that a rank sends; those of QSGD and
    signs are 32 over the bits of a value."""
    ternary = "reduce: direct, compress: {ternary: {clip: %g}}"
    yield Row("few bits", "ternary", ternary % 2.5, 20.18, wide=True)
    yield Row("few bits", "ternary, no clipping", ternary % 0, 20.18)
    yield Row("few bits", "ternary, last layer in FP32", ternary % 2.5, 20.18,
              first="layers: 'fc3.*', " + plain("e8m23"))
    yield Row("few bits", "ternary, clip 1, feedback",
              ternary % 1 + ", feedback: on", 20.18)
    for levels, block, bits in ((1, 128, 2), (7, 512, 4), (127, 512, 8)):
        yield Row("few bits", "qsgd%d/%d (%d bits)" % (levels, block, bits),
                  plain("qsgd%d/%d" % (levels, block)), 32 / bits, wide=bits == 2)
    for bits in (4, 8):
        yield Row("few bits", "int%d/512" % bits, plain("int%d/512" % bits),
                  32 / bits)
    yield Row("few bits", "sign/64", plain("sign/64"), 32, wide=True)
    yield Row("few bits", "sign/64, feedback", plain("sign/64", ", feedback: on"),
              32)
    # The residuals of signs, here twice, are large: they need small steps.
    yield Row("few bits", "sign/64, rate 0.02", plain("sign/64"), 32, rate=0.02)
    yield Row("few bits", "sign/64, feedback, rate 0.02",
              plain("sign/64", ", feedback: on"), 32, rate=0.02)


ROWS = [*s3_table_1(), *without_memory(), *s3_table_3(), *selections(), *few_bits()]
