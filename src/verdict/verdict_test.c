/* verdict_test.c -- the verdict on invented jobs: each kind of mistake, thousands of ranks, several nodes, threads, and garbage.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "verdict/verdict.h"
#include "obj/consts_gen.h"
#include "unit.h"

enum { RECV = 1, SEND, BARRIER, ALLREDUCE_C, GATHER, FINALIZE, WAITALL, TEST, WAIT, IALLREDUCE, ALLREDUCE };
static const char *name_of(uint32_t call)
{
    static const char *const names[] = {
        NULL,           "MPI_Recv",    "MPI_Send", "MPI_Barrier", "MPI_Allreduce_c", "MPI_Gather",
        "MPI_Finalize", "MPI_Waitall", "MPI_Test", "MPI_Wait",    "MPI_Iallreduce",  "MPI_Allreduce"};
    return call < GW_ARRAY_LEN(names) ? names[call] : NULL;
}
enum { MAX = 5000, NOW = 100, SECOND = 1000000000 };
static struct verdict_rank ranks[MAX];
static struct verdict_job job;
static char *text;

static void begin(int n)
{
    memset(ranks, 0, sizeof ranks);
    job = (struct verdict_job){.ranks = ranks, .n = n, .size = n, .now_ns = (uint64_t)NOW * SECOND, .call_name = name_of};
    for (int i = 0; i < n; i++) ranks[i] = (struct verdict_rank){.world = i, .os = 'R', .phase = BOOT_RUNNING};
}

/* It waits since `s` seconds. */
static struct boot_where *blocked(int i, int call, int s)
{
    struct boot_where *w = &ranks[i].where;
    ranks[i].os = 'S';
    ranks[i].call = w->call = (uint32_t)call;
    w->since_ns = w->told_ns = (uint64_t)(NOW - s) * SECOND;
    atomic_store(&w->state, BOOT_BLOCKED);
    return w;
}
static struct boot_pending *message(int i, int call, enum boot_about about, int peer, int tag)
{
    struct boot_where *w = blocked(i, call, 12);
    struct boot_pending *p = &w->pending[w->n_pending++];
    *p = (struct boot_pending){.about = (uint8_t)about, .world = peer, .peer = peer, .tag = tag};
    return p;
}
static struct boot_pending *receives(int i, int peer, int tag) { return message(i, RECV, BOOT_RECV, peer, tag); }
static struct boot_pending *sends(int i, int peer, int tag) { return message(i, SEND, BOOT_SEND, peer, tag); }
static void holds(int i, int peer, int tag, uint32_t ctx, const char *comm)
{
    struct boot_where *w = &ranks[i].where;
    struct boot_pending *u = &w->unexpected[w->n_unexpected++];
    *u = (struct boot_pending){.about = BOOT_RECV, .world = peer, .peer = peer, .tag = tag, .ctx = ctx};
    snprintf(u->comm, sizeof u->comm, "%s", comm);
}
static void entered(int i, int call, uint32_t ctx, unsigned number, int root)
{
    uint64_t *w = ranks[i].colls[ranks[i].n_colls++ % BOOT_COLLS];
    w[0] = boot_coll_pack(ctx, number, (uint32_t)call);
    w[1] = (uint32_t)root;
}
/* It waits in a collective that it has entered for one member; -1: for none yet. */
static struct boot_where *collective(int i, int call, uint32_t ctx, unsigned number, int root, int member)
{
    entered(i, call, ctx, number, root);
    struct boot_where *w = blocked(i, call, 12);
    w->has_coll = 1;
    w->coll_call = (uint32_t)call;
    w->coll_number = number;
    w->coll = (struct boot_pending){.about = BOOT_MEMBER, .ctx = ctx, .peer = root};
    w->n_pending = member >= 0;
    w->pending[0] = (struct boot_pending){.about = BOOT_MEMBER, .world = member, .peer = member, .ctx = ctx};
    return w;
}

static void judge(void)
{
    free(text);
    text = verdict_text(&job);
}
static bool says(const char *what)
{
    bool found = strstr(text, what) != NULL;
    if (!found) fprintf(stderr, "-- not '%s' in:\n%s", what, text);
    return found;
}
#define HANG(yes) CHECK_EQ(verdict_is_hang(&job, (uint64_t)10 * SECOND), yes)

