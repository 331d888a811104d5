! use mpi: texts, info, attributes, operations, error handlers, topologies, windows, parametrised types, statuses of both forms.
! SPDX-FileCopyrightText: 2026 The Godwit authors
! SPDX-License-Identifier: BSD-3-Clause
module calls
  use mpi
  implicit none
  integer :: copies = 0, deletes = 0, errors = 0, last_error = 0, op_type = 0
contains
  subroutine want(ok, what)
    logical, intent(in) :: ok
    character(*), intent(in) :: what
    integer :: ierr
    if (ok) return
    print '(2a)', 'wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine

  subroutine copy(comm, key, extra, value_in, value_out, flag, ierr)
    integer :: comm, key, ierr
    integer(MPI_ADDRESS_KIND) :: extra, value_in, value_out
    logical :: flag
    call want(extra == 77, 'extra_state')
    copies = copies + 1
    value_out = value_in + 1
    flag = .true.
    ierr = MPI_SUCCESS
  end subroutine

  subroutine delete(comm, key, value, extra, ierr)
    integer :: comm, key, ierr
    integer(MPI_ADDRESS_KIND) :: value, extra
    deletes = deletes + 1
    ierr = MPI_SUCCESS
  end subroutine

  subroutine on_error(comm, code)
    integer :: comm, code
    errors = errors + 1
    call want(comm == MPI_COMM_SELF, 'communicator of the error')
    last_error = code
  end subroutine

  ! a product of 2x2 matrices does not commute
  subroutine multiply(in, inout, len, type)
    integer :: len, type, i
    integer :: in(2, 2, len), inout(2, 2, len)
    op_type = type
    do i = 1, len
      inout(:, :, i) = matmul(in(:, :, i), inout(:, :, i))
    end do
  end subroutine
end module

program module_mpi
  use, intrinsic :: iso_c_binding
  use calls
  implicit none
  integer :: ierr, me, n
  call MPI_Init_thread(MPI_THREAD_SERIALIZED, n, ierr)
  call want(n >= MPI_THREAD_SERIALIZED, 'thread level')
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierr)
  call texts
  call attributes
  call predefined
  call handlers
  call operations
  call topologies
  call windows
  call types
  call statuses
  call MPI_Finalize(ierr)
  if (me == 0) print '(a)', 'module: all right'
