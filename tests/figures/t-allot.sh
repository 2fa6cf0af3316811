# SPDX-License-Identifier: BSD-3-Clause
# The codes whose bits allot.py counts have that length, and can be decoded. Its
# roundings keep to their budget, and its MX elements are those of the standard.
. "$top_srcdir/tests/mpi/run.sh"
if ! "$PYTHON3" -c 'import numpy' 2>/dev/null; then
    echo "1..0 # SKIP numpy is missing"
    exit 0
fi
PYTHONPATH=$top_srcdir/tests/figures "$PYTHON3" - \
    >"$tmp/said" 2>"$tmp/stderr" <<'END'
import numpy as np

from allot import (HEADER, fitted, in_blocks, mx, nmse, rice_bits, slices_of,
                   width_bits)


def write_widths(row):
    width = max(abs(int(k)).bit_length() for k in row)
    width += width > 0
    text = "{:04b}".format(width)
    for k in row:
        if width:
            text += "01"[int(k < 0)] + "{:0{}b}".format(abs(int(k)), width - 1)
    return text


def read_widths(text, n):
    width, text = int(text[:4], 2), text[4:]
    parts = [text[i * width:(i + 1) * width] for i in range(n)]
    return [(1 - 2 * int(p[0])) * int(p[1:], 2) if width else 0 for p in parts]


def write_rice(row):
    def text_of(p):
        text = "{:04b}".format(p)
        for k in row:
            z = 2 * int(k) if k >= 0 else -2 * int(k) - 1
            text += "1" * (z >> p) + "0"
            text += "{:0{}b}".format(z & (1 << p) - 1, p) if p else ""
        return text
    return min((text_of(p) for p in range(16)), key=len)


def read_rice(text, n):
    p, place, row = int(text[:4], 2), 4, []
    for _ in range(n):
        stop = text.index("0", place)
        z = (stop - place) << p
        z += int(text[stop + 1:stop + 1 + p], 2) if p else 0
        place = stop + 1 + p
        row.append(z // 2 if z % 2 == 0 else -(z + 1) // 2)
    return row


random = np.random.default_rng(1)
rows = np.round(random.standard_normal((40, 8)) * 2.0 ** random.integers(
    -3, 8, (40, 1)))
for name, write, read, bits in (("widths", write_widths, read_widths, width_bits),
                                ("rice", write_rice, read_rice, rice_bits)):
    texts = [write(row) for row in rows]
    print(name, "length", sum(map(len, texts)) == bits(rows))
    print(name, "readable", all(read(text, 8) == list(row)
                                for text, row in zip(texts, rows)))
    x = random.standard_normal(1024) * 2.0 ** random.integers(-9, 9, 1024)
    y = fitted(bits, 8, 5)(x)
    step = np.unique(np.abs(np.diff(np.unique(y)))).min()
    used = bits(np.round(in_blocks(y, 8) / step)) + HEADER
    print(name, "budget", 0.9 * 5 * 1024 < used <= 5 * 1024)
x = np.array([6, 0.5, 1, 1.5, 2, 3, 4, -6, 0.2, 0.3] + [0] * 22)
print("mx", list(mx(2, 1)(x)[:10]) ==
      [6, 0.5, 1, 1.5, 2, 3, 4, -6, 0, 0.5])
print("slices", slices_of(1280) == [0, 192, 384, 576, 768, 960, 1152, 1280, 1280])
tensor = random.standard_normal((8, 1024))
print("exact", nmse(tensor, lambda x: x) < 1e-30)
END
status=$?
[ $status -eq 0 ] || show_errors
check $status 'the codes are tried'
for what in 'widths length' 'widths readable' 'widths budget' 'rice length' \
    'rice readable' 'rice budget' mx slices exact; do
    grep -qx "$what True" "$tmp/said"
    check $? "$what"
done
finish
