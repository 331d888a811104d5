! The Fortran half of mixed.c; with -DF_MAIN it is the main program.
! SPDX-FileCopyrightText: 2026 The Godwit authors
! SPDX-License-Identifier: BSD-3-Clause
subroutine f_part(comm, key_of_c, key, op, type, request, buffer)
  use mpi
  implicit none
  integer :: comm, key_of_c, key, op, type, request, buffer, n, me, ierr
  integer(MPI_ADDRESS_KIND) :: value
  logical :: flag
  external :: add
  call MPI_Comm_size(comm, n, ierr)
  call MPI_Comm_rank(comm, me, ierr)
  call MPI_Comm_get_attr(comm, key_of_c, value, flag, ierr)
  if (.not. flag) call MPI_Abort(MPI_COMM_WORLD, 2, ierr)
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, ierr)
  call MPI_Comm_set_attr(comm, key, value, ierr)
  call MPI_Comm_set_attr(comm, key_of_c, 4711_MPI_ADDRESS_KIND, ierr)
  call MPI_Type_contiguous(2, MPI_INTEGER, type, ierr)
  call MPI_Type_commit(type, ierr)
  call MPI_Op_create(add, .true., op, ierr)
  call MPI_Irecv(buffer, 1, MPI_INTEGER, mod(me + n - 1, n), 5, comm, request, ierr)
end subroutine

subroutine add(in, inout, len, type)
  implicit none
  integer :: len, type
  integer :: in(2, len), inout(2, len)
  inout = inout + in
end subroutine

! Which of Fortran's special variables these are, by C's names for them (mixed.c, which).
integer function ignored_f90()
  use mpi
  implicit none
  integer, external :: which
  ignored_f90 = which(MPI_STATUS_IGNORE) + 10 * which(MPI_STATUSES_IGNORE) + 100 * which(MPI_IN_PLACE)
end function

integer function ignored_f08()
  use mpi_f08
  implicit none
  interface
    integer function which(status)
      import :: MPI_Status
      type(MPI_Status) :: status
    end function
  end interface
  type(MPI_Status) :: other
  ignored_f08 = which(MPI_STATUS_IGNORE) + 10 * which(MPI_STATUSES_IGNORE(1)) + 100 * which(other)
end function

#ifdef F_MAIN
program mixed
  use mpi_f08
  implicit none
  integer :: me
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call c_part()
  call MPI_Finalize()
  if (me == 0) print '(a)', 'mixed: all right'
end program
#endif
