/* Golden sample of gen/fortran_c.py: a choice buffer, one that is copied, indices, texts, counts.  Never compiled. */
static FORT_COLD void slow_recv_(void *buf, const int *count, const int *datatype, const int *source, const int *tag, const int *comm, MPI_Status *status, int *ierror)
{
    int rc = C(Recv)(fort_buf(buf), *count, fort_type(*datatype), *source, *tag, fort_comm(*comm), fort_status(status));
    fort_return(ierror, rc);
}
void F(recv_)(void *buf, const int *count, const int *datatype, const int *source, const int *tag, const int *comm, MPI_Status *status, int *ierror)
{
    if (likely(fort_are_plain(*datatype | *comm) && !fort_is_sentinel(buf)))
        fort_return(ierror, C(Recv)(buf, *count, fort_type_quick(*datatype), *source, *tag, fort_comm_quick(*comm), fort_status(status)));
    else
        slow_recv_(buf, count, datatype, source, tag, comm, status, ierror);
}
static FORT_COLD void slow_recv_f08ts_(const struct fort_desc *buf, const int *count, const int *datatype, const int *source, const int *tag, const int *comm, MPI_Status *status, int *ierror)
{
    void *buf_c = fort_buf(buf->base);
    int count_c = *count;
    MPI_Datatype datatype_c = fort_type(*datatype);
    MPI_Datatype buf_made = MPI_DATATYPE_NULL;
    struct fort_copy buf_copy = {NULL, NULL};
    int rc;
    if (unlikely(!fort_desc_is_whole(buf))) {
        rc = fort_section_type(buf, count_c, datatype_c, &buf_made);
        if (rc == FORT_NEEDS_COPY)
            rc = fort_copy_in(&buf_copy, buf), buf_c = buf_copy.memory;
        else
            count_c = 1, datatype_c = buf_made;
        if (rc != MPI_SUCCESS) goto done;
    }
    rc = C(Recv)(buf_c, count_c, datatype_c, *source, *tag, fort_comm(*comm), fort_status(status));
done:
    fort_copy_free(&buf_copy, true);
    if (unlikely(buf_made != MPI_DATATYPE_NULL)) PMPI_Type_free(&buf_made);
    fort_return(ierror, rc);
}
void F(recv_f08ts_)(const struct fort_desc *buf, const int *count, const int *datatype, const int *source, const int *tag, const int *comm, MPI_Status *status, int *ierror)
{
    if (likely(fort_are_plain(*datatype | *comm) && fort_desc_is_simple(buf)))
        fort_return(ierror, C(Recv)(buf->base, *count, fort_type_quick(*datatype), *source, *tag, fort_comm_quick(*comm), fort_status(status)));
    else
        slow_recv_f08ts_(buf, count, datatype, source, tag, comm, status, ierror);
}
static FORT_COLD void slow_recv_c_f08ts_(const struct fort_desc *buf, const MPI_Count *count, const int *datatype, const int *source, const int *tag, const int *comm, MPI_Status *status, int *ierror)
{
    void *buf_c = fort_buf(buf->base);
    MPI_Count count_c = *count;
    MPI_Datatype datatype_c = fort_type(*datatype);
    MPI_Datatype buf_made = MPI_DATATYPE_NULL;
    struct fort_copy buf_copy = {NULL, NULL};
    int rc;
    if (unlikely(!fort_desc_is_whole(buf))) {
        rc = fort_section_type(buf, count_c, datatype_c, &buf_made);
        if (rc == FORT_NEEDS_COPY)
            rc = fort_copy_in(&buf_copy, buf), buf_c = buf_copy.memory;
        else
            count_c = 1, datatype_c = buf_made;
        if (rc != MPI_SUCCESS) goto done;
    }
    rc = C(Recv_c)(buf_c, count_c, datatype_c, *source, *tag, fort_comm(*comm), fort_status(status));
done:
    fort_copy_free(&buf_copy, true);
    if (unlikely(buf_made != MPI_DATATYPE_NULL)) PMPI_Type_free(&buf_made);
    fort_return(ierror, rc);
}
void F(recv_c_f08ts_)(const struct fort_desc *buf, const MPI_Count *count, const int *datatype, const int *source, const int *tag, const int *comm, MPI_Status *status, int *ierror)
{
    if (likely(fort_are_plain(*datatype | *comm) && fort_desc_is_simple(buf)))
        fort_return(ierror, C(Recv_c)(buf->base, *count, fort_type_quick(*datatype), *source, *tag, fort_comm_quick(*comm), fort_status(status)));
    else
        slow_recv_c_f08ts_(buf, count, datatype, source, tag, comm, status, ierror);
}
FORT_MODERN(recv_f08ts_) FORT_MODERN(recv_c_f08ts_) FORT_FORMS(recv, RECV)

