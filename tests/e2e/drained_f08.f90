! SPDX-License-Identifier: BSD-3-Clause
! Rank 0 makes collective calls, by names of mpi_f08 that the library cannot see,
! before it waits for its nonblocking sum; the other ranks make them after it. Run it
! without a policy on rank 0, which then has no MPI_THREAD_MULTIPLE, so that no thread
! can progress the sum.
program drained
   use mpi_f08
   implicit none
   integer, parameter :: n = 65536
   real, asynchronous :: x(n), y(n)
   type(MPI_Request) :: request
   type(MPI_Comm) :: made
   integer :: rank, ranks, k, bad

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks)
   bad = 0
   do k = 1, 3
      x = k
      call MPI_Iallreduce(x, y, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, request)
      if (rank /= 0) call MPI_Wait(request, MPI_STATUS_IGNORE)
      select case (k)
      case (1)
         call MPI_Barrier(MPI_COMM_WORLD)
      case (2)
         call MPI_Comm_split(MPI_COMM_WORLD, 0, rank, made)
         call MPI_Comm_free(made)
      case (3)
         call MPI_Comm_dup(MPI_COMM_WORLD, made)
         call MPI_Comm_free(made)
      end select
      if (rank == 0) call MPI_Wait(request, MPI_STATUS_IGNORE)
      if (any(y /= real(k*ranks))) bad = bad + 1
   end do
   call MPI_Allreduce(bad, k, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
   if (rank == 0) print '(a,l1)', 'right ', k == 0
   call MPI_Finalize()
end program
