! SPDX-License-Identifier: BSD-3-Clause
! Two groups of ranks, each with its own communicator and model, of 4096 and of
! 6000 weights. The gradient of rank r is the difference of its weights from its
! own target, so that a group's weights converge to the mean of its ranks'
! targets. Prints the distance of each group from that mean, and whether the
! ranks of a group have the same weights.
program groups
    use mpi
    implicit none
    integer, parameter :: steps = 40
    real, allocatable :: weights(:), target(:), gradient(:), mean(:)
    real :: low(1), high(1), far(2)
    integer :: ierror, rank, ranks, colour, group, members, count, i, step
    logical :: alike(1)

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    colour = mod(rank, 2)
    call MPI_Comm_split(MPI_COMM_WORLD, colour, rank, group, ierror)
    call MPI_Comm_size(group, members, ierror)

    count = merge(4096, 6000, colour == 0)
    allocate(weights(count), target(count), gradient(count), mean(count))
    weights = 0
    target = [(sin(real(i * (rank + 1))), i = 1, count)]
    mean = 0
    do i = colour, ranks - 1, 2
        mean = mean + [(sin(real(step * (i + 1))), step = 1, count)] / members
    end do

    do step = 1, steps
        gradient = weights - target
        call MPI_Allreduce(MPI_IN_PLACE, gradient, count, MPI_REAL, MPI_SUM, &
            group, ierror)
        weights = weights - 0.3 * gradient / members
    end do

    far = 0
    far(colour + 1) = maxval(abs(weights - mean))
    call MPI_Allreduce(MPI_IN_PLACE, far, 2, MPI_REAL, MPI_MAX, &
        MPI_COMM_WORLD, ierror)
    alike = .true.
    do i = 1, count, 100
        call MPI_Allreduce(weights(i:i), low, 1, MPI_REAL, MPI_MIN, group, &
            ierror)
        call MPI_Allreduce(weights(i:i), high, 1, MPI_REAL, MPI_MAX, group, &
            ierror)
        alike = alike .and. low(1) == high(1)
    end do
    call MPI_Allreduce(MPI_IN_PLACE, alike, 1, MPI_LOGICAL, MPI_LAND, &
        MPI_COMM_WORLD, ierror)
    if (rank == 0) then
        print '(a, 2es10.2)', 'distances', far
        print '(a, l2)', 'close', all(far < 1e-1)
        print '(a, l2)', 'alike', alike
    end if
    call MPI_Finalize(ierror)
end program