static void messages(void)
{
    begin(4); /* the one of the paper */
    for (int i = 0; i < 4; i++)
        if (i != 1) collective(i, ALLREDUCE_C, 0, 17, 0, 1);
    receives(1, 0, 5);
    holds(1, 0, 6, 0, "");
    judge();
    HANG(true);
    CHECK(says("  ranks 0, 2-3 in MPI_Allreduce #17 on MPI_COMM_WORLD since 12 s\n"));
    CHECK(says("  rank 1 in MPI_Recv from 0 tag 5 on MPI_COMM_WORLD, 1 unexpected message held, since 12 s\n"));
    CHECK(says("verdict: wrong tag: rank 1 waits for a message from 0 tag 5 on MPI_COMM_WORLD, and none came; nearest: "
               "tag 6 (unexpected at rank 1)\n"));

    begin(3); /* the right tag on another communicator, while one from another source is there too */
    receives(0, 1, 5);
    holds(0, 2, 5, 0, "");
    holds(0, 1, 5, 7, "other\n");
    receives(1, 0, 5);
    receives(2, 0, GW_ANY_TAG);
    judge();
    CHECK(says("verdict: wrong communicator: rank 0 waits"));
    CHECK(says("nearest: on other\\x0a (unexpected at rank 0)"));
    CHECK(says("  and a cycle of messages: each waits for the next: rank 0 -> 1 -> 0"));
    CHECK(says("rank 2 in MPI_Recv from 0, any tag, on MPI_COMM_WORLD"));

    begin(2); /* a message from somebody else may be meant for later: no mistake of the source */
    receives(0, 1, 5);
    holds(0, 0, 5, 0, "");
    collective(1, BARRIER, 0, 1, 0, 0);
    judge();
    CHECK(says("verdict: no sender: rank 0 waits for a message from 1 tag 5 on MPI_COMM_WORLD, and none came; rank 1 "
               "is in MPI_Barrier #1 on "
               "MPI_COMM_WORLD, which waits for rank 0; nearest: from 0 (unexpected at rank 0)"));

    begin(2);
    sends(0, 1, 9)->comm[0] = 0;
    collective(1, BARRIER, 0, 1, 0, 0);
    judge();
    CHECK(says("verdict: no receiver: rank 0 sends to 1 tag 9 on MPI_COMM_WORLD, which is not received; rank 1 is in "
               "MPI_Barrier #1"));

    begin(3); /* a list, of which one is not for any rank to end: nobody is stuck */
    message(0, WAITALL, BOOT_RECV, 1, 1);
    message(0, WAITALL, BOOT_OUTSIDE, -2, 0);
    receives(1, 0, 2);
    collective(2, BARRIER, 0, 1, 0, 0);
    judge();
    HANG(true); /* all of the list must come */
    CHECK(says("rank 0 in MPI_Waitall for 2 requests: a receive from 1 tag 1 on MPI_COMM_WORLD; something that no "
               "message brings"));
    ranks[0].where.is_any = 1;
    judge();
    HANG(false);
    CHECK(says("verdict: no deadlock"));

    begin(3); /* a rank that has to go on by itself, and cannot */
    message(0, WAIT, BOOT_PREADY, 1, 3);
    receives(1, 0, 3);
    receives(2, 1, 2);
    judge();
    HANG(true);
    CHECK(says("  rank 0 in MPI_Wait for its own MPI_Pready of a send to 1 tag 3 on MPI_COMM_WORLD since 12 s\n"));
    CHECK(says(
        "verdict: partitions that are not ready: rank 0 waits for its own MPI_Pready of a send to 1 tag 3 on MPI_COMM_WORLD: it was "
        "not called for each partition\n"));
    CHECK(!says("cycle"));

    begin(2); /* a client of another job may come at any time */
    message(0, WAITALL, BOOT_OUTSIDE, -2, 0);
    snprintf(ranks[0].where.note, BOOT_NOTE, "for another job");
    receives(1, 0, 2);
    judge();
    HANG(false);
    CHECK(says("  rank 0 in MPI_Waitall for another job since 12 s\n"));
    CHECK(says(
        "verdict: no deadlock as long as something may come from outside of this job: rank 0 is in MPI_Waitall for another job\n"));
}