contains
  subroutine texts
    character(MPI_MAX_OBJECT_NAME) :: name
    character(MPI_MAX_INFO_VAL) :: value
    character(MPI_MAX_INFO_KEY) :: key
    character(MPI_MAX_ERROR_STRING) :: message
    integer :: length, info, keys
    logical :: flag
    name = 'all'
    call MPI_Comm_set_name(MPI_COMM_WORLD, 'the world   ', ierr)
    call MPI_Comm_get_name(MPI_COMM_WORLD, name, length, ierr)
    call want(length == 9 .and. name == 'the world', 'name: '//trim(name))
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, '  colour ', ' dark red ', ierr)
    call MPI_Info_get(info, 'colour', len(value), value, flag, ierr)
    call want(flag .and. value == 'dark red', 'info: '//trim(value))
    call MPI_Info_get(info, 'sound', len(value), value, flag, ierr)
    call want(.not. flag, 'no such key')
#ifndef WITHOUT_INFO_GET_STRING
    length = 0
    call MPI_Info_get_string(info, 'colour', length, value, flag, ierr)
    call want(flag .and. length == 8, 'length of a value')
    length = len(value)
    value = 'x'
    call MPI_Info_get_string(info, 'colour', length, value, flag, ierr)
    call want(length == 8 .and. value == 'dark red', 'info_get_string: '//trim(value))
#endif
    call MPI_Info_get_nkeys(info, keys, ierr)
    call MPI_Info_get_nthkey(info, 0, key, ierr)
    call want(keys == 1 .and. key == 'colour', 'key: '//trim(key))
    call MPI_Info_free(info, ierr)
    call want(info == MPI_INFO_NULL, 'info is null')
    call MPI_Error_string(MPI_ERR_TRUNCATE, message, length, ierr)
    call want(length == len_trim(message) .and. length > 0, 'error string')
    call MPI_Get_processor_name(message, length, ierr)
    call want(length == len_trim(message) .and. length > 0, 'processor name')
  end subroutine

  subroutine attributes
    integer :: key, comm
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Comm_create_keyval(copy, delete, key, 77_MPI_ADDRESS_KIND, ierr)
    call MPI_Comm_set_attr(MPI_COMM_SELF, key, 2_MPI_ADDRESS_KIND**40, ierr)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr)
    call MPI_Comm_get_attr(comm, key, value, flag, ierr)
    call want(flag .and. value == 2_MPI_ADDRESS_KIND**40 + 1 .and. copies == 1, 'copied attribute')
    call MPI_Comm_free(comm, ierr)
    call want(deletes == 1, 'delete function')
    call MPI_Comm_delete_attr(MPI_COMM_SELF, key, ierr)
    call want(deletes == 2, 'delete_attr')
    call MPI_Comm_free_keyval(key, ierr)
    call want(key == MPI_KEYVAL_INVALID, 'keyval is invalid')
    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, ierr)
    call MPI_Type_set_attr(MPI_REAL, key, -5_MPI_ADDRESS_KIND, ierr)
    call MPI_Type_dup(MPI_REAL, comm, ierr)
    call MPI_Type_get_attr(comm, key, value, flag, ierr)
    call want(flag .and. value == -5, 'MPI_TYPE_DUP_FN')
    call MPI_Type_free(comm, ierr)
    call MPI_Type_delete_attr(MPI_REAL, key, ierr)
    call MPI_Type_free_keyval(key, ierr)
    call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, key, 0, ierr)
    call MPI_Attr_put(MPI_COMM_SELF, key, -9, ierr)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr)
    call MPI_Attr_get(comm, key, errors, flag, ierr)
    call want(flag .and. errors == -9, 'attribute of MPI-1')
    errors = 0
    call MPI_Comm_free(comm, ierr)
    call MPI_Attr_delete(MPI_COMM_SELF, key, ierr)
    call MPI_Keyval_free(key, ierr)
    call want(key == MPI_KEYVAL_INVALID, 'keyval of MPI-1 is invalid')
  end subroutine

  subroutine predefined
    integer(MPI_ADDRESS_KIND) :: value
    integer :: small
    logical :: flag
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierr)
    call want(flag .and. value >= 32767, 'MPI_TAG_UB')
    call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, small, flag, ierr)
    call want(flag .and. small == value, 'MPI_TAG_UB as INTEGER')
  end subroutine

  subroutine handlers
    integer :: handler, class, buf(1)
    call MPI_Comm_create_errhandler(on_error, handler, ierr)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, handler, ierr)
    call MPI_Errhandler_free(handler, ierr)
    call MPI_Send(buf, 1, MPI_INTEGER, 5, 0, MPI_COMM_SELF, ierr)
    call get_environment_variable('FORT_TEST_OTHER', length=class) ! MPICH 5.0.2 returns MPI_SUCCESS after a handler of the user's
    call want(errors == 1 .and. last_error /= MPI_SUCCESS .and. (ierr == last_error .or. class > 0), 'error handler')
    call MPI_Error_class(last_error, class, ierr)
    call want(class == MPI_ERR_RANK, 'error class')
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL, ierr)
  end subroutine

  subroutine operations
    integer :: op, m(2, 2), r(2, 2), want_r(2, 2), i, type
    call MPI_Op_create(multiply, .false., op, ierr)
    call MPI_Type_contiguous(4, MPI_INTEGER, type, ierr)
    call MPI_Type_commit(type, ierr)
    m = reshape([1, me, 0, 1], [2, 2])
    m(1, 2) = 2
    call MPI_Allreduce(m, r, 1, type, op, MPI_COMM_WORLD, ierr)
    want_r = reshape([1, 0, 0, 1], [2, 2])
    do i = 0, n - 1
      m = reshape([1, i, 2, 1], [2, 2])
      want_r = matmul(want_r, m)
    end do
    call want(all(r == want_r), 'operation of ours')
    call want(n == 1 .or. op_type == type, 'datatype of the operation')
    call MPI_Op_free(op, ierr)
    call want(op == MPI_OP_NULL, 'op is null')
    call MPI_Type_free(type, ierr)
  end subroutine

  subroutine topologies
    integer :: cart, dims(2), coords(2), sub, source, dest
    logical :: periods(2)
    dims = 0
    call MPI_Dims_create(n, 2, dims, ierr)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., cart, ierr)
    call MPI_Cart_get(cart, 2, dims, periods, coords, ierr)
    call want(periods(1) .and. .not. periods(2) .and. product(dims) == n, 'grid')
    call MPI_Cart_shift(cart, 1, 1, source, dest, ierr)
    call want((dest == MPI_PROC_NULL) .eqv. (coords(2) == dims(2) - 1), 'shift')
    call MPI_Cart_sub(cart, [.true., .false.], sub, ierr)
    call MPI_Comm_size(sub, source, ierr)
    call want(source == dims(1), 'cart_sub')
    call MPI_Comm_free(sub, ierr)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [mod(me + n - 1, n)], MPI_UNWEIGHTED, 1, [mod(me + 1, n)], &
                                        MPI_UNWEIGHTED, MPI_INFO_NULL, .false., sub, ierr)
    call MPI_Dist_graph_neighbors_count(sub, source, dest, periods(1), ierr)
    call want(source == 1 .and. dest == 1 .and. .not. periods(1), 'graph without weights')
    call MPI_Comm_free(sub, ierr)
    call MPI_Comm_free(cart, ierr)
  end subroutine

  subroutine windows
    type(c_ptr) :: p
    integer(MPI_ADDRESS_KIND) :: bytes, base
    integer, pointer :: a(:)
    integer :: win, value
    logical :: flag
    call MPI_Win_allocate(16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, p, win, ierr)
    call c_f_pointer(p, a, [4])
    a = -1
    call MPI_Win_fence(0, win, ierr)
    value = 1000 + me
    call MPI_Put(value, 1, MPI_INTEGER, mod(me + 1, n), 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierr)
    call MPI_Win_fence(0, win, ierr)
    call want(a(3) == 1000 + mod(me + n - 1, n), 'put')
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, bytes, flag, ierr)
    call want(flag .and. bytes == 16, 'size of the window')
    call MPI_Win_get_attr(win, MPI_WIN_BASE, base, flag, ierr)
    call want(flag .and. base == transfer(p, base), 'base of the window')
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, bytes, flag, ierr)
    call want(bytes == 4, 'unit of the window')
    call MPI_Win_free(win, ierr)
    call MPI_Alloc_mem(400_MPI_ADDRESS_KIND, MPI_INFO_NULL, p, ierr)
    call c_f_pointer(p, a, [100])
    a = 3
    call MPI_Bcast(a, 100, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call MPI_Free_mem(a, ierr)
    call MPI_Alloc_mem(400_MPI_ADDRESS_KIND, MPI_INFO_NULL, base, ierr)
    call want(base /= 0, 'alloc_mem as an integer')
    p = transfer(base, p)
    call c_f_pointer(p, a, [100])
    call MPI_Free_mem(a, ierr)
  end subroutine

  subroutine types
    integer :: type, size, ints, adds, ds, combiner, i(3), d(1)
    integer(MPI_ADDRESS_KIND) :: a(1)
    double precision :: many(10)
    integer(selected_int_kind(15)) :: long
    call MPI_Type_create_f90_real(15, 300, type, ierr)
    call MPI_Type_size(type, size, ierr)
    call want(size == 8, 'type_create_f90_real')
    call MPI_Type_get_envelope(type, ints, adds, ds, combiner, ierr)
    call want(combiner == MPI_COMBINER_F90_REAL .and. ints == 2, 'envelope')
    call MPI_Type_get_contents(type, 2, 0, 0, i, a, d, ierr)
    call want(i(1) == 15 .and. i(2) == 300, 'contents')
    call MPI_Type_create_f90_integer(15, type, ierr)
    long = 1234567890123_8 * (me + 1)
    call MPI_Bcast(long, 1, type, n - 1, MPI_COMM_WORLD, ierr)
    call want(long == 1234567890123_8 * n, 'type_create_f90_integer')
    call MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, type, ierr)
    call MPI_Type_size(type, size, ierr)
    call want(size == 16, 'type_match_size')
    call MPI_Type_vector(2, 3, 5, MPI_DOUBLE_PRECISION, type, ierr)
    call MPI_Type_get_contents(type, 3, 0, 1, i, a, d, ierr)
    call want(d(1) == MPI_DOUBLE_PRECISION, 'type in the contents')
    call MPI_Type_free(type, ierr)
    call MPI_Sizeof(many, size, ierr)
    call want(size == 8, 'sizeof an array')
    call MPI_Sizeof(long, size, ierr)
    call want(size == 8, 'sizeof a number')
    call MPI_Sizeof((1.0, 2.0), size, ierr)
    call want(size == 8, 'sizeof a complex')
  end subroutine

  subroutine statuses
    integer :: f(MPI_STATUS_SIZE), g(MPI_STATUS_SIZE), count
#ifndef WITHOUT_STATUS_F2F08
    type(MPI_Status) :: f08
#endif
    logical :: flag
    call MPI_Sendrecv([1, 2, 3], 3, MPI_INTEGER, 0, 5, g, 8, MPI_INTEGER, 0, 5, MPI_COMM_SELF, f, ierr)
#ifdef WITHOUT_STATUS_F2F08
    g = f
#else
    call MPI_Status_f2f08(f, f08, ierr)
    call want(f08%MPI_SOURCE == 0 .and. f08%MPI_TAG == 5, 'status for f08')
    call MPI_Status_f082f(f08, g, ierr)
#endif
    call MPI_Get_count(g, MPI_INTEGER, count, ierr)
    call want(count == 3 .and. all(f == g), 'status there and back')
    call MPI_Status_set_cancelled(g, .true., ierr)
    call MPI_Test_cancelled(g, flag, ierr)
    call want(flag, 'cancelled')
  end subroutine
end program
