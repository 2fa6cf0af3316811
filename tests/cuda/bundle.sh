#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tests/cuda/bundle.sh BUILD FILE.tar.gz: packs the programs of
# scripts/check-cuda from BUILD, with their launcher and libraries of MPI, for a
# machine that has a GPU and neither MPI nor compilers. There the bundle
# replaces the build directory (check-cuda --bundle FILE.tar.gz).
#
# It has no C library: that machine's must not be older.
set -eu

build=$(cd "$1" && pwd)
make=${MAKE:-make}
$make -C "$build" check-cuda-programs >&2
mpiexec=$(cat "$build/check-cuda.mpi")
hydra=$(readlink -f "$(command -v "${mpiexec%% *}")")
case $hydra in
*hydra*) ;;
*) echo "bundle.sh: $mpiexec is not MPICH's hydra" >&2
   exit 1 ;;
esac
mkdir -p "$(dirname "$2")"
archive=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
bundle=$(mktemp -d)
trap 'rm -rf "$bundle"' EXIT
cd "$build"

# program FILE...: the program, not libtool's script for it
program()
{
    for file; do
        real=$file
        ! head -c 2 "$file" | grep -q '#!' ||
            real=$(dirname "$file")/.libs/$(basename "$file")
        mkdir -p "$bundle/$(dirname "$file")"
        cp "$real" "$bundle/$file"
    done
}

program apsmpi tests/cuda/work-device tests/cuda/work_blocks-device \
    tests/cuda/sums-device tests/cuda/convert-device tests/cuda/device \
    tests/cuda/bench tests/cuda/allreduce tests/mpi/device tests/apps/digits \
    tests/apps/digits-cuda tests/e2e/probe
mkdir -p "$bundle/.libs" "$bundle/lib" "$bundle/bin"
cp .libs/libapsmpi.so .libs/libapsmpi-cuda.so "$bundle/.libs/"
cp -L .libs/libaps-cuda.so.? "$bundle/lib/"
cp config.h "$bundle/"
cp "$hydra" "$bundle/bin/mpiexec.hydra"
cp "$(dirname "$hydra")/hydra_pmi_proxy" "$bundle/bin/"

find "$bundle/bin" "$bundle/lib" "$bundle/tests" "$bundle/.libs" \
    "$bundle/apsmpi" -type f -exec ldd {} + 2>/dev/null |
    awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -v -E '/lib(c|m|dl|rt|pthread|resolv|util|gcc_s|stdc\+\+|cuda|aps[^/]*)[.]so' |
    while read -r library; do
        cp -L "$library" "$bundle/lib/"
    done
find "$bundle" -type f -exec sh -c '
    for file; do
        strip --strip-debug "$file" 2>/dev/null || true
    done' sh {} +

# One host, whose name need not resolve; messages only by shared memory.
cat >"$bundle/bin/mpiexec" <<'END'
#!/bin/sh
exec "$(dirname "$0")/mpiexec.hydra" -launcher fork -iface lo "$@"
END
chmod +x "$bundle/bin/mpiexec"
cat >"$bundle/environment" <<'END'
# Sourced by scripts/check-cuda, which sets $build.
LD_LIBRARY_PATH=$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
MPI=mpich
MPIEXEC=$build/bin/mpiexec
UCX_TLS=self,posix,sysv
PATH=$build/bin:$PATH
export LD_LIBRARY_PATH MPI MPIEXEC UCX_TLS PATH
echo "$MPIEXEC" >"$build/check-cuda.mpi"
END
printf '%s, of %s\n' "$(date -u +%Y-%m-%dT%H:%MZ)" \
    "$(git -C "$(dirname "$0")" describe --always --dirty 2>/dev/null ||
        echo 'no git')" \
    >"$bundle/made"
tar -C "$bundle" -czf "$archive" .
echo "$archive: $(du -h "$archive" | cut -f 1)"
