# SPDX-License-Identifier: BSD-3-Clause
# The code of trellis.py: messages can be decoded, and have the length that the
# script reports. Its quantiser gains what the theory promises.
. "$top_srcdir/tests/mpi/run.sh"
if ! "$PYTHON3" -c 'import numpy' 2>/dev/null; then
    echo "1..0 # SKIP numpy is missing"
    exit 0
fi
PYTHONPATH=$top_srcdir/tests/figures "$PYTHON3" - \
    >"$tmp/said" 2>"$tmp/stderr" <<'END'
import numpy as np

from trellis import (CHECKS, FINE, TABLES, errors_of, fitted, known_by, lengths,
                     next_state, quantised, read, write)

N = 1024
random = np.random.default_rng(1)
white = random.standard_normal((16, 8192))
for states, gain in ((4, 0.9), (8, 1.05), (32, 1.15)):
    step = np.full(16, 0.06)
    multiples, quantisers = quantised(white, step, states)
    error = ((multiples * 0.06 - white) ** 2).mean()
    print("gain", states, gain < 10 * np.log10(0.12 ** 2 / 12 / error) < 1.53)
    paths = np.zeros(16, int)
    follows = True
    for m, quantiser in zip(multiples.T, quantisers.T):
        follows &= (quantiser == (paths & 1)).all()
        follows &= ((m + quantiser) % 2 == 0)[m != 0].all()
        paths = next_state(states, paths, (np.abs(m) + 1) // 2 & 1)
    print("path", states, bool(follows))
print("tables", (TABLES.sum(axis=2) == 1 << 14).all() and TABLES.min() >= 1)

# White, sparse, and with loud parts; the last needs codes that escape.
loud = 2.0 ** np.repeat(random.integers(-9, 9, N // 64), 64)
rows = random.standard_normal((5, N))
rows[1] *= random.random(N) < 0.05
rows[2] *= loud
rows[3] = 0
rows[4, 500] = 1e5
errors = []
past = [random.standard_normal(N) * loud for _ in range(4)]
for what, known in (("alone", np.zeros((5, N), int)),
                    ("known", np.tile(known_by(past), (5, 1)))):
    for states in CHECKS:
        multiples, quantisers, step = fitted(rows, known, 5, states)
        bits = lengths(multiples, quantisers, known)
        same = short = True
        for i in range(len(rows)):
            state, words = write(multiples[i], quantisers[i], known[i],
                                 int(step[i]))
            got = read(state, words, N, states, known[i])
            same &= got == (list(multiples[i]), step[i])
            used = 32 + 16 * len(words)
            short &= used <= 5 * N and abs(used - bits[i]) < 20
        print("read", what, states, bool(same))
        print("short", what, states, bool(short))
        filled = bits[[0, 2]] > 0.99 * 5 * N
        print("filled", what, states, bool(filled.all()))
    errors.append(((multiples[2] * 2.0 ** (step[2] / FINE) - rows[2]) ** 2).sum())
print("past", errors[1] < 0.8 * errors[0])

tensor = random.standard_normal((8, 8 * N))
white = errors_of(tensor, None, ("", 8, False, False, (5, 5)))
own = errors_of(tensor, None, ("", 8, True, False, (5, 5)))
print("white", 2 * 4.0 ** -5 < white < 1.42 * 2 * 4.0 ** -5)
print("own", 0.85 < own / white < 0.98)
tensor *= np.tile(loud, 8)
alone, sums = (errors_of(tensor, [np.tile(x, 8) for x in past],
                         ("", 8, False, is_known, (5, 5)))
               for is_known in (False, True))
print("sums", sums < 0.9 * alone)
END
status=$?
[ $status -eq 0 ] || show_errors
check $status 'the code is tried'
for what in tables white own past sums 'gain 4' 'gain 8' 'gain 32' 'path 4' 'path 8' \
    'path 32'; do
    grep -qx "$what True" "$tmp/said"
    check $? "$what"
done
for what in read short filled; do
    for states in 4 8 32; do
        for known in alone known; do
            grep -qx "$what $known $states True" "$tmp/said"
            check $? "$what, $states states, $known"
        done
    done
done
finish
