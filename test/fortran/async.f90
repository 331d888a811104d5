! use mpi_f08: MPI_ASYNC_PROTECTS_NONBLOCKING.  What arrives between MPI_Irecv and MPI_Wait is read again after it, also at -O3; and what
! compilers make of the types of handles is linked.
! SPDX-FileCopyrightText: 2026 The Godwit authors
! SPDX-License-Identifier: BSD-3-Clause
module waits
  use mpi_f08
  implicit none
contains
  subroutine local(ok)
    logical, intent(out) :: ok
    integer, asynchronous :: two(2)
    type(MPI_Request) :: request
    two = 1
    call MPI_Irecv(two, 2, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request)
    call MPI_Send([5, 6], 2, MPI_INTEGER, 0, 1, MPI_COMM_SELF)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    ok = two(1) == 5 .and. two(2) == 6
  end subroutine

  subroutine argument(x, ok)
    real, asynchronous, intent(inout) :: x
    logical, intent(out) :: ok
    type(MPI_Request) :: request
    real :: z
    x = 3
    call MPI_Irecv(x, 1, MPI_REAL, 0, 1, MPI_COMM_SELF, request)
    z = 9
    call MPI_Send(z, 1, MPI_REAL, 0, 1, MPI_COMM_SELF)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    ok = x == 9
  end subroutine

  subroutine put_out(x, ok)
    real, asynchronous, intent(inout) :: x
    logical, intent(out) :: ok
    type(MPI_Request) :: request
    real :: z
    x = 3
    call MPI_Issend(x, 1, MPI_REAL, 0, 1, MPI_COMM_SELF, request)
    call MPI_Recv(z, 1, MPI_REAL, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    x = 4
    ok = z == 3
  end subroutine
end module

program async
  use waits
  implicit none
  class(*), allocatable :: any
  logical :: ok(3)
  real :: x
  integer :: me
  call MPI_Init()
  allocate (any, source=MPI_COMM_WORLD)
  call local(ok(1))
  call argument(x, ok(2))
  call put_out(x, ok(3))
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  if (.not. (all(ok) .and. MPI_ASYNC_PROTECTS_NONBLOCKING)) print *, 'wrong: ', ok
  if (storage_size(any) /= 32) print *, 'wrong: size of a handle'
  call MPI_Finalize()
  if (me == 0) print '(a)', 'async: all right'
end program
