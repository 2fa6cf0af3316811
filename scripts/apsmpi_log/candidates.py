# SPDX-License-Identifier: BSD-3-Clause
"""Candidates: reductions that a run has only measured, for a later run."""

WITHOUT_FORMAT = ("ternary", "vote")    # compressors that send none


def candidate_name(form, scale, compress, rounding=""):
    """For people: e4m3 aps, powersgd rank 4 in e8m23."""
    if compress.split(" ")[0] in WITHOUT_FORMAT:
        text = compress
    elif compress:
        text = "%s in %s" % (compress, form)
    else:
        text = form
    if scale not in ("", "none"):
        text += " " + scale
    return text + (" " + rounding if rounding else "")