static void cycles(void)
{
    begin(4096);
    for (int i = 0; i < 4096; i++) sends(i, (i + 1) % 4096, 7);
    judge();
    HANG(true);
    CHECK(says("  ranks 0-4095 in MPI_Send to 1 tag 7 on MPI_COMM_WORLD (so rank 0; the others have other peers) since "
               "12 s\n"));
    CHECK(says("rank 0 -> 1 -> 2 -> 3 -> 4 -> 5 -> 6 -> 7 -> ... -> 0 (4096 ranks); all send first"));
    CHECK(strlen(text) < 500);

    begin(4096); /* the same, but the last one computes: it may receive */
    for (int i = 0; i < 4095; i++) sends(i, i + 1, 7);
    judge();
    HANG(false);
    CHECK(says("verdict: no deadlock: the ranks that wait do so for rank 4095; rank 4095 is computing, in no MPI call\n"));

    begin(2); /* what meets is on its way */
    sends(0, 1, 7);
    receives(1, GW_ANY_SOURCE, GW_ANY_TAG);
    judge();
    HANG(false);
    ranks[1].where.pending[0].tag = 8;
    HANG(true);
    ranks[1].where.told_ns = (uint64_t)(NOW - 9) * SECOND; /* it has only just come there */
    HANG(false);
    ranks[1].where.told_ns = (uint64_t)(NOW - 11) * SECOND;
    HANG(true);
    atomic_store(&ranks[1].where.state, BOOT_MOVING);
    HANG(false);

    begin(3); /* two communicators */
    collective(0, BARRIER, 5, 2, 0, 1);
    collective(1, BARRIER, 6, 2, 0, 2);
    collective(2, BARRIER, 5, 2, 0, 1);
    ranks[1].where.pending[0].world = 0;
    snprintf(ranks[0].where.coll.comm, BOOT_COMM_NAME, "five");
    judge();
    CHECK(says("verdict: collectives in different orders: rank 0 is in MPI_Barrier #2 on five, which waits for rank 1; "
               "rank 1 is in MPI_Barrier #2 on "
               "communicator 6 (without a name), which waits for rank 0\n"));

    for (int i = 0; i < 2; i++) { /* a file, whose calls have no number that the program knows */
        snprintf(ranks[2 * i].where.coll.comm, BOOT_COMM_NAME, "the file /tmp/a");
        ranks[2 * i].where.coll_hidden = 2;
    }
    judge();
    CHECK(says("  ranks 0, 2 in MPI_Barrier on the file /tmp/a since 12 s\n"));
    CHECK(says("rank 0 is in MPI_Barrier on the file /tmp/a, which waits for rank 1; rank 1 is in MPI_Barrier #2 on "));
}

/* As a call says it: kind 3 and so on. */
static void says_so(int i, unsigned kind, unsigned flags, int root, uint64_t bytes)
{
    uint64_t *w = ranks[i].colls[(ranks[i].n_colls - 1) % BOOT_COLLS];
    w[1] = (uint64_t)flags << BOOT_SAYS_FLAGS | (uint64_t)kind << BOOT_SAYS_KIND | (uint32_t)root;
    w[2] = bytes;
}
static char *mismatch(void) { return verdict_mismatch(&job, SECOND); }

static void differing(void)
{
    char *t;
    begin(3); /* one more says other bytes; those that wait for it are sure of it */
    for (int i = 0; i < 3; i++) collective(i, ALLREDUCE, 0, 7, 0, i == 1 ? 0 : 1), says_so(i, 13, 0, 0, i == 1 ? 12 : 20);
    t = mismatch();
    CHECK(t &&
          strcmp(t,
                 "verdict: the collectives do not match: collective #7 on MPI_COMM_WORLD: rank 0 called MPI_Allreduce (20 bytes), "
                 "rank 1 called MPI_Allreduce (12 bytes)\n") == 0);
    free(t);
    judge();
    CHECK(says("verdict: the collectives do not match: collective #7 on MPI_COMM_WORLD: rank 0 called MPI_Allreduce (20 bytes)"));
    for (int i = 0; i < 3; i++) says_so(i, 13, BOOT_SAYS_OWN, 0, i == 1 ? 12 : 20); /* each its own: no mismatch */
    CHECK(!mismatch());
    for (int i = 0; i < 3; i++) says_so(i, i == 1 ? 0 : 13, 0, 0, 20); /* not known */
    CHECK(!mismatch());
    for (int i = 0; i < 3; i++) says_so(i, 13, i == 1 ? BOOT_SAYS_REQUEST : 0, 0, 20); /* its non-blocking form */
    t = mismatch();
    CHECK(t != NULL);
    free(t);

    begin(2); /* functions that make communicators are one kind, but not one function */
    for (int i = 0; i < 2; i++) collective(i, BARRIER, 0, 7, 0, 1 - i), says_so(i, 1, BOOT_SAYS_FUNCTION, -1, 0);
    CHECK(!mismatch());
    for (int i = 0; i < 2; i++) ranks[i].colls[0][1] |= (uint64_t)(i + 5) << BOOT_SAYS_OP;
    t = mismatch();
    CHECK(t != NULL);
    free(t);
    ranks[1].colls[0][1] &= ~((uint64_t)0xffff << BOOT_SAYS_OP); /* a rank with several threads does not know it */
    CHECK(!mismatch());

    begin(3); /* halves of the world have communicators of one number: who does not wait for the other is no member of his */
    for (int i = 0; i < 3; i++) collective(i, BARRIER, 5, 7, 0, i == 1 ? 1 : 2 - i), says_so(i, i == 1 ? 13 : 3, 0, 0, 0);
    CHECK(!mismatch());

    begin(4); /* or are stuck elsewhere: their marks tell them apart */
    for (int i = 0; i < 4; i++)
        entered(i, i < 2 ? BARRIER : GATHER, 5, 7, 0), says_so(i, 0, 0, 0, (uint64_t)i / 2 << BOOT_COLL_MARK);
    for (int i = 0; i < 4; i++) receives(i, 3 - i, 1);
    judge();
    CHECK(!strstr(text, "do not match"));

    begin(3); /* rank 1 computes: it may still come */
    for (int i = 0; i < 3; i++) collective(i, GATHER, 0, 7, 0, 1), says_so(i, 5, 0, i == 1 ? 1 : 0, 4);
    ranks[1].where.state = BOOT_BUSY;
    CHECK(!mismatch());
}

