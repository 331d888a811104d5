! What old programs rely on, by mpif.h and by the module: the routines that MPI 3.0 removed, and that a function's change of extra_state is seen by
! who gave it.
! SPDX-FileCopyrightText: 2026 The Godwit authors
! SPDX-License-Identifier: BSD-3-Clause
module counts
  implicit none
  integer :: errors = 0
contains
  subroutine want(ok, what)
    logical, intent(in) :: ok
    character(*), intent(in) :: what
    if (ok) return
    print '(2a)', 'wrong: ', what
    stop 1
  end subroutine
end module

subroutine on_error(comm, code)
  use counts
  implicit none
  integer :: comm, code
  errors = errors + 1
end subroutine

subroutine query(extra, status, ierror)
  implicit none
  include 'mpif.h'
  integer(MPI_ADDRESS_KIND) :: extra
  integer :: status(MPI_STATUS_SIZE), ierror
  call MPI_Status_set_elements(status, MPI_INTEGER, int(extra), ierror)
  call MPI_Status_set_cancelled(status, .false., ierror)
  extra = extra + 10
  ierror = MPI_SUCCESS
end subroutine

subroutine free_state(extra, ierror)
  implicit none
  include 'mpif.h'
  integer(MPI_ADDRESS_KIND) :: extra
  integer :: ierror
  extra = extra + 100
  ierror = MPI_SUCCESS
end subroutine

subroutine cancel(extra, complete, ierror)
  implicit none
  include 'mpif.h'
  integer(MPI_ADDRESS_KIND) :: extra
  logical :: complete
  integer :: ierror
  extra = extra + 1000
  ierror = MPI_SUCCESS
end subroutine

subroutine copy_attr(comm, key, extra, value_in, value_out, flag, ierror)
  implicit none
  include 'mpif.h'
  integer :: comm, key, ierror
  integer(MPI_ADDRESS_KIND) :: extra, value_in, value_out
  logical :: flag
  extra = extra + 1
  value_out = value_in + extra
  flag = .true.
  ierror = MPI_SUCCESS
end subroutine

subroutine delete_attr(comm, key, value, extra, ierror)
  implicit none
  include 'mpif.h'
  integer :: comm, key, ierror
  integer(MPI_ADDRESS_KIND) :: value, extra
  extra = extra * 2
  ierror = MPI_SUCCESS
end subroutine

subroutine delete_old(comm, key, value, extra, ierror)
  implicit none
  include 'mpif.h'
  integer :: comm, key, value, extra, ierror
  extra = extra + value
  ierror = MPI_SUCCESS
end subroutine

! A request whose extra_state was a variable of a routine that has returned, and one whose was a constant: their functions have the value.
subroutine start(local, constant)
  implicit none
  include 'mpif.h'
  integer :: local, constant, ierror
  integer(MPI_ADDRESS_KIND) :: mine
  external :: query, free_state, cancel
  mine = 5
  call MPI_Grequest_start(query, free_state, cancel, mine, local, ierror)
  call MPI_Grequest_start(query, free_state, cancel, 6_MPI_ADDRESS_KIND, constant, ierror)
  mine = 77
end subroutine

program removed
#ifdef BY_MODULE
  use mpi
  use counts
  implicit none
#else
  use counts
  implicit none
  include 'mpif.h'
#endif
  integer :: ierr, me
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call types
  call handlers
  call states
  call MPI_Finalize(ierr)
#ifdef BY_MODULE
  if (me == 0) print '(a)', 'removed_mpi: all right'
#else
  if (me == 0) print '(a)', 'removed_h: all right'
