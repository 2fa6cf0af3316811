# SPDX-License-Identifier: BSD-3-Clause
"""Candidates: their columns of a log, in the words of a policy."""

import collections
import difflib
import fnmatch
import math
import re

from apsmpi_log.candidates import WITHOUT_FORMAT, candidate_name
from apsmpi_log.text import UserError

# Columns of a log that are equal in all rows of a candidate.
FIELDS = ("shadow", "format", "scale", "reduce", "group", "node", "accumulate",
          "compress")
DEFAULTS = {"reduce": ("", "hierarchical"), "group": ("", "node"),
            "node": ("", "format"), "accumulate": ("", "fp32"),
            "scale": ("", "none")}

# Formats that a policy names, and a log by their bits.
NAMED_FORMATS = {"fp32": "e8m23", "tf32": "e8m10", "fp16": "e5m10", "bf16": "e8m7"}

# Scales without parameters that the log lacks.
BARE_SCALES = ("", "none", "aps", "aps-tight")

# The texts of the log's column `compress`, as values of the key.
COMPRESSORS = (
    (r"powersgd rank (\d+)", "{powersgd: {rank: %s}}"),
    (r"(mstopk|topk) (\S+)", "{%s: {density: %s}}"),
    (r"mstopk (\S+) \+ powersgd rank (\d+)",
     "{mstopk+powersgd: {density: %s, rank: %s}}"),
    (r"chunks (\S+) of (\d+)", "{chunks: {density: %s, size: %s}}"),
    (r"ternary clip (\S+)", "{ternary: {clip: %s}}"),
    (r"vote value (\S+)", "{vote: {value: %s}}"),
    (r"(ternary|vote)", "%s"))


class Candidate(collections.namedtuple("Candidate", FIELDS + ("factor", "plan"))):
    """factor: the factor of a fixed scale as text, or None; plan: the rule in the log's
    event, or None."""

    __slots__ = ()

    def name(self):
        """Returns the name for people."""
        return candidate_name(self.format, self.scale, self.compress, self.plan)

    def word(self):
        """Returns the words for the name of a rule."""
        return re.sub(r"[^A-Za-z0-9_.]+", "-", self.name()).strip("-")

    def rule(self):
        """Returns the keys and values of a rule for this candidate."""
        if self.plan:
            return split_mapping(self.plan)
        keys = []
        compressor = self.compress.split(" ")[0]
        if self.compress:
            keys.append(("compress", compress_value(self.compress)))
        if compressor not in WITHOUT_FORMAT:
            keys.append(("format", self.format))
            # Blocks that scale themselves are logged as none.
            if self.scale not in ("", "none") or re.fullmatch(
                    r"e\d+m\d+(fn)?|[bt]f\d+|fp16", self.format):
                keys.append(("scale", "{fixed: %s}" % self.factor if self.factor
                             else self.scale or "none"))
        for key in ("reduce", "group", "node"):
            value = getattr(self, key)
            if value not in DEFAULTS[key]:
                keys.append((key, value))
        if self.accumulate not in DEFAULTS["accumulate"]:
            keys.append(("accumulate", accumulate_value(self.accumulate)))
        return keys

    def says_all(self):
        """True if these are all keys of its rule that the log's columns can tell."""
        return bool(self.plan or self.factor) or self.scale in BARE_SCALES

    def ties(self):
        """Returns the key that sorts candidates of equal cost."""
        return (self.shadow, self.name())


def fixed_factor(scale, value):
    """Returns the factor of a fixed scale as text, or None for another scale and for a
    log without the factor."""
    if scale != "fixed" or not 0 < value < math.inf:
        return None
    return "%d" % value if value == int(value) else repr(value)


def compress_value(text):
    for pattern, value in COMPRESSORS:
        found = re.fullmatch(pattern, text)
        if found:
            return value % found.groups()
    raise UserError("the log does not say all of the compressor '%s'" % text)


def accumulate_value(text):
    """Returns a text such as `format chunk 64` as a value of the key."""
    words = text.split(" ")
    if len(words) == 1:
        return text
    parts = ["format: " + ("on" if words[0] == "format" else words[0])]
    if "kahan" in words:
        parts.append("kahan: on")
    if "chunk" in words:
        parts.append("chunk: " + words[words.index("chunk") + 1])
    return "{%s}" % ", ".join(parts)


def split_mapping(text):
    """Returns a text such as {format: e4m3, scale: {fixed: 2}} as keys and values."""
    pairs, depth, start = [], 0, 1
    for place, letter in enumerate(text):
        if letter in "{[":
            depth += 1
        elif letter in "}]":
            depth -= 1
        if (letter == "," and depth == 1) or (depth == 0 and place == len(text) - 1):
            key, _, value = text[start:place].partition(":")
            pairs.append((key.strip(), value.strip()))
            start = place + 1
    return pairs


def same_number(one, other, places):
    """True if both are one candidate of a list, as far as the log tells."""
    if one.plan or other.plan:
        return one.plan == other.plan
    return bool(places[one] & places[other]) and one[1:3] == other[1:3]


def select(candidates, wanted, places):
    """Returns the candidates that the user names: by format, by the name in tables,
    with a colon or a blank before the scale, by the first words of a name, or by
    patterns.
    bf16 and similar names are aliases of formats. A compressor leaves some layers to
    its plain format, which is selected with it. places: {candidate: its numbers in the
    lists of candidates}."""
    if not wanted:
        return set(candidates)
    chosen = set()
    for item in wanted.split(","):
        item = item.strip().replace(":", " ")
        form = re.sub(r"\b(%s)\b" % "|".join(NAMED_FORMATS),
                      lambda name: NAMED_FORMATS[name[1]], item)
        found = [c for c in candidates if any(
            fnmatch.fnmatchcase(text, pattern) for text in (c.name(), c.format)
            for pattern in (item, form))]
        # The name of a compressor ends with its parameters.
        found = found or [c for c in candidates if c.name().startswith(item + " ")]
        if not found:
            names = sorted({c.name() for c in candidates})
            near = difflib.get_close_matches(
                item, names + sorted({c.format for c in candidates}), 1)
            raise UserError("--candidates: the log has no candidate '%s'%s; it has %s"
                            % (item, ", did you mean '%s'?" % near[0] if near else "",
                               ", ".join(names)))
        chosen.update(found)
    compressed = [c for c in chosen if c.compress]
    return chosen | {c for c in candidates
                     if any(same_number(c, other, places) for other in compressed)}
