/* rules_test.c -- the variables of the documents for collectives: at the boundary that each names another algorithm is chosen, or more
 * messages are under way.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "coll/coll_private.h"
#include "base/settings.h"

#include "../../test/unit.h"

static void set(const char *name, const char *value)
{
    setenv(name, value, 1);
    gw_settings_free();
    gw_settings_load();
    CHECK_EQ(coll_select_init(), GW_OK);
    unsetenv(name);
}

enum { LARGE = 100 << 10 };   /* a block that no tree takes */
static struct plan_args last; /* of the last decision */
/* What members on nodes of one rank each, or on these nodes, would do. */
static const struct plan_algorithm *decide_on(const struct plan_nodes *nodes, enum coll_kind kind, int64_t bytes, int ranks)
{
    const char *why;
    int64_t block = kind == COLL_REDUCE_SCATTER ? bytes / ranks : bytes;
    last = (struct plan_args){
        .size = ranks, .scount = block, .rcount = block, .st = gw_type_byte, .rt = gw_type_byte, .op = gw_op_max};
    last.is_vector = kind == COLL_SCATTERV || kind == COLL_GATHERV;
    last.nodes = nodes;
    return coll_decide_apart(kind, kind == COLL_ALLTOALLV || last.is_vector ? 0 : bytes, &last, false, &why);
}
static const struct plan_algorithm *decide(enum coll_kind kind, int64_t bytes, int ranks)
{
    return decide_on(NULL, kind, bytes, ranks);
}

/* The most messages that rank 0 has under way at a time, and all that it sends. */
static int under_way(const struct plan_algorithm *alg, int *sent_out)
{
    struct plan_step steps[PLAN_STEPS];
    int most = 0, n;
    *sent_out = 0;
    for (int round = 0; (n = alg->emit(&last, round, steps)) > 0; round++) {
        int messages = 0;
        for (int i = 0; i < n; i++) messages += steps[i].kind <= PLAN_RECV, *sent_out += steps[i].kind == PLAN_SEND;
        if (messages > most) most = messages;
    }
    return most;
}
static int most_of(enum coll_kind kind, const struct plan_algorithm *want)
{
    int sent;
    const struct plan_algorithm *alg = decide(kind, 1 << 20, 33);
    CHECK(alg == want);
    int most = under_way(alg, &sent);
    CHECK_EQ(sent, 32);
    return most;
}

static void throttles(void)
{
    static const struct {
        const char *value;
        int64_t most;
    } steps[] = {{"1", 1}, {"2", 2}, {"3", 2}, {"4", 4}, {"6", 6}, {"8", 8}, {"24", 8}};
    for (size_t i = 0; i < GW_ARRAY_LEN(steps); i++) {
        set("MPICH_ALLTOALL_SYNC_FREQ", steps[i].value);
        CHECK_EQ(most_of(COLL_ALLTOALL, &coll_alg_alltoall_pairwise), steps[i].most);
        CHECK_EQ(most_of(COLL_ALLTOALLV, &coll_alg_alltoall_pairwise), 8);
        set("MPICH_ALLTOALLV_THROTTLE", steps[i].value);
        CHECK_EQ(most_of(COLL_ALLTOALLV, &coll_alg_alltoall_pairwise), steps[i].most);
        CHECK_EQ(most_of(COLL_ALLTOALL, &coll_alg_alltoall_pairwise), 8);
        if (steps[i].most == 1) continue; /* below its range */
        setenv("GODWIT_COLL", "allgather=direct", 1);
        set("MPICH_IALLGATHERV_THROTTLE", steps[i].value);
        CHECK_EQ(most_of(COLL_ALLGATHER, &coll_alg_allgather_direct), steps[i].most);
        unsetenv("GODWIT_COLL");
    }
    set("GODWIT_COLL_CHUNK", "3"); /* bytes of a piece, of those that have pieces */
    CHECK_EQ(most_of(COLL_SCATTER, &coll_alg_scatter_linear), 8);
    CHECK(decide(COLL_BCAST, 8 << 20, 64) == &coll_alg_bcast_chain && last.params.piece_bytes == 3 && last.params.radix == 0);
    CHECK(decide(COLL_BCAST, 8, 64) == &coll_alg_bcast_binomial && last.params.radix == 4);
    set("MPICH_SCATTERV_SYNCHRONOUS", "0");
    CHECK_EQ(most_of(COLL_SCATTERV, &coll_alg_scatter_linear), 8);
    set("MPICH_SCATTERV_SYNCHRONOUS", "1");
    CHECK_EQ(most_of(COLL_SCATTERV, &coll_alg_scatter_linear), 1);
    set("MPICH_SCATTERV_MIN_COMM_SIZE", "1000000"); /* from 200000 ranks on in any case */
    decide(COLL_SCATTERV, 8, 199999);
    CHECK_EQ(last.params.under_way, 0);
    decide(COLL_SCATTERV, 8, 200000);
    CHECK_EQ(last.params.under_way, 1);
}