static void collectives(void)
{
    begin(5);                                                 /* roots; 3 has gone on */
    for (int i = 0; i < 5; i++) entered(i, BARRIER, 0, 1, i); /* has no root, whatever stands there */
    for (int i = 0; i < 5; i++) entered(i, GATHER, 0, 2, i == 2 ? 1 : 0);
    collective(0, GATHER, 0, 2, 0, 2);
    ranks[0].n_colls--;
    receives(2, 0, 1);
    receives(1, 0, 1);
    collective(3, BARRIER, 0, 3, 0, 0);
    collective(4, BARRIER, 0, 3, 0, 0);
    judge();
    CHECK(says("verdict: wrong root: MPI_Gather #2 on MPI_COMM_WORLD: ranks 0-1, 3-4 gave root 0, rank 2 gave root 1\n"));
    CHECK(says("rank 0 in MPI_Gather #2 (root 0) on MPI_COMM_WORLD"));

    begin(4); /* large counts are the same call; another one is not */
    for (int i = 0; i < 4; i++) entered(i, i & 1 ? ALLREDUCE : ALLREDUCE_C, 0, 3, 0);
    for (int i = 0; i < 4; i++) collective(i, i == 3 ? GATHER : ALLREDUCE, 0, 4, 0, (i + 1) % 4);
    judge();
    CHECK(says("verdict: the collectives do not match: collective #4 on MPI_COMM_WORLD: ranks 0-2 called "
               "MPI_Allreduce, rank 3 called MPI_Gather (root 0)\n"));

    begin(3); /* noted twice, as GODWIT_CHECK does */
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) entered(i, i == 1 ? FINALIZE : BARRIER, 0, 4, 0);
    for (int i = 0; i < 3; i += 2) entered(i, BARRIER, 0, 5, 0), collective(i, BARRIER, 0, 5, 0, 1);
    ranks[1].phase = BOOT_FINALIZED;
    judge();
    CHECK(says("verdict: a rank has left MPI: collective #4 on MPI_COMM_WORLD: ranks 0, 2 called MPI_Barrier, rank 1 "
               "called MPI_Finalize\n"));
    begin(2); /* of two communicators with one number: nothing is known of the older */
    for (int i = 0; i < 2; i++) entered(i, i ? BARRIER : ALLREDUCE, 7, 1, 0), entered(i, i ? ALLREDUCE : BARRIER, 7, 1, 0);
    for (int i = 0; i < 2; i++) receives(i, 1 - i, 3);
    judge();
    CHECK(says("verdict: a cycle of messages") && !says("do not match"));

    begin(3); /* one has left, its barrier taken for the others' */
    for (int i = 0; i < 3; i++) entered(i, i == 1 ? FINALIZE : BARRIER, 0, 4, 0);
    collective(0, BARRIER, 0, 5, 0, 1);
    collective(2, BARRIER, 0, 5, 0, 1);
    ranks[1].phase = BOOT_FINALIZED;
    judge();
    HANG(true);
    CHECK(says("verdict: a rank has left MPI: collective #4 on MPI_COMM_WORLD: ranks 0, 2 called MPI_Barrier, rank 1 "
               "called MPI_Finalize\n"));

    begin(3); /* the same after so many that nobody remembers */
    collective(0, BARRIER, 0, 50, 0, 1);
    collective(2, BARRIER, 0, 50, 0, 1);
    ranks[1].is_gone = true;
    judge();
    CHECK(says("verdict: a rank has left MPI: ranks 0, 2 are in MPI_Barrier #50 on MPI_COMM_WORLD, and rank 1 is gone: "
               "its process has ended\n"));

    begin(3); /* in MPI_Finalize */
    receives(0, 1, 3);
    collective(1, FINALIZE, 0, 1, 0, 0);
    collective(2, FINALIZE, 0, 1, 0, 0);
    judge();
    CHECK(says("ranks 1-2 in MPI_Finalize since"));
    CHECK(says("verdict: a rank has left MPI: rank 0 waits for a message from 1 tag 3 on MPI_COMM_WORLD, and none "
               "came; rank 1 is in MPI_Finalize\n"));

    begin(2); /* a wait for a non-blocking one */
    struct boot_where *w = collective(0, IALLREDUCE, 3, 2, 0, 1);
    w->call = WAIT;
    ranks[1].call = TEST;
    judge();
    HANG(false);
    CHECK(says("rank 0 in MPI_Wait for MPI_Iallreduce #2 on communicator 3 (without a name)"));
    CHECK(says("rank 1 is polling with MPI_Test"));
}

