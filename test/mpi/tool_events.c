/* tool_events.c -- MPI_T: events reach the handlers with their data, and one whose buffer is too small learns how many it missed (MPI 4.1
 * section 15.3.8).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

static int events, dropped, freed, last_safety;
static MPI_Count last[4], last_time;
static MPI_T_event_registration last_registration;
static MPI_T_event_instance last_instance;

static MPI_T_pvar_session
    session; /* while there is one, the length of a queue is asked for in a callback that has locks around it */
static MPI_T_pvar_handle queue;

static void on_event(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *user_data)
{
    MPI_Count one = -1, now = -1;
    int source = -1;
    events += *(int *)user_data;
    last_registration = r;
    last_instance = e;
    last_safety = safety;
    CHECK_EQ(MPI_T_event_copy(e, last), MPI_SUCCESS);
    CHECK_EQ(MPI_T_event_read(e, 0, &one), MPI_SUCCESS);
    CHECK_EQ(one, last[0]);
    CHECK_EQ(MPI_T_event_read(e, 4, &one), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_event_get_timestamp(e, &last_time), MPI_SUCCESS);
    CHECK_EQ(MPI_T_event_get_source(e, &source), MPI_SUCCESS);
    CHECK_EQ(source, 0);
    CHECK_EQ(MPI_T_source_get_timestamp(source, &now), MPI_SUCCESS);
    CHECK(last_time > 0 && last_time <= now);
    unsigned long long length;
    if (session) CHECK_EQ(MPI_T_pvar_read(session, queue, &length), MPI_T_ERR_NOT_ACCESSIBLE);
}
static void on_dropped(MPI_Count count, MPI_T_event_registration r, int source, MPI_T_cb_safety safety, void *user_data)
{
    (void)safety, (void)user_data;
    dropped += (int)count;
    last_registration = r;
    CHECK_EQ(source, 0);
}
static void on_freed(MPI_T_event_registration r, MPI_T_cb_safety safety, void *user_data)
{
    (void)safety;
    freed += *(int *)user_data;
    last_registration = r;
}

static int index_of(const char *name)
{
    int i = -1;
    CHECK_EQ(MPI_T_event_get_index(name, &i), MPI_SUCCESS);
    return i;
}

