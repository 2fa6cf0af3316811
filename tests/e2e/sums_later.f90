! SPDX-License-Identifier: BSD-3-Clause
! Sums of reals through the `mpi` module that complete later: two in place, two
! not, in one wait.
program sums
    use mpi
    implicit none
    integer, parameter :: n = 4096
    real :: x(n, 4), y(n, 4)
    integer :: requests(4), rank, ranks, level, ierror, i
    logical :: right

    call MPI_Init_thread(MPI_THREAD_MULTIPLE, level, ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    x = real(rank + 1)
    y = real(rank + 1)
    do i = 1, 2
        call MPI_Iallreduce(MPI_IN_PLACE, y(1, i), n, MPI_REAL, MPI_SUM, &
                            MPI_COMM_WORLD, requests(i), ierror)
    end do
    do i = 3, 4
        call MPI_Iallreduce(x(1, i), y(1, i), n, MPI_REAL, MPI_SUM, &
                            MPI_COMM_WORLD, requests(i), ierror)
    end do
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
    right = all(abs(y - ranks * (ranks + 1) / 2.) < 0.01)
    if (rank == 0) print '(a, l1)', 'right ', right
    call MPI_Finalize(ierror)
end program
