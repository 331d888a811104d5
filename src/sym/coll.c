/* coll.c -- collectives of teams (OpenSHMEM 1.6 section 9.10): those of coll/, on a team's communicator.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/call.h"
#include "boot/where.h"
#include "coll/coll.h"
#include "op/op.h"
#include "sym/sym_private.h"

#include <stdlib.h>

/* The team's communicator, for one collective, which ends by over(); NULL: SYM_TEAM_INVALID.  number: of the call (boot/call.h). */
static struct gw_comm *comm_of(const char *call, sym_team_id team, uint32_t number)
{
    struct sym_team *t = sym_team_of(call, team);
    if (!t) return NULL;
    atomic_store_explicit(&boot_call_as, call, memory_order_relaxed);
    struct gw_comm *c = sym_team_comm(call, t);
    sym_call_enter(number);
    c->team_hidden = atomic_load_explicit(&c->colls, memory_order_relaxed) - ++c->team_calls; /* its number is that of its call */
    return c;
}

/* n elements of `bytes` bytes of each of `pes` PEs: no memory has more than addresses can tell. */
static void check_count(const char *call, size_t n, size_t bytes, int pes)
{
    if (unlikely(n > (size_t)PTRDIFF_MAX / bytes / (size_t)pes))
        sym_refuse(call, "%zu elements of %zu bytes of each of %d PEs are more than addresses can tell", n, bytes, pes);
}

static int over(const char *call, int rc)
{
    atomic_store_explicit(&boot_call_as, NULL, memory_order_relaxed);
    sym_must(call, rc);
    sym_race_acquire();
    return 0;
}

/* ---- synchronisation ---- */
/* Calls that end here have several names; who calls again has the same text as before. */
static uint32_t sync_number(const char *call)
{
    static const uint32_t numbers[] = {BOOT_CALL_shmem_barrier_all, BOOT_CALL_shmem_barrier, BOOT_CALL_shmem_sync_all,
                                       BOOT_CALL_shmem_sync,        BOOT_CALL_shmem_malloc,  BOOT_CALL_shmem_calloc,
                                       BOOT_CALL_shmem_align,       BOOT_CALL_shmem_realloc, BOOT_CALL_shmem_free,
                                       BOOT_CALL_shmem_finalize};
    static _Thread_local const char *last;
    static _Thread_local uint32_t number;
    if (likely(call == last)) return number;
    number = BOOT_CALL_shmem_team_sync;
    for (size_t i = 0; i < GW_ARRAY_LEN(numbers); i++)
        if (strcmp(call, boot_call_of_shmem(numbers[i])) == 0) number = numbers[i];
    last = call;
    return number;
}

int godwit_sym_sync(const char *call, sym_team_id team)
{
    struct gw_comm *c = comm_of(call, team, sync_number(call));
    if (!c) return 1;
    SYM_CHECK_ALIKE(call, c, call);
    atomic_thread_fence(memory_order_seq_cst); /* stores of this PE are visible to all who leave */
    int rc = coll_barrier(c, NULL);
    if (team != SYM_TEAM_WORLD) return over(call, rc);
    atomic_store_explicit(&boot_call_as, NULL, memory_order_relaxed);
    sym_must(call, rc);
    sym_race_meet();
    return 0;
}

void godwit_sym_sync_all(const char *call) { godwit_sym_sync(call, SYM_TEAM_WORLD); }

void godwit_sym_barrier_all(const char *call)
{
    if (!sym_near_quiet()) godwit_sym_quiet(call, SYM_CTX_DEFAULT);
    godwit_sym_sync(call, SYM_TEAM_WORLD);
}

/* ---- movement ---- */
int godwit_sym_bcast(const char *call, sym_team_id team, void *dest, const void *source, size_t bytes, int root)
{
    struct gw_comm *c = comm_of(call, team, BOOT_CALL_shmem_broadcast);
    if (!c) return 1;
    check_count(call, bytes, 1, 1);
    if (root < 0 || root >= c->size) sym_refuse(call, "PE_root is %d; the team has the PEs 0 to %d", root, c->size - 1);
    SYM_CHECK_ALIKE(call, c, "broadcast", {"bytes", (int64_t)bytes}, {"PE_root", root});
    bool is_root = c->rank == root;
    if (is_root && dest != source && bytes > 0) memcpy(dest, source, bytes);
    void *at = is_root ? (void *)(uintptr_t)source : dest;
    return over(call, coll_bcast(at, (int64_t)bytes, gw_type_byte, root, c, NULL));
}

