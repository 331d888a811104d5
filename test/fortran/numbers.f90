! numbers.f90 -- for numbers.sh: a receive into a section, whose number another request gets while MPI_Wait completes it.
! SPDX-FileCopyrightText: 2026 The Godwit authors
! SPDX-License-Identifier: BSD-3-Clause
module both
  use mpi_f08
  implicit none
  integer, asynchronous, save :: one(20) = 0, two(20) = 0
  type(MPI_Request), save :: first, second
  integer, save :: times = 0
end module

subroutine again() bind(C)
  use both
  times = times + 1
  call MPI_Ireduce(two(1:19:2), two(2:20:2), 10, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_SELF, second)
end subroutine

program numbers
  use both
  integer :: i, number
  interface
    subroutine again() bind(C)
    end subroutine
  end interface
  call MPI_Init()
  one(1:19:2) = [(i, i = 1, 10)]
  two(1:19:2) = [(100 * i, i = 1, 10)]
  call MPI_Ireduce(one(1:19:2), one(2:20:2), 10, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_SELF, first)
  number = first%MPI_VAL
  call MPI_Wait(first, MPI_STATUS_IGNORE)
  if (times /= 1 .or. second%MPI_VAL /= number) stop "the number did not come again"
  if (any(one(2:20:2) /= [(i, i = 1, 10)])) stop "not copied back"
  if (any(two(2:20:2) /= 0)) stop "copied back before its request was complete"
  call MPI_Wait(second, MPI_STATUS_IGNORE)
  if (any(two(2:20:2) /= [(100 * i, i = 1, 10)])) stop "not copied back at its own completion"
  print '(a)', "each its own"
  call MPI_Finalize()
end program