static void polling(void)
{
    begin(3); /* it may do something else between two tests */
    collective(0, BARRIER, 0, 1, 0, 2);
    collective(1, BARRIER, 0, 1, 0, 2);
    message(2, TEST, BOOT_RECV, 0, 30);
    atomic_store(&ranks[2].where.state, BOOT_POLLING);
    holds(2, 0, 31, 0, "");
    judge();
    HANG(false);
    CHECK(says("rank 2 polling with MPI_Test for a receive from 0 tag 30 on MPI_COMM_WORLD, 1 unexpected message held, "
               "since 12 s"));
    CHECK(says("verdict: a hang if rank 2 does nothing but poll; then:\nverdict: wrong tag: rank 2 waits for a message "
               "from 0 tag 30"));
    begin(3); /* rank 1 computes: no question */
    collective(0, BARRIER, 0, 1, 0, 1);
    message(2, TEST, BOOT_RECV, 1, 30);
    atomic_store(&ranks[2].where.state, BOOT_POLLING);
    judge();
    CHECK(says("verdict: no deadlock: the ranks that wait do so for rank 1; rank 1 is computing"));
}

static void circumstances(void)
{
    begin(3); /* nobody has begun */
    for (int i = 0; i < 3; i++) ranks[i].phase = BOOT_NEW;
    judge();
    CHECK(says("ranks 0-2 not in MPI yet"));
    CHECK(says("verdict: no rank has called MPI_Init"));

    begin(3); /* a stopped one */
    collective(0, BARRIER, 0, 1, 0, 2);
    collective(1, BARRIER, 0, 1, 0, 2);
    ranks[2].os = 'T';
    judge();
    HANG(false);
    CHECK(says("do so for rank 2; rank 2 is stopped"));

    begin(2); /* of four ranks on two nodes: what a rank waits for may come from there */
    job.size = 4;
    ranks[0].world = 1, ranks[1].world = 3;
    receives(0, GW_ANY_SOURCE, 5);
    receives(1, 2, 5);
    judge();
    HANG(false);
    CHECK(says("only the 2 ranks of this node are known here, of 4"));
    ranks[0].where.pending[0].world = 3; /* among themselves they can hang */
    ranks[1].where.pending[0].world = 1;
    judge();
    HANG(true);
    CHECK(says("rank 1 -> 3 -> 1"));

    begin(2); /* threads: others of them may run */
    receives(0, 1, 1);
    receives(1, 0, 1);
    ranks[1].is_threaded = ranks[1].uses_cpu = true;
    HANG(false);
    ranks[1].uses_cpu = false;
    HANG(true);
    begin(3);
    receives(0, 1, 1);
    receives(1, 0, 1);
    ranks[0].is_threaded = ranks[1].is_threaded = true; /* another thread may wait for rank 2, which computes */
    HANG(false);

    begin(2); /* a wait of which nothing is known, and all others wait too */
    blocked(0, WAIT, 12);
    receives(1, 0, 1);
    judge();
    HANG(true);
    CHECK(says("verdict: no sender: rank 1 waits"));
    begin(2);
    blocked(0, WAIT, 12);
    HANG(false);
    blocked(1, WAIT, 12);
    judge();
    HANG(true);
    CHECK(says("verdict: 2 ranks wait, and nobody is left who could end that; rank 0 is in MPI_Wait\n"));

    begin(300); /* many places */
    for (int i = 0; i < 300; i += 2) receives(i, (i + 2) % 300, i);
    judge();
    CHECK(says("more ranks in"));
    CHECK(strlen(text) < 3000);
}

