# SPDX-License-Identifier: BSD-3-Clause
"""Limits of processor time and memory for a file, which may be hostile: a small file
can ask a reader for hours or terabytes. The reader works in a child, so that the
command reports a child that the system has ended."""

import contextlib
import os
import resource
import signal
import time

SECONDS = 5
MEBIBYTES = 512

_size = 0       # bytes of the file


def _set_soft(kind, amount):
    """Sets a soft limit, at most the hard one. RLIM_INFINITY: the hard one."""
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        amount = hard if amount == resource.RLIM_INFINITY else min(amount, hard)
    resource.setrlimit(kind, (amount, hard))


def set_limits(size):
    """Limits this process, from now on, for a file of `size` bytes. Its bytes may
    be mapped, and be copied once."""
    global _size
    _size = size
    _set_soft(resource.RLIMIT_CORE, 0)
    _set_soft(resource.RLIMIT_CPU, int(time.process_time()) + SECONDS)
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[0])
    except OSError:             # not Linux
        return
    _set_soft(resource.RLIMIT_AS, pages * resource.getpagesize() +
              (MEBIBYTES << 20) + 2 * size)


@contextlib.contextmanager
def unlimited():
    """Lifts the limits, for work that does not depend on the file."""
    for kind in resource.RLIMIT_CPU, resource.RLIMIT_AS:
        _set_soft(kind, resource.RLIM_INFINITY)
    try:
        yield
    finally:
        set_limits(_size)


def wait_for(child):
    """Waits for a child. Returns its exit status, or a text if a signal ended it."""
    status = os.waitpid(child, 0)[1]
    if not os.WIFSIGNALED(status):
        return os.WEXITSTATUS(status)
    number = os.WTERMSIG(status)
    if number == signal.SIGXCPU:
        return "reading it takes more than %d seconds of processor time" % SECONDS
    return "reading it ends with %s" % signal.Signals(number).name
