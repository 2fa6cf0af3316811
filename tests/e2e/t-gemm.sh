#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Matrix products of unmodified programs with libapsgemm.so preloaded.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

gemm=$top_builddir/.libs/libapsgemm.so
product=$top_builddir/tests/e2e/product

# gemm_policy FILE SETTING: writes a policy for products only
gemm_policy()
{
    printf 'version: 1\ngemm: {%s}\n' "$2" >"$1"
}

# multiply [VARIABLE=VALUE...] PROGRAM...
multiply()
{
    timed env LD_PRELOAD="$gemm" "$@"
}

gemm_policy e5m2.yaml 'format: e5m2, accumulate: fp32'
gemm_policy bf16.yaml 'format: bf16'
gemm_policy fp32.yaml 'format: fp32'
gemm_policy bad.yaml 'format: e5m2, acumulator: fp32'
policy rules.yaml 'format: e5m2'

# The products 15 and 18 are ties in e5m2 and become 16, and 21 becomes 20: the
# sums are 5 + 14, 6 + 16, 16 + 28, 16 + 32, and with A transposed 5 + 20, 6 +
# 24, 10 + 28, 12 + 32, twice and added to the first.
exact='19 22 43 50
71 82 119 138'
in_e5m2='19 22 44 48
69 82 120 136'

# --- a program of its own -----------------------------------------------------

for how in fortran rows columns; do
    symbol=cblas_sgemm
    [ $how != fortran ] || symbol=sgemm_

    timed "$product" $how
    check "$how: without the library" equal "$(cat out)" "$exact"
    multiply "$product" $how
    check '... without a policy it is left alone' equal "$(cat out)" "$exact"
    check '... by the next BLAS' lines 2 err "blas: $symbol"
    multiply APSMPI_POLICY=e5m2.yaml "$product" $how
    check '... with one products are rounded' equal "$(cat out)" "$in_e5m2"
    check '... and the next BLAS sees nothing' lines 0 err blas:
    check '... and a line counts them' lines 1 err \
        'apsmpi: 2 products of matrices, 2 rewritten'
    multiply APSMPI_POLICY=bf16.yaml "$product" $how
    check '... in the format of the policy' equal "$(cat out)" "$exact"
    check '... by us' lines 1 err '2 products of matrices, 2 rewritten'
done

# Rules: the first of the program's two products, both of 2 x 2 x 2, alone; sizes that
# it does not have; and sizes that it has.
printf '%s\n' 'version: 1' 'gemm:' '  - {products: 1-, format: fp32}' \
    '  - {dimensions: "3-9", format: bf16}' \
    '  - {dimensions: "1, 2", format: e5m2, accumulate: fp32}' >rules-of-products.yaml
multiply APSMPI_POLICY=rules-of-products.yaml "$product" rows
check 'rules: one product is rounded' equal "$(cat out)" '19 22 44 48
71 82 120 136'
check '... and the next BLAS computes the other' lines 1 err 'blas: cblas_sgemm'
check '... and the line says so' has err '2 products of matrices, 1 rewritten'
multiply APSMPI_POLICY=rules-of-products.yaml APSMPI_SUMMARY=off "$product" rows
check '... unless there is no summary' equal "$(cat out)" '19 22 44 48
71 82 120 136'
check '... as here' lines 0 err 'products of matrices'
multiply APSMPI_POLICY=rules-of-products.yaml APSMPI_SUMMARY=json:summary.json \
    "$product" rows
check '... or one in a file' lines 0 err 'products of matrices'
multiply APSMPI_POLICY=rules-of-products.yaml PMI_RANK=1 "$product" rows
check '... nor on other ranks' lines 0 err 'products of matrices'
printf '%s\n' 'version: 1' 'gemm: [{products: 2-, format: e5m2}]' >later.yaml
multiply APSMPI_POLICY=later.yaml "$product" rows
check '... and all that no rule matches' equal "$(cat out)" "$exact"