void F(iallgather_)(void *sendbuf, const int *sendcount, const int *sendtype, void *recvbuf, const int *recvcount, const int *recvtype, const int *comm, int *request, int *ierror)
{
    MPI_Request request_c = MPI_REQUEST_NULL;
    int rc = C(Iallgather)(fort_buf(sendbuf), *sendcount, fort_type(*sendtype), fort_buf(recvbuf), *recvcount, fort_type(*recvtype), fort_comm(*comm), &request_c);
    if (rc == MPI_SUCCESS) *request = fort_request_int(request_c);
    fort_return(ierror, rc);
}
void F(iallgather_f08ts_)(const struct fort_desc *sendbuf, const int *sendcount, const int *sendtype, const struct fort_desc *recvbuf, const int *recvcount, const int *recvtype, const int *comm, int *request, int *ierror)
{
    void *sendbuf_c = fort_buf(sendbuf->base);
    int sendcount_c = *sendcount;
    MPI_Datatype sendtype_c = fort_type(*sendtype);
    void *recvbuf_c = fort_buf(recvbuf->base);
    MPI_Request request_c = MPI_REQUEST_NULL;
    MPI_Datatype sendbuf_made = MPI_DATATYPE_NULL;
    struct fort_copy sendbuf_copy = {NULL, NULL};
    struct fort_copy recvbuf_copy = {NULL, NULL};
    int rc;
    if (unlikely(!fort_desc_is_whole(sendbuf))) {
        rc = fort_section_type(sendbuf, sendcount_c, sendtype_c, &sendbuf_made);
        if (rc == FORT_NEEDS_COPY)
            rc = fort_copy_in(&sendbuf_copy, sendbuf), sendbuf_c = sendbuf_copy.memory;
        else
            sendcount_c = 1, sendtype_c = sendbuf_made;
        if (rc != MPI_SUCCESS) goto done;
    }
    if (unlikely(!fort_desc_is_whole(recvbuf))) {
        rc = fort_copy_in(&recvbuf_copy, recvbuf);
        if (rc != MPI_SUCCESS) goto done;
        recvbuf_c = recvbuf_copy.memory;
    }
    rc = C(Iallgather)(sendbuf_c, sendcount_c, sendtype_c, recvbuf_c, *recvcount, fort_type(*recvtype), fort_comm(*comm), &request_c);
    if (rc == MPI_SUCCESS) *request = fort_request_int(request_c);
done:
    fort_copy_keep(&sendbuf_copy, false, request_c, rc);
    if (unlikely(sendbuf_made != MPI_DATATYPE_NULL)) PMPI_Type_free(&sendbuf_made);
    fort_copy_keep(&recvbuf_copy, true, request_c, rc);
    fort_return(ierror, rc);
}
void F(iallgather_c_f08ts_)(const struct fort_desc *sendbuf, const MPI_Count *sendcount, const int *sendtype, const struct fort_desc *recvbuf, const MPI_Count *recvcount, const int *recvtype, const int *comm, int *request, int *ierror)
{
    void *sendbuf_c = fort_buf(sendbuf->base);
    MPI_Count sendcount_c = *sendcount;
    MPI_Datatype sendtype_c = fort_type(*sendtype);
    void *recvbuf_c = fort_buf(recvbuf->base);
    MPI_Request request_c = MPI_REQUEST_NULL;
    MPI_Datatype sendbuf_made = MPI_DATATYPE_NULL;
    struct fort_copy sendbuf_copy = {NULL, NULL};
    struct fort_copy recvbuf_copy = {NULL, NULL};
    int rc;
    if (unlikely(!fort_desc_is_whole(sendbuf))) {
        rc = fort_section_type(sendbuf, sendcount_c, sendtype_c, &sendbuf_made);
        if (rc == FORT_NEEDS_COPY)
            rc = fort_copy_in(&sendbuf_copy, sendbuf), sendbuf_c = sendbuf_copy.memory;
        else
            sendcount_c = 1, sendtype_c = sendbuf_made;
        if (rc != MPI_SUCCESS) goto done;
    }
    if (unlikely(!fort_desc_is_whole(recvbuf))) {
        rc = fort_copy_in(&recvbuf_copy, recvbuf);
        if (rc != MPI_SUCCESS) goto done;
        recvbuf_c = recvbuf_copy.memory;
    }
    rc = C(Iallgather_c)(sendbuf_c, sendcount_c, sendtype_c, recvbuf_c, *recvcount, fort_type(*recvtype), fort_comm(*comm), &request_c);
    if (rc == MPI_SUCCESS) *request = fort_request_int(request_c);
done:
    fort_copy_keep(&sendbuf_copy, false, request_c, rc);
    if (unlikely(sendbuf_made != MPI_DATATYPE_NULL)) PMPI_Type_free(&sendbuf_made);
    fort_copy_keep(&recvbuf_copy, true, request_c, rc);
    fort_return(ierror, rc);
}
FORT_MODERN(iallgather_f08ts_) FORT_MODERN(iallgather_c_f08ts_) FORT_FORMS(iallgather, IALLGATHER)

