! Golden sample of gen/fortran.py: interfaces of mpi, then of mpi_f08.  Never compiled.
  subroutine MPI_Recv(buf, count, datatype, source, tag, comm, status, ierror)
    import
    !GCC$ ATTRIBUTES NO_ARG_CHECK :: buf
    !DIR$ IGNORE_TKR(TKR) buf
    type(*), dimension(*) :: buf
    integer :: count
    integer :: datatype
    integer :: source
    integer :: tag
    integer :: comm
    integer :: status(MPI_STATUS_SIZE)
    integer :: ierror
  end subroutine
  subroutine MPI_Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request, ierror)
    import
    !GCC$ ATTRIBUTES NO_ARG_CHECK :: sendbuf
    !DIR$ IGNORE_TKR(TKR) sendbuf
    type(*), dimension(*) :: sendbuf
    integer :: sendcount
    integer :: sendtype
    !GCC$ ATTRIBUTES NO_ARG_CHECK :: recvbuf
    !DIR$ IGNORE_TKR(TKR) recvbuf
    type(*), dimension(*) :: recvbuf
    integer :: recvcount
    integer :: recvtype
    integer :: comm
    integer :: request
    integer :: ierror
  end subroutine
  subroutine MPI_Waitany(count, array_of_requests, index, status, ierror)
    import
    integer :: count
    integer :: array_of_requests(*)
    integer :: index
    integer :: status(MPI_STATUS_SIZE)
    integer :: ierror
  end subroutine
  subroutine MPI_Info_set(info, key, value, ierror)
    import
    integer :: info
    character(len=*) :: key
    character(len=*) :: value
    integer :: ierror
  end subroutine
  subroutine MPI_Type_vector(count, blocklength, stride, oldtype, newtype, ierror)
    import
    integer :: count
    integer :: blocklength
    integer :: stride
    integer :: oldtype
    integer :: newtype
    integer :: ierror
  end subroutine
  interface MPI_Recv
  subroutine MPI_Recv_f08ts(buf, count, datatype, source, tag, comm, status, ierror) bind(C, name="mpi_recv_f08ts_")
    import
    type(*), dimension(..) :: buf
    integer, intent(in) :: count
    type(MPI_datatype), intent(in) :: datatype
    integer, intent(in) :: source
    integer, intent(in) :: tag
    type(MPI_comm), intent(in) :: comm
    type(MPI_status), intent(out) :: status
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Recv_c_f08ts(buf, count, datatype, source, tag, comm, status, ierror) bind(C, name="mpi_recv_c_f08ts_")
    import
    type(*), dimension(..) :: buf
    INTEGER(KIND=MPI_COUNT_KIND), intent(in) :: count
    type(MPI_datatype), intent(in) :: datatype
    integer, intent(in) :: source
    integer, intent(in) :: tag
    type(MPI_comm), intent(in) :: comm
    type(MPI_status), intent(out) :: status
    integer, optional, intent(out) :: ierror
  end subroutine
  end interface
  interface MPI_Iallgather
  subroutine MPI_Iallgather_f08ts(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request, ierror) bind(C, &
      name="mpi_iallgather_f08ts_")
    import
    type(*), dimension(..), intent(in), asynchronous :: sendbuf
    integer, intent(in) :: sendcount
    type(MPI_datatype), intent(in) :: sendtype
    type(*), dimension(..), asynchronous :: recvbuf
    integer, intent(in) :: recvcount
    type(MPI_datatype), intent(in) :: recvtype
    type(MPI_comm), intent(in) :: comm
    type(MPI_request), intent(out) :: request
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Iallgather_c_f08ts(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request, ierror) bind(C, &
      name="mpi_iallgather_c_f08ts_")
    import
    type(*), dimension(..), intent(in), asynchronous :: sendbuf
    INTEGER(KIND=MPI_COUNT_KIND), intent(in) :: sendcount
    type(MPI_datatype), intent(in) :: sendtype
    type(*), dimension(..), asynchronous :: recvbuf
    INTEGER(KIND=MPI_COUNT_KIND), intent(in) :: recvcount
    type(MPI_datatype), intent(in) :: recvtype
    type(MPI_comm), intent(in) :: comm
    type(MPI_request), intent(out) :: request
    integer, optional, intent(out) :: ierror
  end subroutine
  end interface
  interface MPI_Waitany
  subroutine MPI_Waitany_f08(count, array_of_requests, index, status, ierror)
    import
    integer, intent(in) :: count
    type(MPI_request), intent(inout) :: array_of_requests(*)
    integer, intent(out) :: index
    type(MPI_status), intent(out) :: status
    integer, optional, intent(out) :: ierror
  end subroutine
  end interface
  interface MPI_Info_set
  subroutine MPI_Info_set_f08(info, key, value, ierror)
    import
    type(MPI_info), intent(in) :: info
    character(len=*), intent(in) :: key
    character(len=*), intent(in) :: value
    integer, optional, intent(out) :: ierror
  end subroutine
  end interface
  interface MPI_Type_vector
  subroutine MPI_Type_vector_f08(count, blocklength, stride, oldtype, newtype, ierror)
    import
    integer, intent(in) :: count
    integer, intent(in) :: blocklength
    integer, intent(in) :: stride
    type(MPI_datatype), intent(in) :: oldtype
    type(MPI_datatype), intent(out) :: newtype
    integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Type_vector_c_f08(count, blocklength, stride, oldtype, newtype, ierror)
    import
    INTEGER(KIND=MPI_COUNT_KIND), intent(in) :: count
    INTEGER(KIND=MPI_COUNT_KIND), intent(in) :: blocklength
    INTEGER(KIND=MPI_COUNT_KIND), intent(in) :: stride
    type(MPI_datatype), intent(in) :: oldtype
    type(MPI_datatype), intent(out) :: newtype
    integer, optional, intent(out) :: ierror
  end subroutine
  end interface
