#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The notebook: from a model to a policy, with pictures; and a job with this policy.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

[ -z "$sanitizer" ] || skip_all 'a build with sanitizers'
for module in numpy matplotlib; do
    "$PYTHON3" -c "import $module" 2>/dev/null ||
        skip_all "$PYTHON3 has no module $module"
done

timed env LIBAPS="$top_builddir/.libs/libaps.so" PYTHONPATH="$top_srcdir/scripts" \
    OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 MPLBACKEND=Agg \
    "$PYTHON3" "$top_srcdir/tests/apps/notebook.py"
check 'the notebook runs' status_is 0
for name in exponents formats losses; do
    check "... and draws $name.png" test "$(wc -c <$name.png)" -gt 10000
done
check '... a rule for each layer' lines 6 policy.yaml 'layers: fc'
check '... in 8 bits at most' not grep 'e5m10\|e8m23' policy.yaml
right=$(sed -n 's/^FP32: \([0-9.]*\)% right; policy.yaml: \([0-9.]*\)%$/\1 \2/p' out)
check "... whose training is as good as in FP32: $right" \
    awk -v right="$right" 'BEGIN { split(right, x); exit !(x[2] > 95 && x[2] > x[1] - 1) }'
timed "$apsmpi" check policy.yaml
check 'the policy is right' status_is 0

if "$PYTHON3" -c 'from mpi4py import MPI' 2>/dev/null; then
    job 8 OPENBLAS_NUM_THREADS=1 APSMPI_POLICY=policy.yaml \
        "$PYTHON3" "$top_srcdir/tests/apps/digits.py" --epochs 1
    check 'digits.py trains with it on 8 ranks' trained
    check '... all its sums of gradients' rewritten 66
else
    skip 'digits.py' "$PYTHON3 has no mpi4py for this MPI"
fi
finish