void F(waitany_)(const int *count, int *array_of_requests, int *index, MPI_Status *status, int *ierror)
{
    MPI_Request array_of_requests_few[FORT_FEW], *array_of_requests_c = NULL;
    uint64_t began = fort_begin();
    int index_c = MPI_UNDEFINED;
    int rc;
    array_of_requests_c = fort_requests(array_of_requests_few, array_of_requests, *count);
    if (!array_of_requests_c) {
        rc = fort_no_memory(MPI_COMM_SELF);
        goto done;
    }
    rc = C(Waitany)(*count, array_of_requests_c, &index_c, fort_status(status));
done:
    fort_requests_back(array_of_requests_c, array_of_requests_few, array_of_requests, *count, began);
    *index = index_c == MPI_UNDEFINED ? MPI_UNDEFINED : index_c + 1;
    fort_return(ierror, rc);
}
FORT_ALIAS(waitany_f08_, waitany_); FORT_MODERN(waitany_f08_) FORT_FORMS(waitany, WAITANY)

void F(info_set_)(const int *info, const char *key, const char *value, int *ierror, size_t key_len, size_t value_len)
{
    struct fort_text key_t = {.text = NULL};
    struct fort_text value_t = {.text = NULL};
    int rc;
    if (!fort_text_in_stripped(&key_t, key, key_len)) {
        rc = fort_no_memory(MPI_COMM_SELF);
        goto done;
    }
    if (!fort_text_in_stripped(&value_t, value, value_len)) {
        rc = fort_no_memory(MPI_COMM_SELF);
        goto done;
    }
    rc = C(Info_set)(fort_info(*info), key_t.text, value_t.text);
done:
    fort_text_free(&key_t);
    fort_text_free(&value_t);
    fort_return(ierror, rc);
}
FORT_ALIAS(info_set_f08_, info_set_); FORT_MODERN(info_set_f08_) FORT_FORMS(info_set, INFO_SET)

void F(type_vector_)(const int *count, const int *blocklength, const int *stride, const int *oldtype, int *newtype, int *ierror)
{
    MPI_Datatype newtype_c = MPI_DATATYPE_NULL;
    int rc = C(Type_vector)(*count, *blocklength, *stride, fort_type(*oldtype), &newtype_c);
    if (rc == MPI_SUCCESS) *newtype = fort_type_int(newtype_c);
    fort_return(ierror, rc);
}
void F(type_vector_c_f08_)(const MPI_Count *count, const MPI_Count *blocklength, const MPI_Count *stride, const int *oldtype, int *newtype, int *ierror)
{
    MPI_Datatype newtype_c = MPI_DATATYPE_NULL;
    int rc = C(Type_vector_c)(*count, *blocklength, *stride, fort_type(*oldtype), &newtype_c);
    if (rc == MPI_SUCCESS) *newtype = fort_type_int(newtype_c);
    fort_return(ierror, rc);
}
FORT_ALIAS(type_vector_f08_, type_vector_); FORT_MODERN(type_vector_f08_) FORT_MODERN(type_vector_c_f08_)
FORT_FORMS(type_vector, TYPE_VECTOR)

