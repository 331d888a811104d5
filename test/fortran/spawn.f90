! use mpi_f08: a program that starts others, with arguments, errcodes, and several commands at once.
! SPDX-FileCopyrightText: 2026 The Godwit authors
! SPDX-License-Identifier: BSD-3-Clause
program spawn
  use mpi_f08
  implicit none
  type(MPI_Comm) :: parent, children
  character(500) :: me
  character(9) :: argv(3), argvs(2, 3)
  character(12) :: value
  type(MPI_Info) :: info
  logical :: flag
  character(500) :: commands(2)
  integer :: codes(2), rank, got(2)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_get_parent(parent)
  call get_command_argument(0, me)
  if (parent == MPI_COMM_NULL) then
    argv = ['first  ', 'sec ond', '       ']
    call MPI_Comm_spawn(me, argv, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, codes)
    call want(all(codes == MPI_SUCCESS), 'error codes')
    call total(children, 2, 2 * 2)
    argvs(1, :) = ['one', '   ', '   ']
    argvs(2, :) = ['two', 'x  ', '   ']
    commands = me
    call MPI_Comm_spawn_multiple(2, commands, argvs, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_WORLD, children, &
                                 MPI_ERRCODES_IGNORE)
    call total(children, 1 + 2, 10 + 20)
    call MPI_Comm_spawn(me, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE)
    call total(children, 0, 0)
    ! Blanks at either end of commands, arguments, keys and values do not count (MPI 4.1 sections 10 and 11.8.2).
    call MPI_Info_create(info)
    call MPI_Info_set(info, '  soft ', '  1:2 ')
    call MPI_Info_get(info, ' soft', 12, value, flag)
    call want(flag .and. value == '1:2', 'a value with blanks around it')
    argv = ['  first  ', '  sec ond', '         ']
    call MPI_Comm_spawn('  ' // trim(me) // ' ', argv, 2, info, 0, MPI_COMM_WORLD, children, codes)
    call total(children, 2, 2 * 2)
    argvs(1, :) = ['  one', '     ', '     ']
    argvs(2, :) = ['  two', '  x  ', '     ']
    commands = adjustr(commands)
    call MPI_Comm_spawn_multiple(2, commands, argvs, [1, 1], [info, MPI_INFO_NULL], 0, MPI_COMM_WORLD, children, &
                                 MPI_ERRCODES_IGNORE)
    call total(children, 1 + 2, 10 + 20)
    call MPI_Info_free(info)
    if (rank == 0) print '(a)', 'spawn: all right'
  else
    got = [command_argument_count(), 0]
    call get_command_argument(1, argv(1))
    call get_command_argument(2, argv(2))
    if (argv(1) == 'first') got(2) = merge(2, 999, argv(2) == 'sec ond')
    if (argv(1) == 'one') got(2) = 10
    if (argv(1) == 'two') got(2) = merge(20, 999, argv(2) == 'x')
    call MPI_Allreduce(MPI_IN_PLACE, got, 0, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Reduce(got, got, 2, MPI_INTEGER, MPI_SUM, 0, parent)
    call MPI_Comm_disconnect(parent)
  end if
  call MPI_Finalize()
contains
  subroutine want(ok, what)
    logical, intent(in) :: ok
    character(*), intent(in) :: what
    if (ok) return
    print '(2a)', 'wrong: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1)
  end subroutine

  subroutine total(comm, arguments, marks)
    type(MPI_Comm), intent(inout) :: comm
    integer, intent(in) :: arguments, marks
    integer :: sums(2), n
    sums = -1
    call MPI_Comm_remote_size(comm, n)
    call MPI_Reduce(sums, sums, 2, MPI_INTEGER, MPI_SUM, merge(MPI_ROOT, MPI_PROC_NULL, rank == 0), comm)
    if (rank == 0) call want(sums(1) == arguments * merge(n, 1, arguments == 2) .and. sums(2) == marks, 'arguments of the started')
    call MPI_Comm_disconnect(comm)
  end subroutine
end program
