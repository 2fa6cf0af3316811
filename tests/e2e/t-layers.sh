#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Layer tables of models: the tables of the package have the published numbers of
# parameters and are right; apsmpi-layers writes the table of files that layers.py
# writes, in forward order. PyTorch and onnx read their own files: stand-ins check how
# they are called, and the packages themselves are tested if they are installed.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

"$PYTHON3" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ||
    skip_all "$PYTHON3 is missing or older than 3.9"
tables=$top_srcdir/config/layers
maker=$top_srcdir/tests/e2e/layers.py

# layers ARGUMENT...: runs apsmpi-layers
layers()
{
    timed "$PYTHON3" "$layers_command" "$@"
}

# accepted TABLE: apsmpi check accepts it, without a warning
accepted()
{
    printf '%s\n' 'version: 1' 'min_count: 1' "table: $1" \
        'rules: [{format: e4m3}]' >policy.yaml
    timed "$apsmpi" check policy.yaml
    cat err
    status_is 0 && empty err
}

# --- the tables of the package ------------------------------------------------

# By the papers and by the models' cards.
cat >published <<'TABLES'
resnet18 11689512
resnet50 25557032
resnet152 60192808
vgg16 138357544
bert-base 109482240
gpt2 124439808
TABLES
while read -r name parameters; do
    file=$tables/$name-layers.csv
    check "$name: the table is what its script writes" sh -c \
        "'$PYTHON3' '$tables/tables.py' $name | cmp - '$file'"
    check "... has $parameters parameters" equal "$(awk -F, \
        '!/^#/ && $1 != "layer" { n += $3 } END { printf "%d", n }' "$file")" \
        "$parameters"
    check '... names its source' has "$file" '# Source: '
    check '... and is right' accepted "$file"
    # A network with its names, sorted as safetensors sorts them.
    "$PYTHON3" - "$file" <<'END'
import csv, json, struct, sys
rows = list(csv.DictReader(line for line in open(sys.argv[1])
                           if not line.startswith("#")))
header = {row["name"]: {"dtype": "F32", "data_offsets": [0, 0],
                        "shape": [int(n) for n in row["shape"].split("x")]}
          for row in sorted(rows, key=lambda row: row["name"])}
text = json.dumps(header).encode()
open("sorted.safetensors", "wb").write(struct.pack("<Q", len(text)) + text)
END
    layers sorted.safetensors
    check '... forward order is found again from sorted names' equal \
        "$(grep -v '^#' out | cksum)" "$(grep -v '^#' "$file" | cksum)"
done <published
for file in "$tables"/*.csv; do
    name=${file##*/}
    check "$name is one of them" grep "^${name%-layers.csv} " published
done

# --- files of every kind ------------------------------------------------------

cat >wanted <<'TABLE'
layer,name,count,shape
0,conv1.weight,216,8x3x3x3
1,bn1.weight,8,8
2,bn1.bias,8,8
3,layer1.2.conv1.weight,64,8x8x1x1
4,layer1.10.conv1.weight,128,16x8x1x1
5,fc.weight,160,10x16
6,fc.bias,10,10
TABLE
rows_are()
{
    cat err
    status_is 0 && grep -v '^#' "$1" | diff wanted -
}
# table_of FILE: its table has the wanted rows
table_of()
{
    layers "$1"
    check "$1: its layers in forward order" rows_are out
    check '... a comment says what was left out' \
        grep '^# Left out: .*bn1.running_mean' out
    cp out table.csv
    check '... apsmpi accepts the table' accepted "$tmp/table.csv"
}
for file in net.safetensors net.npz net.pt net.pt.old checkpoint.pt module.pt \
    data.pt slow.pt large.pt; do
    "$PYTHON3" "$maker" $file || exit 1
done
table_of net.safetensors
table_of net.npz
check '... and what is not an array' has table.csv '# Left out: notes.txt (not arrays).'

# In standin/ are stand-ins for PyTorch and onnx, which write to `asked` how they were
# called; here, an old PyTorch, and packages that cannot be loaded.
mkdir old
cat >old/torch.py <<'END'
__version__ = "1.13.1"
def load(path, map_location, weights_only):
    pass
END
for name in torch onnx h5py; do
    mkdir -p hidden/$name
    echo 'raise ImportError("hidden by the test")' >hidden/$name/__init__.py
done
# with FOLDER COMMAND...: run the command with the packages in FOLDER
with()
{
    PYTHONPATH=$tmp/$1 PYTHONDONTWRITEBYTECODE=1
    [ "$1" != standin ] ||
        PYTHONPATH=$top_srcdir/tests/e2e/standin:$top_srcdir/tests/e2e
    export PYTHONPATH PYTHONDONTWRITEBYTECODE
    shift
    "$@"
    unset PYTHONPATH PYTHONDONTWRITEBYTECODE
}
with standin table_of net.pt
check 'PyTorch loads no values, and runs nothing' equal "$(cat asked)" \
    'net.pt meta True True'