/* Comes before its receive. */
static void early_message(int tag)
{
    char c = 'x';
    int flag = 0;
    MPI_Send(&c, 1, MPI_CHAR, 0, tag, MPI_COMM_SELF);
    while (!flag) MPI_Iprobe(0, tag, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(&c, 1, MPI_CHAR, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void every_one(void)
{
    int n = 0, sources = 0, order_is_known;
    CHECK_EQ(MPI_T_event_get_num(&n), MPI_SUCCESS);
    CHECK(n >= 6);
    for (int i = 0; i < n; i++) {
        char name[64], desc[300];
        int name_len = sizeof name, desc_len = sizeof desc, verbosity, elements = 16, bind, back = -1;
        MPI_Datatype types[16];
        MPI_Aint displacements[16];
        MPI_T_enum words;
        MPI_Info info;
        CHECK_EQ(MPI_T_event_get_info(i, name, &name_len, &verbosity, types, displacements, &elements, &words, &info, desc,
                                      &desc_len, &bind),
                 MPI_SUCCESS);
        CHECK(elements >= 1 && elements <= 4);
        for (int k = 0; k < elements; k++) CHECK(types[k] == MPI_COUNT && displacements[k] == k * (MPI_Aint)sizeof(MPI_Count));
        CHECK(bind == MPI_T_BIND_NO_OBJECT || bind == MPI_T_BIND_MPI_COMM || bind == MPI_T_BIND_MPI_WIN ||
              bind == MPI_T_BIND_MPI_FILE);
        CHECK_EQ(MPI_T_event_get_index(name, &back), MPI_SUCCESS);
        CHECK_EQ(back, i);
        MPI_Info_free(&info);
    }
    CHECK_EQ(MPI_T_source_get_num(&sources), MPI_SUCCESS);
    CHECK_EQ(sources, 1);
    char name[64];
    int len = sizeof name;
    MPI_T_source_order order;
    MPI_Count ticks = 0, most = 0, a = 0, b = 0;
    MPI_Info info;
    CHECK_EQ(MPI_T_source_get_info(0, name, &len, NULL, NULL, &order, &ticks, &most, &info), MPI_SUCCESS);
    order_is_known = order == MPI_T_SOURCE_ORDERED || order == MPI_T_SOURCE_UNORDERED;
    CHECK(order_is_known && ticks == 1000000000 && most > ticks);
    MPI_Info_free(&info);
    CHECK_EQ(MPI_T_source_get_timestamp(0, &a), MPI_SUCCESS);
    CHECK_EQ(MPI_T_source_get_timestamp(0, &b), MPI_SUCCESS);
    CHECK(b >= a && a > 0);
    CHECK_EQ(MPI_T_source_get_timestamp(1, &a), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_event_get_index("no such", &len), MPI_T_ERR_INVALID_NAME);
}

static void listening(void)
{
    MPI_T_event_registration r;
    MPI_Info info;
    int one = 1, ten = 10;
    CHECK_EQ(MPI_T_event_handle_alloc(index_of("unexpected_message"), NULL, MPI_INFO_NULL, &r), MPI_SUCCESS);
    early_message(1);
    CHECK_EQ(events, 0); /* registered, but nobody listens */
    CHECK_EQ(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, &one, on_event), MPI_SUCCESS);
    int i = -1, count;
    unsigned long long length = 7;
    MPI_Comm self = MPI_COMM_SELF;
    MPI_T_pvar_get_index("comm_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, &i);
    MPI_T_pvar_session_create(&session);
    CHECK_EQ(MPI_T_pvar_handle_alloc(session, i, &self, &queue, &count), MPI_SUCCESS);
    early_message(77);
    CHECK_EQ(MPI_T_pvar_read(session, queue, &length), MPI_SUCCESS);
    CHECK_EQ(length, 0);
    MPI_T_pvar_session_free(&session);
    CHECK_EQ(events, 1);
    CHECK(last_registration == r);
    CHECK_EQ(last[0], rank);
    CHECK_EQ(last[1], 77);
    CHECK_EQ(last[3], 1);
    CHECK(last_safety >= MPI_T_CB_REQUIRE_MPI_RESTRICTED);
    MPI_Count v;
    CHECK_EQ(MPI_T_event_read(last_instance, 0, &v), MPI_T_ERR_INVALID_HANDLE); /* gone with its callback */
    CHECK_EQ(MPI_T_event_handle_set_info(r, MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_EQ(MPI_T_event_handle_get_info(r, &info), MPI_SUCCESS);
    MPI_Info_free(&info);
    CHECK_EQ(MPI_T_event_callback_set_info(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL), MPI_SUCCESS);
    CHECK_EQ(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, &info), MPI_SUCCESS);
    MPI_Info_free(&info);
    /* No longer, but for one that promises too little: it has missed it. */
    CHECK_EQ(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, NULL, NULL), MPI_SUCCESS);
    CHECK_EQ(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &ten, on_event), MPI_SUCCESS);
    CHECK_EQ(MPI_T_event_set_dropped_handler(r, on_dropped), MPI_SUCCESS);
    last_registration = NULL;
    early_message(2);
    early_message(3);
    CHECK_EQ(events, 1);
    CHECK_EQ(dropped, 2);
    CHECK(last_registration == r);
    /* The weakest promise that is enough. */
    CHECK_EQ(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, &one, on_event), MPI_SUCCESS);
    early_message(4);
    CHECK_EQ(events, 2);
    CHECK_EQ(dropped, 2);
    last_registration = NULL;
    CHECK_EQ(MPI_T_event_handle_free(r, &ten, on_freed), MPI_SUCCESS);
    CHECK_EQ(freed, 10);
    CHECK(last_registration == r);
    early_message(5);
    CHECK_EQ(events, 2);
    CHECK_EQ(MPI_T_event_handle_free(r, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &one, on_event), MPI_T_ERR_INVALID_HANDLE);
}

/* Of one communicator alone, with MPI inside the callback's reach. */
static void collectives(void)
{
    MPI_T_event_registration r;
    MPI_Comm mine, other;
    int one = 1, x = 1, y;
    if (size < 2) return;
    MPI_Comm_dup(MPI_COMM_WORLD, &mine);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Barrier(mine), MPI_Barrier(other);
    events = 0;
    CHECK_EQ(MPI_T_event_handle_alloc(index_of("collective"), &mine, MPI_INFO_NULL, &r), MPI_SUCCESS);
    CHECK_EQ(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &one, on_event), MPI_SUCCESS);
    MPI_Barrier(other);
    CHECK_EQ(events, 0);
    MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, mine);
    CHECK_EQ(events, 1);
    CHECK_EQ(last[2], (MPI_Count)sizeof(int));
    CHECK_EQ(last[3], size);
    CHECK_EQ(y, size);
    CHECK_EQ(MPI_T_event_handle_free(r, NULL, NULL), MPI_SUCCESS);
    MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, mine);
    CHECK_EQ(events, 1);
    MPI_Comm none = MPI_COMM_NULL;
    CHECK_EQ(MPI_T_event_handle_alloc(index_of("collective"), &none, MPI_INFO_NULL, &r), MPI_T_ERR_INVALID_HANDLE);
    MPI_Comm_free(&mine);
    MPI_Comm_free(&other);
}