/* Of blocks that are empty nothing is sent, whoever is the last to know. */
static void empty_blocks(void)
{
    enum { RANKS = 33 };
    int counts[RANKS] = {[0] = 5, [7] = 3, [8] = 1, [32] = 2}, displs[RANKS] = {0}, sent;
    for (int in_place = 0; in_place < 2; in_place++) {
        const struct plan_algorithm *alg = in_place ? &coll_alg_alltoall_in_place : &coll_alg_alltoall_pairwise;
        decide(COLL_ALLTOALLV, 0, RANKS);
        last.in_place = in_place;
        last.scounts.v = last.rcounts.v = counts, last.sdispls.v = last.rdispls.v = displs;
        under_way(alg, &sent);
        CHECK_EQ(sent, 3);
        memset(counts, 0, sizeof counts);
        under_way(alg, &sent);
        CHECK_EQ(sent, 0);
        counts[7] = 1, counts[8] = 1, counts[32] = 1;
    }
}

static int roots_children(int64_t bytes)
{
    int sent;
    const struct plan_algorithm *alg = decide(COLL_BCAST, bytes, 64);
    CHECK(alg == &coll_alg_bcast_binomial);
    under_way(alg, &sent);
    return sent;
}
static void trees(void)
{
    set("MPICH_BCAST_INTERNODE_RADIX", "2");
    CHECK_EQ(roots_children(8), 6);
    set("MPICH_BCAST_INTERNODE_RADIX", "8");
    CHECK_EQ(roots_children(8), 14);
    set("MPICH_BCAST_INTERNODE_RADIX", "64");
    CHECK_EQ(roots_children(32 << 10), 63);
    set("MPICH_BCAST_INTRANODE_RADIX", "5"); /* says nothing of nodes */
    CHECK_EQ(roots_children(16 << 10), 9);
    CHECK_EQ(roots_children((16 << 10) + 1), 6);
    struct plan_args a = last;
    coll_parameter(COLL_BCAST, &coll_alg_bcast_binomial, false, &a);
    CHECK_EQ(a.params.radix, 5);
    CHECK(decide(COLL_BCAST, 8 << 20, 64) == &coll_alg_bcast_chain);
    set("MPICH_BCAST_ONLY_TREE", "1");
    CHECK_EQ(roots_children(8 << 20), 6);
    set("MPICH_BCAST_ONLY_TREE", "0");
    CHECK(decide(COLL_BCAST, 8 << 20, 64) == &coll_alg_bcast_chain);
}

static void reduce_scatter(void)
{
    set("MPICH_REDUCE_SCATTER_COMMUTATIVE_LONG_MSG_SIZE", "524288");
    CHECK(decide(COLL_REDUCE_SCATTER, 524287, 100) == &coll_alg_reduce_scatter_halving);
    CHECK(decide(COLL_REDUCE_SCATTER, 524288, 100) == &coll_alg_reduce_scatter_pairwise);
    CHECK(decide(COLL_REDUCE_SCATTER, 524288, 1000) == &coll_alg_reduce_scatter_pairwise);
    CHECK(decide(COLL_REDUCE_SCATTER, 524288, 1001) == &coll_alg_reduce_scatter_halving);
    setenv("MPICH_REDUCE_SCATTER_MAX_COMMSIZE", "12", 1);
    set("MPICH_REDUCE_SCATTER_COMMUTATIVE_LONG_MSG_SIZE", "1K");
    CHECK(decide(COLL_REDUCE_SCATTER, 1024, 12) == &coll_alg_reduce_scatter_pairwise);
    CHECK(decide(COLL_REDUCE_SCATTER, 1024, 13) == &coll_alg_reduce_scatter_halving);
    unsetenv("MPICH_REDUCE_SCATTER_MAX_COMMSIZE");
    set("MPICH_REDUCE_SCATTER_MAX_COMMSIZE", "1"); /* alone it leaves the choice to the table */
    CHECK(decide(COLL_REDUCE_SCATTER, 4 << 20, 100) == &coll_alg_reduce_scatter_ordered);
}

