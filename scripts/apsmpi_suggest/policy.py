# SPDX-License-Identifier: BSD-3-Clause
"""The policy as text: rules that `apsmpi check` accepts, and comments with the reason
for each, its savings and its errors, and what to watch."""

import math
import re
import textwrap

from .samples import SAMPLES
from .text import show_percent, show_ranges, show_seconds

WIDTH = 79
LAYERS_NAMED = 4        # layers in a comment, at most
MIN_COUNT = 1024        # the policy's default
EVERY = 100             # steps for each sampled step, at most


def comment(text, indent=""):
    """Returns comment lines of at most WIDTH columns."""
    lead, glued = indent + "# ", "\ufffd"
    # A number and its unit stay in one line.
    text = re.sub(r"(?<=\d) (?=(%|dB)\b|%)", glued, " ".join(text.split()))
    return textwrap.fill(text, WIDTH, initial_indent=lead, subsequent_indent=lead,
                         break_on_hyphens=False,
                         break_long_words=False).replace(glued, " ")


def quoted(text):
    """Returns a YAML scalar."""
    if re.fullmatch(r"[A-Za-z0-9_./][A-Za-z0-9_./ -]*", text) and text == text.strip():
        return text
    return '"%s"' % "".join("\\" + c if c in '"\\' else c for c in text)


def window_name(window):
    """window: (path, epoch), or a first step as -1 - step."""
    return ("epoch %d" % window[1] if window[1] >= 0
            else "the steps from %d on" % (-1 - window[1]))


def layer_name(layer):
    if layer.layer < 0:
        return "%d elements" % layer.count
    return "layer %d" % layer.layer + (" (%s)" % layer.name if layer.name else "")


def list_names(layers):
    """Returns the names of the first layers, and the number of the others."""
    names = [layer_name(layer) for layer in layers]
    return ", ".join(names[:LAYERS_NAMED]) + (
        " and %d more" % (len(names) - LAYERS_NAMED)
        if len(names) > LAYERS_NAMED else "")


def show_ratio(part):
    """Returns a part of the squared error in dB."""
    return "%.1f dB" % (-10 * math.log10(part)) if part > 0 else "no error"


