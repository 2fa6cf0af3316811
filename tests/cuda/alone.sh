#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tests/cuda/alone.sh NVCC BUILD: compiles the programs of scripts/check-cuda,
# except the jobs with MPI, without configure: the same files, the same flags.
# For a machine with a GPU and compilers, but without the packages.
#
# CUDA_ARCHITECTURES="90"    GPUs to compile for
# shellcheck disable=SC2086 # flags and files are lists of words
set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
nvcc=$1
build=$2

version=$(sed -n 's/^AC_INIT(\[apsmpi\], \[\(.*\)\])/\1/p' \
    "$top/configure.ac")
mkdir -p "$build/objects"
# the number as in configure.ac
sed -e "s/@APS_VERSION_NUMBER@/$(echo "$version" |
    awk -F. '{ print 10000 * $1 + 100 * $2 + $3 }')/" \
    -e "s/@PACKAGE_VERSION@/$version/" "$top/src/aps_version.h.in" \
    >"$build/aps_version.h"
cat >"$build/config.h" <<END
#define PACKAGE_VERSION "$version"
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
END
mkdir -p "$build/cuda"
sh "$top/config/identity.sh" "$top" APS_CUDA_IDENTITY cuda/plugin.h \
    src/aps.h src/base/element.h src/codec/codec.h src/codec/memory.h src/kernel/ops.h \
    src/number/format.h >"$build/cuda/plugin_identity.h"
root=$(cd "$(dirname "$nvcc")/.." && pwd)
cudart=$(find -L "$root" -name libcudart_static.a 2>/dev/null | head -n 1)
flags="-std=gnu11 -O2 -g -fPIC -fvisibility=hidden -ffp-contract=off
    -I$build -I$top/src -I$top -I$top/tests -I$top/tests/cuda
    -I$top/tests/tap -isystem $root/include"
gencode=
for arch in ${CUDA_ARCHITECTURES:-75 80 90 100}; do
    "$nvcc" --list-gpu-code | grep -q -x "sm_$arch" || continue
    gencode="$gencode -gencode arch=compute_$arch,code=sm_$arch"
done
cuda_flags="-std=c++20 -O3 -fmad=false -I$build -I$top/src -I$top
    -Xcompiler -fPIC,-fvisibility=hidden,-ffp-contract=off
    -Xcompiler -fno-exceptions,-fno-threadsafe-statics --threads 0"
core=
for file in "$top"/src/base/cpu.c "$top"/src/base/element.c \
    "$top"/src/base/error.c \
    "$top"/src/base/failures.c "$top"/src/base/print.c \
    "$top"/src/number/*.c "$top"/src/codec/*.c "$top"/src/kernel/*.c \
    "$top"/src/float/*.c "$top"/src/blockwise/*.c; do
    name=$(basename "$file" .c)
    object=$build/objects/$(basename "$(dirname "$file")")-$name.o
    case $name in # as KERNEL_CFLAGS of configure
    sum | doubles | gemm_kernel | bfp | float | integer | levels | mx | nvfp4 | sign)
        kernel_flags='-O3 -fno-trapping-math -ffp-contract=off' ;;
    *) kernel_flags='' ;;
    esac
    cc $flags $kernel_flags -c "$file" -o "$object"
    core="$core $object"
done
plugin=
for file in allocate allocations blocks context driver elements failure ipc \
    plugin staged staged_steps steps stream; do
    object=$build/objects/cuda-$file.o
    cc $flags -c "$top/cuda/$file.c" -o "$object"
    plugin="$plugin $object"
done
kernels="$build/objects/kernels.o $build/objects/block_kernels.o"
sums="$build/objects/cuda-api.o $build/objects/sums.o"
for file in kernels block_kernels sums; do
    "$nvcc" $cuda_flags $gencode -c "$top/cuda/$file.cu" \
        -o "$build/objects/$file.o"
done
cc $flags -c "$top/cuda/api.c" -o "$build/objects/cuda-api.o"
libs="$cudart -ldl -lrt -lpthread -lm"
mkdir -p "$build/.libs" "$build/tests/cuda"
cc -shared -o "$build/.libs/libapsmpi-cuda.so" $plugin $core $kernels \
    -Wl,--exclude-libs,ALL $libs
cc $flags -o "$build/tests/cuda/device" "$top/tests/cuda/device.c" \
    "$top/tests/cuda/device_help.c" "$top/tests/cuda/verbs.c" \
    "$top/tests/tap/tap.c" $core $libs
cc $flags -o "$build/tests/cuda/work-device" "$top/tests/cuda/work.c" \
    "$top/tests/cuda/launch.c" "$top/tests/tap/tap.c" $core $kernels $libs
cc $flags -o "$build/tests/cuda/work_blocks-device" \
    "$top/tests/cuda/work_blocks.c" "$top/tests/cuda/launch.c" \
    "$top/tests/tap/tap.c" $core $kernels $libs
cc $flags -o "$build/tests/cuda/convert-device" "$top/tests/cuda/convert.c" \
    "$top/tests/cuda/launch.c" "$top/tests/tap/tap.c" $core $kernels $libs
cc $flags -o "$build/tests/cuda/sums-device" "$top/tests/cuda/sums.c" \
    "$top/tests/cuda/launch_sums.c" "$top/tests/tap/tap.c" $sums $core \
    $kernels $libs
"$nvcc" $cuda_flags $gencode -cudart static -o "$build/tests/cuda/bench" \
    "$top/tests/cuda/bench.cu" "$build/objects/cuda-stream.o" \
    "$build/objects/cuda-staged.o" $core $kernels -lm