/* What members of 300 agree on, whose blocks have up to so many bytes, and who send so many messages. */
static const struct plan_algorithm *agreed_on(const struct plan_nodes *nodes, int64_t longest, int messages)
{
    enum { RANKS = 300 };
    int64_t counts[RANKS] = {0}, displs[RANKS] = {0};
    struct plan_stage stage = {.alg = NULL};
    const struct plan_algorithm *alg = decide_on(nodes, COLL_ALLTOALLV, 0, RANKS);
    for (int i = 0; i < messages; i++) counts[i + 1] = i ? 1 : longest;
    last.scounts = last.rcounts = (struct gw_counts){counts, true}, last.sdispls = last.rdispls = (struct gw_counts){displs, true};
    if (alg == &coll_alg_alltoall_pairwise) return alg;
    CHECK(alg == &coll_alg_alltoall_ruled);
    char *tmp = calloc(1, (size_t)alg->tmp_bytes(&last));
    stage.args = last;
    CHECK(alg->stages(&last, 0, false, tmp, &stage)); /* the agreement: here all have the same */
    stage.args = last;
    CHECK(alg->stages(&last, 1, false, tmp, &stage));
    bool pads = strcmp(stage.alg->name, "pack") == 0;
    alg = stage.alg;
    if (pads) {
        stage.args = last;
        CHECK(coll_alg_alltoall_ruled.stages(&last, 2, false, tmp, &stage));
        alg = stage.alg;
    }
    free(tmp);
    return alg;
}
static int by_halves(void *ctx, int member);
static void vectors(void)
{
    int many = 300, odd = 200;
    struct plan_nodes *even = plan_nodes_new(many, 0, by_halves, &many, 2), *uneven = plan_nodes_new(many, 0, by_halves, &odd, 2);
    const struct plan_algorithm *sort; /* the first stage of columns */
    set("MPICH_COLL_OPT_OFF", "0");
    sort = agreed_on(even, 256, 299);
    CHECK_STR(sort->name, "sort");
    CHECK(agreed_on(even, 257, 299) == &coll_alg_alltoall_pairwise);
    /* of half as many messages each is worth half as much padding; of few nothing is padded */
    CHECK(agreed_on(even, 128, 150) == sort && agreed_on(even, 129, 150) == &coll_alg_alltoall_pairwise);
    CHECK(agreed_on(even, 8, 6) == &coll_alg_alltoall_pairwise && agreed_on(even, 0, 0) == &coll_alg_alltoall_pairwise);
    CHECK(agreed_on(NULL, 256, 299) == &coll_alg_alltoall_bruck && agreed_on(NULL, 257, 299) == &coll_alg_alltoall_pairwise);
    CHECK(agreed_on(uneven, 64, 299) == &coll_alg_alltoall_bruck &&
          agreed_on(uneven, 1L << 40, 299) == &coll_alg_alltoall_pairwise);
    CHECK(decide(COLL_ALLTOALLV, 0, 96) == &coll_alg_alltoall_pairwise &&
          decide(COLL_ALLTOALLV, 0, 97) == &coll_alg_alltoall_ruled);
    CHECK(decide(COLL_ALLTOALL, 256, 96) == &coll_alg_alltoall_bruck &&
          decide(COLL_ALLTOALL, 257, 96) == &coll_alg_alltoall_pairwise);
    set("MPICH_ALLTOALL_SHORT_MSG", "100");
    CHECK(decide(COLL_ALLTOALL, 100, 96) == &coll_alg_alltoall_bruck &&
          decide(COLL_ALLTOALL, 101, 96) == &coll_alg_alltoall_pairwise);
    set("MPICH_COLL_OPT_OFF", "MPI_Alltoallv");
    CHECK(agreed_on(even, 8, 299) == &coll_alg_alltoall_pairwise && agreed_on(NULL, 8, 299) == &coll_alg_alltoall_pairwise);
    set("MPICH_COLL_OPT_OFF", "all");
    CHECK(agreed_on(even, 8, 299) == &coll_alg_alltoall_pairwise && agreed_on(NULL, 8, 299) == &coll_alg_alltoall_pairwise);
    plan_nodes_free(even), plan_nodes_free(uneven);
}

