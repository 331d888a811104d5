! use mpi_f08: functions of the user's of every kind, large counts, types of handles, texts of spawned programs, profiling names.
! SPDX-FileCopyrightText: 2026 The Godwit authors
! SPDX-License-Identifier: BSD-3-Clause
module functions
  use mpi_f08
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: calls = 0, query_calls = 0, free_calls = 0, cancel_calls = 0
  integer(MPI_ADDRESS_KIND) :: last_value = 0
contains
  subroutine want(ok, what)
    logical, intent(in) :: ok
    character(*), intent(in) :: what
    if (ok) return
    print '(2a)', 'wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  subroutine largest(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    real, pointer :: a(:), b(:)
    call want(datatype == MPI_REAL, 'datatype of the operation')
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = merge(a, b, abs(a) > abs(b))
    calls = calls + 1
  end subroutine

  subroutine largest_c(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer :: short
    short = int(len)
    call largest(invec, inoutvec, short, datatype)
  end subroutine

  subroutine on_comm(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    call want(comm == MPI_COMM_SELF .and. error_code /= 0, 'error of a communicator')
    calls = calls + 1
  end subroutine

  subroutine on_win(win, error_code)
    type(MPI_Win) :: win
    integer :: error_code
    call want(win /= MPI_WIN_NULL, 'error of a window')
    calls = calls + 1
  end subroutine

  subroutine on_file(file, error_code)
    type(MPI_File) :: file
    integer :: error_code
    call want(file == MPI_FILE_NULL, 'error of a file')
    calls = calls + 1
  end subroutine

#ifndef WITHOUT_SESSIONS
  subroutine on_session(session, error_code)
    type(MPI_Session) :: session
    integer :: error_code
    call want(session /= MPI_SESSION_NULL, 'error of a session')
    calls = calls + 1
  end subroutine
#endif

  subroutine copy_win(oldwin, win_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Win) :: oldwin
    integer :: win_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    flag = .false.
    ierror = MPI_SUCCESS
  end subroutine

  subroutine delete_win(win, win_keyval, attribute_val, extra_state, ierror)
    type(MPI_Win) :: win
    integer :: win_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: attribute_val, extra_state
    last_value = attribute_val + extra_state
    ierror = MPI_SUCCESS
  end subroutine

  subroutine copy_comm(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = attribute_val_in * 2 + extra_state
    flag = .true.
    ierror = merge(MPI_SUCCESS, MPI_ERR_OTHER, attribute_val_in /= 13)
  end subroutine

  subroutine query(extra_state, status, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    query_calls = query_calls + 1
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra_state))
    call MPI_Status_set_cancelled(status, .false.)
    status%MPI_SOURCE = 3
    status%MPI_TAG = 4
    ierror = MPI_SUCCESS
  end subroutine

  subroutine free_fn(extra_state, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    free_calls = free_calls + int(extra_state)
    ierror = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra_state, complete, ierror)
    integer(MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    if (.not. complete) cancel_calls = cancel_calls + int(extra_state)
    ierror = MPI_SUCCESS
  end subroutine

  ! in the file a number is negative
  subroutine convert(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: user(:), file(:)
    call want(datatype == MPI_INTEGER, 'datatype of a conversion')
    call c_f_pointer(userbuf, user, [int(position) + count])
    call c_f_pointer(filebuf, file, [count])
    if (extra_state == 1) then
      user(position + 1:position + count) = -file(:count)
      extra_state = 2
    else
      user(position + 1:position + count) = -file(:count)
    end if
    calls = calls + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine convert_out(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(MPI_OFFSET_KIND) :: position
    integer(MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: user(:), file(:)
    call c_f_pointer(userbuf, user, [int(position) + count])
    call c_f_pointer(filebuf, file, [count])
    file(:count) = -user(position + 1:position + count)
    calls = calls + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine extent_of(datatype, extent, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer(MPI_ADDRESS_KIND) :: extent, extra_state
    integer :: ierror
    extent = merge(4, 1, datatype == MPI_INTEGER)
    ierror = MPI_SUCCESS
  end subroutine
end module

program callbacks
  use functions
  implicit none
  integer :: me, n, provided, ierror
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierror)
  call want(ierror == MPI_SUCCESS .and. provided == MPI_THREAD_MULTIPLE, 'init')
  call MPI_Comm_rank(MPI_COMM_WORLD, me)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  call operations
  call handlers
#ifndef WITHOUT_SESSIONS
  call sessions
#endif
  call attributes
  call requests
  call representations
#ifndef WITHOUT_LARGE
  call large_counts
#endif
  call profiling
  call texts
  call MPI_Finalize()
  if (me == 0) print '(a)', 'callbacks: all right'
contains
  subroutine operations
    type(MPI_Op) :: op
    logical :: commute
    real :: a(3), b(2, 3)
    a = [-me - 1.0, 0.5 * me, 1.0]
    b = 0
    call MPI_Op_create(largest, .true., op)
    call MPI_Op_commutative(op, commute)
    call want(commute, 'commutative')
    call MPI_Allreduce(a, b(2, :), 3, MPI_REAL, op, MPI_COMM_WORLD)
    call want(all(b(2, :) == [-real(n), 0.5 * (n - 1), 1.0]) .and. all(b(1, :) == 0), 'operation')
    call want(n == 1 .or. calls > 0, 'operation was not called')
    call MPI_Op_free(op)
    call want(op == MPI_OP_NULL, 'op is null')
#ifndef WITHOUT_OP_CREATE_C
    call MPI_Op_create_c(largest_c, .true., op)
    b = 0
    call MPI_Reduce(a, b(1, :), 3_MPI_COUNT_KIND, MPI_REAL, op, 0, MPI_COMM_WORLD)
    if (me == 0) call want(all(b(1, :) == [-real(n), 0.5 * (n - 1), 1.0]), 'large operation')
    call MPI_Op_free(op)
#endif
  end subroutine

  subroutine handlers
    type(MPI_Errhandler) :: handler
    type(MPI_Win) :: win
    type(MPI_File) :: file
    integer, asynchronous :: memory(4)
    integer :: ierror, class
    calls = 0
    call MPI_Comm_create_errhandler(on_comm, handler)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, handler)
    call MPI_Errhandler_free(handler)
    call MPI_Send(memory, -1, MPI_INTEGER, 0, 0, MPI_COMM_SELF, ierror)
    call MPI_Error_class(ierror, class)
    call want(calls == 1 .and. class == MPI_ERR_COUNT, 'handler of a communicator')
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_create_errhandler(on_win, handler)
    call MPI_Win_set_errhandler(win, handler)
    call MPI_Win_lock(77, 0, 0, win, ierror)
    call want(calls == 2 .and. ierror /= MPI_SUCCESS, 'handler of a window')
    call MPI_Errhandler_free(handler)
    call MPI_Win_free(win)
    call MPI_File_create_errhandler(on_file, handler)
    call MPI_File_set_errhandler(MPI_FILE_NULL, handler)
    call MPI_File_open(MPI_COMM_SELF, '/no such folder/file', MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierror)
    call want(calls == 3 .and. ierror /= MPI_SUCCESS, 'handler of a file')
    call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN)
    call MPI_Errhandler_free(handler)
  end subroutine

#ifndef WITHOUT_SESSIONS
  subroutine sessions
    type(MPI_Errhandler) :: handler
    type(MPI_Session) :: session
    type(MPI_Group) :: group
    integer :: ierror
    calls = 0
    call MPI_Session_create_errhandler(on_session, handler)
    call MPI_Session_init(MPI_INFO_NULL, handler, session)
    call MPI_Group_from_session_pset(session, 'no://such set', group, ierror)
    call want(calls == 1 .and. ierror /= MPI_SUCCESS, 'handler of a session')
    call MPI_Errhandler_free(handler)
    call sets(session)
    call MPI_Session_finalize(session)
    call want(session == MPI_SESSION_NULL, 'session is null')
  end subroutine

  subroutine sets(session)
    type(MPI_Session), intent(in) :: session
    character(MPI_MAX_PSET_NAME_LEN) :: name
    integer :: sets_n, length, i
    logical :: found
    found = .false.
    call MPI_Session_get_num_psets(session, MPI_INFO_NULL, sets_n)
    do i = 0, sets_n - 1
      length = 0
      call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name)
      name = 'x'
      call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name)
      call want(length == len_trim(name), 'length of the name of a set')
      found = found .or. name == 'mpi://WORLD'
    end do
    call want(found, 'mpi://WORLD')
  end subroutine
#endif

  subroutine attributes
    type(MPI_Win) :: win
    type(MPI_Comm) :: comm
    integer, asynchronous :: memory(4)
    integer :: key, ierror
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_create_keyval(copy_win, delete_win, key, 1000_MPI_ADDRESS_KIND)
    call MPI_Win_set_attr(win, key, 5_MPI_ADDRESS_KIND)
    call MPI_Win_set_attr(win, key, 6_MPI_ADDRESS_KIND)
    call want(last_value == 1005, 'a new value deletes the old one')
    call MPI_Win_get_attr(win, key, value, flag)
    call want(flag .and. value == 6, 'attribute of a window')
    call MPI_Win_free(win)
    call want(last_value == 1006, 'attribute of a window deleted')
    call MPI_Win_free_keyval(key)
    call MPI_Comm_create_keyval(copy_comm, MPI_COMM_NULL_DELETE_FN, key, -1_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_SELF, key, 21_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_SELF, comm)
    call MPI_Comm_get_attr(comm, key, value, flag)
    call want(flag .and. value == 41, 'copied attribute')
    call MPI_Comm_free(comm)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call MPI_Comm_set_attr(MPI_COMM_SELF, key, 13_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierror)
    call want(ierror /= MPI_SUCCESS, 'a copy function that fails')
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)
    call MPI_Comm_delete_attr(MPI_COMM_SELF, key)
    call MPI_Comm_get_attr(MPI_COMM_SELF, key, value, flag)
    call want(.not. flag, 'no attribute')
    call MPI_Comm_free_keyval(key)
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
    call MPI_Comm_free_keyval(key)
  end subroutine

  subroutine requests
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: count
    logical :: flag
    call MPI_Grequest_start(query, free_fn, cancel, 5_MPI_ADDRESS_KIND, request)
    call MPI_Test(request, flag, MPI_STATUS_IGNORE)
    call want(.not. flag .and. free_calls == 0, 'request is not complete')
    call MPI_Cancel(request)
    call want(cancel_calls == 5, 'cancel function')
    call MPI_Grequest_complete(request)
    call MPI_Wait(request, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call want(count == 5 .and. status%MPI_SOURCE == 3 .and. status%MPI_TAG == 4, 'query function')
    call want(free_calls == 5 .and. query_calls >= 1 .and. request == MPI_REQUEST_NULL, 'free function')
  end subroutine

  subroutine representations
    type(MPI_File) :: file
    integer :: a(4), b(4), i
    character(200) :: folder
    character(MPI_MAX_DATAREP_STRING) :: rep
    integer(MPI_OFFSET_KIND) :: disp
    type(MPI_Datatype) :: etype, filetype
    integer :: ierror
    call MPI_Register_datarep('negative ', convert, convert_out, extent_of, 1_MPI_ADDRESS_KIND)
    call get_environment_variable('FORT_TEST_FOLDER', folder)
    call MPI_File_open(MPI_COMM_WORLD, trim(folder)//'/callbacks.data', MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file)
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'negative', MPI_INFO_NULL)
    call MPI_File_get_view(file, disp, etype, filetype, rep)
    call want(rep == 'negative' .and. disp == 0 .and. etype == MPI_INTEGER, 'view')
    calls = 0
    a = [(me * 10 + i, i=1, 4)]
    call MPI_File_write_at(file, 4_MPI_OFFSET_KIND * me, a, 4, MPI_INTEGER, MPI_STATUS_IGNORE)
    call want(calls > 0, 'write conversion')
    call MPI_File_read_at(file, 4_MPI_OFFSET_KIND * me, b, 4, MPI_INTEGER, MPI_STATUS_IGNORE)
    call want(all(a == b), 'read conversion')
    call MPI_File_set_view(file, 0_MPI_OFFSET_KIND, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
    call MPI_File_read_at(file, 4_MPI_OFFSET_KIND * me, b, 4, MPI_INTEGER, MPI_STATUS_IGNORE)
    call want(all(a == -b), 'what the file holds')
    call MPI_Barrier(MPI_COMM_WORLD)
    call MPI_File_close(file)
    call MPI_Register_datarep('like native', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, 0_MPI_ADDRESS_KIND, ierror)
    call want(ierror == MPI_SUCCESS, 'no conversion')
  end subroutine

#ifndef WITHOUT_LARGE
  subroutine large_counts
    integer(MPI_COUNT_KIND) :: count, size
    integer :: a(3), b(3), small, next, prev
    type(MPI_Datatype) :: type
    type(MPI_Status) :: status
    next = mod(me + 1, n)
    prev = mod(me + n - 1, n)
    a = me
    call MPI_Sendrecv(a, 3_MPI_COUNT_KIND, MPI_INTEGER, next, 0, b, 3_MPI_COUNT_KIND, MPI_INTEGER, prev, 0, MPI_COMM_WORLD, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call want(count == 3 .and. all(b == prev), 'large sendrecv')
    call MPI_Type_contiguous(2_MPI_COUNT_KIND**33, MPI_INTEGER, type)
    call MPI_Type_size(type, size)
    call want(size == 2_MPI_COUNT_KIND**35, 'size of a large type')
    call MPI_Type_size(type, small)
    call want(small == MPI_UNDEFINED, 'size that an INTEGER cannot hold')
    call MPI_Type_free(type)
  end subroutine
#endif

  ! other libraries take a value that is too long for an error
  subroutine texts
    type(MPI_Info) :: info
    character(3) :: short
    logical :: flag
    call MPI_Info_create(info)
    call MPI_Info_set(info, 'colour', 'dark red')
    call MPI_Info_get(info, 'colour', 3, short, flag)
    call want(flag .and. short == 'dar', 'cut: '//short)
    call MPI_Info_free(info)
  end subroutine

  subroutine profiling
    integer :: a, b
    type(MPI_Request) :: request
    a = me
    call PMPI_Isend(a, 1, MPI_INTEGER, me, 0, MPI_COMM_WORLD, request)
    call PMPI_Recv(b, 1, MPI_INTEGER, me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call PMPI_Wait(request, MPI_STATUS_IGNORE)
    call want(b == me .and. PMPI_Wtime() > 0, 'profiling names')
  end subroutine
end program
