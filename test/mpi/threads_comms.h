/* threads_comms.h -- scenes of threads_every.c: groups, communicators made by threads, intercommunicators, attributes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "threads_every.h"

static MPI_Group common_group; /* of MPI_COMM_WORLD, used by all threads */

static void scene_groups(struct th *th)
{
    MPI_Group a, b, c, mine;
    int n = 0, r = 0, result = -1, zero = 0, range[1][3] = {{0, size - 1, 1}}, last = size - 1, there = -1;
    MPI_Group_incl(common_group, 1, &last, &a);
    MPI_Group_excl(common_group, 1, &zero, &b);
    MPI_Group_union(a, b, &c);
    MPI_Group_size(c, &n);
    EQ(n, size > 1 ? size - 1 : 1);
    MPI_Group_free(&c);
    MPI_Group_intersection(common_group, a, &c);
    MPI_Group_compare(c, a, &result);
    EQ(result, MPI_IDENT);
    MPI_Group_translate_ranks(c, 1, &zero, common_group, &there);
    EQ(there, last);
    MPI_Group_free(&c);
    MPI_Group_difference(common_group, a, &c);
    MPI_Group_size(c, &n);
    EQ(n, size - 1);
    MPI_Group_free(&c);
    MPI_Group_range_incl(common_group, 1, range, &c);
    MPI_Group_rank(c, &r);
    EQ(r, rank);
    MPI_Group_free(&c);
    MPI_Group_range_excl(common_group, 1, range, &c);
    SO(c == MPI_GROUP_EMPTY);
    MPI_Comm_group(shared, &mine);
    MPI_Group_compare(mine, common_group, &result);
    EQ(result, MPI_IDENT);
    SO(MPI_Group_fromint(MPI_Group_toint(mine)) == mine);
    SO(MPI_Group_f2c(MPI_Group_c2f(mine)) == mine);
    MPI_Group_free(&mine);
    MPI_Group_free(&a);
    if (size > 1) MPI_Group_free(&b);
}

/* A communicator works: a sum, a message round it. */
static void comm_works(struct th *th, MPI_Comm c, int want_size)
{
    int r, n, sum = -1, one = 1, v, got = -1;
    MPI_Comm_rank(c, &r);
    MPI_Comm_size(c, &n);
    EQ(n, want_size);
    v = th->t * 1000 + r;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c);
    EQ(sum, n);
    MPI_Sendrecv(&v, 1, MPI_INT, (r + 1) % n, 1, &got, 1, MPI_INT, (r + n - 1) % n, 1, c, MPI_STATUS_IGNORE);
    EQ(got, th->t * 1000 + (r + n - 1) % n);
}
static void scene_comms(struct th *th)
{
    MPI_Comm c, d;
    MPI_Info info;
    MPI_Request q[2];
    MPI_Group g;
    int result = -1, half = (size + 1) / 2;
    MPI_Info_create(&info);
    MPI_Comm_dup(th->own, &c);
    comm_works(th, c, size);
    MPI_Comm_compare(c, th->own, &result);
    EQ(result, MPI_CONGRUENT);
    MPI_Comm_free(&c);
    MPI_Comm_dup_with_info(th->own, info, &c);
    comm_works(th, c, size);
    MPI_Comm_free(&c);
    MPI_Comm_idup(th->own, &c, &q[0]);
    MPI_Comm_idup_with_info(th->own, info, &d, &q[1]);
    MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
    comm_works(th, d, size);
    comm_works(th, c, size);
    MPI_Comm_free(&c);
    MPI_Comm_free(&d);
    MPI_Comm_split(th->own, rank < half, -rank, &c);
    comm_works(th, c, rank < half ? half : size - half);
    MPI_Comm_free(&c);
    MPI_Comm_split_type(th->own, MPI_COMM_TYPE_SHARED, rank, info, &c);
    comm_works(th, c, size);
    MPI_Comm_free(&c);
    int range[1][3] = {{0, half - 1, 1}};
    MPI_Group_range_incl(common_group, 1, range, &g);
    MPI_Comm_create(th->own, g, &c);
    SO((c != MPI_COMM_NULL) == (rank < half));
    if (c != MPI_COMM_NULL) {
        comm_works(th, c, half);
        MPI_Comm_free(&c);
        /* All threads on one communicator, told apart by the tag. */
        MPI_Comm_create_group(shared, g, th->t, &c);
        comm_works(th, c, half);
        MPI_Comm_free(&c);
    }
    MPI_Group_free(&g);
    MPI_Info_free(&info);
}
static void scene_comm_properties(struct th *th)
{
    MPI_Info info, got;
    MPI_Comm c;
    char name[MPI_MAX_OBJECT_NAME], want[32], value[16];
    int len, flag = 0;
    MPI_Comm_dup(th->self, &c);
    snprintf(want, sizeof want, "thread %d", th->t);
    MPI_Comm_set_name(c, want);
    MPI_Comm_get_name(c, name, &len);
    EQ(strcmp(name, want), 0);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &len);
    EQ(strcmp(name, "MPI_COMM_WORLD"), 0);
    SO(MPI_Comm_fromint(MPI_Comm_toint(c)) == c);
    SO(MPI_Comm_f2c(MPI_Comm_c2f(c)) == c);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Comm_set_info(c, info);
    MPI_Comm_get_info(c, &got);
    len = sizeof value;
    MPI_Info_get_string(got, "mpi_assert_no_any_tag", &len, value, &flag);
    SO(flag && strcmp(value, "true") == 0);
    MPI_Info_free(&got);
    MPI_Info_free(&info);
    MPI_Comm_get_info(shared, &got);
    MPI_Info_free(&got);
    MPI_Comm_test_inter(shared, &flag);
    EQ(flag, 0);
    MPI_Comm_free(&c);
}

