! Five small kernels as scientific programs have them, each against the answer of one process: conjugate gradients (allgatherv,
! allreduce), a two-dimensional Fourier transform (transposed by alltoall), a sort of integers (alltoallv), multigrid (exchange with
! neighbours, level by level), and an exchange of faces through buffers of MPI_Alloc_mem that became pointers.
!
! Compiled three times: KERNELS_H (mpif.h), KERNELS_MPI (use mpi), KERNELS_F08 (use mpi_f08).  On 1, 2, 3, 4 and 8 ranks.
!
! SPDX-FileCopyrightText: 2026 The Godwit authors
! SPDX-License-Identifier: BSD-3-Clause
#if defined(KERNELS_F08)
#define FORM 'kernels_f08'
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
#elif defined(KERNELS_MPI)
#define FORM 'kernels_mpi'
#define COMM integer
#define REQUEST integer
#else
#define FORM 'kernels_h'
#define COMM integer
#define REQUEST integer
#endif
program kernels
#if defined(KERNELS_F08)
  use mpi_f08
#elif defined(KERNELS_MPI)
  use mpi
#endif
  use, intrinsic :: iso_c_binding
  implicit none
#ifdef KERNELS_H
  include 'mpif.h'
#endif
  integer, parameter :: dp = kind(1.0d0)
  integer :: rank, ranks, ierror, wrong = 0, all_wrong

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call gradients()
  call fourier()
  call sort()
  call grids()
  call faces()
  call MPI_Reduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0 .and. all_wrong == 0) print '(2a)', FORM, ': all right'
  call MPI_Finalize(ierror)
  if (wrong /= 0) stop 1

