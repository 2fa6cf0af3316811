# SPDX-License-Identifier: BSD-3-Clause
"""What is sent, for people; and candidates: reductions that a run has only measured,
for a later run."""

import re

FP32 = "e8m23"
WITHOUT_FORMAT = ("ternary", "vote")    # compressors that send none


def sent_name(form, compress):
    """What stands for a format: e4m3, powersgd rank 4, powersgd rank 4 in e4m3."""
    if not compress:
        return form
    if form == FP32 or compress.split(" ")[0] in WITHOUT_FORMAT:
        return compress
    return "%s in %s" % (compress, form)


def candidate_name(form, scale, compress, plan=None):
    """e4m3 aps, e3m0 aps stochastic feedback. plan: the rule as the log's event has
    it, or None."""
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