for case in 'fp32: APSMPI_POLICY=fp32.yaml' \
    'no section: APSMPI_POLICY=rules.yaml' \
    'off: APSMPI_POLICY=e5m2.yaml APSMPI_ENABLE=off'; do
    # shellcheck disable=SC2086 # variables, one or two
    multiply ${case#*:} "$product" rows
    check "${case%%:*}: left alone" equal "$(cat out)" "$exact"
    check '... by the next BLAS' lines 2 err 'blas: cblas_sgemm'
done

multiply APSMPI_POLICY=e5m2.yaml "$product" bad
check 'bad arguments are left to the BLAS' lines 1 err 'blas: xerbla'
check '... and nothing is written' equal "$(cat out)" '0 0 0 0'

# --- a bad policy -------------------------------------------------------------

multiply APSMPI_POLICY=bad.yaml "$product" rows
check 'a bad policy stops the program' failed
check '... before it computes anything' empty out
check '... says where and why' lines 1 err \
    "bad.yaml:2:22: unknown key 'acumulator'; did you mean 'accumulate'?"
multiply APSMPI_POLICY=missing.yaml "$product" rows
check 'a missing policy ends the program, too' failed
multiply APSMPI_POLICY=bad.yaml APSMPI_ON_ERROR=pass "$product" rows
check '... or is passed over' equal "$(cat out)" "$exact"
check '... with a word' lines 1 err 'BLAS computes all matrix products'
multiply APSMPI_POLICY=missing.yaml ls /
check 'programs that never multiply never read it' status_is 0
check '... without a message' empty err

# --- check and explain --------------------------------------------------------

gemm_policy kahan.yaml 'format: e5m10, accumulate: {format: e8m23, kahan: on}'
timed "$apsmpi" check kahan.yaml fp32.yaml
check 'check shows it' has out 'gemm: products e5m10, sums e8m23 (kahan)'
check '... and fp32' has out 'gemm: native'
gemm_policy chunk.yaml 'format: e5m10, accumulate: {chunk: 64}'
timed "$apsmpi" check chunk.yaml
check '... and chunks' has out 'gemm: products e5m10, sums e5m10 (chunks of 64)'
gemm_policy blocks.yaml 'format: bfp7/64, format_b: bfp15/64'
timed "$apsmpi" explain blocks.yaml
check '... and blocks' has out 'gemm: products bfp7/64 x bfp15/64, sums e8m23'
gemm_policy drawn.yaml \
    'format: e5m2, accumulate: fp32, rounding: {stochastic: {seed: 3}}'
timed "$apsmpi" check drawn.yaml
check '... and random rounding' has out \
    'gemm: products e5m2 (operands stochastic), sums e8m23'
timed "$apsmpi" explain kahan.yaml
check 'explain shows it' has out 'gemm: products e5m10, sums e8m23 (kahan)'
check '... and that there is no rule' has out 'No rules'

# refused SETTING CAUSE
refused()
{
    gemm_policy refused.yaml "$1"
    timed "$apsmpi" check refused.yaml
    check "refused: {$1}" status_is 1
    check '... with its cause' has err "refused.yaml:2:$2"
}
refused '' "1: 'gemm' has no 'format'"
refused 'kahan: on' "1: 'gemm' has no 'format'"
refused 'format: e9m2' \
    "16: format 'e9m2': wider than FP32, for rules with types: double"
refused 'format: e5m2, kahan: maybe' \
    "29: 'kahan' must be on or off, not 'maybe'"
refused 'format: fp32, accumulate: kahan' \
    "22: 'accumulate' cannot be combined with format: fp32"
refused 'format: e5m2, rounding: correlated' \
    '32: correlated rounding is for sums over ranks'
refused 'format: e5m2, accumulator: e5m24' \
    "35: format 'e5m24': wider than FP32, for rules with types: double"

# --- the reference BLAS -------------------------------------------------------

if $CC -o with-blas "$top_srcdir/tests/e2e/product.c" -lblas 2>said ||
    $CC -o with-blas "$top_srcdir/tests/e2e/product.c" -lcblas -lblas 2>said
then
    for how in fortran rows columns; do
        multiply APSMPI_POLICY=e5m2.yaml ./with-blas $how
        check "libblas, $how" equal "$(cat out)" "$in_e5m2"
        multiply ./with-blas $how
        check '... left alone' equal "$(cat out)" "$exact"
    done
    multiply APSMPI_POLICY=e5m2.yaml ./with-blas bad
    check '... and its message for bad arguments' grep -qi 'lda\|parameter' \
        out err
else
    skip 'the reference BLAS' 'no libblas to link with'
fi

# --- numpy --------------------------------------------------------------------

# Products with every operation rounded, one element after the other; numpy's
# float16 is e5m10.
cat >numpy-product.py <<'END'
import sys
import numpy as np

f32, f16 = np.float32, np.float16
accumulator, kahan, chunk = sys.argv[1], sys.argv[2] == "on", int(sys.argv[3])
rng = np.random.default_rng(1)
a = rng.standard_normal((9, 50)).astype(f32)
b = rng.standard_normal((50, 21)).astype(f32)

def q(x):
    return f32(f16(x))

def r(x):
    return f32(x) if accumulator == "e8m23" else q(x)

def emulated(a, b):
    out = np.zeros((a.shape[0], b.shape[1]), f32)
    for i, j in np.ndindex(*out.shape):
        s = c = total = f32(0)
        for k in range(a.shape[1]):
            if chunk and k and k % chunk == 0:
                total, s = r(total + s), f32(0)
            x = q(q(a[i, k]) * q(b[k, j]))
            if kahan:
                y = r(x - c)
                t = r(s + y)
                c = r(r(t - s) - y)
                s = t
            else:
                s = r(s + x)
        out[i, j] = r(total + s) if chunk else s
    return out

plain = (a.astype(np.float64) @ b.astype(np.float64)).astype(f32)
want = emulated(a, b)
got = {
    "matmul": a @ b,
    "dot": np.dot(a, b),
    "transposed": (np.ascontiguousarray(b.T) @ np.ascontiguousarray(a.T)).T,
    "views": np.asfortranarray(a) @ np.asfortranarray(b),
    "slices": np.pad(a, 3)[3:-3, 3:-3] @ np.pad(b, 2)[2:-2, 2:-2],
}
for name, x in got.items():
    print(name, "emulated" if x.tobytes() == want.tobytes() else
          "plain" if np.allclose(x, plain, rtol=1e-5, atol=1e-5) else "?")
END

# Operands in blocks: elements times a power of two; Python's integers sum the
# products of a block, and FP32 or float16 these sums.
cat >numpy-blocks.py <<'END'
import math
import sys
import numpy as np

f32, f16 = np.float32, np.float16
formats, accumulator, chunk = sys.argv[1:3], sys.argv[3], int(sys.argv[4])
rng = np.random.default_rng(2)
a = rng.standard_normal((7, 150)).astype(f32)
b = rng.standard_normal((150, 11)).astype(f32)
b *= np.exp2(rng.integers(-9, 9, b.shape)).astype(f32)

def r(x):
    return f32(x) if accumulator == "e8m23" else f32(f16(x))

def block(form, x):
    """Integers and the exponent of their unit."""
    e = math.frexp(max(abs(v) for v in x))[1]
    if form.startswith("bfp"):
        m = int(form[3:].split("/")[0])
        unit, most, floats = e - m, 2 ** m - 1, None
    else: # bits of the mantissa, exponents of the normal elements, largest
        floats, low, high, most = {
            "mx-e4m3fn": (3, -6, 8, 448), "mx-e2m1fn": (1, 0, 2, 6),
            "mx-int8": (6, 0, 0, 127 / 64)}[form]
        unit = e - 1 - high + low - floats
        most *= 2 ** (floats - low)
    out = []
    for v in x:
        y = math.ldexp(float(v), -unit)
        step = 1
        if floats and y and form != "mx-int8":
            step = max(2 ** (math.frexp(y)[1] - 1 - floats), 1)
        k = int(round(abs(y) / step)) * step # ties to even
        out.append(int(math.copysign(min(k, most), y)))
    return out, unit

def emulated(a, b, form_a, form_b):
    size = 64 if form_a.startswith("bfp") else 32
    cut = range(0, a.shape[1], size)
    rows = [[block(form_a, x[k:k + size]) for k in cut] for x in a]
    columns = [[block(form_b, x[k:k + size]) for k in cut] for x in b.T]
    out = np.zeros((a.shape[0], b.shape[1]), f32)
    for i, j in np.ndindex(*out.shape):
        s = total = f32(0)
        for l, ((x, u), (y, w)) in enumerate(zip(rows[i], columns[j])):
            if chunk and l and l % chunk == 0:
                total, s = r(total + s), f32(0)
            exact = sum(p * q for p, q in zip(x, y))
            s = r(s + f32(math.ldexp(exact, u + w)))
        out[i, j] = r(total + s) if chunk else s
    return out

got = {
    "matmul": (a @ b, emulated(a, b, *formats)),
    "views": (np.asfortranarray(a) @ np.asfortranarray(b),
              emulated(a, b, *formats)),
    "transposed": ((np.ascontiguousarray(b.T) @ np.ascontiguousarray(a.T)).T,
                   emulated(a, b, *formats[::-1])),
}
for name, (x, want) in got.items():
    print(name, "emulated" if x.tobytes() == want.tobytes() else "?")
END

# Operands that are rounded stochastically: 1.1 becomes 1 or 1.25, with the mean 1.1,
# and other values in each product.
cat >numpy-drawn.py <<'END'
import hashlib
import numpy as np

x, one = np.full((400, 50), 1.1, np.float32), np.eye(50, dtype=np.float32)
first, second = x @ one, x @ one
assert set(np.unique(first)) == {1, 1.25}, np.unique(first)
assert abs(first.mean() - 1.1) < 0.005, first.mean()
assert (first != second).mean() > 0.4
print(hashlib.sha256(first.tobytes()).hexdigest())
END
if "$PYTHON3" -c 'import numpy' 2>/dev/null; then
    multiply APSMPI_POLICY=drawn.yaml "$PYTHON3" numpy-drawn.py
    check 'numpy: operands are drawn' status_is 0
    cp out drawn
    multiply APSMPI_POLICY=drawn.yaml PMI_RANK=0 "$PYTHON3" numpy-drawn.py
    check '... as before by the same seed and rank' cmp out drawn
    multiply APSMPI_POLICY=drawn.yaml PMI_RANK=1 "$PYTHON3" numpy-drawn.py
    check '... on another rank' status_is 0
    check '... otherwise' not cmp -s out drawn
    for case in 'bfp7/64 bfp7/64 e8m23 0' 'bfp7/64 bfp15/64 e8m23 0' \
        'bfp3/64 bfp15/64 e5m10 2' 'mx-e4m3fn mx-e4m3fn e8m23 0' \
        'mx-e2m1fn mx-int8 e8m23 3'; do
        # shellcheck disable=SC2086 # four words
        set -- $case
        chunk=
        [ "$4" = 0 ] || chunk=", chunk: $4"
        gemm_policy blocks.yaml \
            "format: $1, format_b: $2, accumulate: {format: $3$chunk}"
        multiply APSMPI_POLICY=blocks.yaml "$PYTHON3" numpy-blocks.py "$@"
        check "numpy, $1 by $2, sums in $3, chunk $4: as emulated" \
            lines 3 out emulated
    done
    for case in 'e5m10 off 0' 'e5m10 on 0' 'e8m23 off 0' 'e8m23 on 0' \
        'e5m10 off 2' 'e5m10 off 8' 'e8m23 off 16'; do
        # shellcheck disable=SC2086 # three words
        set -- $case
        chunk=
        [ "$3" = 0 ] || chunk=", chunk: $3"
        gemm_policy numpy.yaml \
            "format: e5m10, accumulate: {format: $1, kahan: $2$chunk}"
        multiply APSMPI_POLICY=numpy.yaml "$PYTHON3" numpy-product.py "$@"
        check "numpy, sums in $1, kahan $2, chunk $3: as emulated" \
            lines 5 out emulated
    done
    multiply "$PYTHON3" numpy-product.py e5m10 off 0
    check '... and left alone without a policy' lines 5 out plain
    multiply APSMPI_POLICY=missing.yaml "$PYTHON3" numpy-product.py e5m10 off 0
    check '... and stopped by a bad one' failed
    check '... before it prints anything' empty out
else
    skip 'numpy' "$PYTHON3 has no numpy"
fi

# --- from inside --------------------------------------------------------------

if command -v nm >/dev/null; then
    nm -D --defined-only "$gemm" | awk '{ print $NF }' >exported
    check 'only names of BLAS are exported' not grep -v sgemm exported
    nm -D "$gemm" | awk '{ print $NF }' >all
    check 'libyaml is neither exported nor needed' not grep yaml_ all
else
    skip 'exported names' 'no nm'
fi

finish
