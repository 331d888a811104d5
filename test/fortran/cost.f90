! 1000 sends of each form inside subroutines timed_*, for callgrind; see instructions.py.  On two ranks.
! SPDX-FileCopyrightText: 2026 The Godwit authors
! SPDX-License-Identifier: BSD-3-Clause
subroutine timed_mpi(x, comm)
  use mpi
  implicit none
  double precision :: x
  integer :: comm, ierr, k
  do k = 1, 50
    call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, 1, 5, comm, ierr)
  end do
end subroutine

subroutine timed_f08(x, comm)
  use mpi_f08
  implicit none
  double precision :: x
  integer :: comm, k
  do k = 1, 50
    call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, 1, 5, MPI_Comm(comm))
  end do
end subroutine

subroutine timed_array(x, comm)
  use mpi_f08
  implicit none
  double precision :: x(1)
  integer :: comm, k
  do k = 1, 50
    call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, 1, 5, MPI_Comm(comm))
  end do
end subroutine

subroutine timed_made(x, comm)
  use mpi
  implicit none
  double precision :: x
  integer :: comm, ierr, k
  do k = 1, 50
    call MPI_Send(x, 1, MPI_DOUBLE_PRECISION, 1, 5, comm, ierr)
  end do
end subroutine

program cost
  use mpi
  implicit none
  double precision :: x(1)
  integer :: me, ierr, round, k, comm, form
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  do round = 1, 20
    do form = 1, 4
      if (me == 1) then
        do k = 1, 50
          call MPI_Recv(x, 1, MPI_DOUBLE_PRECISION, 0, 5, merge(comm, MPI_COMM_WORLD, form == 4), MPI_STATUS_IGNORE, ierr)
        end do
      else if (form == 1) then
        call timed_mpi(x, MPI_COMM_WORLD)
      else if (form == 2) then
        call timed_f08(x, MPI_COMM_WORLD)
      else if (form == 3) then
        call timed_array(x, MPI_COMM_WORLD)
      else
        call timed_made(x, comm)
      end if
      call MPI_Barrier(MPI_COMM_WORLD, ierr)
    end do
  end do
  call MPI_Comm_free(comm, ierr)
  call MPI_Finalize(ierr)
end program