int godwit_sym_fcollect(const char *call, sym_team_id team, void *dest, const void *source, size_t bytes)
{
    struct gw_comm *c = comm_of(call, team, BOOT_CALL_shmem_fcollect);
    if (!c) return 1;
    check_count(call, bytes, 1, c->size);
    int64_t n = (int64_t)bytes;
    SYM_CHECK_ALIKE(call, c, "fcollect", {"bytes", n});
    bool in_place = bytes > 0 && source == (const char *)dest + (size_t)c->rank * bytes;
    return over(call, coll_allgather(in_place ? GW_IN_PLACE : source, n, gw_type_byte, dest, n, gw_type_byte, c, NULL));
}

int godwit_sym_collect(const char *call, sym_team_id team, void *dest, const void *source, size_t bytes)
{
    struct gw_comm *c = comm_of(call, team, BOOT_CALL_shmem_collect);
    if (!c) return 1;
    check_count(call, bytes, 1, 1);
    SYM_CHECK_ALIKE(call, c, "collect");
    int64_t mine = (int64_t)bytes, *all = gw_xmalloc(2 * sizeof *all * (size_t)c->size), *at = all + c->size;
    sym_must(call, coll_allgather(&mine, 1, gw_type_int64, all, 1, gw_type_int64, c, NULL));
    for (int64_t i = 0, sum = 0; i < c->size; sum += all[i++]) at[i] = sum;
    bool in_place = bytes > 0 && source == (const char *)dest + at[c->rank];
    int rc = coll_allgatherv(in_place ? GW_IN_PLACE : source, mine, gw_type_byte, dest, (struct gw_counts){all, true},
                             (struct gw_counts){at, true}, gw_type_byte, c, NULL);
    free(all);
    return over(call, rc);
}

int godwit_sym_alltoall(const char *call, sym_team_id team, void *dest, const void *source, size_t bytes)
{
    struct gw_comm *c = comm_of(call, team, BOOT_CALL_shmem_alltoall);
    if (!c) return 1;
    check_count(call, bytes, 1, c->size);
    int64_t n = (int64_t)bytes;
    SYM_CHECK_ALIKE(call, c, "alltoall", {"bytes", n});
    return over(call, coll_alltoall(source, n, gw_type_byte, dest, n, gw_type_byte, c, NULL));
}

/* The elements for one PE, `stride` elements apart; the next PE's follow where one more would lie. */
static struct gw_type *strided_type(const char *call, const struct sym_strided *s, ptrdiff_t stride)
{
    struct gw_type *element, *vector, *out;
    sym_must(call, type_contiguous((int64_t)s->bytes, gw_type_byte, &element));
    sym_must(call, type_vector((int64_t)s->n, 1, stride, element, &vector));
    sym_must(call, type_resized(vector, 0, (int64_t)s->n * stride * (int64_t)s->bytes, &out));
    sym_must(call, type_commit(&out));
    type_free(&vector);
    type_free(&element);
    return out;
}

int godwit_sym_alltoalls(const char *call, sym_team_id team, const struct sym_strided *s)
{
    struct gw_comm *c = comm_of(call, team, BOOT_CALL_shmem_alltoalls);
    if (!c) return 1;
    if (s->dest_stride < 1) godwit_sym_wrong(call, "dst", s->dest_stride, "at least 1");
    if (s->source_stride < 1) godwit_sym_wrong(call, "sst", s->source_stride, "at least 1");
    SYM_CHECK_ALIKE(call, c, "alltoalls", {"nelems", (int64_t)s->n}, {"bytes an element", (int64_t)s->bytes});
    if (s->n == 0) return godwit_sym_alltoall(call, team, s->dest, s->source, 0);
    struct gw_type *from = strided_type(call, s, s->source_stride), *to = strided_type(call, s, s->dest_stride);
    over(call, coll_alltoall(s->source, 1, from, s->dest, 1, to, c, NULL));
    type_free(&from);
    type_free(&to);
    return 0;
}

