! SPDX-License-Identifier: BSD-3-Clause
! Rank 0 blocks, in calls of mpi_f08 that the library cannot see, until the other
! ranks have completed their nonblocking sum. Then persistent sums are made and
! freed: a later request with the same handle is complete when MPI_Wait returns.
program meanwhile
   use mpi_f08
   implicit none
   integer, parameter :: n = 65536
   real, asynchronous :: x(n), y(n), one(n), sums(n)
   type(MPI_Request) :: request, persistent, message
   type(MPI_Comm) :: made
   type(MPI_File) :: file
   integer :: error, none(1) = 0
   integer :: rank, ranks, k, token, bad

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks)
   bad = 0
   do k = 1, 5
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
         call MPI_File_open(MPI_COMM_WORLD, 'meanwhile.tmp', &
                            ior(MPI_MODE_CREATE, ior(MPI_MODE_RDWR, &
                                MPI_MODE_DELETE_ON_CLOSE)), &
                            MPI_INFO_NULL, file, error)
         if (error /= MPI_SUCCESS) bad = bad + 1
         call MPI_File_close(file)
      case (4)
         call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, none, none, 0, &
                                             none, none, MPI_INFO_NULL, &
                                             .false., made, error)
         if (error /= MPI_SUCCESS) bad = bad + 1
         call MPI_Comm_free(made)
      case (5)
         token = k
         if (rank == 1) call MPI_Send(token, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD)
         if (rank == 0 .and. ranks > 1) then
            token = 0
            call MPI_Irecv(token, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, message)
            call MPI_Wait(message, MPI_STATUS_IGNORE)
            if (token /= k) bad = bad + 1
         end if
      end select
      if (rank == 0) call MPI_Wait(request, MPI_STATUS_IGNORE)
      if (any(y /= real(k*ranks))) bad = bad + 1
   end do
   one = 1
   do k = 1, 20
      call MPI_Allreduce_init(one, sums, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, &
                              MPI_INFO_NULL, persistent)
      sums = 0
      call MPI_Start(persistent)
      call MPI_Wait(persistent, MPI_STATUS_IGNORE)
      if (any(sums /= real(ranks))) bad = bad + 1
      call MPI_Request_free(persistent)
      token = 0
      call MPI_Iallreduce(x, y, n, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, request)
      if (rank == 0 .and. ranks > 1) then
         call MPI_Recv(token, 1, MPI_INTEGER, 1, k, MPI_COMM_WORLD, &
                       MPI_STATUS_IGNORE)
         if (token /= k) bad = bad + 1
      else if (rank == 1) then
         token = k
         call MPI_Send(token, 1, MPI_INTEGER, 0, k, MPI_COMM_WORLD)
      end if
      call MPI_Wait(request, MPI_STATUS_IGNORE)
   end do
   call MPI_Allreduce(bad, k, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
   if (rank == 0) print '(a,l1)', 'right ', k == 0
   call MPI_Finalize()
end program