static int by_halves(void *ctx, int member) { return member >= *(int *)ctx / 2; }

/* Into how many blocks an allreduce of so many bytes is cut, and bytes of temporaries. */
static int blocks_of(const struct plan_nodes *nodes, int64_t bytes, const struct plan_algorithm *want, int64_t *tmp_out)
{
    const struct plan_algorithm *alg = decide_on(nodes, COLL_ALLREDUCE, bytes, 8);
    struct plan_stage stage;
    int stages = 0;
    CHECK(alg == want);
    coll_temporaries(&last);
    *tmp_out = alg->tmp_bytes ? alg->tmp_bytes(&last) : 0;
    char *tmp = calloc(1, (size_t)*tmp_out + 1);
    for (;; stages++) {
        stage = (struct plan_stage){.args = last, .team = {.nodes = nodes, .odd = -1}};
        if (!alg->stages(&last, stages, false, tmp, &stage)) break;
    }
    free(tmp);
    return stages / 3;
}
static void blocks(void)
{
    int ranks = 8;
    int64_t tmp;
    struct plan_nodes *two = plan_nodes_new(ranks, 0, by_halves, &ranks, 2);
    set("MPICH_ALLREDUCE_BLK_SIZE", "0");
    CHECK_EQ(blocks_of(two, 1 << 20, &coll_alg_allreduce_levels_parts, &tmp), 1);
    CHECK(tmp > 1 << 20);
    set("MPICH_ALLREDUCE_BLK_SIZE", "64K");
    CHECK_EQ(blocks_of(two, 64 << 10, &coll_alg_allreduce_levels_parts, &tmp), 1);
    CHECK_EQ(blocks_of(two, (64 << 10) + 1, &coll_alg_allreduce_levels_parts, &tmp), 2);
    CHECK_EQ(blocks_of(two, 1 << 20, &coll_alg_allreduce_levels_parts, &tmp), 16);
    CHECK(tmp < 66 << 10);
    set("MPICH_ALLREDUCE_BLK_SIZE", "100");
    CHECK_EQ(blocks_of(two, 1000, &coll_alg_allreduce_levels, &tmp), 10);
    plan_nodes_free(two);
}

/* Do blocks go through a tree in MPI_Scatterv or MPI_Gatherv?  All have so many bytes, or one has them all. */
static int ruled_under_way; /* messages at a time of what was chosen last */
static bool goes_through_a_tree(enum coll_kind kind, int ranks, int bytes, bool is_uneven)
{
    bool gathers = kind == COLL_GATHERV;
    const struct plan_algorithm *alg = decide(kind, bytes, ranks);
    int *counts = calloc((size_t)ranks, sizeof *counts), *places = calloc((size_t)ranks, sizeof *places);
    for (int i = 0; i < ranks; i++) counts[i] = is_uneven ? (i == ranks / 2 ? bytes * ranks : 0) : bytes;
    last.scounts.v = last.rcounts.v = counts, last.sdispls.v = last.rdispls.v = places;
    struct plan_stage stage = {.args = last};
    CHECK(alg == (gathers ? &coll_alg_gather_ruled : &coll_alg_scatter_ruled));
    char *tmp = calloc(1, (size_t)alg->tmp_bytes(&last));
    CHECK(alg->stages(&last, 0, false, tmp, &stage));
    CHECK(alg->stages(&last, 1, false, tmp, &stage));
    free(tmp), free(counts), free(places);
    ruled_under_way = (int)stage.args.params.under_way;
    return stage.alg != (gathers ? &coll_alg_gather_permitted : &coll_alg_scatter_linear);
}
static void tree_ends(enum coll_kind kind, int ranks, int bytes)
{
    for (int uneven = 0; uneven < 2; uneven++) {
        CHECK(goes_through_a_tree(kind, ranks, bytes, uneven));
        CHECK(!goes_through_a_tree(kind, ranks, bytes + 1, uneven));
    }
}

