/* std_test.c -- the standard ABI's door: handles of every kind there and back, what is no handle, statuses in Fortran's forms, the quick
 * argument tests beside the slow ones, and the words of a failed call's arguments.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "facade/std.h"
#include "facade/std_check.h"

#include <stdlib.h>

#include "../../test/unit.h"

static bool says(const char *words) { return strstr(gw_fail_text(), words) != NULL; }

/* ---- handles ---- */
static void predefined(void)
{
    CHECK(std_comm(MPI_COMM_WORLD) == &gw_comm_world && std_comm_handle(&gw_comm_world) == MPI_COMM_WORLD);
    CHECK(std_comm(MPI_COMM_SELF) == &gw_comm_self && std_comm_handle(NULL) == MPI_COMM_NULL);
    CHECK(std_group(MPI_GROUP_EMPTY) == &gw_group_empty && std_type(MPI_BYTE) == gw_type_byte && std_op(MPI_SUM) == gw_op_sum);
    CHECK(std_type_handle(gw_type_int) == MPI_INT && std_op_handle(gw_op_max) == MPI_MAX);
    CHECK(std_errhandler(MPI_ERRORS_RETURN) == &gw_errors_return && std_message(MPI_MESSAGE_NO_PROC) == &gw_msg_no_proc);
    CHECK(std_file_or_null(MPI_FILE_NULL) == &io_no_file && std_file_owner(NULL) == &io_no_file);
    CHECK(!std_comm(MPI_COMM_NULL) && !std_group(MPI_GROUP_NULL) && !std_type(MPI_DATATYPE_NULL) && !std_op(MPI_OP_NULL));
    CHECK(!std_request(MPI_REQUEST_NULL) && !std_message(MPI_MESSAGE_NULL) && !std_errhandler(MPI_ERRHANDLER_NULL));
    CHECK(!std_info(MPI_INFO_NULL) && !std_win(MPI_WIN_NULL) && !std_session(MPI_SESSION_NULL));
    CHECK(std_toint(MPI_COMM_WORLD) == (int)(uintptr_t)MPI_COMM_WORLD && std_fromint(std_toint(MPI_INT)) == (void *)MPI_INT);
}

/* Of every kind one; nobody but its own codec knows it, and after its end nobody at all. */
static void kinds(void)
{
    enum { KINDS = 9, MANY = 3000 };
    static struct gw_obj o[KINDS];
    static struct gw_type many[MANY];
    static const enum gw_kind kind[KINDS] = {GW_KIND_COMM,       GW_KIND_GROUP, GW_KIND_TYPE, GW_KIND_OP,     GW_KIND_REQ,
                                             GW_KIND_ERRHANDLER, GW_KIND_MSG,   GW_KIND_WIN,  GW_KIND_SESSION};
    for (int k = 0; k < KINDS; k++) {
        CHECK_EQ(gw_obj_register(&o[k], kind[k]), GW_OK);
        void *h = (void *)(uintptr_t)o[k].id;
        CHECK(std_fromint(std_toint(h)) == h && o[k].id >= GW_ID_PREDEF_END && (int32_t)o[k].id > 0);
        for (int pass = 0; pass < 2; pass++) { /* alive, gone */
            const void *found[KINDS] = {std_comm(h),       std_group(h),   std_type(h), std_op(h),     std_request(h),
                                        std_errhandler(h), std_message(h), std_win(h),  std_session(h)};
            for (int i = 0; i < KINDS; i++) CHECK(found[i] == (pass == 0 && i == k ? &o[k] : NULL));
            if (pass == 0) gw_obj_unregister(&o[k]);
        }
    }
    const uintptr_t garbage[] = {
        1, 4095, 4096, UINT32_MAX, UINTPTR_MAX, (uintptr_t)&o[0], (uintptr_t)1 << 32 | (uintptr_t)MPI_COMM_WORLD};
    for (size_t i = 0; i < GW_ARRAY_LEN(garbage); i++)
        CHECK(!std_comm((MPI_Comm)garbage[i]) && !std_type((MPI_Datatype)garbage[i]));
    for (int i = 0; i < MANY; i++) CHECK_EQ(gw_obj_register(&many[i].obj, GW_KIND_TYPE), GW_OK);
    for (int i = 0; i < MANY; i++) CHECK(std_type(std_type_handle(&many[i])) == &many[i]);
    for (int i = 0; i < MANY; i++) gw_obj_unregister(&many[i].obj);
}