check 'the same memory under another name is one layer' \
    has table.csv '# Left out: head.weight (the same memory as another).'
check '... what is not a tensor is left out' \
    has table.csv '# Left out: extra (not a tensor with a name).'
with standin table_of net.pt.old
check '... of an old file, which cannot be mapped, either' equal "$(cat asked)" \
    'net.pt.old meta True False'
with standin table_of checkpoint.pt
check 'a checkpoint: the tensors and objects next to the state dict are left out' \
    has table.csv '# Left out: best, optimizer (not in the state dict).'
echo bytes >net.onnx
with standin layers net.onnx
check 'onnx reads its messages, and no other file' equal "$(cat asked)" \
    'net.onnx protobuf False'
check '... by which the layers are known' equal "$(grep -v '^#' out |
    paste -s -d ' ')" 'layer,name,count,shape 0,fc.weight,160,10x16'
check '... and the rest' has out '# Left out: index (not floats).'
check '... also what is sparse' has out '# Left out: few, few (sparse).'

layers net.safetensors
check 'a guessed order is called a guess' has out 'the order is a'
check '... on standard error, too' has err 'is a guess'
layers net.npz
check 'an order of the file is not a guess' empty err
check 'comments: what the policy needs' has out 'steps: {order: forward}'
check '... that calls may be fused' has out 'any run of consecutive rows'
check '... how many are small' has out '# 7 of the layers have fewer than 1024'
layers --order backward net.npz
check '--order backward: the rows stay in forward order' rows_are out
check '... the comment does not' has out 'steps: {order: backward}'
layers --all --output all.csv net.npz
check '--all: statistics, too' has all.csv 'bn1.num_batches_tracked,1,'
check '--output leaves standard output alone' empty out
check '... and the table is right' accepted "$tmp/all.csv"

{ head -n 1 wanted; sed 1d wanted | sort -r -t , -n; } |
    awk -F, -v OFS=, 'NR > 1 { $1 = NR - 2 } { print }' >other.csv
layers --like other.csv net.npz
check '--like: the order of another table' equal \
    "$(grep -v '^#' out | cksum)" "$(cksum <other.csv)"
layers --like "$tables/vgg16-layers.csv" net.npz
check '... which names the same layers, or nothing is written' status_is 2
check '... and the lack is named' has err 'it lacks conv1.weight'
check '... nothing on standard output' empty out

# The scales of a run under `scale: unit` are those of one under `unit: table`.
# last_scales LOG: name and exponent of each layer's last row
last_scales()
{
    column name "$1" >names
    column scale_exp "$1" | paste -d ' ' names - |
        awk '{ scale[$1] = $2 } END { for (name in scale) print name, scale[name] }' |
        sort
}
layer_table >digits.csv
"$PYTHON3" - <<'END'
import csv, json, struct
header = {row["name"]: {"dtype": "F32", "data_offsets": [0, 0],
                        "shape": [int(row["count"])]}
          for row in csv.DictReader(open("digits.csv"))}
text = json.dumps(header).encode()
open("digits.safetensors", "wb").write(struct.pack("<Q", len(text)) + text)
END
policy unit.yaml -t 'table: digits.csv' -t 'log: {file: unit.csv, every: 1}' \
    'format: e5m2, scale: unit'
# shellcheck disable=SC2086 # $digits is a command with arguments
job 2 APSMPI_POLICY=unit.yaml $digits --epochs 1
layers --scales unit.csv --like digits.csv --output scaled.csv digits.safetensors
check '--scales: a table' accepted "$tmp/scaled.csv"
policy scaled.yaml -t 'table: scaled.csv' -t 'log: {file: scaled-log.csv, every: 1}' \
    'format: e5m2, scale: {unit: table}'
# shellcheck disable=SC2086
job 2 APSMPI_POLICY=scaled.yaml $digits --epochs 1
check '... whose run has the scales of the first' equal \
    "$(last_scales scaled-log.csv)" "$(last_scales unit.csv)"
check '... of all layers' equal "$(last_scales unit.csv | wc -l)" 6
layers --scales unit.csv net.npz
check '... not a layer that the log lacks' has err \
    'unit.csv has no row of its last run with `scale: unit` for conv1.weight'
layers --scales digits.csv digits.safetensors
check '... nor a file that is no log' has err 'digits.csv: it is no log of apsmpi'

if "$PYTHON3" -c 'import numpy' 2>/dev/null; then
    "$PYTHON3" -c 'import numpy as np
