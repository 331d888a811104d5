/* Golden sample of gen/entries.py: entry points of several kinds.  Never compiled. */
static GW_COLD int why_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct gw_type *sendtype_o = std_type(sendtype);
    struct gw_type *recvtype_o = std_type(recvtype);
    struct gw_comm *comm_o = std_comm(comm);
    int rc = std_why_state();
    if (rc == GW_OK) rc = std_why_comm("comm", comm);
    if (rc == GW_OK && (sendbuf != MPI_IN_PLACE || !std_is_root(root, comm_o)) && std_other_side(root, comm_o)) rc = std_why_buffer("sendbuf", sendbuf, sendcount, sendtype_o);
    if (rc == GW_OK && sendbuf != MPI_IN_PLACE && std_other_side(root, comm_o)) rc = std_why_count("sendcount", sendcount);
    if (rc == GW_OK && sendbuf != MPI_IN_PLACE && std_other_side(root, comm_o)) rc = std_why_type("sendtype", sendtype, true);
    if (rc == GW_OK && sendbuf != MPI_IN_PLACE && std_other_side(root, comm_o)) rc = std_why_bytes("sendcount", sendcount, sendtype_o, 1);
    if (rc == GW_OK && std_is_root(root, comm_o)) rc = std_why_buffer("recvbuf", recvbuf, 0, NULL);
    if (rc == GW_OK && std_is_root(root, comm_o)) rc = std_why_counts("recvcounts", (struct gw_counts){recvcounts, false}, comm_o->targets);
    if (rc == GW_OK && std_is_root(root, comm_o)) rc = std_why_array("displs", displs, comm_o->targets);
    if (rc == GW_OK && std_is_root(root, comm_o)) rc = std_why_type("recvtype", recvtype, true);
    if (rc == GW_OK && std_is_root(root, comm_o)) rc = std_why_blocks("recvcounts", (struct gw_counts){recvcounts, false}, (struct gw_counts){displs, false}, comm_o->targets, recvtype_o);
    if (rc == GW_OK) rc = std_why_root("root", root, comm_o);
    return rc;
}
GW_EXPORT GW_HOT int PMPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    mpi_enter(GW_FN_Gatherv);
    if (unlikely(gw_checking)) check_enter(GW_FN_Gatherv, __builtin_return_address(0));
    struct gw_comm *comm_o = std_comm(comm);
    struct gw_type *sendtype_o = std_type(sendtype);
    struct gw_type *recvtype_o = std_type(recvtype);
    int rc;
    if (likely(mpi_hot.check) &&
        unlikely(!comm_o ||
                 ((sendbuf != MPI_IN_PLACE || !std_is_root(root, comm_o)) && ((std_bad_buffer(sendbuf, sendcount)) && std_other_side(root, comm_o))) ||
                 (sendbuf != MPI_IN_PLACE && ((sendcount < 0) && std_other_side(root, comm_o))) ||
                 (sendbuf != MPI_IN_PLACE && ((std_bad_type(sendtype_o)) && std_other_side(root, comm_o))) ||
                 (std_is_root(root, comm_o) && (recvbuf == MPI_IN_PLACE)) ||
                 (std_is_root(root, comm_o) && (std_bad_counts((struct gw_counts){recvcounts, false}, comm_o->targets))) ||
                 (std_is_root(root, comm_o) && (!displs && comm_o->targets > 0)) ||
                 (std_is_root(root, comm_o) && (std_bad_type(recvtype_o))) ||
                 std_bad_root(root, comm_o)) &&
        (rc = why_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm)) != GW_OK)
        goto failed;
    if (unlikely(gw_args_wanted)) {
        struct check_args *k = check_args_new(&check_of_gather, CHECK_BLOCKS);
        k->sendbuf = (void *)(uintptr_t)sendbuf;
        k->sendcount = sendcount;
        k->sendtype = sendtype_o;
        k->recvbuf = recvbuf;
        k->recvcounts = (struct gw_counts){recvcounts, false};
        k->displs = (struct gw_counts){displs, false};
        k->recvtype = recvtype_o;
        k->root = root;
        k->comm = comm_o;
        rc = check_before(k);
        if (rc == GW_OK) rc = check_after(k, coll_gatherv(k->sendbuf, sendcount, sendtype_o, k->recvbuf, (struct gw_counts){recvcounts, false}, (struct gw_counts){displs, false}, recvtype_o, root, comm_o, NULL));
    } else {
        rc = coll_gatherv(sendbuf, sendcount, sendtype_o, recvbuf, (struct gw_counts){recvcounts, false}, (struct gw_counts){displs, false}, recvtype_o, root, comm_o, NULL);
    }
    if (likely(rc >= 0)) {
        return MPI_SUCCESS;
    }