/* A message too large for any buffer: its receiver fetches it. */
static void large_messages(void)
{
    enum { BIG = 1 << 20 };
    MPI_T_event_registration r;
    int one = 1, to = (rank + 1) % size, from = (rank + size - 1) % size;
    char *out = calloc(BIG, 1), *in = malloc(BIG);
    events = 0;
    MPI_T_event_handle_alloc(index_of("rendezvous"), NULL, MPI_INFO_NULL, &r);
    MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, &one, on_event);
    MPI_Sendrecv(out, BIG, MPI_CHAR, to, 6, in, BIG, MPI_CHAR, from, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(events, 1);
    CHECK_EQ(last[0], from);
    CHECK_EQ(last[1], 6);
    CHECK_EQ(last[2], BIG);
    MPI_T_event_handle_free(r, NULL, NULL);
    free(out), free(in);
}

/* Beginnings and ends of the epochs of one window, in order. */
enum { SEEN = 32 };
static int n_seen;
static MPI_Count seen[SEEN][4];
static void on_many(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *user_data)
{
    (void)r, (void)user_data;
    CHECK_EQ(safety, MPI_T_CB_REQUIRE_NONE);
    CHECK(n_seen < SEEN);
    if (n_seen < SEEN) CHECK_EQ(MPI_T_event_copy(e, seen[n_seen++]), MPI_SUCCESS);
}

static void epochs(void)
{
    static const int want[] = {0, 5, 6, 7, 8, 3, 1, 2, 4};
    MPI_T_event_registration r;
    MPI_Win win, other, none = MPI_WIN_NULL;
    int *base, next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &other);
    CHECK_EQ(MPI_T_event_handle_alloc(index_of("window_epoch"), &none, MPI_INFO_NULL, &r), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_event_handle_alloc(index_of("window_epoch"), &win, MPI_INFO_NULL, &r), MPI_SUCCESS);
    CHECK_EQ(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, on_many), MPI_SUCCESS);
    MPI_Group world, to, from;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &next, &to);
    MPI_Group_incl(world, 1, &before, &from);
    n_seen = 0;
    MPI_Win_fence(0, other);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win);
    MPI_Win_unlock(next, win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Win_unlock_all(win);
    MPI_Win_post(from, 0, win);
    MPI_Win_start(to, 0, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    CHECK_EQ(n_seen, (int)(sizeof want / sizeof *want));
    for (int i = 0; i < n_seen; i++) {
        CHECK_EQ(seen[i][0], seen[0][0]);
        CHECK_EQ(seen[i][1], want[i]);
        CHECK_EQ(seen[i][2], want[i] == 5 || want[i] == 6 ? next : -1);
        CHECK_EQ(seen[i][3], want[i] == 0 ? MPI_MODE_NOSUCCEED : want[i] == 7 ? MPI_MODE_NOCHECK : 0);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, other);
    MPI_Win_free(&win), MPI_Win_free(&other);
    MPI_T_event_handle_free(r, NULL, NULL);
    MPI_Group_free(&to), MPI_Group_free(&from), MPI_Group_free(&world);
}

static void files(void)
{
    MPI_T_event_registration r;
    MPI_File f;
    char name[64], out[300] = "", in[300];
    snprintf(name, sizeof name, "tool_events.%d.%d.tmp", size, rank);
    if (MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f)) abort();
    CHECK_EQ(MPI_T_event_handle_alloc(index_of("file_access"), &f, MPI_INFO_NULL, &r), MPI_SUCCESS);
    MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, on_many);
    n_seen = 0;
    MPI_File_write_at(f, 0, out, 300, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(f, 250, in, 300, MPI_CHAR, MPI_STATUS_IGNORE); /* behind 50 bytes is the end */
    CHECK_EQ(n_seen, 2);
    CHECK(seen[0][1] == 1 && seen[0][2] == 300 && seen[0][3] > 0);
    CHECK(seen[1][1] == 2 && seen[1][2] == 50 && seen[1][3] > 0);
    CHECK_EQ(seen[1][0], seen[0][0]);
    MPI_T_event_handle_free(r, NULL, NULL);
    MPI_File_close(&f);
}