a = np.zeros((4, 6), "f4", order="F")
np.savez("own.npz", b=a, a=a[0], n=np.arange(3))
np.savez_compressed("small.npz", b=a, a=a[0], n=np.arange(3))'
    layers own.npz
    check 'what numpy saved' equal "$(grep -v '^#' out | paste -s -d ' ')" \
        'layer,name,count,shape 0,b,24,4x6 1,a,6,6'
    sed 1d out >own
    layers small.npz
    sed 1d out >small
    check '... compressed' cmp own small
else
    skip 'what numpy saved' 'there is no numpy'
fi
if "$PYTHON3" -c 'import torch; torch.load.__kwdefaults__["mmap"]' 2>/dev/null; then
    "$PYTHON3" -c 'import os, torch
class Evil:
    def __reduce__(self):
        return os.system, ("touch ran",)
net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))
net.add_module("2", net[0])
torch.save(net.state_dict(), "own.pt")
torch.save(net.state_dict(), "own.pt.old",
           _use_new_zipfile_serialization=False)
torch.save({"epoch": 3, "state_dict": net.state_dict(),
            "best_acc1": torch.tensor(71.5)}, "own.checkpoint.pt")
torch.save(net, "own.module.pt")
torch.save({"model": net.state_dict(), "args": Evil()}, "own.evil.pt")
torch.jit.save(torch.jit.script(net), "own.script.pt")' 2>/dev/null
    printf '%s\n' 0,0.weight,12,3x4 1,0.bias,3,3 2,1.weight,3,3 3,1.bias,3,3 \
        >own
    for file in own.pt own.pt.old own.checkpoint.pt; do
        layers $file
        grep '^[0-9]' out >rows
        check "what PyTorch saved: $file" cmp rows own
        check '... the same memory is one layer' has out '# Left out: 2.weight, 2.bias'
    done
    head -c 300 own.pt.old >own.cut.pt
    for file in own.module.pt own.evil.pt own.script.pt own.cut.pt; do
        layers $file
        check "... $file is refused in one line" lines 1 err \
            "apsmpi-layers: $file: PyTorch does not load it as weights: "
    done
    check '... and no command in it was run' test ! -e ran
else
    skip 'what PyTorch saved' 'there is no PyTorch 2.1 or later'
fi
if "$PYTHON3" -c 'import onnx' 2>/dev/null; then
    "$PYTHON3" "$maker" own.onnx
    table_of own.onnx
    head -c 300 own.onnx >own.cut.onnx
    layers own.cut.onnx
    check '... cut: one line reports it' lines 1 err \
        'apsmpi-layers: own.cut.onnx: it is not an ONNX file: '
else
    skip 'what onnx saved' 'there is no package onnx'
fi
if "$PYTHON3" -c 'import h5py' 2>/dev/null; then
    "$PYTHON3" -c '
import zipfile
import h5py
with h5py.File("keras2.h5", "w") as file:
    top = file.create_group("model_weights")
    top.attrs["layer_names"] = [b"second", b"first"]
    for layer, weights in (("first", {"kernel:0": (20, 10), "bias:0": (10,)}),
                           ("second", {"kernel:0": (3, 3, 4, 8),
                                       "moving_mean:0": (8,)})):
        group = top.create_group(layer)
        group.attrs["weight_names"] = [(layer + "/" + name).encode()
                                       for name in weights]
        for name, shape in weights.items():
            group.create_dataset(layer + "/" + name, shape, "f4")
    file.create_dataset("optimizer_weights/m", (20, 10), "f4")
with h5py.File("three.h5", "w") as file:
    file.create_dataset("layers/conv2d/vars/0", (3, 3, 4, 8), "f4")
    file.create_dataset("layers/conv2d_1/vars/0", (20, 10), "f4")
    file.create_dataset("optimizer/vars/1", (20, 10), "f4")
    file["layers/link"] = h5py.ExternalLink("keras2.h5", "/")
zipfile.ZipFile("three.keras", "w").write("three.h5", "model.weights.h5")'
    layers keras2.h5
    check 'Keras 2: the order of its attributes' equal \
        "$(grep '^[0-9]' out | paste -s -d ' ')" "0,second/second/kernel,288,36x8 \
1,first/first/kernel,200,20x10 2,first/first/bias,10,10"
    check '... and no statistics' has out '# Left out: second/second/moving_mean'
    for file in three.h5 three.keras; do
        layers $file
        check "Keras 3: $file" equal "$(grep '^[0-9]' out | paste -s -d ' ')" \
            '0,layers/conv2d/vars/0,288,36x8 1,layers/conv2d_1/vars/0,200,20x10'
        check '... without the optimizer' has out '# Left out: optimizer/vars/1'
    done
    head -c 300 keras2.h5 >cut.h5
    layers cut.h5
    check '... cut: one line reports it' lines 1 err \
        'apsmpi-layers: cut.h5: it is not an HDF5 file that h5py reads: '
