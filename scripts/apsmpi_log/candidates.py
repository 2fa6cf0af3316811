# SPDX-License-Identifier: BSD-3-Clause
"""Names of formats and compressors in tables, and names of candidates: reductions that
a run only measures."""

import re

FP32 = "e8m23"
WITHOUT_FORMAT = ("ternary", "vote")    # compressors without one
NUMBER = re.compile(r"(?<= )(\d[\d.]*(?:e-?\d+)?)(?= |$)")     # a parameter
VALUES = 24             # most characters of a text with all values of a parameter


def sent_name(form, compress):
    """Returns the name in the place of a format: e4m3, powersgd rank 4, powersgd rank 4
    in e4m3."""
    if not compress:
        return form
    if form == FP32 or compress.split(" ")[0] in WITHOUT_FORMAT:
        return compress
    return "%s in %s" % (compress, form)


def join_sent(names):
    """Returns several such names as one text. Each compressor is named once, with the
    values of its parameters, as in powersgd rank 8, 4, 2 or powersgd rank 2..64."""
    kinds = {}
    for name in names:
        parts = NUMBER.split(name)
        kinds.setdefault(tuple(parts[::2]), []).append(parts[1::2])
    texts = []
    for words, numbers in kinds.items():
        seen = [list(dict.fromkeys(values)) for values in zip(*numbers)]
        text = put_in(words, map(", ".join, seen))
        texts.append(text if len(text) <= VALUES else put_in(words, map(span, seen)))
    return "/".join(texts)


def put_in(words, numbers):
    """Returns the words with the numbers between them."""
    return words[0] + "".join(map("".join, zip(numbers, words[1:])))


def span(numbers):
    """Returns the least and the largest number as text."""
    numbers = sorted(numbers, key=float)
    return numbers[0] if len(numbers) == 1 else numbers[0] + ".." + numbers[-1]


def candidate_name(form, scale, compress, plan=None):
    """Returns a name such as e3m0 aps stochastic feedback. plan: the rule in the log's
    event, or None."""
    words = [sent_name(form, compress)]
    if scale not in ("", "none"):
        words.append(scale)
    rounding = re.search(r"rounding: \{?(\w+)", plan or "")
    if rounding:
        words.append(rounding[1])
    feedback = re.search(r"feedback: (on|off)", plan or "")
    if feedback:
        words.append("feedback" if feedback[1] == "on" else "no feedback")
    return " ".join(words)