int godwit_sym_alltoallv(const char *call, sym_team_id team, const struct sym_alltoallv *v)
{
    struct gw_comm *c = comm_of(call, team, BOOT_CALL_shmemx_alltoallv);
    if (!c) return 1;
    int64_t *come = gw_xmalloc(2 * sizeof *come * (size_t)c->size), *at = come + c->size, sum = 0;
    sym_must(call, coll_alltoall(v->source_bytes, 1, gw_type_int64, come, 1, gw_type_int64, c, NULL));
    for (int i = 0; i < c->size; sum += come[i++]) at[i] = v->dest_at ? (int64_t)v->dest_at[i] : sum;
    if (!v->dest_at && (uint64_t)sum > v->dest_len)
        sym_refuse(call, "target_len is %zu; the PEs send %lld bytes", v->dest_len, (long long)sum);
    int rc =
        coll_alltoallv(v->source, (struct gw_counts){v->source_bytes, true}, (struct gw_counts){v->source_at, true}, gw_type_byte,
                       v->dest, (struct gw_counts){come, true}, (struct gw_counts){at, true}, gw_type_byte, c, NULL);
    for (int i = 0; v->dest_at && i < c->size; i++) v->dest_bytes_out[i] = (size_t)come[i];
    if (!v->dest_at) *v->dest_bytes_out = (size_t)sum;
    free(come);
    return over(call, rc);
}

/* ---- reductions ---- */
static struct gw_op *reduction(enum sym_op op)
{
    static const uint32_t ids[] = {
        [SYM_OP_AND] = GW_H_BAND, [SYM_OP_OR] = GW_H_BOR,  [SYM_OP_XOR] = GW_H_BXOR, [SYM_OP_MAX] = GW_H_MAX,
        [SYM_OP_MIN] = GW_H_MIN,  [SYM_OP_SUM] = GW_H_SUM, [SYM_OP_PROD] = GW_H_PROD};
    return container_of(gw_obj_lookup(ids[op], GW_KIND_OP), struct gw_op, obj);
}

_Static_assert(BOOT_CALL_shmem_prod_reduce - BOOT_CALL_shmem_and_reduce == SYM_OP_PROD, "in the order of enum sym_op");
int godwit_sym_reduce(const char *call, sym_team_id team, const struct sym_reduce *r)
{
    struct gw_comm *c = comm_of(call, team, (uint32_t)(BOOT_CALL_shmem_and_reduce + (int)r->op));
    if (!c) return 1;
    struct gw_type *t = type_of_basic(r->elem);
    check_count(call, r->n, (size_t)t->size, 1);
    const void *source = r->source == r->dest ? GW_IN_PLACE : r->source;
    SYM_CHECK_ALIKE(call, c, "reduction", {"nreduce", (int64_t)r->n}, {NULL, (int64_t)r->op}, {NULL, (int64_t)r->elem});
    return over(call, coll_allreduce(source, r->dest, (int64_t)r->n, t, reduction(r->op), c, NULL));
}

int godwit_sym_scan(const char *call, sym_team_id team, const struct sym_reduce *r, bool is_inclusive)
{
    struct gw_comm *c = comm_of(call, team, is_inclusive ? BOOT_CALL_shmem_sum_inscan : BOOT_CALL_shmem_sum_exscan);
    if (!c) return 1;
    struct gw_type *t = type_of_basic(r->elem);
    check_count(call, r->n, (size_t)t->size, 1);
    const void *source = r->source == r->dest ? GW_IN_PLACE : r->source;
    SYM_CHECK_ALIKE(call, c, "scan", {"nelems", (int64_t)r->n}, {NULL, is_inclusive}, {NULL, (int64_t)r->elem});
    over(call, (is_inclusive ? coll_scan : coll_exscan)(source, r->dest, (int64_t)r->n, t, gw_op_sum, c, NULL));
    if (!is_inclusive && c->rank == 0 && r->n > 0) memset(r->dest, 0, r->n * (size_t)t->size);
    return 0;
}
