/* tool_pvars.c -- MPI_T: performance variables count what the program did, for each handle from its start (MPI 4.1 section 15.3.7).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <pthread.h>
#include <unistd.h>

#include "p2p_check.h"

typedef unsigned long long u64;
static MPI_T_pvar_session session;

static int index_of(const char *name, int var_class)
{
    int i = -1;
    CHECK_EQ(MPI_T_pvar_get_index(name, var_class, &i), MPI_SUCCESS);
    return i;
}
static MPI_T_pvar_handle handle_of(const char *name, int var_class, void *object, int want_count)
{
    MPI_T_pvar_handle h = MPI_T_PVAR_HANDLE_NULL;
    int count = -1;
    CHECK_EQ(MPI_T_pvar_handle_alloc(session, index_of(name, var_class), object, &h, &count), MPI_SUCCESS);
    CHECK_EQ(count, want_count);
    return h;
}
static u64 value_of(MPI_T_pvar_handle h)
{
    u64 v = ~0ull;
    CHECK_EQ(MPI_T_pvar_read(session, h, &v), MPI_SUCCESS);
    return v;
}
static MPI_T_pvar_handle counter(const char *name)
{
    MPI_T_pvar_handle h = handle_of(name, MPI_T_PVAR_CLASS_COUNTER, NULL, 1);
    CHECK_EQ(MPI_T_pvar_start(session, h), MPI_SUCCESS);
    return h;
}

static void every_one(void)
{
    int n = 0;
    CHECK_EQ(MPI_T_pvar_get_num(&n), MPI_SUCCESS);
    CHECK(n > 30);
    for (int i = 0; i < n; i++) {
        char name[128], desc[512];
        int name_len = sizeof name, desc_len = sizeof desc, verbosity, class, bind, readonly, continuous, atomic, back = -1;
        MPI_Datatype type;
        MPI_T_enum words;
        CHECK_EQ(MPI_T_pvar_get_info(i, name, &name_len, &verbosity, &class, &type, &words, desc, &desc_len, &bind, &readonly,
                                     &continuous, &atomic),
                 MPI_SUCCESS);
        CHECK(name_len == (int)strlen(name) + 1 && desc_len == (int)strlen(desc) + 1 && desc_len > 10);
        CHECK(type == MPI_UNSIGNED_LONG_LONG || (type == MPI_INT && words != MPI_T_ENUM_NULL && class == MPI_T_PVAR_CLASS_STATE));
        CHECK(bind == MPI_T_BIND_NO_OBJECT || bind == MPI_T_BIND_MPI_COMM || bind == MPI_T_BIND_MPI_WIN ||
              bind == MPI_T_BIND_MPI_FILE);
        CHECK_EQ(MPI_T_pvar_get_index(name, class, &back), MPI_SUCCESS);
        CHECK_EQ(back, i);
    }
}

/* Messages by path: sizes that leave no doubt which path they take.  Each rank sends to itself alone: nobody else's are counted. */
static void by_path(void)
{
    MPI_T_pvar_handle e0 = counter("sent_messages_e0"), e1 = counter("sent_messages_e1"), small[2];
    MPI_T_pvar_handle bytes = handle_of("sent_bytes_e1", MPI_T_PVAR_CLASS_AGGREGATE, NULL, 1);
    MPI_T_pvar_start(session, bytes);
    char out[1000] = "x", in[1000];
    MPI_Request r;
    for (int i = 0; i < 10; i++) {
        int len = i < 7 ? 8 : 1000;
        MPI_Irecv(in, 1000, MPI_CHAR, 0, i, MPI_COMM_SELF, &r);
        MPI_Send(out, len, MPI_CHAR, 0, i, MPI_COMM_SELF);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    CHECK_EQ(value_of(e0), 7);
    CHECK_EQ(value_of(e1), 3);
    CHECK_EQ(value_of(bytes), 3000);
    /* Handles are independent of each other: one more stands still, one is reset. */
    small[0] = handle_of("sent_messages_e0", MPI_T_PVAR_CLASS_COUNTER, NULL, 1);
    small[1] = counter("sent_messages_e0");
    MPI_Sendrecv(out, 1, MPI_CHAR, 0, 3, in, 1, MPI_CHAR, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK_EQ(value_of(small[0]), 0);
    CHECK_EQ(value_of(small[1]), 1);
    CHECK_EQ(value_of(e0), 8);
    CHECK_EQ(MPI_T_pvar_stop(session, e0), MPI_SUCCESS);
    MPI_Sendrecv(out, 1, MPI_CHAR, 0, 3, in, 1, MPI_CHAR, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK_EQ(value_of(e0), 8);
    CHECK_EQ(value_of(small[1]), 2);
    u64 v = 0;
    CHECK_EQ(MPI_T_pvar_readreset(session, small[1], &v), MPI_SUCCESS);
    CHECK_EQ(v, 2);
    CHECK_EQ(value_of(small[1]), 0);
    v = 100;
    CHECK_EQ(MPI_T_pvar_write(session, small[1], &v), MPI_SUCCESS);
    MPI_Sendrecv(out, 1, MPI_CHAR, 0, 3, in, 1, MPI_CHAR, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK_EQ(value_of(small[1]), 101);
    CHECK_EQ(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    CHECK_EQ(value_of(small[1]), 0);
    CHECK_EQ(value_of(e1), 0);
    CHECK_EQ(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    MPI_Sendrecv(out, 1, MPI_CHAR, 0, 3, in, 1, MPI_CHAR, 0, 3, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK_EQ(value_of(small[1]), 0);
    CHECK_EQ(MPI_T_pvar_handle_free(session, &small[0]), MPI_SUCCESS);
    CHECK(small[0] == MPI_T_PVAR_HANDLE_NULL);
}

/* What introduces a partitioned send goes in one line of a ring, but for what GODWIT_CHECK adds. */
static void introductions(void)
{
    MPI_T_pvar_handle e0 = counter("sent_messages_e0"), bytes = handle_of("sent_bytes_e0", MPI_T_PVAR_CLASS_AGGREGATE, NULL, 1);
    int out[4] = {1, 2, 3, 4}, in[4] = {0};
    MPI_Request r[2];
    if (getenv("GODWIT_CHECK")) return;
    MPI_T_pvar_start(session, bytes);
    MPI_Psend_init(out, 2, 2, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_INFO_NULL, &r[0]);
    MPI_Precv_init(in, 2, 2, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_INFO_NULL, &r[1]);
    CHECK_EQ(value_of(e0), 1);
    CHECK(value_of(bytes) <= 24);
    MPI_Startall(2, r);
    MPI_Pready_range(0, 1, r[0]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    CHECK_EQ(memcmp(in, out, sizeof in), 0);
    MPI_Request_free(&r[0]), MPI_Request_free(&r[1]);
}

/* Large messages: R0 or R1, as the machine allows, to the next rank, seen at its place of the communicator. */
static void by_peer(void)
{
    enum { BIG = 1 << 20 };
    MPI_Comm c;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &c); /* the other way round */
    int me = size - 1 - rank, to = (me + 1) % size, from = (me + size - 1) % size;
    MPI_T_pvar_handle h[2], b[2];
    static const char *const names[] = {"peer_messages_r0", "peer_messages_r1"},
                             *const bytes[] = {"peer_bytes_r0", "peer_bytes_r1"};
    for (int k = 0; k < 2; k++) {
        h[k] = handle_of(names[k], MPI_T_PVAR_CLASS_COUNTER, &c, size);
        b[k] = handle_of(bytes[k], MPI_T_PVAR_CLASS_AGGREGATE, &c, size);
    }
    CHECK_EQ(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    char *out = calloc(BIG, 1), *in = malloc(BIG);
    MPI_Sendrecv(out, BIG, MPI_CHAR, to, 0, in, BIG, MPI_CHAR, from, 0, c, MPI_STATUS_IGNORE);
    u64 *v[4];
    for (int k = 0; k < 4; k++) {
        v[k] = calloc((size_t)size, sizeof **v);
        CHECK_EQ(MPI_T_pvar_read(session, k < 2 ? h[k] : b[k - 2], v[k]), MPI_SUCCESS);
    }
    for (int i = 0; i < size; i++) {
        CHECK_EQ(v[0][i] + v[1][i], i == to);
        CHECK_EQ(v[2][i] + v[3][i], i == to ? BIG : 0);
    }
    for (int k = 0; k < 4; k++) free(v[k]);
    free(out), free(in);
    MPI_Comm gone = c;
    MPI_Comm_free(&c);
    u64 *w = calloc((size_t)size, sizeof *w);
    CHECK_EQ(MPI_T_pvar_read(session, h[0], w), MPI_T_ERR_INVALID_HANDLE); /* its communicator is no more */
    free(w);
    int count;
    MPI_T_pvar_handle none;
    CHECK_EQ(MPI_T_pvar_handle_alloc(session, index_of("peer_bytes_e0", MPI_T_PVAR_CLASS_AGGREGATE), &gone, &none, &count),
             MPI_T_ERR_INVALID_HANDLE);
}

/* Two early messages of 100 and 200 bytes, then their receives. */
static void early_messages(void)
{
    MPI_T_pvar_handle now = handle_of("unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, NULL, 1);
    MPI_T_pvar_handle bytes = handle_of("unexpected_bytes", MPI_T_PVAR_CLASS_LEVEL, NULL, 1);
    MPI_T_pvar_handle posted = handle_of("posted_receives", MPI_T_PVAR_CLASS_LEVEL, NULL, 1);
    u64 before = value_of(now), before_bytes = value_of(bytes), waiting = value_of(posted);
    MPI_T_pvar_handle most = handle_of("unexpected_bytes_max", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL, 1);
    MPI_T_pvar_handle came = counter("unexpected_arrivals"),
                      copied = handle_of("unexpected_copied", MPI_T_PVAR_CLASS_AGGREGATE, NULL, 1);
    MPI_T_pvar_start(session, copied);
    char out[200] = "", in[200];
    int flag = 0;
    MPI_Status st;
    CHECK_EQ(value_of(most), before_bytes);
    for (int i = 1; i <= 2; i++) MPI_Send(out, 100 * i, MPI_CHAR, 0, i, MPI_COMM_SELF);
    while (!flag) MPI_Iprobe(0, 2, MPI_COMM_SELF, &flag, &st);
    CHECK_EQ(value_of(now) - before, 2);
    CHECK_EQ(value_of(bytes) - before_bytes, 300);
    CHECK_EQ(value_of(came), 2);
    CHECK_EQ(value_of(copied), 300);
    for (int i = 1; i <= 2; i++) MPI_Recv(in, 200, MPI_CHAR, 0, i, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK_EQ(value_of(now), before);
    CHECK_EQ(value_of(bytes), before_bytes);
    CHECK_EQ(value_of(most), before_bytes + 300);
    CHECK_EQ(MPI_T_pvar_reset(session, most), MPI_SUCCESS);
    CHECK_EQ(value_of(most), before_bytes);
    MPI_Request r;
    MPI_Irecv(in, 200, MPI_CHAR, 0, 9, MPI_COMM_SELF, &r);
    CHECK_EQ(value_of(posted) - waiting, 1);
    MPI_Send(out, 1, MPI_CHAR, 0, 9, MPI_COMM_SELF);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(value_of(posted), waiting);
    u64 v = 5;
    CHECK_EQ(MPI_T_pvar_start(session, now), MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK_EQ(MPI_T_pvar_reset(session, now), MPI_T_ERR_PVAR_NO_WRITE);
    CHECK_EQ(MPI_T_pvar_write(session, now, &v), MPI_T_ERR_PVAR_NO_WRITE);
    CHECK_EQ(MPI_T_pvar_readreset(session, now, &v), MPI_T_ERR_PVAR_NO_ATOMIC);
}

/* The queues of one communicator, whatever waits on others: communicator i gets i + 1 messages, the last one large, and has i posted
 * receives that nothing matches. */
enum { COMMS = 4, SMALL = 100, LARGE = 300000 };
struct lengths {
    MPI_T_pvar_handle posted, messages, bytes;
};

static struct lengths lengths_of(MPI_Comm *c)
{
    return (struct lengths){handle_of("comm_posted_receives", MPI_T_PVAR_CLASS_LEVEL, c, 1),
                            handle_of("comm_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, c, 1),
                            handle_of("comm_unexpected_bytes", MPI_T_PVAR_CLASS_LEVEL, c, 1)};
}

static void check_lengths(const struct lengths *l, u64 posted, u64 messages, u64 bytes)
{
    CHECK_EQ(value_of(l->posted), posted);
    CHECK_EQ(value_of(l->messages), messages);
    CHECK_EQ(value_of(l->bytes), bytes);
}

static void queue_of(MPI_Comm c, int n, const struct lengths *l)
{
    static char out[LARGE];
    char *in = malloc(LARGE), unused[COMMS][SMALL];
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Request send[COMMS], never[COMMS];
    check_lengths(l, 0, 0, 0);
    MPI_Barrier(MPI_COMM_WORLD); /* no message before that */
    for (int i = 0; i < n; i++) MPI_Irecv(unused[i], SMALL, MPI_CHAR, i % 2 ? before : MPI_ANY_SOURCE, 90, c, &never[i]);
    for (int i = 0; i <= n; i++) MPI_Isend(out, i < n ? SMALL : LARGE, MPI_CHAR, next, i, c, &send[i]);
    MPI_Probe(before, n, c, MPI_STATUS_IGNORE); /* those before it are there, too */
    check_lengths(l, (u64)n, (u64)n + 1, (u64)(n * SMALL + LARGE));
    for (int i = n; i >= 0; i--) {
        MPI_Recv(in, LARGE, MPI_CHAR, before, i, c, MPI_STATUS_IGNORE);
        check_lengths(l, (u64)n, (u64)i, (u64)(i * SMALL));
    }
    for (int i = 0; i < n; i++) MPI_Cancel(&never[i]);
    MPI_Waitall(n, never, MPI_STATUSES_IGNORE);
    MPI_Waitall(n + 1, send, MPI_STATUSES_IGNORE);
    check_lengths(l, 0, 0, 0);
    free(in);
}

/* A thread of a tool, where MPI has no locks. */
static void *from_aside(void *arg)
{
    const struct lengths *l = arg;
    u64 v;
    CHECK_EQ(MPI_T_pvar_read(session, l->posted, &v), MPI_T_ERR_NOT_ACCESSIBLE);
    return NULL;
}

static void queues(void)
{
    MPI_Comm c[COMMS];
    MPI_Request stays[COMMS];
    struct lengths l[COMMS];
    int box[COMMS];
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &c[i]);
        l[i] = lengths_of(&c[i]);
        queue_of(c[i], i, &l[i]);
        for (int k = 0; k < i; k++) check_lengths(&l[k], 1, 0, 0);
        MPI_Irecv(&box[i], 1, MPI_INT, rank, 91, c[i], &stays[i]);
        check_lengths(&l[i], 1, 0, 0);
        MPI_Barrier(c[i]); /* the library's own messages do not count */
        check_lengths(&l[i], 1, 0, 0);
    }
    int level;
    pthread_t aside;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_MULTIPLE && !getenv("GODWIT_PROGRESS_THREAD")) {
        pthread_create(&aside, NULL, from_aside, &l[0]);
        pthread_join(aside, NULL);
    }
    u64 v = 0;
    CHECK_EQ(MPI_T_pvar_start(session, l[0].posted), MPI_T_ERR_PVAR_NO_STARTSTOP);
    CHECK_EQ(MPI_T_pvar_readreset(session, l[0].posted, &v), MPI_T_ERR_PVAR_NO_ATOMIC);
    CHECK_EQ(MPI_T_pvar_write(session, l[0].posted, &v), MPI_T_ERR_PVAR_NO_WRITE);
    for (int i = 0; i < COMMS; i++) {
        MPI_Send(&i, 1, MPI_INT, rank, 91, c[i]);
        MPI_Wait(&stays[i], MPI_STATUS_IGNORE);
        CHECK_EQ(box[i], i);
        MPI_Comm_free(&c[i]);
        CHECK_EQ(MPI_T_pvar_read(session, l[i].bytes, &v), MPI_T_ERR_INVALID_HANDLE);
    }
}

/* One thread reads the lengths of all communicators' queues while others use them. */
enum { ROUNDS = 200 };
static MPI_Comm own[COMMS];
static _Atomic int n_busy;
static void *use(void *arg)
{
    MPI_Comm c = *(MPI_Comm *)arg;
    char out[SMALL] = "", in[SMALL];
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request r;
        MPI_Send(out, SMALL, MPI_CHAR, 0, 1, c);
        MPI_Irecv(in, SMALL, MPI_CHAR, 0, 2, c, &r);
        MPI_Recv(in, SMALL, MPI_CHAR, 0, 1, c, MPI_STATUS_IGNORE);
        MPI_Send(out, SMALL, MPI_CHAR, 0, 2, c);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    n_busy--;
    return NULL;
}

static void queues_meanwhile(void)
{
    struct lengths l[COMMS];
    pthread_t user[COMMS];
    n_busy = COMMS;
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm_dup(MPI_COMM_SELF, &own[i]);
        l[i] = lengths_of(&own[i]);
    }
    for (int i = 0; i < COMMS; i++) pthread_create(&user[i], NULL, use, &own[i]);
    while (n_busy > 0)
        for (int i = 0; i < COMMS; i++)
            CHECK(value_of(l[i].posted) <= 2 && value_of(l[i].messages) <= 1 && value_of(l[i].bytes) % SMALL == 0);
    for (int i = 0; i < COMMS; i++) pthread_join(user[i], NULL);
    for (int i = 0; i < COMMS; i++) {
        check_lengths(&l[i], 0, 0, 0);
        MPI_Comm_free(&own[i]);
    }
}

static void collectives(void)
{
    MPI_Comm c = MPI_COMM_WORLD;
    MPI_T_pvar_handle begun = handle_of("comm_collectives", MPI_T_PVAR_CLASS_COUNTER, &c, 1);
    MPI_T_pvar_handle last = handle_of("comm_algorithm", MPI_T_PVAR_CLASS_STATE, &c, 1);
    int n = 0, algorithm = -1, i, value, len;
    char name[64], variable[80];
    MPI_T_pvar_start(session, begun);
    MPI_T_pvar_get_num(&n);
    u64 sum = 0;
    int x = 1, y;
    MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, c);
    MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, c);
    CHECK_EQ(MPI_T_pvar_read(session, last, &algorithm), MPI_SUCCESS);
    MPI_T_enum words;
    MPI_T_pvar_get_info(index_of("comm_algorithm", MPI_T_PVAR_CLASS_STATE), NULL, NULL, NULL, NULL, NULL, &words, NULL, NULL, NULL,
                        NULL, NULL, NULL);
    if (size > 1) {
        CHECK_EQ(value_of(begun), 2);
        len = sizeof name;
        CHECK_EQ(MPI_T_enum_get_item(words, algorithm, &value, name, &len), MPI_SUCCESS);
        CHECK(strncmp(name, "allreduce ", 10) == 0);
        name[9] = '_';
        snprintf(variable, sizeof variable, "coll_%s", name);
        MPI_T_pvar_handle uses = counter(variable);
        MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, c);
        CHECK_EQ(value_of(uses), 1);
        /* The state follows. */
        MPI_Barrier(c);
        MPI_T_pvar_read(session, last, &algorithm);
        len = sizeof name;
        MPI_T_enum_get_item(words, algorithm, &value, name, &len);
        CHECK(strncmp(name, "barrier ", 8) == 0);
    }
    (void)i, (void)sum;
}

static void windows(void)
{
    MPI_Win win;
    int *base, next = (rank + 1) % size, got = -1;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_T_pvar_handle on_win = handle_of("win_operations", MPI_T_PVAR_CLASS_COUNTER, &win, 1), puts = counter("rma_puts");
    MPI_T_pvar_handle gets = counter("rma_gets"), accs = counter("rma_accumulates");
    MPI_T_pvar_start(session, on_win);
    *base = 0;
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, next, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Accumulate(&size, 1, MPI_INT, next, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Get(&got, 1, MPI_INT, next, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK_EQ(got, rank + size);
    CHECK_EQ(value_of(on_win), 3);
    CHECK_EQ(value_of(puts), 1);
    CHECK_EQ(value_of(gets), 1);
    CHECK_EQ(value_of(accs), 1);
    MPI_Win_free(&win);
    u64 v;
    CHECK_EQ(MPI_T_pvar_read(session, on_win, &v), MPI_T_ERR_INVALID_HANDLE);
}

/* A rank that waits long sleeps: rank 0 keeps the others waiting. */
static void sleeping(void)
{
    MPI_T_pvar_handle sleeps = counter("sleeps"), ns = handle_of("sleep_ns", MPI_T_PVAR_CLASS_TIMER, NULL, 1),
                      waits = counter("waits_long");
    MPI_T_pvar_start(session, ns);
    int mine = 0, all = 0;
    for (int i = 0; i < 50 && !all; i++) { /* on a busy machine the others may not run meanwhile, and then do not wait */
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) usleep(100000);
        MPI_Barrier(MPI_COMM_WORLD);
        mine = rank == 0 || (value_of(waits) > 0 && value_of(sleeps) > 0 && value_of(ns) > 0);
        MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    }
    CHECK(mine);
}

static void wrong_ones(void)
{
    MPI_T_pvar_session other;
    MPI_T_pvar_handle h = counter("sleeps"), none;
    int i, count;
    u64 v;
    CHECK_EQ(MPI_T_pvar_session_create(&other), MPI_SUCCESS);
    CHECK_EQ(MPI_T_pvar_read(other, h, &v), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, &v), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_read(session, MPI_T_PVAR_HANDLE_NULL, &v), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_session_free(&other), MPI_SUCCESS);
    CHECK(other == MPI_T_PVAR_SESSION_NULL);
    CHECK_EQ(MPI_T_pvar_session_free(&other), MPI_T_ERR_INVALID_SESSION);
    CHECK_EQ(MPI_T_pvar_start(MPI_T_PVAR_SESSION_NULL, h), MPI_T_ERR_INVALID_SESSION);
    CHECK_EQ(MPI_T_pvar_get_index("sleeps", MPI_T_PVAR_CLASS_TIMER, &i), MPI_T_ERR_INVALID_NAME);
    CHECK_EQ(MPI_T_pvar_handle_alloc(session, 100000, NULL, &none, &count), MPI_T_ERR_INVALID_INDEX);
}

/* Of one file: another one does not count, but for all of the process. */
static void files(void)
{
    MPI_File f[2], none = MPI_FILE_NULL;
    char name[64], out[500] = "", in[500];
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "tool_pvars.%d.%d.%d.tmp", size, rank, i);
        if (MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f[i]))
            abort();
    }
    MPI_T_pvar_handle wrote = handle_of("file_write_bytes", MPI_T_PVAR_CLASS_AGGREGATE, &f[0], 1),
                      read = handle_of("file_read_bytes", MPI_T_PVAR_CLASS_AGGREGATE, &f[0], 1),
                      alone = handle_of("file_write_calls", MPI_T_PVAR_CLASS_COUNTER, &f[0], 1),
                      together = handle_of("file_read_collectives", MPI_T_PVAR_CLASS_COUNTER, &f[0], 1),
                      system = handle_of("file_write_system_calls", MPI_T_PVAR_CLASS_COUNTER, &f[0], 1),
                      of_all = handle_of("file_written", MPI_T_PVAR_CLASS_AGGREGATE, NULL, 1), never;
    CHECK_EQ(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
    for (int i = 0; i < 3; i++) MPI_File_write_at(f[0], 100 * i, out, 100, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_write_at(f[1], 0, out, 500, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(f[0], 0, in, 150, MPI_CHAR, MPI_STATUS_IGNORE);
    CHECK_EQ(value_of(wrote), 300);
    CHECK_EQ(value_of(read), 150);
    CHECK_EQ(value_of(alone), 3);
    CHECK_EQ(value_of(together), 1);
    CHECK_EQ(value_of(system), 3);
    CHECK_EQ(value_of(of_all), 800);
    MPI_Request r;
    MPI_File_iread_at_all(f[0], 0, in, 300, MPI_CHAR, &r); /* collective, though this rank goes for itself */
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK_EQ(value_of(together), 2);
    CHECK_EQ(value_of(read), 450);
    MPI_File_close(&f[0]), MPI_File_close(&f[1]);
    u64 v;
    int count;
    CHECK_EQ(MPI_T_pvar_read(session, wrote, &v), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_pvar_handle_alloc(session, index_of("file_write_bytes", MPI_T_PVAR_CLASS_AGGREGATE), &none, &never, &count),
             MPI_T_ERR_INVALID_HANDLE);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    every_one();
    CHECK_EQ(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
    MPI_T_pvar_handle early = counter("sent_messages_e0"); /* before MPI has started */
    CHECK_EQ(value_of(early), 0);
    int threads = argc > 1 && strcmp(argv[1], "threads") == 0;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    test_begin();
    CHECK_EQ(MPI_T_pvar_handle_free(session, &early), MPI_SUCCESS);
    queues();
    if (threads) {
        queues_meanwhile();
        MPI_T_pvar_session_free(&session);
        int failed = test_end();
        MPI_T_finalize();
        return failed || failures;
    }
    by_path();
    introductions();
    by_peer();
    /* The library's own messages to a rank count too: rank after rank, while the others can only wait for it. */
    for (int turn = 0; turn < size; turn++) {
        if (turn == rank) early_messages();
        for (int to = 0; turn == rank && to < size; to++)
            if (to != rank) MPI_Send(NULL, 0, MPI_CHAR, to, 4, MPI_COMM_WORLD);
        if (turn != rank) MPI_Recv(NULL, 0, MPI_CHAR, turn, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    collectives();
    windows();
    files();
    sleeping();
    wrong_ones();
    CHECK_EQ(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
    int rc = test_end();
    MPI_T_finalize();
    return rc || failures;
}