failed:
    return std_raise(GW_FN_Gatherv, comm_o, rc, "sendbuf:b,sendcount:i,sendtype:D,recvbuf:b,recvcounts:p,displs:p,recvtype:D,root:r,comm:C", sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, comm);
}
extern __typeof__(PMPI_Gatherv) godwit_MPI_Gatherv __attribute__((alias("PMPI_Gatherv"), visibility("default")));
extern __typeof__(PMPI_Gatherv) MPI_Gatherv __attribute__((weak, alias("PMPI_Gatherv"), visibility("default")));

static GW_COLD int why_Wait(MPI_Request *request, MPI_Status *status)
{
    (void)status;
    int rc = std_why_state();
    if (rc == GW_OK) rc = std_why_pointer("request", request);
    if (rc == GW_OK) rc = std_why_request("request", *request, true);
    return rc;
}
GW_EXPORT GW_HOT int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    mpi_enter(GW_FN_Wait);
    if (unlikely(gw_checking)) check_enter(GW_FN_Wait, __builtin_return_address(0));
    struct gw_req *request_o = request ? std_request(*request) : NULL;
    int rc;
    if (likely(mpi_hot.check) &&
        unlikely(!mpi_hot.running ||
                 !request ||
                 (!request_o && *request != MPI_REQUEST_NULL)) &&
        (rc = why_Wait(request, status)) != GW_OK)
        goto failed;
    if (unlikely(gw_args_wanted)) {
        struct check_args *k = check_args_new(&check_of_complete, CHECK_BLOCKS);
        k->request = &request_o;
        rc = check_before(k);
        if (rc == GW_OK) rc = check_after(k, req_wait(&request_o, std_status(status)));
    } else {
        rc = req_wait(&request_o, std_status(status));
    }
    if (!request_o) *request = MPI_REQUEST_NULL;
    if (likely(rc >= 0)) {
        return MPI_SUCCESS;
    }
failed:
    return std_raise(GW_FN_Wait, std_request_comm(request_o, rc), rc, "request:p,status:S", request, status);
}
extern __typeof__(PMPI_Wait) godwit_MPI_Wait __attribute__((alias("PMPI_Wait"), visibility("default")));
extern __typeof__(PMPI_Wait) MPI_Wait __attribute__((weak, alias("PMPI_Wait"), visibility("default")));

static GW_COLD int why_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[], MPI_Status *array_of_statuses)
{
    (void)array_of_statuses;
    int rc = std_why_state();
    if (rc == GW_OK) rc = std_why_count("incount", incount);
    if (rc == GW_OK) rc = std_why_requests("array_of_requests", array_of_requests, incount, true);
    if (rc == GW_OK) rc = std_why_pointer("outcount", outcount);
    if (rc == GW_OK) rc = std_why_array("array_of_indices", array_of_indices, incount);
    return rc;
}
GW_EXPORT int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[], MPI_Status *array_of_statuses)
{
    mpi_enter(GW_FN_Waitsome);
    if (unlikely(gw_checking)) check_enter(GW_FN_Waitsome, __builtin_return_address(0));
    int rc;
    if (likely(mpi_hot.check) &&
        unlikely(!mpi_hot.running ||
                 incount < 0 ||
                 std_bad_requests(array_of_requests, incount) ||
                 !outcount ||
                 (!array_of_indices && incount > 0)) &&
        (rc = why_Waitsome(incount, array_of_requests, outcount, array_of_indices, array_of_statuses)) != GW_OK)
        goto failed;
    {
        struct gw_req *array_of_requests_s[STD_ARRAY_STACK], **array_of_requests_o = std_array(array_of_requests_s, incount, sizeof *array_of_requests_o);
        std_requests_in(array_of_requests, incount, array_of_requests_o);
        if (unlikely(gw_args_wanted)) {
            struct check_args *k = check_args_new(&check_of_complete, CHECK_BLOCKS);
            k->incount = incount;
            k->array_of_requests = array_of_requests_o;
            k->outcount = outcount;
            k->array_of_indices = array_of_indices;
            rc = check_before(k);
            if (rc == GW_OK) rc = check_after(k, req_waitsome(incount, array_of_requests_o, outcount, array_of_indices, std_status(array_of_statuses)));
        } else {
            rc = req_waitsome(incount, array_of_requests_o, outcount, array_of_indices, std_status(array_of_statuses));
        }
        std_requests_out(array_of_requests_o, incount, array_of_requests);
        std_array_free(array_of_requests_o, array_of_requests_s);
    }
    if (likely(rc >= 0)) {
        return MPI_SUCCESS;
    }
failed:
    return std_raise(GW_FN_Waitsome, std_request_comm(NULL, rc), rc, "incount:i,array_of_requests:p,outcount:p,array_of_indices:p,array_of_statuses:A", incount, array_of_requests, outcount, array_of_indices, array_of_statuses);
}
extern __typeof__(PMPI_Waitsome) godwit_MPI_Waitsome __attribute__((alias("PMPI_Waitsome"), visibility("default")));
extern __typeof__(PMPI_Waitsome) MPI_Waitsome __attribute__((weak, alias("PMPI_Waitsome"), visibility("default")));

