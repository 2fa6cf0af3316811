! SPDX-License-Identifier: BSD-3-Clause
! Sums of reals through the `mpi` module: three in place, one not.
program sums
    use mpi
    implicit none
    integer, parameter :: n = 4096
    real :: x(n), y(n)
    integer :: rank, ranks, ierror, i
    logical :: right

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    right = .true.
    do i = 1, 3
        x = real(rank + 1)
        call MPI_Allreduce(MPI_IN_PLACE, x, n, MPI_REAL, MPI_SUM, &
                           MPI_COMM_WORLD, ierror)
        right = right .and. all(abs(x - ranks * (ranks + 1) / 2.) < 0.01)
    end do
    x = real(rank + 1)
    call MPI_Allreduce(x, y, n, MPI_REAL4, MPI_SUM, MPI_COMM_WORLD, ierror)
    right = right .and. all(abs(y - ranks * (ranks + 1) / 2.) < 0.01)
    if (rank == 0) print '(a, l1)', 'right ', right
    call MPI_Finalize(ierror)
end program
