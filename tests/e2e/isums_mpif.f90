! SPDX-License-Identifier: BSD-3-Clause
! Sums of reals through mpif.h without blocking: two under way at a
! time, one of them in place, and a blocking one meanwhile.
program isums
    implicit none
    include 'mpif.h'
    integer, parameter :: n = 4096
    real, asynchronous :: x(n), y(n), z(n)
    real :: w(n)
    integer :: rank, ranks, ierror, i, requests(2)
    logical :: right

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    right = .true.
    do i = 1, 3
        x = real(rank + 1) / 8
        y = real(rank + i)
        w = real(rank + 1)
        call MPI_Iallreduce(MPI_IN_PLACE, x, n, MPI_REAL, MPI_SUM, &
                            MPI_COMM_WORLD, requests(1), ierror)
        call MPI_Iallreduce(y, z, n, MPI_REAL4, MPI_SUM, MPI_COMM_WORLD, &
                            requests(2), ierror)
        call MPI_Allreduce(MPI_IN_PLACE, w, n, MPI_REAL, MPI_SUM, &
                           MPI_COMM_WORLD, ierror)
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
        right = right .and. all(x == ranks * (ranks + 1) / 16.) &
                .and. all(z == ranks * (ranks - 1) / 2. + ranks * i) &
                .and. all(w == ranks * (ranks + 1) / 2.) &
                .and. all(requests == MPI_REQUEST_NULL)
    end do
    if (rank == 0) print '(a, l1)', 'right ', right
    call MPI_Finalize(ierror)
end program
