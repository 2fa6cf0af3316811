#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The library is linked with no MPI: it uses that of the program, whatever its files are
# called, and a program without MPI runs as before.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

policy good.yaml 'format: e4m3'
case $(uname -m) in
x86_64 | aarch64)
    nm -D --undefined-only "$library" | grep -i mpi >undefined
    check 'the library needs no symbol of MPI' empty undefined
    ;;
*) skip 'the library needs no symbol of MPI' "the loader binds them on $(uname -m)" ;;
esac

for bind in LD_BIND_NOW= LD_BIND_NOW=1; do
    timed env LD_PRELOAD="$sanitizer$library" APSMPI_POLICY=good.yaml "$bind" \
        sh -c 'echo shell'
    check "a program without MPI, $bind" lines 1 out shell
    check '... has no message' empty err
done

# An MPI under another name, which has as many letters: plugins of Open MPI need
# its library by its name.
if [ "$MPI" = mpich ]; then
    mpi_library=$(library_of_mpi)
    for file in "$mpi_library" "$probe"; do
        sed 's/libmpich\.so\.12/libmpiqq.so.12/g' "$file" >"${file##*/}" || exit 1
    done
    mv "${mpi_library##*/}" libmpiqq.so.12
    chmod +x probe
    job 2 APSMPI_POLICY=good.yaml LD_LIBRARY_PATH=. ./probe sums 3
    check 'an MPI under another name: the job ends well' status_is 0
    check '... is rewritten' rewritten 3
    job 2 APSMPI_POLICY=good.yaml LD_LIBRARY_PATH=. LD_BIND_NOW=1 ./probe sums 3
    check '... with all symbols bound at the start, too' rewritten 3
else
    skip 'an MPI under another name' 'plugins of Open MPI need its own name'
fi
finish