/* Blocks are short by their average.  The documents' bounds: of MPI_Gatherv 16 KiB; of MPI_Scatterv 2 KiB up to 512 ranks, 8 KiB beyond. */
static void short_blocks(void)
{
    set("MPICH_COLL_OPT_OFF", "0");
    tree_ends(COLL_GATHERV, 512, 16 << 10);
    tree_ends(COLL_SCATTERV, 512, 2048);
    tree_ends(COLL_SCATTERV, 513, 8192);
    set("MPICH_SCATTERV_SHORT_MSG", "100");
    tree_ends(COLL_SCATTERV, 513, 100);
    tree_ends(COLL_GATHERV, 513, 16 << 10);
    set("MPICH_GATHERV_SHORT_MSG", "100");
    tree_ends(COLL_GATHERV, 513, 100);
    CHECK_EQ(ruled_under_way, 16);
    static const struct {
        enum coll_kind kind;
        const char *most, *at_a_time, *least;
    } rows[] = {
        {COLL_GATHERV, "MPICH_GATHERV_MAX_TMP_SIZE", "MPICH_GATHERV_SYNC_FREQ", "MPICH_GATHERV_MIN_COMM_SIZE"},
        {COLL_SCATTERV, "MPICH_SCATTERV_MAX_TMP_SIZE", "MPICH_SCATTERV_SYNC_FREQ", "MPICH_SCATTERV_MIN_COMM_SIZE"},
    };
    for (int i = 0; i < 2; i++) {
        set(rows[i].most, "512K");
        CHECK(goes_through_a_tree(rows[i].kind, 512, 1 << 10, true) && !goes_through_a_tree(rows[i].kind, 513, 1 << 10, false));
        setenv(rows[i].at_a_time, "5", 1);
        set(rows[i].most, "0");
        unsetenv(rows[i].at_a_time);
        CHECK(!goes_through_a_tree(rows[i].kind, 512, 8, false) && ruled_under_way == 5);
        const struct plan_algorithm *ruled = i == 0 ? &coll_alg_gather_ruled : &coll_alg_scatter_ruled;
        CHECK(decide(rows[i].kind, 8, 64) == ruled && decide(rows[i].kind, 8, 63) != ruled);
        set(rows[i].least, "9");
        CHECK(decide(rows[i].kind, 8, 9) == ruled && decide(rows[i].kind, 8, 8) != ruled);
    }
}

/* Does a collective of 300 ranks on two nodes take notice of nodes, of the average size of blocks, or of a root that may be late? */
static bool takes_notice(const struct plan_nodes *two, enum coll_kind kind, int64_t bytes, bool starts)
{
    const char *why;
    last =
        (struct plan_args){.size = 300, .scount = bytes, .rcount = bytes, .st = gw_type_byte, .rt = gw_type_byte, .op = gw_op_max};
    last.is_vector = kind == COLL_SCATTERV || kind == COLL_GATHERV;
    last.nodes = two;
    const struct plan_algorithm *alg = coll_decide_apart(kind, last.is_vector ? 0 : bytes, &last, starts, &why);
    return alg->stages || alg == &coll_alg_gather_permitted;
}
static void opt_off(const struct plan_nodes *two)
{
    static const enum coll_kind kinds[] = {COLL_ALLTOALL, COLL_BCAST,   COLL_GATHER,         COLL_GATHERV,  COLL_ALLGATHER,
                                           COLL_SCATTERV, COLL_SCATTER, COLL_ALLREDUCE,      COLL_REDUCE,   COLL_BARRIER,
                                           COLL_SCAN,     COLL_EXSCAN,  COLL_REDUCE_SCATTER, COLL_ALLTOALLV};
    for (size_t off = 0; off <= GW_ARRAY_LEN(kinds); off++) { /* each alone, then all */
        bool is_all = off == GW_ARRAY_LEN(kinds);
        setenv("MPICH_IGATHERV_MIN_COMM_SIZE", "300", 1);
        set("MPICH_COLL_OPT_OFF", is_all ? "1" : coll_kind_names[kinds[off]]);
        unsetenv("MPICH_IGATHERV_MIN_COMM_SIZE");
        for (size_t i = 0; i < GW_ARRAY_LEN(kinds); i++) {
            bool may_start = kinds[i] == COLL_GATHER || kinds[i] == COLL_GATHERV;
            for (int starts = 0; starts <= may_start; starts++)
                CHECK_EQ(takes_notice(two, kinds[i], starts ? LARGE : 8, starts), !is_all && i != off);
            /* with a request data leave in the call: nothing is agreed on before */
            if (kinds[i] == COLL_ALLTOALLV) CHECK(!takes_notice(two, kinds[i], 8, true) && last.params.under_way == 8);
        }
    }
}