class Policy:
    """The policy as text, with comments on the problem and the choice."""

    def __init__(self, problem, target, rules, options, said):
        """said: the first event of the run, as {key: value}."""
        self.problem, self.target, self.rules = problem, target, rules
        self.options, self.said = options, said
        self.sent, self.part = 0.0, 0.0
        self.notes = []         # paragraphs for the head
        self.by_size = all(layer.layer < 0 for layer in problem.layers)
        # Numbers of the rules' names, if several have one word.
        self.names = {}

    def name(self, word):
        self.names[word] = self.names.get(word, 0) + 1
        return word if self.names[word] == 1 else "%s-%d" % (word, self.names[word])

    # --- the rules

    def conditions(self, layers):
        """Yields [(key, value), ...] for each rule that these layers need."""
        if not self.by_size:
            return [[("layers", show_ranges({layer.layer for layer in layers}))]]
        # Neighbouring sizes of the log share a rule.
        sizes = sorted({layer.count for layer in self.problem.layers})
        places = sorted({sizes.index(layer.count) for layer in layers})
        runs = []
        for place in places:
            if runs and runs[-1][-1] == place - 1:
                runs[-1].append(place)
            else:
                runs.append([place])
        return [[("min_count", "%d" % sizes[run[0]]),
                 ("max_count", "%d" % sizes[run[-1]])] for run in runs]

    def why(self, rule):
        """Yields the sentences of a rule's comment."""
        bound = self.target if self.target.kind != "bytes" else None
        layers = [layer for layer, _ in rule.layers]
        head = list_names(layers)
        fp32 = sum(self.problem.fp32[layer] for layer in layers)
        share = show_percent(fp32 / self.problem.total)
        if rule.candidate is None:
            return "%s, %s of the FP32 bytes: %s" % (head, share, self.why_fp32(rule))
        sent = sum(m.bytes for _, m in rule.layers)
        places = " or ".join(map(str, sorted(set().union(
            *(m.places for _, m in rule.layers)))))
        text = ("%s, %s of the FP32 bytes: candidate %s of the list, "
                "sends %s of them" % (
                    head, share, places, show_percent(sent / fp32)))
        if bound:
            layer, worst = max(rule.layers, key=lambda pair: pair[1].worst)
            text += "; at worst %s, in %s of %s" % (
                bound.show(worst.worst), window_name(worst.where), layer_name(layer))
        else:
            text += "; %s of the squared error" % (
                show_percent(sum(m.part for _, m in rule.layers) / self.part)
                if self.part else "none")
        return text + self.how_long(rule) + "." + self.why_not_cheaper(rule, bound)

    def how_long(self, rule):
        """Describes times, if time counts."""
        if not self.problem.times:
            return ""
        taken, native = self.problem.seconds([rule])
        return "; predicted %s a step, %s by native MPI in FP32" % (
            show_seconds(taken), show_seconds(native))

    def why_not_cheaper(self, rule, bound):
        """Describes the dearest candidate of lower cost, and its shortcoming."""
        cheaper = {candidate: failed for candidate, failed in (
            (candidate, [(layer, m) for layer, m in places if m.worst > bound.allowed])
            for candidate, places in rule.cheaper.items()) if failed} if bound else {}
        if not cheaper:
            return ""
        candidate, places = max(
            cheaper.items(),
            key=lambda item: (sum(m.seconds if self.problem.times else m.bytes
                                  for _, m in item[1]) / len(item[1]), item[0].ties()))
        layer, worst = max(places, key=lambda pair: pair[1].worst)
        return " %s would %s, with %s in %s of %s." % (
            candidate.name(), "take less time" if self.problem.times
            else "send fewer bytes", bound.show(worst.worst), window_name(worst.where),
            layer_name(layer))

    def why_slow(self, rule):
        """Describes layers whose sufficient candidates are all too slow, if time
        counts; otherwise returns nothing."""
        best = None
        for layer, _ in rule.layers:
            for m in self.problem.measured[layer] if self.problem.times else ():
                if self.target.kind != "bytes" and m.worst > self.target.allowed:
                    continue
                if self.problem.pays(layer, m):
                    return ""
                if m.seconds is not None and (best is None
                                              or m.seconds < best[1].seconds):
                    best = (layer, m)
        if best is None:
            return ""
        return ("FP32, because no candidate%s is predicted to be faster than native "
                "MPI: the fastest, %s, takes %s for %s, native MPI %s." % (
                    "" if self.target.kind == "bytes" else " that keeps the target",
                    best[1].candidate.name(), show_seconds(best[1].seconds),
                    layer_name(best[0]), show_seconds(self.problem.native(best[0]))))

    def why_fp32(self, rule):
        if self.target.kind == "bytes" and not self.problem.times:
            return "FP32, which the budget allows."
        slow = self.why_slow(rule)
        if slow or self.target.kind == "bytes":
            return slow or "FP32, which the budget allows."
        best = None
        for layer, _ in rule.layers:
            for m in self.problem.measured[layer]:
                if best is None or m.worst < best[1].worst:
                    best = (layer, m)
        if best is None:
            return "FP32, because no candidate was measured in every %s." % (
                self.problem.period)
        if best[1].worst <= self.target.allowed:
            return "FP32, because no candidate that keeps the target sends less."
        return "FP32, because the best candidate, %s, has %s in %s of %s." % (
            best[1].candidate.name(), self.target.show(best[1].worst),
            window_name(best[1].where), layer_name(best[0]))

    def rule_lines(self, rule):
        word = rule.candidate.word() if rule.candidate else "fp32"
        keys = rule.candidate.rule() if rule.candidate else [("format", "fp32")]
        yield ""
        yield comment(self.why(rule), "  ")
        for conditions in self.conditions([layer for layer, _ in rule.layers]):
            pairs = [("name", self.name(word)), *conditions, *keys]
            for i, (key, value) in enumerate(pairs):
                yield "  %s %s: %s" % ("-" if i == 0 else " ", key, value)

    # --- the whole

    def head(self):
        yield comment("Written by apsmpi suggest --target %s from %s%s." % (
            self.target, " ".join(self.options.logs),
            ", run " + self.said["run"] if self.said.get("run") else ""))
        for note in self.notes:
            yield "#"
            yield comment(note)

    def epoch_steps(self):
        """Returns the steps of an epoch, or None if not known."""
        told = self.options.per_epoch or self.said.get("per_epoch")
        return int(told or 0) or self.said.get("epoch_steps")

    def every(self):
        """Returns the steps for each sampled step: the user's number, or a number by
        which each epoch has a sample and an equal run about SAMPLES."""
        return self.options.every or min(
            EVERY, self.epoch_steps() or EVERY,
            max(1, (self.said.get("run_steps") or 0) // SAMPLES))

    def settings(self):
        """Yields the lines by which a second run numbers its layers like the first."""
        yield "version: 1"
        table = self.options.table or self.said.get("table")
        steps = self.options.steps or self.said.get("steps")
        if not self.by_size:
            if table:
                yield "table: %s" % quoted(table)
            keys = []
            if not table:
                calls = re.fullmatch(r"(?:calls )?(\d+)", steps or "")
                if calls:
                    keys.append("calls: " + calls[1])
            for key in ("order", "per_epoch"):
                value = getattr(self.options, key) or self.said.get(key)
                if value and value != "0":
                    keys.append("%s: %s" % (key, value))
            if keys:
                yield "steps: {%s}" % ", ".join(keys)
            elif not table:
                yield "steps: auto"
        least = min(layer.count for layer in self.problem.layers)
        if least < MIN_COUNT:
            yield "min_count: %d          # of the smallest layer in the log" % least
        yield "log: {file: %s, every: %d}" % (quoted(self.options.log), self.every())

    def lines(self):
        yield from self.head()
        yield from self.settings()
        yield "rules:"
        for rule in self.rules:
            yield from self.rule_lines(rule)

    def text(self):
        return "\n".join(self.lines()) + "\n"
