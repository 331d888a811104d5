! A halo exchange as weather codes of Fortran 2003 write it: memory by MPI_Alloc_mem as a c_ptr, seen through c_f_pointer, exchanged between
! neighbours of a periodic grid by messages and one-sided (fence, post/start/complete/wait, lock_all and flush), with the same field each time.
! SPDX-FileCopyrightText: 2026 The Godwit authors
! SPDX-License-Identifier: BSD-3-Clause
program halo
  use, intrinsic :: iso_c_binding
#ifdef BY_F08
  use mpi_f08
  implicit none
  type(MPI_Comm) :: grid
  type(MPI_Win) :: win
  type(MPI_Group) :: all_of_them, neighbours
  type(MPI_Request) :: q(4)
#else
  use mpi
  implicit none
  integer :: grid, win, all_of_them, neighbours, q(4)
#endif
  integer, parameter :: nz = 7, nx = 5, steps = 4, dp = kind(1.d0)
  integer(MPI_ADDRESS_KIND) :: bytes, at
  type(c_ptr) :: memory
  real(dp), pointer :: field(:, :), buffer(:, :)
  real(dp) :: results(nz, nx, 4)
  integer :: ierr, me, ranks, left, right, way, step, i, k
  call MPI_Init(ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., grid, ierr)
  call MPI_Comm_rank(grid, me, ierr)
  call MPI_Cart_shift(grid, 0, 1, left, right, ierr)
  bytes = 8_MPI_ADDRESS_KIND * nz * 2
  call MPI_Alloc_mem(bytes, MPI_INFO_NULL, memory, ierr)
  call c_f_pointer(memory, buffer, [nz, 2]) ! what comes from the left, from the right
  allocate (field(nz, 0:nx + 1))
  call MPI_Win_create(buffer, bytes, 8, MPI_INFO_NULL, grid, win, ierr)
  call MPI_Comm_group(grid, all_of_them, ierr)
  if (left == right) call MPI_Group_incl(all_of_them, 1, [left], neighbours, ierr)
  if (left /= right) call MPI_Group_incl(all_of_them, 2, [left, right], neighbours, ierr)
  do way = 1, 4
    do i = 1, nx
      field(:, i) = [(sin(0.1d0 * k * (me * nx + i)), k = 1, nz)]
    end do
    do step = 1, steps
      call exchange(way)
      field(:, 0) = buffer(:, 1)
      field(:, nx + 1) = buffer(:, 2)
      field(:, 1:nx) = field(:, 1:nx) + 0.25d0 * (field(:, 0:nx - 1) - 2 * field(:, 1:nx) + field(:, 2:nx + 1))
    end do
    results(:, :, way) = field(:, 1:nx)
    if (any(results(:, :, way) /= results(:, :, 1))) call wrong('this way gives another field')
  end do
  call whole_field()
  call MPI_Group_free(neighbours, ierr)
  call MPI_Group_free(all_of_them, ierr)
  call MPI_Win_free(win, ierr)
  call MPI_Free_mem(buffer, ierr)
  call MPI_Comm_free(grid, ierr)
  call MPI_Finalize(ierr)
#ifdef BY_F08
  if (me == 0) print '(a)', 'halo_f08: all right'
#else
  if (me == 0) print '(a)', 'halo_mpi: all right'
#endif
contains
  subroutine wrong(what)
    character(*), intent(in) :: what
    print '(a, i0, 2a)', 'way ', way, ': ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  end subroutine

  subroutine put_both()
    at = nz
    call MPI_Put(field(1, 1), nz, MPI_DOUBLE_PRECISION, left, at, nz, MPI_DOUBLE_PRECISION, win, ierr)
    at = 0
    call MPI_Put(field(1, nx), nz, MPI_DOUBLE_PRECISION, right, at, nz, MPI_DOUBLE_PRECISION, win, ierr)
  end subroutine

  subroutine exchange(how)
    integer, intent(in) :: how
    buffer = -1
    select case (how)
    case (1)
      call MPI_Irecv(buffer(1, 1), nz, MPI_DOUBLE_PRECISION, left, 1, grid, q(1), ierr)
      call MPI_Irecv(buffer(1, 2), nz, MPI_DOUBLE_PRECISION, right, 2, grid, q(2), ierr)
      call MPI_Isend(field(1, nx), nz, MPI_DOUBLE_PRECISION, right, 1, grid, q(3), ierr)
      call MPI_Isend(field(1, 1), nz, MPI_DOUBLE_PRECISION, left, 2, grid, q(4), ierr)
      call MPI_Waitall(4, q, MPI_STATUSES_IGNORE, ierr)
    case (2)
      call MPI_Win_fence(MPI_MODE_NOPRECEDE, win, ierr)
      call put_both()
      call MPI_Win_fence(MPI_MODE_NOSUCCEED, win, ierr)
    case (3)
      call MPI_Win_post(neighbours, 0, win, ierr)
      call MPI_Win_start(neighbours, 0, win, ierr)
      call put_both()
      call MPI_Win_complete(win, ierr)
      call MPI_Win_wait(win, ierr)
    case (4)
      call MPI_Win_lock_all(0, win, ierr)
      call MPI_Barrier(grid, ierr)
      call put_both()
      call MPI_Win_flush_all(win, ierr)
      call MPI_Barrier(grid, ierr)
      call MPI_Win_sync(win, ierr)
      call MPI_Win_unlock_all(win, ierr)
    end select
    call MPI_F_sync_reg(buffer)
  end subroutine

  ! The same steps on one rank's copy of the whole field.
  subroutine whole_field()
    real(dp) :: all_of_it(nz, 0:nx * ranks + 1)
    integer :: n
    n = nx * ranks
    do i = 1, n
      all_of_it(:, i) = [(sin(0.1d0 * k * i), k = 1, nz)]
    end do
    do step = 1, steps
      all_of_it(:, 0) = all_of_it(:, n)
      all_of_it(:, n + 1) = all_of_it(:, 1)
      all_of_it(:, 1:n) = all_of_it(:, 1:n) + 0.25d0 * (all_of_it(:, 0:n - 1) - 2 * all_of_it(:, 1:n) + all_of_it(:, 2:n + 1))
    end do
    if (any(abs(all_of_it(:, me * nx + 1:me * nx + nx) - results(:, :, 1)) > 1d-14)) call wrong('another field than on one rank')
  end subroutine
end program
