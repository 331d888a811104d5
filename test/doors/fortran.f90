! mpif.h of another MPI library: the points at which ABIs differ, one by one.  test/doors/fortran.py compiles it; fortran_names.c is its other half.
! SPDX-FileCopyrightText: 2026 The Godwit authors
! SPDX-License-Identifier: BSD-3-Clause
program points
  implicit none
  include 'mpif.h'
  integer, parameter :: GUARD = -77777
  integer :: ierr, me, n, next, prev, calls, op_type, op_calls, handler_comm, handler_class, copied_from
  external :: names_of_c
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  next = mod(me + 1, n)
  prev = mod(me + n - 1, n)
  call statuses(1)
  call statuses(2)
  call many_statuses
  call sentinels
  call weights
  call keys
  call texts
  call handles
  call logicals
  call functions
  call removed
  calls = 0
  call names_of_c(MPI_COMM_WORLD, next, prev, calls)
  call want(calls == 6, 'names of C')
  call MPI_Finalize(ierr)
  if (me == 0) print '(a)', 'all points'
contains
  subroutine want(ok, what)
    logical, intent(in) :: ok
    character(*), intent(in) :: what
    integer :: e
    if (ok) return
    print '(2a)', 'wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, e)
  end subroutine

  ! A status is as long as the program's header says, wherever it lies, and its error field is the program's.
  subroutine statuses(at)
    integer, intent(in) :: at
    integer :: room(0:MPI_STATUS_SIZE + 3), i, a, b, count
    room = GUARD
    a = me
    call MPI_Sendrecv(a, 1, MPI_INTEGER, next, 30 + at, b, 1, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, &
                      MPI_COMM_WORLD, room(at), ierr)
    call want(b == prev .and. room(at + MPI_SOURCE - 1) == prev .and. room(at + MPI_TAG - 1) == 30 + at, 'status')
    call want(room(at + MPI_ERROR - 1) == GUARD, 'error field')
    call want(all(room(:at - 1) == GUARD) .and. all(room(at + MPI_STATUS_SIZE:) == GUARD), 'beyond a status')
    call MPI_Get_count(room(at), MPI_INTEGER, count, ierr)
    call want(count == 1, 'count')
    call MPI_Status_set_elements(room(at), MPI_REAL, 12, ierr)
    call MPI_Get_elements(room(at), MPI_REAL, i, ierr)
    call want(i == 12 .and. all(room(at + MPI_STATUS_SIZE:) == GUARD), 'elements')
  end subroutine

  subroutine many_statuses
    integer :: room(MPI_STATUS_SIZE, 0:3), requests(2), a(2), b(2), i, outcount, where(2)
    room = GUARD
    a = [10 * me, 10 * me + 1]
    do i = 1, 2
      call MPI_Irecv(b(i), 1, MPI_INTEGER, prev, i, MPI_COMM_WORLD, requests(i), ierr)
    end do
    do i = 1, 2
      call MPI_Send(a(i), 1, MPI_INTEGER, next, i, MPI_COMM_WORLD, ierr)
    end do
    call MPI_Waitall(2, requests, room(1, 1), ierr)
    call want(all(b == [10 * prev, 10 * prev + 1]) .and. all(requests == MPI_REQUEST_NULL), 'waitall')
    call want(all(room(MPI_SOURCE, 1:2) == prev) .and. room(MPI_TAG, 1) == 1 .and. room(MPI_TAG, 2) == 2, 'statuses of waitall')
    call want(all(room(:, 0) == GUARD) .and. all(room(:, 3) == GUARD), 'beyond the statuses')
    call MPI_Waitsome(2, requests, outcount, where, room, ierr)
    call want(outcount == MPI_UNDEFINED, 'nothing to wait for')
    requests(2) = MPI_REQUEST_NULL
    call MPI_Irecv(b, 1, MPI_INTEGER, MPI_PROC_NULL, 4, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Waitsome(2, requests, outcount, where, room, ierr)
    call want(outcount == 1 .and. where(1) == 1 .and. room(MPI_SOURCE, 0) == MPI_PROC_NULL, 'waitsome')
    call want(room(MPI_TAG, 0) == MPI_ANY_TAG, 'tag of no process')
  end subroutine

  subroutine sentinels
    integer :: a, b, sums(2), type, requests(1), flag_int(1)
    integer(MPI_ADDRESS_KIND) :: at(1)
    logical :: flag
    a = me + 1
    b = -1
    call MPI_Get_address(a, at(1), ierr)
    call MPI_Type_create_hindexed(1, [1], at, MPI_INTEGER, type, ierr)
    call MPI_Type_commit(type, ierr)
    call MPI_Sendrecv(MPI_BOTTOM, 1, type, next, 5, b, 1, MPI_INTEGER, prev, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call want(b == prev + 1, 'MPI_BOTTOM')
    call MPI_Type_free(type, ierr)
    call want(type == MPI_DATATYPE_NULL, 'type is null')
    sums = [a, 1]
    call MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call want(sums(1) == n * (n + 1) / 2 .and. sums(2) == n, 'MPI_IN_PLACE')
    call MPI_Irecv(b, 1, MPI_INTEGER, prev, 6, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Send(a, 1, MPI_INTEGER, next, 6, MPI_COMM_WORLD, ierr)
    call MPI_Waitall(1, requests, MPI_STATUSES_IGNORE, ierr)
    call want(b == prev + 1, 'MPI_STATUSES_IGNORE')
    call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierr)
    flag_int = transfer(flag, flag_int)
    call want(flag_int(1) == 0, 'a probe finds nothing')
  end subroutine

  subroutine weights
    integer :: comm, in, out, sources(2), w(2), ws(2), destinations(2)
    logical :: weighted
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [prev], MPI_UNWEIGHTED, 1, [next], MPI_UNWEIGHTED, &
                                        MPI_INFO_NULL, .false., comm, ierr)
    call MPI_Dist_graph_neighbors_count(comm, in, out, weighted, ierr)
    call want(in == 1 .and. out == 1 .and. .not. weighted, 'MPI_UNWEIGHTED')
    call MPI_Comm_free(comm, ierr)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, sources, MPI_WEIGHTS_EMPTY, 0, destinations, MPI_WEIGHTS_EMPTY, &
                                        MPI_INFO_NULL, .false., comm, ierr)
    call MPI_Dist_graph_neighbors_count(comm, in, out, weighted, ierr)
    call want(in == 0 .and. out == 0 .and. weighted, 'MPI_WEIGHTS_EMPTY')
    call MPI_Comm_free(comm, ierr)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [prev], [7], 1, [next], [9], MPI_INFO_NULL, .false., comm, ierr)
    call MPI_Dist_graph_neighbors(comm, 1, sources, w, 1, destinations, ws, ierr)
    call want(sources(1) == prev .and. destinations(1) == next .and. w(1) == 7 .and. ws(1) == 9, 'weights')
    call MPI_Comm_free(comm, ierr)
    call want(comm == MPI_COMM_NULL, 'comm is null')
  end subroutine

  ! Keys and their values, also those that are constants.
  subroutine keys
    integer(MPI_ADDRESS_KIND) :: value, here
    integer :: win, memory(10), comm, key, small
    logical :: flag
    value = 0
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
    call want(flag .and. value >= 32767, 'MPI_TAG_UB')
    call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, small, flag, ierr)
    call want(flag .and. small == value, 'MPI_TAG_UB by MPI_Attr_get')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, value, flag, ierr)
    call want(.not. flag .or. value >= n, 'MPI_UNIVERSE_SIZE')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, flag, ierr)
    call want(.not. flag .or. value == 0 .or. value == 1, 'MPI_WTIME_IS_GLOBAL')
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, value, flag, ierr)
    call want(flag .and. value >= MPI_ERR_LASTCODE, 'MPI_LASTUSEDCODE')
    call MPI_Win_create(memory, 40_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierr)
    call MPI_Get_address(memory, here, ierr)
    call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierr)
    call want(flag .and. value == here, 'MPI_WIN_BASE')
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierr)
    call want(flag .and. value == 40, 'MPI_WIN_SIZE')
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierr)
    call want(flag .and. value == 4, 'MPI_WIN_DISP_UNIT')
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, ierr)
    call want(flag .and. value == MPI_WIN_FLAVOR_CREATE, 'MPI_WIN_CREATE_FLAVOR')
    call MPI_Win_get_attr(win, MPI_WIN_MODEL, value, flag, ierr)
    call want(flag .and. (value == MPI_WIN_UNIFIED .or. value == MPI_WIN_SEPARATE), 'MPI_WIN_MODEL')
    call MPI_Win_free(win, ierr)
    call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 5_MPI_ADDRESS_KIND, ierr)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, -1234567890123_MPI_ADDRESS_KIND, ierr)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call MPI_Comm_get_attr(comm, key, value, flag, ierr)
    call want(flag .and. value == -1234567890123_MPI_ADDRESS_KIND, 'MPI_COMM_DUP_FN')
    call MPI_Comm_free(comm, ierr)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierr)
    call MPI_Comm_free_keyval(key, ierr)
    call want(key == MPI_KEYVAL_INVALID, 'key is invalid')
    copied_from = MPI_COMM_NULL
    call MPI_Keyval_create(copy_small, MPI_NULL_DELETE_FN, key, 66, ierr)
    call MPI_Attr_put(MPI_COMM_WORLD, key, 44, ierr)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call MPI_Attr_get(comm, key, small, flag, ierr)
    call want(flag .and. small == 45 .and. copied_from == MPI_COMM_WORLD, 'function of a key')
    call MPI_Comm_free(comm, ierr)
    call MPI_Attr_delete(MPI_COMM_WORLD, key, ierr)
    call MPI_Keyval_free(key, ierr)
  end subroutine

  subroutine copy_small(comm, key, extra, value_in, value_out, flag, ierror)
    integer :: comm, key, extra, value_in, value_out, ierror
    logical :: flag
    if (extra == 66) copied_from = comm
    value_out = value_in + 1
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine

  ! Padded with blanks to the program's length and no further.
  subroutine texts
    character(MPI_MAX_ERROR_STRING + 9) :: text
    character(MPI_MAX_OBJECT_NAME + 2) :: name
    character(8) :: short(3)
    integer :: length, comm, info
    logical :: flag
    text = repeat('#', len(text))
    call MPI_Error_string(MPI_ERR_TRUNCATE, text, length, ierr)
    call want(length > 3 .and. length < MPI_MAX_ERROR_STRING .and. len_trim(text) == length, 'error string')
    text = repeat('#', len(text))
    call MPI_Get_processor_name(text, length, ierr)
    call want(length > 0 .and. length <= MPI_MAX_PROCESSOR_NAME .and. len_trim(text) == length, 'processor')
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr)
    name = repeat('n', MPI_MAX_OBJECT_NAME)
    call MPI_Comm_set_name(comm, name, ierr)
    name = '#'
    call MPI_Comm_get_name(comm, name, length, ierr)
    call want(length == MPI_MAX_OBJECT_NAME .and. name == repeat('n', length), 'longest name')
    call MPI_Comm_free(comm, ierr)
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, ' key ', ' a value that is long ', ierr)
    short = '########'
    call MPI_Info_get(info, 'key', 7, short(2), flag, ierr)
    call want(flag .and. short(1) == '########' .and. short(2) == 'a value' .and. short(3) == '########', 'value that is cut')
    call MPI_Info_free(info, ierr)
    call want(info == MPI_INFO_NULL, 'info is null')
  end subroutine

  ! What comes back is what the header calls it.
  subroutine handles
    integer :: type, ints, addresses, types, combiner, i(3), d(2), group, comm, rank, parent, handler, class, result
    integer(MPI_ADDRESS_KIND) :: a(1)
    integer, parameter :: known(8) = [MPI_INTEGER, MPI_DOUBLE_PRECISION, MPI_LOGICAL, MPI_CHARACTER, MPI_DOUBLE_COMPLEX, &
                                      MPI_2INTEGER, MPI_BYTE, MPI_REAL8]
    integer, parameter :: bytes(8) = [4, 8, 4, 1, 16, 8, 1, 8]
    integer :: k
    do k = 1, size(known)
      call MPI_Type_size(known(k), ints, ierr)
      call want(ints == bytes(k), 'size of a type')
      call MPI_Type_contiguous(2, known(k), type, ierr)
      call MPI_Type_get_envelope(type, ints, addresses, types, combiner, ierr)
      call want(combiner == MPI_COMBINER_CONTIGUOUS .and. ints == 1 .and. types == 1, 'envelope')
      call MPI_Type_get_contents(type, 1, 0, 1, i, a, d, ierr)
      call want(i(1) == 2 .and. d(1) == known(k), 'contents')
      call MPI_Type_free(type, ierr)
    end do
    call MPI_Comm_get_parent(parent, ierr)
    call want(parent == MPI_COMM_NULL, 'no parent')
    call MPI_Comm_group(MPI_COMM_WORLD, group, ierr)
    call MPI_Group_translate_ranks(group, 2, [me, MPI_PROC_NULL], group, d, ierr)
    call want(d(1) == me .and. d(2) == MPI_PROC_NULL, 'translated ranks')
    call MPI_Group_free(group, ierr)
    call want(group == MPI_GROUP_NULL, 'group is null')
    call MPI_Comm_split(MPI_COMM_WORLD, merge(MPI_UNDEFINED, 1, me == 0), -me, comm, ierr)
    call want((comm == MPI_COMM_NULL) .eqv. me == 0, 'split')
    if (comm /= MPI_COMM_NULL) then
      call MPI_Comm_rank(comm, rank, ierr)
      call want(rank == n - 1 - me, 'order of the split')
      call MPI_Comm_compare(comm, MPI_COMM_WORLD, result, ierr)
      call want(result == MPI_UNEQUAL, 'comparison')
      call MPI_Comm_free(comm, ierr)
    end if
    call MPI_Comm_get_errhandler(MPI_COMM_WORLD, handler, ierr)
    call want(handler == MPI_ERRORS_ARE_FATAL, 'error handler')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)
    call MPI_Send(me, 1, MPI_INTEGER, n, 0, MPI_COMM_WORLD, ierr)
    call MPI_Error_class(ierr, class, ierr)
    call want(class == MPI_ERR_RANK, 'class of an error')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierr)
  end subroutine

  subroutine logicals
    logical :: periods(1), flag
    integer :: cart, dims(1), coords(1), bits(1), source, destination, request
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [n], [.false.], .false., cart, ierr)
    call MPI_Cart_get(cart, 1, dims, periods, coords, ierr)
    bits = transfer(periods, bits)
    call want(dims(1) == n .and. coords(1) == me .and. bits(1) == 0, 'grid')
    call MPI_Cart_shift(cart, 0, 1, source, destination, ierr)
    call want(source == merge(MPI_PROC_NULL, me - 1, me == 0), 'source of a shift')
    call want(destination == merge(MPI_PROC_NULL, me + 1, me == n - 1), 'destination of a shift')
    call MPI_Comm_free(cart, ierr)
    request = MPI_REQUEST_NULL
    call MPI_Test(request, flag, MPI_STATUS_IGNORE, ierr)
    bits = transfer(flag, bits)
    call want(bits(1) == transfer(.true., 1), 'the true of this compiler')
  end subroutine

  subroutine functions
    integer :: op, handler, comm, ierror
    real :: mine(3), most(3)
    op_type = -1
    op_calls = 0
    call MPI_Op_create(greatest, .true., op, ierr)
    mine = [real(me), 5.0 - me, 1.0]
    call MPI_Allreduce(mine, most, 3, MPI_REAL, op, MPI_COMM_WORLD, ierr)
    call want(most(1) == n - 1 .and. most(2) == 5 .and. most(3) == 1, 'operation')
    call want(n == 1 .or. op_calls > 0 .and. op_type == MPI_REAL, 'datatype of an operation')
    call MPI_Op_free(op, ierr)
    call want(op == MPI_OP_NULL, 'op is null')
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call MPI_Comm_create_errhandler(on_error, handler, ierr)
    call MPI_Comm_set_errhandler(comm, handler, ierr)
    call MPI_Errhandler_free(handler, ierr)
    call want(handler == MPI_ERRHANDLER_NULL, 'handler is null')
    handler_comm = -1
    call MPI_Send(mine, -1, MPI_REAL, 0, 0, comm, ierror)
    call want(handler_comm == comm .and. handler_class == MPI_ERR_COUNT .and. ierror /= MPI_SUCCESS, 'error handler')
    call MPI_Comm_free(comm, ierr)
  end subroutine

  subroutine greatest(a, b, length, type)
    integer :: length, type
    real :: a(length), b(length)
    op_type = type
    op_calls = op_calls + 1
    b = max(a, b)
  end subroutine

  subroutine on_error(comm, code)
    integer :: comm, code, e
    handler_comm = comm
    call MPI_Error_class(code, handler_class, e)
  end subroutine

  ! Binaries still call what MPI 3.0 removed.
  subroutine removed
    integer :: a(4), b(4), at(2), type, resized, extent, ub, lb, handler
    a = [1, 2, 3, 4] + 10 * me
    b = 0
    call MPI_Type_hvector(2, 1, 8, MPI_INTEGER, type, ierr)
    call MPI_Type_extent(type, extent, ierr)
    call MPI_Type_lb(type, lb, ierr)
    call MPI_Type_ub(type, ub, ierr)
    call want(extent == 12 .and. lb == 0 .and. ub == 12, 'bounds of a type')
    call MPI_Type_commit(type, ierr)
    call MPI_Sendrecv(a, 1, type, next, 8, b, 4, MPI_INTEGER, prev, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call want(all(b == [1 + 10 * prev, 3 + 10 * prev, 0, 0]), 'type_hvector')
    call MPI_Type_free(type, ierr)
    call MPI_Type_hindexed(2, [1, 1], [12, 4], MPI_INTEGER, resized, ierr)
    at = [0, 0]
    call MPI_Type_struct(1, [1], at, [resized], type, ierr)
    call MPI_Type_commit(type, ierr)
    call MPI_Sendrecv(a, 1, type, next, 8, b, 4, MPI_INTEGER, prev, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call want(all(b == [4 + 10 * prev, 2 + 10 * prev, 0, 0]), 'type_struct')
    call MPI_Type_free(type, ierr)
    call MPI_Type_free(resized, ierr)
    call MPI_Errhandler_create(on_error, handler, ierr)
    call MPI_Errhandler_set(MPI_COMM_SELF, handler, ierr)
    handler_comm = -1
    call MPI_Send(a, -1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierr)
    call want(handler_comm == MPI_COMM_SELF, 'errhandler_set')
    call MPI_Errhandler_free(handler, ierr)
    call MPI_Errhandler_set(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierr)
    call MPI_Errhandler_get(MPI_COMM_SELF, handler, ierr)
    call want(handler == MPI_ERRORS_RETURN, 'errhandler_get')
  end subroutine
end program