static void arrays(void)
{
    struct gw_req *in[3] = {NULL, &gw_req_sent, NULL};
    MPI_Request h[3] = {std_request_handle(&gw_req_sent), std_request_handle(&gw_req_sent), MPI_REQUEST_NULL};
    struct gw_type *types[2];
    const MPI_Datatype t[2] = {MPI_INT, MPI_DATATYPE_NULL};
    char stack[STD_ARRAY_STACK];
    std_requests_out(in, 3, h); /* retired ones become null, others stay */
    CHECK(h[0] == MPI_REQUEST_NULL && h[1] == std_request_handle(&gw_req_sent) && h[2] == MPI_REQUEST_NULL);
    std_requests_in(h, 3, in);
    CHECK(!in[0] && in[1] == &gw_req_sent && !in[2]);
    std_types_in(t, 2, types);
    CHECK(types[0] == gw_type_int && types[1] == gw_type_byte);
    void *a = std_array(stack, STD_ARRAY_STACK, 1), *b = std_array(stack, STD_ARRAY_STACK + 1, 8);
    CHECK(a == stack && b != stack);
    std_array_free(a, stack), std_array_free(b, stack);
    CHECK(std_narrow(INT32_MAX) == INT32_MAX && std_narrow((int64_t)INT32_MAX + 1) == MPI_UNDEFINED &&
          std_narrow((int64_t)INT32_MIN - 1) == MPI_UNDEFINED);
}

static void statuses(void)
{
    MPI_Status c = {0}, back = {0};
    MPI_Fint f[sizeof(MPI_Status) / sizeof(MPI_Fint)];
    MPI_F08_status f08;
    int v = 0;
    gw_status_fill(std_status(&c), 3, 77, ((int64_t)5 << 32) + 9, true);
    CHECK_EQ(std_status_set_error(&c, MPI_ERR_TAG), GW_OK);
    CHECK(std_status_c2f(&c, f) == GW_OK && f[MPI_F_SOURCE] == 3 && f[MPI_F_TAG] == 77 && f[MPI_F_ERROR] == MPI_ERR_TAG);
    CHECK(std_status_f2c(f, &back) == GW_OK && memcmp(&c, &back, sizeof c) == 0);
    memset(&back, 0, sizeof back);
    CHECK(std_status_c2f08(&c, &f08) == GW_OK && std_status_f082c(&f08, &back) == GW_OK && memcmp(&c, &back, sizeof c) == 0);
    CHECK_EQ(gw_status_bytes(std_status(&back)), ((int64_t)5 << 32) + 9);
    CHECK(std_status_set_source(&c, 8) == GW_OK && std_status_get_source(&c, &v) == GW_OK && v == 8);
    CHECK(std_status_get_tag(&c, &v) == GW_OK && v == 77 && std_status_get_error(&c, &v) == GW_OK && v == MPI_ERR_TAG);
}

/* ---- checks: where the slow test finds something, the quick one has fired ---- */
static void ranks_and_tags(void)
{
    struct gw_comm c = {.size = 4, .rank = 1, .targets = 4, .name = "four"};
    struct gw_group remote = {.size = 4};
    const int values[] = {INT32_MIN, -5, -4, -3, -2, -1, 0, 1, 3, 4, 5, INT32_MAX};
    for (int inter = 0; inter < 2; inter++)
        for (int hints = 0; hints < 4; hints++) {
            c.hints = (uint8_t)hints;
            c.remote = inter ? &remote : NULL;
            for (size_t i = 0; i < GW_ARRAY_LEN(values); i++) {
                int v = values[i];
                bool is_rank = v >= 0 && v < 4, is_null = v == MPI_PROC_NULL;
                bool dest = is_rank || is_null, source = dest || (v == MPI_ANY_SOURCE && !(hints & COMM_NO_ANY_SOURCE));
                bool root = is_rank || (inter && (is_null || v == MPI_ROOT)),
                     recv_tag = v >= 0 || (v == MPI_ANY_TAG && !(hints & COMM_NO_ANY_TAG));
                CHECK_EQ(std_why_dest("dest", v, &c), dest ? GW_OK : GW_ERANK);
                CHECK_EQ(std_why_source("source", v, &c), source ? GW_OK : GW_ERANK);
                CHECK_EQ(std_why_root("root", v, &c), root ? GW_OK : GW_EROOT);
                CHECK_EQ(std_why_tag("tag", v), v >= 0 ? GW_OK : GW_ETAG);
                CHECK_EQ(std_why_recv_tag("tag", v, &c), recv_tag ? GW_OK : GW_ETAG);
                CHECK(dest || std_bad_dest(v, &c));
                CHECK(source || std_bad_source(v, &c));
                CHECK(root || std_bad_root(v, &c));
                CHECK(recv_tag || std_bad_recv_tag(v, &c));
                CHECK(!is_rank || (!std_bad_dest(v, &c) && !std_bad_source(v, &c) && !std_bad_root(v, &c)));
            }
        }
    c.remote = NULL;
    CHECK(std_why_dest("dest", 9, &c) == GW_ERANK && says("dest is 9; four has ranks 0 to 3 (or MPI_PROC_NULL)"));
}