/* Whatever stands in the slots: an end, and text. */
static void garbage(void)
{
    unsigned x = 1;
    for (int round = 0; round < 3000; round++) {
        int n = round % 9 + 1;
        begin(n);
        if (round % 5 == 0) job.size++;
        for (int i = 0; i < n; i++) {
            unsigned char *b = (unsigned char *)&ranks[i].where;
            for (size_t k = 0; k < sizeof ranks[i].where && round % 3 == 0; k++)
                b[k] = (unsigned char)((x = x * 1664525u + 1013904223u) >> 24);
            struct boot_where *w = blocked(i, (int)(x >> 8) % 12, 20);
            w->n_pending = (int)(x >> 12) % 8;
            w->n_unexpected = (int)(x >> 16) % 8;
            w->has_coll = x >> 20 & 1;
            for (int k = 0; k < BOOT_PENDING; k++) {
                x = x * 1664525u + 1013904223u;
                struct boot_pending p = {.about = (uint8_t)(x >> 8) % 5,
                                         .world = (int)(x >> 12) % (n + 3) - 2,
                                         .tag = (int)(x >> 16) % 3 - 2,
                                         .ctx = x >> 20 & 1};
                p.peer = p.world;
                w->pending[k] = p;
                p.tag++;
                w->unexpected[k] = p;
            }
            w->coll.comm[BOOT_COMM_NAME - 1] = 0;
            entered(i, (int)(x >> 9) % 12, x >> 13 & 1, x >> 16 & 3, (int)(x >> 20) % 4 - 1);
            x = x * 1664525u + 1013904223u;
            if (x >> 29 == 0) atomic_store(&w->state, BOOT_BUSY);
            if (x >> 29 == 1) atomic_store(&w->state, BOOT_POLLING);
            if (x >> 24 == 7) ranks[i].is_gone = true;
        }
        judge();
        CHECK(strstr(text, "verdict: ") != NULL);
        verdict_is_hang(&job, SECOND);
    }
}

/* Small sends that wait because neither end has room: whatever else would follow from it, that is said. */
static void no_room(void)
{
    begin(4);
    for (int i = 1; i < 4; i++) {
        sends(i, 0, 3)->no_room = 1;
        ranks[i].where.room_bytes = 64 << 10;
        ranks[i].where.kept_bytes = 65000;
        ranks[i].where.held_bytes = 77;
    }
    receives(0, 2, 4);
    holds(0, 2, 3, 0, "");
    ranks[0].where.room_bytes = 64 << 10;
    ranks[0].where.held_bytes = 66 << 10;
    judge();
    HANG(true);
    CHECK(says(
        "verdict: no room for messages: ranks 1-3 send to rank 0, which does not receive: it holds 66.0 KiB that came and were not "
        "received, and rank 1 keeps copies of 63.5 KiB more, each at most 64.0 KiB (GODWIT_UNEXPECTED_MAX; a larger value lets more be "
        "sent before it is received); rank 0 is in MPI_Recv from 2 tag 4 on MPI_COMM_WORLD\n"));
    CHECK(!strstr(text, "wrong tag"));
    ranks[0].where.room_bytes = 0; /* a receiver that has not said what it holds */
    judge();
    CHECK(says("which does not receive: rank 1 keeps copies of 63.5 KiB more"));
    ranks[0].os = 'R';
    atomic_store(&ranks[0].where.state, BOOT_BUSY); /* it computes: it may receive yet */
    judge();
    HANG(false);
    CHECK(says("verdict: no deadlock: the ranks that wait do so for rank 0"));
}

int main(void)
{
    messages();
    no_room();
    cycles();
    differing();
    collectives();
    polling();
    circumstances();
    garbage();
    free(text);
    return unit_end();
}
