#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fortran programs, whose calls arrive through MPI's bindings, or not at all.
. "${top_srcdir:-.}/tests/e2e/lib.sh"

policy aps.yaml 'format: e4m3, scale: aps-tight'

# The directory of MPICC's libraries: Debian's Fortran wrappers link the
# libmpi.so of the machine's default MPI, not their own.
libraries=$("$MPICC" -show | tr ' ' '\n' | grep '^-L')

# compiles PROGRAM SOURCE: by $candidate; mpif.h has one name for buffers of any
# type, which some compilers take as an error
compiles()
{
    # shellcheck disable=SC2086 # options
    "$candidate" -o "$1" "$2" $libraries >reason 2>&1 ||
        "$candidate" -fallow-argument-mismatch -o "$1" "$2" $libraries \
            >/dev/null 2>&1
}

# The compiler in the directory of mpicc, or $FC.
cat >trial.f90 <<'END'
program trial
    use mpi
    integer :: ierror
    call MPI_Init(ierror)
    call MPI_Finalize(ierror)
end program
END
compiler=
for candidate in ${FC:-} "$(echo "$MPICC" | sed 's/mpicc/mpifort/')" \
    "$(echo "$MPICC" | sed 's/mpicc/mpif90/')" "mpif90.$MPI"; do
    command -v "$candidate" >/dev/null &&
        compiles trial trial.f90 &&
        compiler=$candidate && break
done
[ -n "$compiler" ] || skip_all "no Fortran compiler for MPI: \
$(tail -n 1 reason 2>/dev/null)"
diag "compiled by $compiler"

for program in sums_mpif sums sums_f08 sums_later; do
    if ! compiles $program "$top_srcdir/tests/e2e/$program.f90"; then
        skip $program "does not compile: $(tail -n 1 reason)"
        continue
    fi
    native 2 ./$program
    check "$program works without the library" has out 'right T'
    for ranks in 2 3; do
        job $ranks APSMPI_POLICY=aps.yaml ./$program
        check "$program on $ranks ranks" has out 'right T'
        if [ $program,$MPI = sums_f08,mpich ]; then
            # MPICH's mpi_f08 may call PMPI itself, which no library sees.
            check '... without trouble' status_is 0
            diag "mpi_f08: $(cat err)"
        else
            check '... has all four calls rewritten' rewritten 4
        fi
    done
done

# Nonblocking calls: the library's reduction in FP32 must give the exact sums.
policy exact.yaml 'format: e8m23'
for program in isums_mpif isums isums_f08; do
    if ! compiles $program "$top_srcdir/tests/e2e/$program.f90"; then
        skip $program "does not compile: $(tail -n 1 reason)"
        continue
    fi
    native 3 ./$program
    check "$program works without the library" has out 'right T'
    for ranks in 1 2 3 4; do
        job $ranks APSMPI_POLICY=exact.yaml ./$program
        check "$program on $ranks ranks, exact" has out 'right T'
        check '... without trouble' status_is 0
        diag "$(cat err)"
    done
done

# Calls that block while a nonblocking sum is under way.
if ! compiles meanwhile_f08 "$top_srcdir/tests/e2e/meanwhile_f08.f90"; then
    skip meanwhile_f08 "does not compile: $(tail -n 1 reason)"
else
    native 2 ./meanwhile_f08
    check "meanwhile_f08 works without the library" has out 'right T'
    for ranks in 2 3; do
        job $ranks APSMPI_POLICY=exact.yaml ./meanwhile_f08
        check "meanwhile_f08 on $ranks ranks" has out 'right T'
        check '... without trouble' status_is 0
        [ "$MPI" = openmpi ] ||
            check '... each start of a persistent sum is counted' has err \
                ' 20 (persistent, by mpi_f08 or'
        diag "$(cat err)"
    done
fi

# Without a thread that could progress the sum: rank 0 has no policy before MPI_Init.
if ! compiles drained_f08 "$top_srcdir/tests/e2e/drained_f08.f90"; then
    skip drained_f08 "does not compile: $(tail -n 1 reason)"
elif [ "$MPI" = openmpi ]; then
    skip drained_f08 "Open MPI's nonblocking calls need threads on all ranks"
else
    # shellcheck disable=SC2016 # expanded on each rank
    on_others='[ "$PMI_RANK" = 0 ] || export APSMPI_POLICY=exact.yaml
exec ./drained_f08'
    native 2 ./drained_f08
    check "drained_f08 works without the library" has out 'right T'
    for ranks in 2 3; do
        job $ranks sh -c "$on_others"
        check "drained_f08 on $ranks ranks" has out 'right T'
        check '... rewritten' has err ' 3 nonblocking (progress: '
        check '... without a thread' has err \
            'rank 0: MPI_COMM_WORLD: nonblocking reductions stand still'
        diag "$(cat err)"
    done
fi

finish
