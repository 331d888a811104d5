/* calls.c -- all ranks of a file make the same collective call: found in the first thing that they do together in it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "io/io_private.h"

#include <stdio.h>

#include "coll/coll.h"

/* "write_at_all", "iread_all", "write_ordered_begin" */
static void access_name(int call, char out[32])
{
    assert(call & IO_ALL);
    snprintf(out, 32, "%s%s%s%s%s", call & IO_STARTED ? "i" : "", call & IO_WRITE ? "write" : "read", call & IO_AT ? "_at" : "",
             call & IO_SHARED ? "_ordered" : "_all", call & IO_BEGUN ? "_begin" : "");
}

static const char *call_name(int call, char out[32])
{
    switch (call) {
    case IO_CLOSE: return "close";
    case IO_SET_SIZE: return "set_size";
    case IO_PREALLOCATE: return "preallocate";
    case IO_SET_VIEW: return "set_view";
    case IO_SET_ATOMICITY: return "set_atomicity";
    case IO_SET_INFO: return "set_info";
    case IO_SYNC: return "sync";
    case IO_SEEK_SHARED: return "seek_shared";
    default: access_name(call, out); return out;
    }
}

/* The calls that differ most are those of the least and of the greatest word, so one minimum over words and their inverses finds two. */
int64_t io_call_word(const struct gw_file *f, int call) { return (int64_t)call << 32 | f->comm->rank; }

int io_calls_judge(const struct gw_file *f, int64_t least, int64_t greatest)
{
    char a[32], b[32];
    if (least >> 32 == greatest >> 32) return GW_OK;
    return gw_fail(
        GW_ENOTSAME,
        "the calls differ on the file %s: rank %d called MPI_File_%s, rank %d called MPI_File_%s; all ranks that have opened a "
        "file must make the same collective calls on it in the same order",
        f->name, (int)(least & INT32_MAX), call_name((int)(least >> 32), a), (int)(greatest & INT32_MAX),
        call_name((int)(greatest >> 32), b));
}

/* One minimum over rc, two numbers and their inverses; what the calls and the results of the others come to. */
static int minima(struct gw_file *f, int call, int rc, int64_t value, int64_t least_out[5])
{
    char text[256] = "";
    int64_t word = io_call_word(f, call), mine[5] = {rc < 0 ? rc : GW_OK, value, ~value, word, ~word};
    if (rc < 0) snprintf(text, sizeof text, "%s", gw_fail_text());
    memcpy(least_out, mine, sizeof mine);
    io_drain(f);
    int failed = f->comm->size > 1 ? coll_allreduce(mine, least_out, 5, gw_type_int64, gw_op_min, f->comm, NULL) : GW_OK;
    if (failed == GW_OK) failed = io_calls_judge(f, least_out[3], ~least_out[4]);
    if (failed != GW_OK) return failed;
    if (rc < 0) return gw_fail(rc, "%s", text);
    return least_out[0] < 0 ? gw_fail((int)least_out[0], "another rank failed: %s", gw_error_text((int)least_out[0])) : GW_OK;
}

int io_enter_same(struct gw_file *f, int call, int rc, int64_t value, const char *what)
{
    int64_t least[5];
    rc = minima(f, call, rc, value, least);
    if (rc != GW_OK || least[1] == ~least[2]) return rc;
    return gw_fail(GW_ENOTSAME, "%s is %lld here and between %lld and %lld elsewhere; all ranks must give the same", what,
                   (long long)value, (long long)least[1], (long long)~least[2]);
}

int io_enter(struct gw_file *f, int call, int rc)
{
    int64_t least[5];
    return minima(f, call, rc, 0, least);
}