contains

  subroutine want(is_so, what)
    logical, intent(in) :: is_so
    character(*), intent(in) :: what
    if (is_so) return
    print '(a, i0, 2a)', 'rank ', rank, ': ', what
    wrong = wrong + 1
  end subroutine

  ! Items first to last of n are those of the rank.
  subroutine share(n, of, r, first, last)
    integer, intent(in) :: n, of, r
    integer, intent(out) :: first, last
    first = r * n / of + 1
    last = (r + 1) * n / of
  end subroutine

  ! ---- conjugate gradients: five points on a grid, unknowns shared out, the right side all ones ----
  subroutine gradients()
    integer, parameter :: nx = 12, ny = 13
    real(dp) :: x(nx * ny), alone(nx * ny)
    integer :: i
    call solve(MPI_COMM_WORLD, ranks, rank, nx, x)
    call solve(MPI_COMM_SELF, 1, 0, nx, alone)
    call want(maxval(abs(x - alone)) < 1d-11, 'conjugate gradients: not the answer of one process')
    call want(maxval([(abs(row(x, nx, i) - 1), i = 1, nx * ny)]) < 1d-10, 'conjugate gradients: residual')
  end subroutine

  ! The matrix's row i times v.
  pure real(dp) function row(v, nx, i)
    real(dp), intent(in) :: v(:)
    integer, intent(in) :: nx, i
    row = 4 * v(i)
    if (mod(i - 1, nx) > 0) row = row - v(i - 1)
    if (mod(i, nx) > 0) row = row - v(i + 1)
    if (i > nx) row = row - v(i - nx)
    if (i <= size(v) - nx) row = row - v(i + nx)
  end function

  subroutine solve(on, of, me, nx, x)
    COMM, intent(in) :: on
    integer, intent(in) :: of, me, nx
    real(dp), intent(out) :: x(:)
    real(dp) :: direction(size(x)), residual(size(x)), product(size(x)), mine, step, old, new
    integer :: counts(of), places(of), first, last, r, i, turn
    do r = 0, of - 1
      call share(size(x), of, r, first, last)
      counts(r + 1) = last - first + 1
      places(r + 1) = first - 1
    end do
    call share(size(x), of, me, first, last)
    x = 0
    residual = 1
    direction = 1
    old = size(x)
    do turn = 1, 500
      do i = first, last
        product(i) = row(direction, nx, i)
      end do
      mine = dot_product(direction(first:last), product(first:last))
      call MPI_Allreduce(mine, step, 1, MPI_DOUBLE_PRECISION, MPI_SUM, on, ierror)
      step = old / step
      x(first:last) = x(first:last) + step * direction(first:last)
      residual(first:last) = residual(first:last) - step * product(first:last)
      new = dot_product(residual(first:last), residual(first:last))
      call MPI_Allreduce(MPI_IN_PLACE, new, 1, MPI_DOUBLE_PRECISION, MPI_SUM, on, ierror)
      direction(first:last) = residual(first:last) + new / old * direction(first:last)
      call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, direction, counts, places, MPI_DOUBLE_PRECISION, on, ierror)
      old = new
      if (old < 1d-26) exit
    end do
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, x, counts, places, MPI_DOUBLE_PRECISION, on, ierror)
  end subroutine

  ! ---- Fourier transform of n lines, n a multiple of all numbers of ranks ----
  subroutine fourier()
    integer, parameter :: n = 24
    complex(dp) :: whole(n, n), lines(n, n / ranks), back(n, n / ranks), start(n, n / ranks)
    integer :: i, k, first
    if (mod(n, ranks) /= 0) return
    do k = 1, n
      whole(:, k) = [(cmplx(sin(0.3_dp * i * k), cos(0.7_dp * i - k), dp), i = 1, n)]
    end do
    first = rank * (n / ranks)
    lines = whole(:, first + 1:first + n / ranks)
    start = lines
    call transform(lines, -1)
    call transpose_all(lines, n)
    call transform(lines, -1)
    call transform(whole, -1)
    whole = transpose(whole)
    call transform(whole, -1)
    call want(maxval(abs(lines - whole(:, first + 1:first + n / ranks))) < 1d-10, 'Fourier: not the answer of one process')
    back = lines
    call transform(back, 1)
    call transpose_all(back, n)
    call transform(back, 1)
    call want(maxval(abs(back / n**2 - start)) < 1d-12, 'Fourier: there and back')
  end subroutine

  subroutine transform(lines, sign)
    complex(dp), intent(inout) :: lines(:, :)
    integer, intent(in) :: sign
    complex(dp) :: out(size(lines, 1))
    real(dp), parameter :: turn = 8 * atan(1.0_dp)
    integer :: n, k, f, i
    n = size(lines, 1)
    do k = 1, size(lines, 2)
      do f = 0, n - 1
        out(f + 1) = sum([(lines(i + 1, k) * exp(cmplx(0, sign * turn * mod(f * i, n) / n, dp)), i = 0, n - 1)])
      end do
      lines(:, k) = out
    end do
  end subroutine

  subroutine transpose_all(lines, n)
    integer, intent(in) :: n
    complex(dp), intent(inout) :: lines(n, n / ranks)
    complex(dp) :: out(n / ranks, n / ranks, ranks), in(n / ranks, n / ranks, ranks)
    integer :: r, m
    m = n / ranks
    do r = 1, ranks
      out(:, :, r) = transpose(lines((r - 1) * m + 1:r * m, :))
    end do
    call MPI_Alltoall(out, m * m, MPI_DOUBLE_COMPLEX, in, m * m, MPI_DOUBLE_COMPLEX, MPI_COMM_WORLD, ierror)
    do r = 1, ranks
      lines((r - 1) * m + 1:r * m, :) = in(:, :, r)
    end do
  end subroutine

  ! ---- sort: every rank knows all keys, so each can say what its part has to be ----
  subroutine sort()
    integer, parameter :: n = 3001, keys = 512
    integer :: all(n), sorted(n), first, last, i, r, owner, got, before
    integer, dimension(ranks) :: sent, from, received, at
    integer, allocatable :: out(:), in(:)
    all(1) = 12345
    do i = 2, n
      all(i) = int(mod(all(i - 1) * 1103515245_8 + 12345, 2147483648_8))
    end do
    all = mod(all / 65536, keys)
    call by_counting(all, sorted, keys)
    call share(n, ranks, rank, first, last)
    sent = 0
    do i = first, last
      owner = all(i) * ranks / keys + 1
      sent(owner) = sent(owner) + 1
    end do
    from = [(sum(sent(:r - 1)), r = 1, ranks)]
    allocate (out(last - first + 1))
    at = from
    do i = first, last
      owner = all(i) * ranks / keys + 1
      at(owner) = at(owner) + 1
      out(at(owner)) = all(i)
    end do
    call MPI_Alltoall(sent, 1, MPI_INTEGER, received, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    at = [(sum(received(:r - 1)), r = 1, ranks)]
    allocate (in(sum(received)))
    call MPI_Alltoallv(out, sent, from, MPI_INTEGER, in, received, at, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    got = size(in)
    call by_counting((in), in, keys)
    before = 0
    call MPI_Exscan(got, before, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    if (rank == 0) before = 0
    call want(all_equal(in, sorted(before + 1:before + got)), 'sort: not the answer of one process')
    call MPI_Allreduce(MPI_IN_PLACE, got, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call want(got == n, 'sort: keys were lost')
  end subroutine

  logical function all_equal(a, b)
    integer, intent(in) :: a(:), b(:)
    all_equal = size(a) == size(b)
    if (all_equal) all_equal = all(a == b)
  end function

  subroutine by_counting(a, sorted, keys)
    integer, intent(in) :: a(:), keys
    integer, intent(out) :: sorted(:)
    integer :: many(0:keys - 1), i, at
    many = 0
    do i = 1, size(a)
      many(a(i)) = many(a(i)) + 1
    end do
    at = 0
    do i = 0, keys - 1
      sorted(at + 1:at + many(i)) = i
      at = at + many(i)
    end do
  end subroutine

  ! ---- multigrid: -u'' = f on 96 cells, three levels, 0 at both ends ----
  subroutine grids()
    integer, parameter :: n = 96
    real(dp), allocatable :: u(:), f(:), alone(:), f_alone(:)
    integer :: cycle, i, first, last
    real(dp) :: error
    if (mod(n / 4, ranks) /= 0) return
    call share(n, ranks, rank, first, last)
    allocate (u(0:last - first + 2), f(last - first + 1), alone(0:n + 1), f_alone(n))
    f_alone = [(real(mod(7 * i, 11), dp) - 5, i = 1, n)]
    f = f_alone(first:last)
    u = 0
    alone = 0
    do cycle = 1, 30
      call v_cycle(MPI_COMM_WORLD, ranks, rank, u, f, 1.0_dp, n)
      call v_cycle(MPI_COMM_SELF, 1, 0, alone, f_alone, 1.0_dp, n)
    end do
    call want(maxval(abs(u(1:last - first + 1) - alone(first:last))) < 1d-10, 'multigrid: not the answer of one process')
    error = maxval(abs([(2 * alone(i) - alone(i - 1) - alone(i + 1) - f_alone(i), i = 2, n - 1)]))
    call want(error < 1d-6, 'multigrid: residual')
  end subroutine

  recursive subroutine v_cycle(on, of, me, u, f, h, n)
    COMM, intent(in) :: on
    integer, intent(in) :: of, me, n
    real(dp), intent(inout) :: u(0:)
    real(dp), intent(in) :: f(:), h
    real(dp) :: left(size(f)), coarse(0:size(f) / 2 + 1)
    integer :: m, i
    m = size(f)
    call smooth(on, of, me, u, f, h, merge(3, 2000, n > 24))
    if (n <= 24) return
    call ends(on, of, me, u)
    left = [(f(i) - (2 * u(i) - u(i - 1) - u(i + 1)) / h**2, i = 1, m)]
    coarse = 0
    call v_cycle(on, of, me, coarse, [(0.5_dp * (left(2 * i - 1) + left(2 * i)), i = 1, m / 2)], 2 * h, n / 2)
    do i = 1, m
      u(i) = u(i) + coarse((i + 1) / 2)
    end do
    call smooth(on, of, me, u, f, h, 3)
  end subroutine

  subroutine smooth(on, of, me, u, f, h, turns)
    COMM, intent(in) :: on
    integer, intent(in) :: of, me, turns
    real(dp), intent(inout) :: u(0:)
    real(dp), intent(in) :: f(:), h
    integer :: turn, m, i
    m = size(f)
    do turn = 1, turns
      call ends(on, of, me, u)
      u(1:m) = u(1:m) + 0.33_dp * [(h**2 * f(i) - 2 * u(i) + u(i - 1) + u(i + 1), i = 1, m)]
    end do
  end subroutine

  ! The neighbours' cells; beyond the ends, what makes u 0 there.
  subroutine ends(on, of, me, u)
    COMM, intent(in) :: on
    integer, intent(in) :: of, me
    real(dp), intent(inout), contiguous, asynchronous :: u(0:)
    REQUEST :: requests(4)
    integer :: m, before, after
    m = ubound(u, 1) - 1
    before = merge(me - 1, MPI_PROC_NULL, me > 0)
    after = merge(me + 1, MPI_PROC_NULL, me < of - 1)
    u(0) = -u(1)
    u(m + 1) = -u(m)
    call MPI_Irecv(u(0), 1, MPI_DOUBLE_PRECISION, before, 1, on, requests(1), ierror)
    call MPI_Irecv(u(m + 1), 1, MPI_DOUBLE_PRECISION, after, 2, on, requests(2), ierror)
    call MPI_Isend(u(1), 1, MPI_DOUBLE_PRECISION, before, 2, on, requests(3), ierror)
    call MPI_Isend(u(m), 1, MPI_DOUBLE_PRECISION, after, 1, on, requests(4), ierror)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
  end subroutine

  ! ---- faces of blocks on a torus, packed into memory of MPI's, which Fortran sees as arrays ----
  subroutine faces()
    integer, parameter :: nx = 5, ny = 4, nz = 3
    COMM :: torus
    REQUEST :: requests(8)
    integer :: dims(2) = 0, at(2), neighbours(4), side, done, i, k, where(2)
    real(dp) :: block(nz, 0:ny + 1, 0:nx + 1)
    real(dp), pointer, contiguous, asynchronous :: out(:, :, :), in(:, :, :)
    call MPI_Dims_create(ranks, 2, dims, ierror)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .true.], .false., torus, ierror)
    call MPI_Cart_coords(torus, rank, 2, at, ierror)
    call MPI_Cart_shift(torus, 0, 1, neighbours(1), neighbours(2), ierror)
    call MPI_Cart_shift(torus, 1, 1, neighbours(3), neighbours(4), ierror)
    call memory(out, nz, max(nx, ny), 4)
    call memory(in, nz, max(nx, ny), 4)
    block = -1
    do i = 1, nx
      do k = 1, ny
        block(:, k, i) = value(at(1) * nx + i, at(2) * ny + k, nz)
      end do
    end do
    in = -2
    do side = 1, 4
      call MPI_Irecv(in(1, 1, side), nz * merge(ny, nx, side < 3), MPI_DOUBLE_PRECISION, neighbours(side), side, torus, &
                     requests(side), ierror)
    end do
    out(:, :ny, 1) = block(:, 1:ny, 1)
    out(:, :ny, 2) = block(:, 1:ny, nx)
    out(:, :nx, 3) = block(:, 1, 1:nx)
    out(:, :nx, 4) = block(:, ny, 1:nx)
    do side = 1, 4 ! the neighbour on the other side waits for it
      call MPI_Isend(out(1, 1, side), nz * merge(ny, nx, side < 3), MPI_DOUBLE_PRECISION, neighbours(side), &
                     side - 1 + 2 * mod(side, 2), torus, requests(4 + side), ierror)
    end do
    do i = 1, 8
      call MPI_Waitany(8, requests, done, MPI_STATUS_IGNORE, ierror)
      if (done == 1) block(:, 1:ny, 0) = in(:, :ny, 1)
      if (done == 2) block(:, 1:ny, nx + 1) = in(:, :ny, 2)
      if (done == 3) block(:, 0, 1:nx) = in(:, :nx, 3)
      if (done == 4) block(:, ny + 1, 1:nx) = in(:, :nx, 4)
    end do
    do i = 0, nx + 1
      do k = 0, ny + 1
        if ((i == 0 .or. i == nx + 1) .and. (k == 0 .or. k == ny + 1)) cycle
        where = [modulo(at(1) * nx + i - 1, dims(1) * nx) + 1, modulo(at(2) * ny + k - 1, dims(2) * ny) + 1]
        call want(all(block(:, k, i) == value(where(1), where(2), nz)), 'faces: a cell of a neighbour')
      end do
    end do
    call MPI_Free_mem(out(1, 1, 1), ierror)
    call MPI_Free_mem(in(1, 1, 1), ierror)
    call MPI_Comm_free(torus, ierror)
  end subroutine

  function value(x, y, n)
    integer, intent(in) :: x, y, n
    real(dp) :: value(n)
    integer :: z
    value = [(1000 * x + 10 * y + z, z = 1, n)]
  end function

  subroutine memory(array, n1, n2, n3)
    real(dp), pointer, contiguous, intent(out) :: array(:, :, :)
    integer, intent(in) :: n1, n2, n3
    integer(MPI_ADDRESS_KIND) :: bytes
    type(c_ptr) :: place
#ifdef KERNELS_H
    integer(MPI_ADDRESS_KIND) :: address
#endif
    bytes = 8_MPI_ADDRESS_KIND * n1 * n2 * n3
#ifdef KERNELS_H
    call MPI_Alloc_mem(bytes, MPI_INFO_NULL, address, ierror)
    place = transfer(address, place)
#else
    call MPI_Alloc_mem(bytes, MPI_INFO_NULL, place, ierror)
#endif
    call want(ierror == MPI_SUCCESS .and. c_associated(place), 'MPI_Alloc_mem')
    call c_f_pointer(place, array, [n1, n2, n3])
  end subroutine
end program
