! mpif.h in fixed form: messages, requests, statuses, sentinels and collectives; data is checked.
! SPDX-FileCopyrightText: 2026 The Godwit authors
! SPDX-License-Identifier: BSD-3-Clause
      program fixed
      implicit none
      include 'mpif.h'
      integer ierr, me, n, i, next, prev, idx, got, types(0:3)
      integer counts(0:3), displs(0:3), a(4), b(4), all(0:3), sums(0:3)
      integer status(MPI_STATUS_SIZE), reqs(3)
      integer statuses(MPI_STATUS_SIZE, 3), indices(3), outcount
      integer(kind=MPI_ADDRESS_KIND) at, here
      double precision x, t
      logical flag
      real r(2)
      call MPI_INIT(ierr)
      call MPI_COMM_RANK(MPI_COMM_WORLD, me, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, n, ierr)
      next = mod(me + 1, n)
      prev = mod(me + n - 1, n)
      do i = 1, 4
        a(i) = 100 * me + i
        b(i) = 0
      end do
      t = MPI_WTIME()
      call MPI_SENDRECV(a, 4, MPI_INTEGER, next, 7, b, 4, MPI_INTEGER,
     &  prev, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr)
      do i = 1, 4
        call want(b(i) .eq. 100 * prev + i, 'sendrecv')
      end do
      call want(status(MPI_SOURCE) .eq. prev, 'source')
      call want(status(MPI_TAG) .eq. 7, 'tag')
      call MPI_GET_COUNT(status, MPI_INTEGER, got, ierr)
      call want(got .eq. 4, 'count')
      call want(MPI_WTIME() .ge. t, 'time')
! requests, one-based indices
      b(1) = 0
      reqs(2) = MPI_REQUEST_NULL
      call MPI_IRECV(b, 1, MPI_INTEGER, prev, 8, MPI_COMM_WORLD,
     &  reqs(3), ierr)
      call MPI_ISEND(a, 1, MPI_INTEGER, next, 8, MPI_COMM_WORLD,
     &  reqs(1), ierr)
      call MPI_WAIT(reqs(1), MPI_STATUS_IGNORE, ierr)
      call want(reqs(1) .eq. MPI_REQUEST_NULL, 'request is null')
      call MPI_WAITANY(3, reqs, idx, status, ierr)
      call want(idx .eq. 3, 'index of waitany')
      call want(b(1) .eq. 100 * prev + 1, 'irecv')
      call MPI_WAITANY(3, reqs, idx, status, ierr)
      call want(idx .eq. MPI_UNDEFINED, 'nothing to wait for')
      call MPI_IRECV(b, 1, MPI_INTEGER, prev, 9, MPI_COMM_WORLD,
     &  reqs(1), ierr)
      call MPI_ISEND(a(2), 1, MPI_INTEGER, next, 9, MPI_COMM_WORLD,
     &  reqs(2), ierr)
      call MPI_WAITALL(2, reqs, statuses, ierr)
      call want(statuses(MPI_SOURCE, 1) .eq. prev, 'statuses')
      call want(b(1) .eq. 100 * prev + 2, 'waitall')
      call MPI_IRECV(b, 1, MPI_INTEGER, MPI_PROC_NULL, 9,
     &  MPI_COMM_WORLD, reqs(2), ierr)
      call MPI_WAITSOME(3, reqs, outcount, indices,
     &  MPI_STATUSES_IGNORE, ierr)
      call want(outcount .eq. 1, 'outcount')
      call want(indices(1) .eq. 2, 'indices')
      call MPI_TESTALL(3, reqs, flag, MPI_STATUSES_IGNORE, ierr)
      call want(flag, 'testall')
! collectives and sentinels
      x = me + 0.5d0
      call MPI_ALLREDUCE(MPI_IN_PLACE, x, 1, MPI_DOUBLE_PRECISION,
     &  MPI_SUM, MPI_COMM_WORLD, ierr)
      call want(x .eq. n * (n - 1) / 2 + 0.5d0 * n, 'allreduce')
      do i = 0, n - 1
        all(i) = -1
      end do
      call MPI_ALLGATHER(a(3), 1, MPI_INTEGER, all, 1, MPI_INTEGER,
     &  MPI_COMM_WORLD, ierr)
      do i = 0, n - 1
        call want(all(i) .eq. 100 * i + 3, 'allgather')
        counts(i) = 1
        displs(i) = 4 * i
        types(i) = MPI_INTEGER
        sums(i) = -1
      end do
      call MPI_ALLTOALLW(all, counts, displs, types, sums, counts,
     &  displs, types, MPI_COMM_WORLD, ierr)
      do i = 0, n - 1
        call want(sums(i) .eq. 100 * me + 3, 'alltoallw')
        sums(i) = -1
      end do
      call MPI_IALLTOALLW(all, counts, displs, types, sums, counts,
     &  displs, types, MPI_COMM_WORLD, reqs(1), ierr)
      do i = 0, n - 1
        types(i) = MPI_DATATYPE_NULL
      end do
      call MPI_WAIT(reqs(1), MPI_STATUS_IGNORE, ierr)
      call want(sums(n - 1) .eq. 100 * me + 3, 'ialltoallw')
! an absolute address
      r(1) = me
      r(2) = -1
      call MPI_GET_ADDRESS(r(1), here, ierr)
      at = here
      call MPI_TYPE_CREATE_STRUCT(1, 1, at, MPI_REAL, idx, ierr)
      call MPI_TYPE_COMMIT(idx, ierr)
      call MPI_SENDRECV(MPI_BOTTOM, 1, idx, next, 1, r(2), 1, MPI_REAL,
     &  prev, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call want(r(2) .eq. prev, 'bottom')
      call MPI_TYPE_FREE(idx, ierr)
      call want(idx .eq. MPI_DATATYPE_NULL, 'type is null')
      call MPI_TYPE_SIZE(MPI_DOUBLE_COMPLEX, i, ierr)
      call want(i .eq. 16, 'size of a complex')
      call PMPI_BARRIER(MPI_COMM_WORLD, ierr)
      call MPI_FINALIZE(ierr)
      if (me .eq. 0) print '(a)', 'fixed: all right'
      end

      subroutine want(ok, what)
      implicit none
      include 'mpif.h'
      logical ok
      character*(*) what
      integer ierr
      if (ok) return
      print '(2a)', 'wrong: ', what
      call MPI_ABORT(MPI_COMM_WORLD, 1, ierr)
      end