static int confined; /* events that came from within progress */
static void on_either(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *user_data)
{
    (void)r, (void)user_data;
    confined += safety != MPI_T_CB_REQUIRE_NONE;
    CHECK(n_seen < SEEN);
    if (n_seen < SEEN) CHECK_EQ(MPI_T_event_copy(e, seen[n_seen++]), MPI_SUCCESS);
}

/* The events since the last call: `n` of this way with so many bytes each, on one file. */
static void check_accesses(int n, int way, MPI_Count bytes)
{
    CHECK_EQ(n_seen, n);
    for (int i = 0; i < n_seen; i++) {
        CHECK_EQ(seen[i][0], seen[0][0]);
        CHECK_EQ(seen[i][1], way);
        CHECK_EQ(seen[i][2], bytes);
        CHECK(seen[i][3] > 0);
    }
    n_seen = 0;
}

/* Accesses that are complete later: each is told by the time its request is complete, with what it moved. */
static void started_accesses(const char *buffering, const char *rep)
{
    enum { CELL = 80, ACCESSES = 3 };
    MPI_T_event_registration r;
    MPI_File f, other;
    MPI_Info info;
    MPI_Datatype cells;
    MPI_Request req[ACCESSES];
    char name[64], out[CELL], in[ACCESSES][CELL];
    double none;
    snprintf(name, sizeof name, "tool_events.%d.tmp", size);
    memset(out, 'a' + rank, sizeof out);
    MPI_Info_create(&info);
    MPI_Info_set(info, "romio_cb_write", buffering);
    MPI_Info_set(info, "romio_cb_read", buffering);
    if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &f)) abort();
    if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, info, &other)) abort();
    MPI_Type_create_resized(MPI_DOUBLE, 0, 8 * size, &cells);
    MPI_Type_commit(&cells);
    MPI_File_set_view(f, 8 * rank, MPI_DOUBLE, cells, rep, MPI_INFO_NULL);
    MPI_File_set_view(other, 8 * rank, MPI_DOUBLE, cells, rep, MPI_INFO_NULL);
    CHECK_EQ(MPI_T_event_handle_alloc(index_of("file_access"), &f, MPI_INFO_NULL, &r), MPI_SUCCESS);
    MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, on_either);
    MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, NULL, on_either);
    n_seen = confined = 0;
    for (int i = 0; i < ACCESSES; i++) MPI_File_iwrite_at_all(f, i * CELL / 8, out, CELL / 8, MPI_DOUBLE, &req[i]);
    MPI_Waitall(ACCESSES, req, MPI_STATUSES_IGNORE);
    check_accesses(ACCESSES, 3, CELL);
    CHECK_EQ(confined, size > 1 ? ACCESSES : 0); /* without buffers, too: the ranks tell each other whether all went well */
    MPI_File_iwrite_at_all(other, 0, out, CELL / 8, MPI_DOUBLE, &req[0]);
    MPI_Wait(&req[0], MPI_STATUS_IGNORE);
    check_accesses(0, 0, 0); /* another file */
    MPI_File_sync(f);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_seek(f, 0, MPI_SEEK_SET);
    for (int i = 0; i < ACCESSES; i++) {
        MPI_File_iread_all(f, in[i], CELL / 8, MPI_DOUBLE, &req[i]);
        MPI_Wait(&req[i], MPI_STATUS_IGNORE);
        CHECK_EQ(memcmp(in[i], out, CELL), 0);
        check_accesses(1, 2, CELL);
    }
    MPI_File_iread_at_all(f, ACCESSES * CELL / 8, &none, 1, MPI_DOUBLE, &req[0]); /* the end of the file */
    MPI_Wait(&req[0], MPI_STATUS_IGNORE);
    check_accesses(1, 2, 0);
    MPI_File_read_at_all_begin(f, 0, in[1], CELL / 8, MPI_DOUBLE);
    MPI_File_read_at_all_end(f, in[1], MPI_STATUS_IGNORE);
    CHECK_EQ(memcmp(in[1], out, CELL), 0);
    check_accesses(1, 2, CELL);
    MPI_File_write_all_begin(f, out, CELL / 8, MPI_DOUBLE);
    MPI_File_write_all_end(f, out, MPI_STATUS_IGNORE);
    check_accesses(1, 3, CELL);
    MPI_File_iread_at(f, 0, in[2], CELL / 8, MPI_DOUBLE, &req[0]);
    MPI_Wait(&req[0], MPI_STATUS_IGNORE);
    check_accesses(1, 0, CELL);
    MPI_T_event_handle_free(r, NULL, NULL);
    MPI_File_close(&other), MPI_File_close(&f);
    MPI_Type_free(&cells);
    MPI_Info_free(&info);
}

