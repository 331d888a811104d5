/* tool_events.c -- MPI_T: events reach those who listen, with their data, and who promised too little is told what it missed (MPI 4.1
 * section 15.3.8).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

static int events, dropped, freed, last_safety;
static MPI_Count last[4], last_time;
static MPI_T_event_registration last_registration;
static MPI_T_event_instance last_instance;

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
    CHECK(n >= 4);
    for (int i = 0; i < n; i++) {
        char name[64], desc[300];
        int name_len = sizeof name, desc_len = sizeof desc, verbosity, elements = 16, bind, back = -1;
        MPI_Datatype types[16];
        MPI_Aint displacements[16];
        MPI_T_enum words;
        MPI_Info info;
        CHECK_EQ(MPI_T_event_get_info(i, name, &name_len, &verbosity, types, displacements, &elements, &words, &info,
                                      desc, &desc_len, &bind),
                 MPI_SUCCESS);
        CHECK(elements >= 1 && elements <= 4);
        for (int k = 0; k < elements; k++)
            CHECK(types[k] == MPI_COUNT && displacements[k] == k * (MPI_Aint)sizeof(MPI_Count));
        CHECK(bind == MPI_T_BIND_NO_OBJECT || bind == MPI_T_BIND_MPI_COMM);
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
    CHECK_EQ(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, &one, on_event),
             MPI_SUCCESS);
    early_message(77);
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
    CHECK_EQ(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, &one, on_event),
             MPI_SUCCESS);
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
    CHECK_EQ(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &one, on_event),
             MPI_T_ERR_INVALID_HANDLE);
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
    int rc = test_end();
    MPI_T_finalize();
    return rc || failures;
}
