# SPDX-License-Identifier: BSD-3-Clause
"""The arguments of apsmpi-suggest, and the work of the command."""

import argparse
import math
import sys

from apsmpi_log.command import print_safely, status_of
from apsmpi_log.library import VERSION
from apsmpi_log.outputs import keep_inputs
from apsmpi_log.text import UserError, plural

from .candidates import Candidate, select
from .choosing import (ALIKE, TIMES_ALIKE, Problem, best_single, choose_bound,
                       choose_budget, mean_ratio, totals)
from .layers import Agreement, read_table
from .policy import Policy, layer_name, list_names, show_ratio, window_name
from .samples import Samples
from .targets import parse_margin, parse_target
from .text import NAME, note, percent_above, show_db, show_percent, show_seconds
from .times import Times, asked

MISSED = 0.01           # relative: largest excess of a nearly kept budget


def positive(text):
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError("'%s' is no whole number above 0" % text)
    return int(text)


def parse_steps(text):
    if text != "auto" and not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(
            "'%s' is neither auto nor the number of all-reduces of a step" % text)
    return text


def file_name(text):
    if not text:
        raise argparse.ArgumentTypeError("the name of a file is empty")
    return text


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog=NAME, description="Writes a policy from the log of a run that measured "
        "candidates (shadow): for each layer the cheapest candidate that meets the "
        "target.")
    parser.add_argument("logs", metavar="LOG", nargs="+",
                        help="a round-off log with rows of candidates")
    parser.add_argument("--target", type=parse_target, metavar="TARGET",
                        default=parse_target("snr=20dB"),
                        help="snr=20dB or err=0.1 (or 'snr 20dB', as policies have "
                        "it): each layer keeps that in every epoch; bytes=25%%: the "
                        "least squared error with so many of the bytes of FP32 "
                        "(default: snr=20dB)")
    parser.add_argument("--margin", type=parse_margin, metavar="DB",
                        help="how much better than snr and err a candidate must have "
                        "been, because a second run differs (default: 1dB for "
                        "snr, 6dB for err)")
    parser.add_argument("--candidates", metavar="LIST",
                        help="only these, by format or by format:scale, as in "
                        "e4m3,e5m2:aps,mx-*")
    parser.add_argument("--run", metavar="ID",
                        help="of a log of several runs, this one; `last` is the last "
                        "that has candidates")
    parser.add_argument("--comm", metavar="NAME",
                        help="only the rows of this communicator")
    parser.add_argument("--table", metavar="FILE", type=file_name,
                        help="the layer table, if the log does not name it, or "
                        "names another place of it")
    parser.add_argument("--steps", type=parse_steps, metavar="STEPS",
                        help="auto, or the number of all-reduces of a step, if the "
                        "log does not say it")
    parser.add_argument("--order", choices=("forward", "backward", "any"),
                        help="the order of the layers in a step, if the log does not "
                        "say it")
    parser.add_argument("--per-epoch", type=positive, metavar="N",
                        help="the steps of an epoch, if the log does not say it")
    for name, what, text in (
            ("hosts", "N", "choose by the time that `apsmpi explain` predicts on so "
             "many hosts, too: FP32 where native MPI is faster"),
            ("ranks-per-host", "N", "ranks of each (default: 1)"),
            ("rate", "R", "what a host's link carries each way, as 25gbit"),
            ("latency", "T", "from host to host, as 10us (default: 2us)"),
            ("cores", "N", "cores of a host (default: one a rank)"),
            ("measured", "FILE", "what `apsmpi measure` wrote on the cluster")):
        parser.add_argument("--" + name, metavar=what, help=text)
    parser.add_argument("--log", metavar="FILE", type=file_name,
                        default="roundoff.csv",
                        help="the log of the policy (default: roundoff.csv)")
    parser.add_argument("--every", type=positive, metavar="N",
                        help="the policy samples one step in N (default: 100, or "
                        "fewer, so that an epoch has a sample and a run 10)")
    parser.add_argument("-o", "--output", metavar="FILE", type=file_name, default="-",
                        help="write the policy there (default: -, standard output)")
    parser.add_argument("--version", action="version",
                        version="apsmpi-suggest " + VERSION)
    options = parser.parse_args(arguments)
    options.target = options.target(options.margin)
    return options