else
    skip 'what Keras saved' 'there is no package h5py'
fi

# --- bad files ----------------------------------------------------------------

# refused FILE TEXT: one line with the file and the cause, and no table
refused()
{
    echo before >kept.csv
    layers --output kept.csv "$1"
    cat err
    status_is 2 && lines 1 err "apsmpi-layers: $1: " && has err "$2" &&
        empty out && [ "$(cat kept.csv)" = before ] && equal "$(wc -l <err)" 1
}
check 'no such file' refused none.pt 'No such file'
: >empty.onnx
check 'an empty file' refused empty.onnx 'it is empty'
for file in net.safetensors net.npz net.pt; do
    size=$(wc -c <$file)
    for part in 20 100 $((size / 2)) $((size - 40)); do
        head -c "$part" $file >"cut.${file#net.}"
        check "$file, cut at $part bytes" refused "cut.${file#net.}" ''
    done
done
printf '{"a": 1}\n' >text.json
with standin check 'a text' refused text.json \
    'it is not an ONNX file: the text is not a message'
printf '\211HDF\r\n\032\n' >bare.h5
with hidden check 'h5py is missing: it is named' refused bare.h5 \
    'it is an HDF5 file, as of Keras: reading it needs the Python package h5py,'
with hidden check 'onnx is missing: it is named' refused text.json \
    'may be ONNX: reading it needs the Python package onnx, which'
check '... with the cause, and a remedy' has err \
    ': hidden by the test; install it (pip install onnx)'
with hidden check 'PyTorch is missing: it is named' refused net.pt \
    'it is a file of PyTorch: reading it needs the Python package torch, which'
with hidden layers net.npz
check '... and other files do not need it' rows_are out
with old check 'PyTorch is too old' refused net.pt.old \
    'PyTorch 1.13.1 cannot read it without its values: install PyTorch 2.1 or later'
with standin check 'a whole module: the cause is named' refused module.pt \
    'GLOBAL program.Module was not allowed; save model.state_dict()'
with standin check 'a checkpoint without weights' refused data.pt 'no state dict'
with standin check 'a file that takes too long' refused slow.pt \
    'takes more than 5 seconds of processor time'
with standin check 'a file that takes too much memory' refused large.pt \
    'takes more than 512 MiB of memory'
mkdir folder
check 'a directory' refused folder 'Is a directory'
"$PYTHON3" - <<'END'
import json, struct, zipfile
def safetensors(path, header):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text)
row = {"dtype": "F32", "shape": [2], "data_offsets": [0, 0]}
safetensors("list.safetensors", [row])
safetensors("text.safetensors", b"{oops}")
safetensors("twice.safetensors", b'{"a": {}, "a": {}}')
safetensors("nothing.safetensors", {})
safetensors("lacks.safetensors", {"a": {"dtype": "F32"}})
safetensors("minus.safetensors", {"a": dict(row, shape=[-1])})
safetensors("huge.safetensors", {"a": dict(row, shape=[1 << 40, 1 << 40])})
safetensors("dimensions.safetensors", {"a": dict(row, shape=[2] * 40000)})
safetensors("digits.safetensors", {"a": dict(row, shape=[10 ** 4000])})
safetensors("line.safetensors", {"a\nb": row})
safetensors("outside.safetensors", {"a": dict(row, data_offsets=[0, 8])})
with zipfile.ZipFile("other.zip", "w") as archive:
    archive.writestr("a.txt", "a")
with zipfile.ZipFile("member.npz", "w") as archive:
    archive.writestr("a.npy", b"\x93NUMPY\x01\x00\x05\x00__imp")
END
check 'a header that is a list' refused list.safetensors ''
check 'a header that is no JSON' refused text.safetensors 'not JSON'
check 'a name that occurs twice' refused twice.safetensors 'twice'
check 'no tensor' refused nothing.safetensors 'no tensor of floats'
check 'a tensor without a shape' refused lacks.safetensors 'tensor a'
check 'a negative size' refused minus.safetensors 'tensor a'
check 'sizes whose product is too large' refused huge.safetensors \
    'sizes are wrong'
for file in dimensions.safetensors digits.safetensors; do
    check "a shape that no tensor has: $file" refused $file \
        'tensor a: its shape is not a list of at most 64 sizes below 2^63'
done
check 'a name with a line break' refused line.safetensors 'not printable'
check 'data outside the file' refused outside.safetensors 'outside the file'
check 'a zip of another program' refused other.zip 'neither'
check 'a member that is not an array' refused member.npz 'a.npy'
layers --output folder net.npz
check 'a table that cannot be written' status_is 2
check '... is named' has err 'folder: '

finish