static void counts_and_buffers(void)
{
    const int32_t n[] = {0, 7, -1, 2};
    const int64_t wide[] = {1, (int64_t)1 << 40};
    struct gw_counts narrow = {n, false}, large = {wide, true}, none = {NULL, false};
    int64_t edge = INT64_MAX / 4; /* MPI_INT */
    CHECK(std_why_counts("counts", narrow, 2) == GW_OK && !std_bad_counts(narrow, 2));
    CHECK(std_why_counts("counts", narrow, 4) == GW_ECOUNT && says("counts[2] is -1") && std_bad_counts(narrow, 4));
    CHECK(std_why_counts("counts", none, 0) == GW_OK && std_why_counts("counts", none, 1) == GW_EARG && std_bad_counts(none, 1));
    CHECK(std_bad_counts(large, 2) && std_why_counts("counts", large, 2) == GW_OK); /* the quick test may be wrong in this way */
    CHECK_EQ(std_total(narrow, 4), 8);
    CHECK(std_why_bytes("count", edge, gw_type_int, 1) == GW_OK && std_why_bytes("count", edge + 1, gw_type_int, 1) == GW_ECOUNT);
    CHECK(std_why_bytes("count", edge / 8, gw_type_int, 8) == GW_OK &&
          std_why_bytes("count", edge / 8, gw_type_int, 9) == GW_ECOUNT);
    const int64_t far[] = {0, edge};
    CHECK_EQ(std_why_blocks("counts", large, (struct gw_counts){far, true}, 1, gw_type_int), GW_OK);
    CHECK(std_why_blocks("counts", large, (struct gw_counts){far, true}, 2, gw_type_int) == GW_ECOUNT && says("counts[1]"));
    CHECK(std_why_buffer("buf", NULL, 3, gw_type_int) == GW_EBUFFER && says("3 items of MPI_INT (12 bytes)") &&
          std_bad_buffer(NULL, 3));
    CHECK(std_why_buffer("buf", NULL, 0, gw_type_int) == GW_OK && !std_bad_buffer(NULL, 0) && !std_bad_buffer(n, 3));
    CHECK(std_why_buffer("buf", MPI_IN_PLACE, 1, gw_type_int) == GW_EBUFFER && std_bad_buffer(MPI_IN_PLACE, 1));
    CHECK(std_why_alias("sendbuf", "recvbuf", n, 1, gw_type_int, 1, gw_type_int) == GW_EBUFFER && says("sendbuf and recvbuf"));
    CHECK_EQ(std_why_alias("sendbuf", "recvbuf", n, 0, gw_type_int, 1, gw_type_int), GW_OK);
}

static void handles_told(void)
{
    struct gw_type *t = NULL;
    CHECK_EQ(type_contiguous(2, gw_type_int, &t), GW_OK);
    MPI_Datatype h = std_type_handle(t);
    CHECK(std_why_type("datatype", h, false) == GW_OK && std_why_type("datatype", h, true) == GW_ETYPE && says("MPI_Type_commit"));
    CHECK(std_bad_type(t) || type_commit(&t) == GW_OK);
    CHECK_EQ(type_free(&t), GW_OK);
    CHECK(std_why_type("datatype", h, false) == GW_ETYPE && std_bad_type(std_type(h)));
    CHECK(std_why_comm("comm", MPI_COMM_NULL) == GW_ECOMM && says("comm is MPI_COMM_NULL"));
    CHECK(std_why_comm("comm", (MPI_Comm)MPI_INT) == GW_ECOMM && std_why_group("group", MPI_GROUP_EMPTY) == GW_OK);
    CHECK(std_why_request("request", MPI_REQUEST_NULL, true) == GW_OK &&
          std_why_request("request", MPI_REQUEST_NULL, false) == GW_EREQUEST);
    const MPI_Datatype types[] = {MPI_INT, MPI_DATATYPE_NULL};
    const int32_t used[] = {1, 0, 1, 1};
    CHECK(std_bad_types(types, 2) && std_why_types("types", types, 2, true) == GW_ETYPE && says("types[1]"));
    CHECK(std_why_types_used("types", types, (struct gw_counts){used, false}, 2) == GW_OK);
    CHECK(std_why_types_used("types", types, (struct gw_counts){used + 2, false}, 2) == GW_ETYPE);
}

/* ---- the words of the arguments: those that a user's error handler finds by MPI_Error_string have the reason; a fatal block has these ---- */
static void raised(void)
{
    gw_comm_world.errhandler = &gw_errors_return;
    gw_fail(GW_ETAG, "tag is -9");
    CHECK_EQ(std_raise(1, &gw_comm_world, GW_ETAG, "buf:b,count:i", NULL, 3), MPI_ERR_TAG);
    CHECK(mpi_raise_prints(&gw_comm_world) == false);
}

int main(void)
{
    int provided;
    setenv("GODWIT_SINGLETON", "1", 1);
    setenv("GODWIT_LANES", "1", 1);
    CHECK(std_why_state() == GW_EOTHER && says("before MPI_Init"));
    std_callbacks_install();
    CHECK_EQ(mpi_init(GW_THREAD_SINGLE, &provided), GW_OK);
    CHECK_EQ(std_why_state(), GW_OK);
    predefined();
    kinds();
    arrays();
    statuses();
    ranks_and_tags();
    counts_and_buffers();
    handles_told();
    raised();
    CHECK_EQ(mpi_finalize(), GW_OK);
    CHECK(std_why_state() == GW_EOTHER && says("after MPI_Finalize"));
    return unit_end();
}