def read(options, say):
    """Returns {layer: {candidate: {window: Sums}}}, the first event of the run in the
    last log, and a description of the calls that are left out, or None."""
    samples, said, agreement = {}, {}, Agreement(options)
    for path in options.logs:
        log = Samples(path, options.run, options.comm, say)
        log.read()
        here = {}
        said = log.gather(here)
        agreement.add(path, said, here)
        for layer, some in here.items():
            for candidate, windows in some.items():
                mine = samples.setdefault(layer, {})
                mine.setdefault(candidate, {}).update(windows)
        if len(log.comms) > 1:
            say("%s: %s are taken together: %s" % (
                path, plural(len(log.comms), "communicator"), ", ".join(log.comms)))
    if options.table:
        agreement.check_table(options.table)
    known = {layer for layer in samples if layer.layer >= 0}
    left = describe_left(sorted({*samples} - known)) if known else None
    if left:
        samples = {layer: samples[layer] for layer in known}
    if (any(layer.name for layer in samples)
            and not (options.table or said.get("table"))):
        raise UserError("the layers have names, hence the run had a layer table, which "
                        "the second run needs, too: name it by --table FILE")
    take_wanted(samples, options.candidates)
    return samples, said, left


def describe_left(layers):
    """Describes calls of which only the size is known, in a log with layers, or returns
    None. layers: by size."""
    if not layers:
        return None
    return ("Calls of %s are left out, because the library knew no layer of them: the "
            "rules are for the other layers. `steps: none` in the policy with the "
            "candidates measures all calls by size." % list_names(layers))


def take_wanted(samples, names):
    """Keeps only the candidates in the samples that the user names."""
    places = {}
    for some in samples.values():
        for candidate, windows in some.items():
            places.setdefault(candidate, set()).update(
                sums.place for sums in windows.values())
    wanted = select(places, names, places)
    for layer, some in samples.items():
        samples[layer] = {c: some[c] for c in some if c in wanted}
        if not samples[layer]:
            raise UserError(
                "%s was not measured with any of the candidates that --candidates "
                "names: add one of its own: %s" % (layer_name(layer), ", ".join(
                    sorted({c.name() for c in some}))))


def describe_run(samples, said):
    windows = {window for some in samples.values() for one in some.values()
               for window in one}
    epochs = sorted({epoch for _, epoch in windows if epoch >= 0})
    number = max(sum(sums.number for sums in one.values())
                 for some in samples.values() for one in some.values())
    where = ("epochs %d to %d" % (epochs[0], epochs[-1]) if epochs
             else "%s of the run" % plural(len(windows), "part"))
    ranks = ", %s ranks" % said["ranks"] if "ranks" in said else ""
    return "Measured: %s, %s a layer, in %s%s." % (
        plural(len(samples), "layer"), plural(number, "sample"), where, ranks)


def describe_few(samples, logs):
    """Describes a choice that depends on single samples of some layers, or returns
    None. Raises UserError if all layers have single samples."""
    single = [layer for layer, some in samples.items() if max(
        sum(sums.number for sums in one.values()) for one in some.values()) == 1]
    if not single:
        return None
    if len(single) == len(samples):
        raise UserError(
            "%s: one sampled step, and a choice needs two at least: measure more of "
            "them, by a smaller N in `log: {every: N}` of the policy with the "
            "candidates, or by a longer run; if the job said that its calls repeat no "
            "step, write `steps: none` there, which measures calls by size"
            % " ".join(logs))
    return ("The choice hangs on one sample of each candidate in %d of %s: another "
            "step may ask for another one. Measure more of them, by a smaller N in "
            "`log: {every: N}` of the policy with the candidates, or by a longer run."
            % (len(single), plural(len(samples), "layer")))