static void names(void)
{
    int ranks = 8, many = 300;
    struct plan_nodes *two = plan_nodes_new(ranks, 0, by_halves, &ranks, 2), *large = plan_nodes_new(many, 0, by_halves, &many, 2);
    opt_off(large);
    plan_nodes_free(large);
    set("MPICH_COLL_OPT_OFF", "mpi_iallreduce,MPI_Allgatherv");
    CHECK(decide_on(two, COLL_ALLREDUCE, 8, ranks) == &coll_alg_allreduce_doubling);
    CHECK(!decide_on(two, COLL_ALLGATHER, 8, ranks)->stages);
    CHECK(decide_on(two, COLL_BCAST, 8, ranks) == &coll_alg_bcast_levels);
    set("MPICH_COLL_OPT_OFF", "0");
    CHECK(decide_on(two, COLL_ALLREDUCE, 8, ranks) == &coll_alg_allreduce_levels);
    set("MPICH_SHARED_MEM_COLL_OPT", "MPI_Bcast,MPI_Reduce_scatter_block");
    CHECK(coll_leaves_on(COLL_BCAST) && coll_leaves_on(COLL_REDUCE_SCATTER) && !coll_leaves_on(COLL_ALLREDUCE) &&
          !coll_leaves_on(COLL_BARRIER));
    set("MPICH_SHARED_MEM_COLL_OPT", "0");
    CHECK(!coll_leaves_on(COLL_BCAST));
    set("MPICH_SHARED_MEM_COLL_OPT", "1");
    CHECK(coll_leaves_on(COLL_BCAST) && coll_leaves_on(COLL_EXSCAN));
    plan_nodes_free(two);
}

/* The most members that have leave of the root of a started gather(v) and have not sent yet. */
static int have_leave(enum coll_kind kind, const char *sync_freq)
{
    const char *why;
    struct plan_step steps[PLAN_STEPS];
    int leave = 0, most = 0, received = 0, n;
    setenv("MPICH_IGATHERV_MIN_COMM_SIZE", "300", 1);
    set("MPICH_IGATHERV_SYNC_FREQ", sync_freq);
    unsetenv("MPICH_IGATHERV_MIN_COMM_SIZE");
    last = (struct plan_args){.size = 300, .scount = LARGE, .rcount = LARGE, .st = gw_type_byte, .rt = gw_type_byte};
    const struct plan_algorithm *alg = coll_decide_apart(kind, kind == COLL_GATHER ? LARGE : 0, &last, true, &why);
    CHECK(alg == &coll_alg_gather_permitted);
    for (int round = 0; (n = alg->emit(&last, round, steps)) > 0; round++) {
        int now = 0;
        for (int i = 0; i < n; i++) leave += steps[i].kind == PLAN_SEND, now += steps[i].kind == PLAN_RECV;
        most = leave > most ? leave : most;
        leave -= now;
        received += now;
    }
    CHECK_EQ(received, 299);
    CHECK_EQ(leave, 0);
    return most;
}

static void leaves_to_send(void)
{
    static const enum coll_kind kinds[] = {COLL_GATHER, COLL_GATHERV};
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(have_leave(kinds[i], "2"), 2);
        CHECK_EQ(have_leave(kinds[i], "16"), 16);
        CHECK_EQ(have_leave(kinds[i], "100"), 100);
        CHECK_EQ(have_leave(kinds[i], "1000"), 299); /* all at once */
    }
    const char *why; /* who waits needs no leave; nor does a small communicator, or short blocks, which go up a tree */
    last.size = 300;
    CHECK(coll_decide_apart(COLL_GATHER, LARGE, &last, false, &why) == &coll_alg_gather_linear);
    set("MPICH_IGATHERV_MIN_COMM_SIZE", "301");
    CHECK(coll_decide_apart(COLL_GATHER, LARGE, &last, true, &why) == &coll_alg_gather_linear);
    set("MPICH_IGATHERV_MIN_COMM_SIZE", "300");
    CHECK(coll_decide_apart(COLL_GATHER, LARGE, &last, true, &why) == &coll_alg_gather_permitted);
    CHECK(coll_decide_apart(COLL_GATHER, 8, &last, true, &why) == &coll_alg_gather_tree);
}

int main(void)
{
    CHECK_EQ(type_init(), GW_OK);
    CHECK_EQ(op_init(), GW_OK);
    throttles();
    leaves_to_send();
    empty_blocks();
    trees();
    reduce_scatter();
    names();
    vectors();
    short_blocks();
    blocks();
    op_finalize();
    type_finalize();
    gw_obj_finalize();
    gw_settings_free();
    return unit_end();
}