static GW_COLD int why_Type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    int rc = std_why_state();
    if (rc == GW_OK) rc = std_why_count("count", count);
    if (rc == GW_OK) rc = std_why_counts("array_of_blocklengths", (struct gw_counts){array_of_blocklengths, true}, count);
    if (rc == GW_OK) rc = std_why_array("array_of_displacements", array_of_displacements, count);
    if (rc == GW_OK) rc = std_why_types("array_of_types", array_of_types, count, false);
    if (rc == GW_OK) rc = std_why_pointer("newtype", newtype);
    return rc;
}
GW_EXPORT int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    mpi_enter(GW_FN_Type_create_struct_c);
    struct gw_type *newtype_o = NULL;
    int rc;
    if (likely(mpi_hot.check) &&
        unlikely(!mpi_hot.running ||
                 std_many(count) ||
                 std_bad_counts((struct gw_counts){array_of_blocklengths, true}, count) ||
                 (!array_of_displacements && count > 0) ||
                 true ||
                 !newtype) &&
        (rc = why_Type_create_struct_c(count, array_of_blocklengths, array_of_displacements, array_of_types, newtype)) != GW_OK)
        goto failed;
    {
        struct gw_type *array_of_types_s[STD_ARRAY_STACK], **array_of_types_o = std_array(array_of_types_s, count, sizeof *array_of_types_o);
        std_types_in(array_of_types, count, array_of_types_o);
        rc = type_struct(count, (struct gw_counts){array_of_blocklengths, true}, (struct gw_counts){array_of_displacements, true}, array_of_types_o, &newtype_o);
        std_array_free(array_of_types_o, array_of_types_s);
    }
    if (likely(rc >= 0)) {
        type_mark_large(newtype_o);
        *newtype = std_type_handle(newtype_o);
        if (unlikely(gw_checking)) check_made(GW_FN_Type_create_struct_c, __builtin_return_address(0), (uint32_t)(uintptr_t)*newtype);
        return MPI_SUCCESS;
    }
failed:
    return std_raise(GW_FN_Type_create_struct_c, NULL, rc, "count:l,array_of_blocklengths:p,array_of_displacements:p,array_of_types:p,newtype:p", count, array_of_blocklengths, array_of_displacements, array_of_types, newtype);
}
extern __typeof__(PMPI_Type_create_struct_c) godwit_MPI_Type_create_struct_c __attribute__((alias("PMPI_Type_create_struct_c"), visibility("default")));
extern __typeof__(PMPI_Type_create_struct_c) MPI_Type_create_struct_c __attribute__((weak, alias("PMPI_Type_create_struct_c"), visibility("default")));

static GW_COLD int why_Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag)
{
    (void)valuelen;
    int rc = GW_OK;
    if (rc == GW_OK) rc = std_why_info("info", info, false);
    if (rc == GW_OK) rc = std_why_string("key", key);
    if (rc == GW_OK) rc = std_why_pointer("value", value);
    if (rc == GW_OK) rc = std_why_pointer("flag", flag);
    return rc;
}
GW_EXPORT int PMPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag)
{
    mpi_enter(GW_FN_Info_get);
    struct gw_info *info_o = std_info(info);
    int rc;
    if (likely(mpi_hot.check) &&
        unlikely(!info_o ||
                 !key ||
                 !value ||
                 !flag) &&
        (rc = why_Info_get(info, key, valuelen, value, flag)) != GW_OK)
        goto failed;
    rc = gw_info_get(info_o, key, valuelen, value, flag);
    if (likely(rc >= 0)) {
        return MPI_SUCCESS;
    }
failed:
    return std_raise(GW_FN_Info_get, NULL, rc, "info:I,key:s,valuelen:i,value:p,flag:p", info, key, valuelen, value, flag);
}
extern __typeof__(PMPI_Info_get) godwit_MPI_Info_get __attribute__((alias("PMPI_Info_get"), visibility("default")));
extern __typeof__(PMPI_Info_get) MPI_Info_get __attribute__((weak, alias("PMPI_Info_get"), visibility("default")));

GW_EXPORT int PMPI_Comm_toint(MPI_Comm comm)
{
    return (int)std_toint(comm);
}
extern __typeof__(PMPI_Comm_toint) godwit_MPI_Comm_toint __attribute__((alias("PMPI_Comm_toint"), visibility("default")));
extern __typeof__(PMPI_Comm_toint) MPI_Comm_toint __attribute__((weak, alias("PMPI_Comm_toint"), visibility("default")));