def describe_unmet(problem, bound):
    """Describes that no candidate with fewer bytes than FP32 meets the target in any
    layer, and the nearest one; otherwise returns None."""
    found = [(layer, m) for layer in problem.layers for m in problem.measured[layer]
             if m.bytes < problem.fp32[layer]]
    if not found:
        return None
    layer, best = min(found, key=lambda pair: pair[1].worst)
    if best.worst <= bound.allowed:
        return None
    return ("No candidate meets %s in any layer, with a margin of %.3g dB, and all "
            "layers stay in FP32. %s came nearest, with at worst %s, in %s of %s." % (
                bound, bound.margin, best.candidate.name(), bound.show(best.worst),
                window_name(best.where), layer_name(layer)))


def describe_bound(problem, bound, sent):
    text = ("Each layer gets the %s that kept %s in every %s, with a margin of %.3g "
            "dB%s." % ("fastest candidate" if problem.times
                       else "candidate of fewest bytes", bound, problem.period,
                       bound.margin, "; of those that take as long, within %.0f %%, "
                       "the one of fewest bytes" % (100 * TIMES_ALIKE)
                       if problem.times else ""))
    single = best_single(problem, lambda sent, _, some: sent if all(
        m.worst <= bound.allowed for m in some) else None)
    if single is None:
        return text + (" No candidate keeps it in all layers." if any(
            problem.measured.values()) else " No candidate was measured in every %s."
            % problem.period)
    text += " The best one for all layers, %s, sends %s" % (
        single[0].name(), show_percent(single[1] / problem.total))
    if single[1] <= sent * (1 + ALIKE):
        return text + ("." if problem.times else ", too.")
    return text + ": %s more." % show_percent(single[1] / sent - 1)


def describe_budget(problem, budget, found):
    text = ("The squared error of the whole gradient, relative to its norm in the "
            "step, is the least that these candidates allow with %s." % budget)
    if found.gap:
        text = ("With %s no choice has less than %s of the squared error of this one."
                % (budget, show_percent(1 - found.gap / found.error)))
    most = budget.part * problem.total
    single = best_single(problem, lambda sent, part, _: part if (
        sent <= most and math.isfinite(part)) else None)
    text += (" No single candidate has so few bytes." if single is None else
             " The best single candidate with so few bytes, %s, has %s." % (
                 single[0].name(), show_ratio(single[2])))
    missed = best_single(problem, lambda sent, part, _: part if (
        most < sent < most * (1 + MISSED) and math.isfinite(part)) else None)
    if missed:
        text += (" %s for all layers misses the budget by little, and has %s: --target "
                 "bytes=%.2f%% allows it." % (
                     missed[0].name(), show_ratio(missed[2]),
                     percent_above(missed[1] / problem.total, 2)))
    return text


def describe_watch(target, policy):
    by = "epoch" if policy.problem.period == "epoch" else "step"
    what = {"snr": "snr_db of each layer stays above the target (apsmpi-report --last "
                   "%s; it is the mean of the samples)",
            "err": "err_mean of each layer stays below the target (apsmpi-report "
                   "--last %s; it is the mean of the samples)",
            "bytes": "err_mean and snr_db do not get worse from " + by + " to " + by +
                     " (apsmpi-report --last --by " + by + " %s)"}[target.kind]
    text = ("Watch that %s, and that the columns overfl and nonfin stay 0. The "
            "candidates saw the steps of one run: with another model, batch or "
            "learning rate, or a longer training, measure again."
            % (what % policy.options.log))
    every, steps = policy.every(), policy.epoch_steps()
    if steps and every > steps:
        text += (" With every: %d some epochs have no sample: an epoch has about %s."
                 % (every, plural(steps, "step")))
    return text