/* What a callback causes itself is dropped, and told when it has returned; so is what more listeners than there is room for miss. */
static MPI_Win nested_win;
static void on_nesting(MPI_T_event_instance e, MPI_T_event_registration r, MPI_T_cb_safety safety, void *user_data)
{
    (void)e, (void)r, (void)safety, (void)user_data;
    events++;
    CHECK_EQ(dropped, 0);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, nested_win);
    MPI_Win_unlock(0, nested_win);
}
static void missed(void)
{
    enum { MANY = 20 };
    MPI_T_event_registration r, many[MANY];
    int *base, one = 1, told = 0;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_SELF, &base, &nested_win);
    MPI_T_event_handle_alloc(index_of("window_epoch"), &nested_win, MPI_INFO_NULL, &r);
    MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, on_nesting);
    MPI_T_event_set_dropped_handler(r, on_dropped);
    events = dropped = 0;
    MPI_Win_fence(MPI_MODE_NOSUCCEED, nested_win);
    CHECK_EQ(events, 1);
    CHECK_EQ(dropped, 2);
    MPI_T_event_handle_free(r, NULL, NULL);
    for (int i = 0; i < MANY; i++) {
        MPI_T_event_handle_alloc(index_of("window_epoch"), &nested_win, MPI_INFO_NULL, &many[i]);
        MPI_T_event_register_callback(many[i], MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &one, on_event);
        MPI_T_event_set_dropped_handler(many[i], on_dropped);
    }
    events = dropped = 0;
    MPI_Win_fence(MPI_MODE_NOSUCCEED, nested_win);
    told = events + dropped;
    CHECK_EQ(told, MANY);
    CHECK(events >= 16);
    for (int i = 0; i < MANY; i++) MPI_T_event_handle_free(many[i], NULL, NULL);
    MPI_Win_free(&nested_win);
}

int main(int argc, char **argv)
{
    int provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    test_begin();
    every_one();
    listening();
    collectives();
    large_messages();
    epochs();
    files();
    started_accesses("automatic", "native");
    started_accesses("enable", "external32");
    started_accesses("disable", "native");
    missed();
    int rc = test_end();
    MPI_T_finalize();
    return rc || failures;
}