#endif
contains
  subroutine types
    integer :: extent, lb, ub, type, size, place(2), at(2), status(MPI_STATUS_SIZE)
    integer, target :: numbers(3)
    double precision :: precise(2), got(2)
    call MPI_Type_extent(MPI_DOUBLE_PRECISION, extent, ierr)
    call want(ierr == MPI_SUCCESS .and. extent == 8, 'MPI_TYPE_EXTENT')
    call MPI_Type_hvector(2, 1, 16, MPI_INTEGER, type, ierr)
    call MPI_Type_lb(type, lb, ierr)
    call MPI_Type_ub(type, ub, ierr)
    call want(lb == 0 .and. ub == 20, 'MPI_TYPE_HVECTOR, _LB, _UB')
    call MPI_Type_free(type, ierr)
    call MPI_Type_hindexed(2, [1, 2], [4, 12], MPI_INTEGER, type, ierr)
    call MPI_Type_lb(type, lb, ierr)
    call PMPI_Type_extent(type, extent, ierr)
    call want(lb == 4 .and. extent == 16, 'MPI_TYPE_HINDEXED')
    call MPI_Type_free(type, ierr)
    call MPI_Address(numbers(1), place(1), ierr)
    call MPI_Address(numbers(3), place(2), ierr)
    call want(place(2) - place(1) == 8, 'MPI_ADDRESS')
    call MPI_Address(precise(1), at(1), ierr)
    call MPI_Address(precise(2), at(2), ierr)
    precise = [1.5d0, 2.5d0]
    got = 0
    call MPI_Type_struct(2, [1, 1], [0, at(2) - at(1)], [MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION], type, ierr)
    call MPI_Type_size(type, size, ierr)
    call MPI_Type_commit(type, ierr)
    call MPI_Sendrecv(precise, 1, type, me, 3, got, 1, type, me, 3, MPI_COMM_WORLD, status, ierr)
    call want(size == 16 .and. all(got == precise), 'MPI_TYPE_STRUCT')
    call MPI_Type_free(type, ierr)
  end subroutine

  subroutine handlers
    integer :: handler, before, now
    external :: on_error
    call MPI_Errhandler_get(MPI_COMM_WORLD, before, ierr)
    call MPI_Errhandler_create(on_error, handler, ierr)
    call MPI_Errhandler_set(MPI_COMM_WORLD, handler, ierr)
    call MPI_Errhandler_get(MPI_COMM_WORLD, now, ierr)
    call want(now == handler, 'MPI_ERRHANDLER_GET')
    call MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER, ierr)
    call want(errors == 1, 'MPI_ERRHANDLER_CREATE, _SET')
    call MPI_Errhandler_set(MPI_COMM_WORLD, before, ierr)
    call MPI_Errhandler_free(handler, ierr)
    call MPI_Errhandler_free(now, ierr)
  end subroutine

  subroutine complete(request, elements)
    integer, intent(inout) :: request
    integer, intent(in) :: elements
    integer :: status(MPI_STATUS_SIZE), count
    call MPI_Grequest_complete(request, ierr)
    call MPI_Wait(request, status, ierr)
    call MPI_Get_elements(status, MPI_INTEGER, count, ierr)
    call want(ierr == MPI_SUCCESS .and. count == elements, 'extra_state in a query')
  end subroutine

  subroutine states
    integer(MPI_ADDRESS_KIND), volatile :: extra ! else the compiler takes it that nobody keeps its address
    integer(MPI_ADDRESS_KIND) :: value
    integer, volatile :: old
    integer :: request, others(2), key, comm
    logical :: flag
    external :: query, free_state, cancel, copy_attr, delete_attr, delete_old, MPI_NULL_COPY_FN
    extra = 3
    call MPI_Grequest_start(query, free_state, cancel, extra, request, ierr)
    call MPI_Cancel(request, ierr)
    call want(extra == 1003, 'extra_state that a cancel function changed')
    call complete(request, 1003)
    call want(extra == 1113, 'extra_state that query and free functions changed')
    call start(others(1), others(2))
    call complete(others(1), 5)
    call complete(others(2), 6)

    extra = 7
    call MPI_Comm_create_keyval(copy_attr, delete_attr, key, extra, ierr)
    call MPI_Comm_set_attr(MPI_COMM_SELF, key, 100_MPI_ADDRESS_KIND, ierr)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr)
    call want(extra == 8, 'extra_state that a copy function changed')
    call MPI_Comm_get_attr(comm, key, value, flag, ierr)
    call want(flag .and. value == 108, 'a copied attribute')
    call MPI_Comm_free(comm, ierr)
    call want(extra == 16, 'extra_state that a delete function changed')
    call MPI_Comm_delete_attr(MPI_COMM_SELF, key, ierr)
    call want(extra == 32, 'extra_state, once more')
    call MPI_Comm_free_keyval(key, ierr)

    old = 4
    call MPI_Keyval_create(MPI_NULL_COPY_FN, delete_old, key, old, ierr)
    call MPI_Attr_put(MPI_COMM_SELF, key, 30, ierr)
    call MPI_Attr_delete(MPI_COMM_SELF, key, ierr)
    call want(old == 34, 'extra_state of MPI_KEYVAL_CREATE')
    call MPI_Keyval_free(key, ierr)
  end subroutine
end program