def describe_expected(problem, target, rules, sent, part):
    text = "Expected: %.0f bytes a step that rank 0 sends, %s of FP32's %.0f" % (
        sent, show_percent(sent / problem.total, 2 if target.kind == "bytes" else 1),
        problem.total)
    mean = mean_ratio(rules)
    if problem.weighed:
        text += "; signal-to-noise ratio of the whole gradient %s" % show_ratio(part)
    if not math.isnan(mean):
        text += ("; mean ratio of the samples, which apsmpi-report --last shows as "
                 "snr_db of the total, %s" % show_db(mean))
    return text + "."


def describe_unsaid(rules):
    """Describes keys that the rules may lack, because the log does not have them."""
    chosen = {rule.candidate for rule in rules if rule.candidate}
    silent = sorted(c.name() for c in chosen if not c.says_all())
    text = ("The log does not say rounding and feedback of candidates: where yours had "
            "other ones than the defaults, add them to the rules.")
    if silent:
        text += (" Nor does it say the parameters of scales: add them to the rules of "
                 + ", ".join(silent) + ".")
    return text


def read_times(options, samples, say):
    """Returns the Times of all candidates, or None if the user asks for no times."""
    arguments = asked(options)
    if not arguments:
        return None
    candidates = {c for some in samples.values() for c in some}
    times = Times(sorted(candidates, key=Candidate.ties),
                  {layer.count for layer in samples}, arguments)
    unknown = sorted({c.name() for layer, some in samples.items() for c in some
                      if times.of(c, layer.count) is None})
    if unknown:
        say("no time is predicted of %s: such layers are not given to it"
            % ", ".join(unknown))
    return times


def describe_busy(times, path):
    """Describes a file that was measured on busy machines, by `apsmpi explain`, or
    returns None."""
    if not times or not times.busy:
        return None
    return ("The machine was busy when %s was measured (%s): do not use these "
            "predictions, and measure again on an idle machine." % (path, times.busy))


def describe_times(problem, rules):
    taken, native = problem.seconds(rules)
    return ("Predicted on %s of %s: %s for the all-reduces of a step, one after the "
            "other; by native MPI in FP32 %s." % (
                plural(problem.times.hosts, "host"),
                plural(problem.times.ranks, "rank"), show_seconds(taken),
                show_seconds(native)))


def suggest(options, say=note):
    """Returns the policy as text. say(text) prints a note for the user."""
    samples, said, left = read(options, say)
    target = options.target
    bound = target if target.kind != "bytes" else None
    times = read_times(options, samples, say)
    problem = Problem(samples, bound, times)
    found = None
    if bound:
        rules = choose_bound(problem, bound)
    else:
        rules, found = choose_budget(problem, target)
    policy = Policy(problem, target, rules, options, said)
    sent, part = policy.sent, policy.part = totals(problem, rules)
    few, busy = describe_few(samples, options.logs), describe_busy(times, options.measured)
    unmet = describe_unmet(problem, bound) if bound else None
    for text in filter(None, (left, few, busy, unmet)):
        say(text)
    policy.notes = [describe_run(samples, said), *filter(None, (left, few)),
                    describe_expected(problem, target, rules, sent, part),
                    unmet or (describe_bound(problem, target, sent) if bound
                              else describe_budget(problem, target, found)),
                    *([describe_times(problem, rules)] if times else ()),
                    *([busy] if busy else ()),
                    describe_watch(target, policy)]
    if not all(rule.candidate.plan for rule in rules if rule.candidate):
        policy.notes.append(describe_unsaid(rules))
    return policy.text()


def write(path, text):
    """Writes the policy to a file; - is standard output."""
    if path == "-":
        print_safely(lambda: sys.stdout.write(text))
        return
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UserError("%s: %s" % (path, error.strerror)) from None


def main(arguments):
    options = parse_arguments(arguments)

    def work():
        output = None if options.output == "-" else options.output
        keep_inputs([("--output", output)], [*options.logs, options.table])
        if options.table:
            read_table(options.table)
        write(options.output, suggest(options))
        return 0
    return status_of(work, note)