/* Threads meet over one peer communicator by their tags. */
static void scene_intercomm(struct th *th)
{
    MPI_Comm half, inter, all, twin;
    MPI_Group g;
    int low = (size + 1) / 2, is_low = rank < low, flag = 0, n = 0, v = rank, sum = -1, root_word = th->t * 77;
    if (size < 2) return;
    MPI_Comm_split(th->own, is_low, rank, &half);
    MPI_Intercomm_create(half, 0, shared, is_low ? low : 0, 20 * th->t + 16, &inter);
    MPI_Comm_test_inter(inter, &flag);
    EQ(flag, 1);
    MPI_Comm_remote_size(inter, &n);
    EQ(n, is_low ? size - low : low);
    MPI_Comm_remote_group(inter, &g);
    MPI_Group_size(g, &flag);
    EQ(flag, n);
    MPI_Group_free(&g);
    MPI_Comm_dup(inter, &twin);
    MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, twin);
    int low_sum = low * (low - 1) / 2;
    EQ(sum, is_low ? sum_of_ranks() - low_sum : low_sum);
    MPI_Bcast(&root_word, 1, MPI_INT, is_low ? rank == 0 ? MPI_ROOT : MPI_PROC_NULL : 0, inter);
    EQ(root_word, th->t * 77);
    MPI_Intercomm_merge(inter, !is_low, &all);
    comm_works(th, all, size);
    MPI_Comm_free(&all);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static int comm_copied(MPI_Comm c, int key, void *extra, void *in, void *out, int *flag)
{
    (void)c, (void)key;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    if (extra) atomic_fetch_add((_Atomic int *)extra, 1);
    return MPI_SUCCESS;
}
static int comm_deleted(MPI_Comm c, int key, void *value, void *extra)
{
    (void)c, (void)key, (void)value;
    if (extra) atomic_fetch_add((_Atomic int *)extra, -1);
    return MPI_SUCCESS;
}
/* A key of one's own on the communicator of all, the key of all on one's own. */
static void scene_comm_attributes(struct th *th)
{
    _Atomic int held = 0;
    int key = 0, flag = 0, *top = NULL;
    char mark[4], *value = NULL;
    MPI_Comm c, d;
    MPI_Comm_create_keyval(comm_copied, comm_deleted, &key, &held);
    held = 1;
    MPI_Comm_set_attr(shared, key, mark);
    MPI_Comm_get_attr(shared, key, &value, &flag);
    SO(flag && value == mark);
    MPI_Comm_delete_attr(shared, key);
    EQ(held, 0);
    MPI_Comm_dup(th->self, &c);
    MPI_Comm_set_attr(c, key, mark);
    MPI_Comm_set_attr(c, comm_keyval_common, mark);
    held = 1;
    MPI_Comm_dup(c, &d);
    EQ(held, 2);
    MPI_Comm_get_attr(d, comm_keyval_common, &value, &flag);
    SO(flag && value == mark + 1);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free(&c);
    MPI_Comm_free(&d);
    EQ(held, 0);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &top, &flag);
    SO(flag && *top >= 32767);
    /* The names of MPI-1. */
    MPI_Comm_dup(th->self, &c);
    MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL);
    MPI_Attr_put(c, key, mark);
    MPI_Attr_get(c, key, &value, &flag);
    SO(flag && value == mark);
    MPI_Attr_delete(c, key);
    MPI_Attr_get(c, key, &value, &flag);
    EQ(flag, 0);
    MPI_Keyval_free(&key);
    MPI_Comm_free(&c);
}
