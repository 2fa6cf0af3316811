# SPDX-License-Identifier: BSD-3-Clause
# The bounds of bound.py agree with closed forms of the theory: Gaussian noise,
# noise in some of the runs, equally frequent symbols.
. "$top_srcdir/tests/mpi/run.sh"
if ! "$PYTHON3" -c 'import numpy' 2>/dev/null; then
    echo "1..0 # SKIP numpy is missing"
    exit 0
fi
PYTHONPATH=$top_srcdir/tests/figures "$PYTHON3" - \
    >"$tmp/said" 2>"$tmp/stderr" <<'END'
import numpy as np

from bound import (bound, entropy, entropy_in, in_context, plain, scalar,
                   scalar_codes, told)


def near(a, b):
    return abs(a / b - 1) < 1e-6


# Eight orthogonal rows of 1 and -1: each has variance 1, and their sum 8, in
# every run of 8.
walsh = np.array([[1.0]])
for _ in range(3):
    walsh = np.block([[walsh, walsh], [walsh, -walsh]])
even = np.tile(walsh, 64)
half = np.concatenate([even, 0 * even], axis=1)
print("white", all(near(bound(even, 8, bits), 2 * 4.0 ** -bits)
                   for bits in (1, 4.5, 5)))
print("half", near(bound(half, 8, 5), 2 * 4.0 ** -10))
# With variances 1 and 4^-7 an average of 1 bit goes to the first alone.
low = np.concatenate([even, even / 128], axis=1)
print("water", near(bound(low, 8, 1), 2 * (4.0 ** -2 + 4.0 ** -7)
                    / (1 + 4.0 ** -7)))
random = np.random.default_rng(1)
loud = 2.0 ** np.repeat(random.integers(-4, 5, 512), 8)
noise = random.standard_normal((8, 4096)) * loud
some = [bound(noise, size, 5) for size in (8, 16, 32, 4096)]
print("runs", some == sorted(some) and some[0] < 0.5 * some[-1])

print("entropy", near(entropy(np.arange(4096) % 4), 2))
pairs = np.repeat([0, 1], 64)
print("classes", near(entropy_in(pairs, pairs * 4 + np.arange(128) % 4), 2)
      and near(entropy(pairs * 4 + np.arange(128) % 4), 3))
print("told", told(even, 8) == 0 and 0.3 < told(noise, 8) < 0.5)

# The entropy-coded uniform quantiser needs log2(2 pi e / 12) / 2 = 0.254 bits
# more than the bound, for Gaussian noise.
white = random.standard_normal((8, 65536))
wanted = 2 * 4.0 ** -4
print("scalar", 0.24 < scalar(white, wanted, plain) - 4 < 0.26)
each, total = scalar_codes(white, wanted)
exact = white.sum(axis=0)
step = (white * each).sum() / (each * each).sum()
error = ((total[0] * step * 8 ** 0.5 - exact) ** 2).sum() / (exact ** 2).sum()
print("wanted", abs(error / wanted - 1) < 0.01)
print("context", in_context(each) > 0.98 * plain(each))
long = 2.0 ** np.repeat(random.integers(-4, 5, 64), 64)
each = np.round(random.standard_normal((8, 4096)) * long * 8)
print("near", in_context(each) < plain(each) - 0.5)
END
status=$?
[ $status -eq 0 ] || show_errors
check $status 'the bounds are computed'
for what in white half water runs entropy classes told scalar wanted context \
    near; do
    grep -qx "$what True" "$tmp/said"
    check $? "$what"
done
finish
