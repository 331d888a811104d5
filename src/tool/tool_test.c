/* tool_test.c -- begin and end, strings, control variables, performance variables, categories, of a process that is a job by itself.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tool/tool_private.h"
#include "base/base.h"
#include "base/settings.h"

#include <stdlib.h>

#include "../../test/unit.h"

static void life(void)
{
    int n = -1, provided = -1;
    CHECK_EQ(tool_ready(), GW_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(tool_finalize(), GW_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(tool_cvar_get_num(&n), GW_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(n, -1);
    CHECK(tool_init_thread(GW_THREAD_MULTIPLE, &provided) == 0 && provided == GW_THREAD_MULTIPLE);
    CHECK(tool_init_thread(GW_THREAD_SINGLE, &provided) == 0 && provided == GW_THREAD_SINGLE);
    CHECK(tool_finalize() == 0 && tool_ready() == 0); /* once for each begin */
    CHECK(tool_finalize() == 0 && tool_ready() == GW_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(tool_init_thread(GW_THREAD_FUNNELED, NULL), 0);
}

/* At most *len - 1 characters and a 0; *len becomes what the whole needs. */
static void strings(void)
{
    const char *text = "twelve bytes";
    for (int room = 0; room < 16; room++) {
        char out[20];
        int len = room;
        memset(out, '#', sizeof out);
        tool_text(text, out, &len);
        CHECK_EQ(len, 13);
        int n = room > 12 ? 12 : room - 1;
        CHECK(room == 0 ? out[0] == '#' : memcmp(out, text, (size_t)n) == 0 && out[n] == 0);
        CHECK(out[room ? n + 1 : 0] == '#');
    }
    int len = 5;
    tool_text(text, NULL, &len);
    CHECK_EQ(len, 13);
    tool_text(text, NULL, NULL);
}

static int cvar(const char *name)
{
    int i = -1;
    CHECK_EQ(tool_cvar_get_index(name, &i), 0);
    return i;
}

/* Each has a name of its own, by which it is found, a description, and values that can be read. */
static void cvars(void)
{
    int n = 0, k = -1;
    CHECK(tool_cvar_get_num(&n) == 0 && n > 50);
    for (int i = 0; i < n; i++) {
        char name[64], desc[512], word[64], text[4096];
        int name_len = sizeof name, desc_len = sizeof desc, scope = -1, bind = -1, count = -1, words = 0;
        enum tool_type type;
        struct tool_enum *e = (void *)1;
        struct tool_cvar_handle *h = NULL;
        CHECK_EQ(tool_cvar_get_info(i, name, &name_len, NULL, &type, &e, desc, &desc_len, &bind, &scope), 0);
        CHECK(name_len == (int)strlen(name) + 1 && desc_len > 10 && bind == GW_T_BIND_NO_OBJECT);
        CHECK(scope == GW_T_SCOPE_LOCAL || scope == GW_T_SCOPE_ALL_EQ || scope == GW_T_SCOPE_CONSTANT);
        CHECK_EQ(cvar(name), i);
        CHECK(tool_cvar_handle_alloc(i, &h, &count) == 0 && (type == TOOL_CHAR ? count > 1 : count == 1));
        memset(text, 0, sizeof text);
        CHECK_EQ(tool_cvar_read(h, text), 0);
        if (e) {
            CHECK(type == TOOL_INT && tool_enum_get_info(e, &words, NULL, NULL) == 0 && words > 1);
            for (int w = 0; w < words; w++) {
                int value = -1, len = sizeof word;
                CHECK(tool_enum_get_item(e, w, &value, word, &len) == 0 && value == w && word[0]);
            }
            CHECK_EQ(tool_enum_get_item(e, words, NULL, NULL, NULL), GW_T_ERR_INVALID_INDEX);
        }
        CHECK(tool_cvar_handle_free(&h) == 0 && !h);
    }
    CHECK_EQ(tool_cvar_get_index("no_such_setting", &k), GW_T_ERR_INVALID_NAME);
    CHECK(k == -1 && tool_cvar_get_index(NULL, &k) == GW_T_ERR_INVALID);
    CHECK_EQ(tool_cvar_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), GW_T_ERR_INVALID_INDEX);
    CHECK_EQ(tool_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), GW_T_ERR_INVALID_INDEX);
}

static struct tool_cvar_handle *handle_of(const char *name)
{
    struct tool_cvar_handle *h = NULL;
    int count;
    CHECK_EQ(tool_cvar_handle_alloc(cvar(name), &h, &count), 0);
    return h;
}

/* Written before MPI starts they are settings as from the environment; afterwards only those may be that are looked at each time. */
static void writes(bool has_started)
{
    struct tool_cvar_handle *eager = handle_of("eager_max"), *cma = handle_of("cma_sure"), *args = handle_of("check_args"),
                            *warn = handle_of("hang_warn");
    struct tool_cvar_handle *stale = cma;
    int64_t v = 4711, was = gw_set.eager_max, back;
    int flag = 0;
    CHECK_EQ(tool_cvar_write(eager, &v), has_started ? GW_T_ERR_CVAR_SET_NOT_NOW : 0);
    CHECK_EQ(gw_set.eager_max, has_started ? was : 4711);
    CHECK(tool_cvar_read(eager, &back) == 0 && back == (has_started ? was : 4711));
    CHECK(tool_cvar_write(cma, &v) == 0 && gw_set.cma_sure == 4711);
    v = -5;
    CHECK(tool_cvar_write(cma, &v) == GW_T_ERR_INVALID && gw_set.cma_sure == 4711);
    CHECK_EQ(tool_cvar_write(warn, &v), GW_T_ERR_CVAR_SET_NEVER);
    CHECK(tool_cvar_write(args, &flag) == 0 && !gw_set.check_args);
    flag = 1;
    CHECK(tool_cvar_write(args, &flag) == 0 && gw_set.check_args && (!has_started || mpi_hot.check));
    CHECK_EQ(tool_cvar_write(args, NULL), GW_T_ERR_INVALID);
    CHECK(tool_cvar_handle_free(&eager) == 0 && tool_cvar_handle_free(&cma) == 0 && tool_cvar_handle_free(&args) == 0);
    CHECK_EQ(tool_cvar_handle_free(&stale), GW_T_ERR_INVALID_HANDLE); /* freed: looked for, not followed */
    CHECK_EQ(tool_cvar_read(stale, &back), GW_T_ERR_INVALID_HANDLE);
    CHECK_EQ(tool_cvar_handle_free(&warn), 0);
}

/* Every variable and event is in exactly one category, and all of those in the first. */
static void categories(void)
{
    int n = 0, counts[3] = {0}, have[3] = {0}, parts = 0, seen[1024] = {0};
    CHECK(tool_category_get_num(&n) == 0 && n == CATEGORIES);
    CHECK(tool_cvar_get_num(&counts[0]) == 0 && tool_pvar_get_num(&counts[1]) == 0 && tool_event_get_num(&counts[2]) == 0);
    for (int c = 0; c < n; c++) {
        char name[64];
        int len = sizeof name, found = -1, cvars = 0, pvars = 0, events = 0, inner = 0, list[1024];
        CHECK_EQ(tool_category_get_info(c, name, &len, NULL, NULL, &cvars, &pvars, &inner), 0);
        CHECK(tool_category_get_index(name, &found) == 0 && found == c && tool_category_get_num_events(c, &events) == 0);
        have[0] += cvars, have[1] += pvars, have[2] += events, parts += inner;
        list[cvars] = -7;
        CHECK_EQ(tool_category_get_cvars(c, cvars, list), 0);
        CHECK_EQ(list[cvars], -7);
        for (int i = 0; i < cvars; i++) CHECK(seen[list[i]]++ == 0);
        list[1] = -7; /* no more than there is room for */
        CHECK(tool_category_get_cvars(c, 1, list) == 0 && list[1] == -7);
        CHECK(c == CAT_ALL ? inner == n - 1 && tool_category_get_categories(c, 2, list) == 0 && list[0] == 1 && list[1] == 2
                           : inner == 0);
    }
    for (int k = 0; k < 3; k++) CHECK_EQ(have[k], counts[k]);
    CHECK_EQ(parts, n - 1);
    CHECK_EQ(tool_category_get_cvars(n, 0, NULL), GW_T_ERR_INVALID_INDEX);
    CHECK_EQ(tool_category_get_cvars(0, -1, NULL), GW_T_ERR_INVALID);
    CHECK_EQ(tool_category_get_index("elsewhere", &n), GW_T_ERR_INVALID_NAME);
}

/* ---- performance variables ---- */
static struct tool_pvar_handle *pvar(struct tool_pvar_session *s, const char *name, int class, uint64_t object)
{
    struct tool_pvar_handle *h = NULL;
    int i = -1, count = -1;
    CHECK_EQ(tool_pvar_get_index(name, class, &i), 0);
    CHECK_EQ(tool_pvar_handle_alloc(s, i, object, &h, &count), 0);
    CHECK_EQ(count, 1);
    return h;
}
static uint64_t value(struct tool_pvar_session *s, struct tool_pvar_handle *h)
{
    uint64_t v = UINT64_MAX;
    CHECK_EQ(tool_pvar_read(s, h, &v), 0);
    return v;
}
static void messages(int n, int tag) /* that nobody receives yet */
{
    char byte = 1;
    while (n-- > 0) CHECK_EQ(p2p_send(&byte, 1, gw_type_byte, 0, tag, &gw_comm_world), GW_OK);
    for (int i = 0; i < 8; i++) req_progress();
}
static void receive(int n, int tag)
{
    char byte;
    while (n-- > 0) CHECK_EQ(p2p_recv(&byte, 1, gw_type_byte, 0, tag, &gw_comm_world, NULL), GW_OK);
}

static void counters(struct tool_pvar_session *s)
{
    struct tool_pvar_handle *h = pvar(s, "sent_messages_e0", GW_T_PVAR_CLASS_COUNTER, 0);
    struct tool_pvar_handle *other = pvar(s, "sent_messages_e0", GW_T_PVAR_CLASS_COUNTER, 0);
    uint64_t v = 100;
    messages(3, 1);
    CHECK_EQ(value(s, h), 0); /* not started */
    CHECK_EQ(tool_pvar_start(s, h), 0);
    messages(4, 1);
    CHECK(value(s, h) == 4 && value(s, other) == 0);
    CHECK_EQ(tool_pvar_stop(s, h), 0);
    messages(5, 1);
    CHECK_EQ(value(s, h), 4);
    CHECK_EQ(tool_pvar_start(s, TOOL_ALL_HANDLES), 0);
    messages(2, 1);
    CHECK(value(s, h) == 6 && value(s, other) == 2);
    CHECK(tool_pvar_readreset(s, h, &v) == 0 && v == 6 && value(s, h) == 0);
    v = 100;
    CHECK_EQ(tool_pvar_write(s, h, &v), 0);
    messages(1, 1);
    CHECK_EQ(value(s, h), 101);
    CHECK(tool_pvar_reset(s, h) == 0 && value(s, h) == 0 && value(s, other) == 3);
    receive(15, 1);
    CHECK_EQ(tool_pvar_read(s, h, NULL), GW_T_ERR_INVALID);
    CHECK_EQ(tool_pvar_read(s, TOOL_ALL_HANDLES, &v), GW_T_ERR_INVALID_HANDLE);
}

static void levels(struct tool_pvar_session *s)
{
    struct tool_pvar_handle *now = pvar(s, "unexpected_messages", GW_T_PVAR_CLASS_LEVEL, 0);
    struct tool_pvar_handle *most = pvar(s, "unexpected_messages_max", GW_T_PVAR_CLASS_HIGHWATERMARK, 0);
    struct tool_pvar_handle *queue = pvar(s, "comm_unexpected_messages", GW_T_PVAR_CLASS_LEVEL, gw_comm_world.obj.id);
    uint64_t v;
    CHECK(value(s, now) == 0 && value(s, queue) == 0);
    messages(6, 2);
    CHECK(value(s, now) == 6 && value(s, most) == 6 && value(s, queue) == 6);
    receive(4, 2);
    CHECK(value(s, now) == 2 && value(s, most) == 6 && value(s, queue) == 2);
    CHECK_EQ(tool_pvar_reset(s, most), 0);
    CHECK_EQ(value(s, most), 2);
    CHECK_EQ(tool_pvar_start(s, now), GW_T_ERR_PVAR_NO_STARTSTOP);
    CHECK_EQ(tool_pvar_reset(s, now), GW_T_ERR_PVAR_NO_WRITE);
    CHECK_EQ(tool_pvar_readreset(s, now, &v), GW_T_ERR_PVAR_NO_ATOMIC);
    receive(2, 2);
    CHECK(value(s, now) == 0 && value(s, queue) == 0);
}

/* What is freed, of another session, or of an object that is gone is an error; a session takes its handles along. */
static void handles(struct tool_pvar_session *s)
{
    struct tool_pvar_session *other = NULL, *gone;
    struct tool_pvar_handle *h = pvar(s, "sent_messages_e1", GW_T_PVAR_CLASS_COUNTER, 0), *inner;
    int i = -1, count;
    uint64_t v;
    CHECK_EQ(tool_pvar_session_create(&other), 0);
    inner = pvar(other, "sent_messages_e1", GW_T_PVAR_CLASS_COUNTER, 0);
    CHECK_EQ(tool_pvar_read(other, h, &v), GW_T_ERR_INVALID_HANDLE);
    CHECK_EQ(tool_pvar_handle_free(other, &h), GW_T_ERR_INVALID_HANDLE);
    gone = other;
    CHECK(tool_pvar_session_free(&other) == 0 && !other);
    CHECK_EQ(tool_pvar_read(gone, inner, &v), GW_T_ERR_INVALID_SESSION);
    CHECK_EQ(tool_pvar_session_free(&gone), GW_T_ERR_INVALID_SESSION);
    CHECK_EQ(tool_pvar_get_index("comm_collectives", GW_T_PVAR_CLASS_COUNTER, &i), 0);
    CHECK_EQ(tool_pvar_get_index("comm_collectives", GW_T_PVAR_CLASS_LEVEL, &count), GW_T_ERR_INVALID_NAME);
    CHECK_EQ(tool_pvar_bind(i), GW_T_BIND_MPI_COMM);
    struct tool_pvar_handle *of = (void *)1;
    CHECK_EQ(tool_pvar_handle_alloc(s, i, 0x12345678, &of, &count), GW_T_ERR_INVALID_HANDLE);
    CHECK(of == (void *)1 && tool_pvar_handle_free(s, &h) == 0 && !h);
    struct gw_comm *c = NULL;
    CHECK_EQ(world_comm_dup(&gw_comm_world, &c), GW_OK);
    of = pvar(s, "comm_collectives", GW_T_PVAR_CLASS_COUNTER, c->obj.id);
    CHECK(tool_pvar_start(s, of) == 0 && coll_barrier(c, NULL) == GW_OK && value(s, of) >= 1);
    CHECK_EQ(world_comm_free(&c), GW_OK);
    CHECK_EQ(tool_pvar_read(s, of, &v), GW_T_ERR_INVALID_HANDLE);
}

int main(void)
{
    struct tool_pvar_session *s = NULL;
    int provided;
    setenv("GODWIT_SINGLETON", "1", 1);
    setenv("GODWIT_LANES", "1", 1);
    life();
    strings();
    cvars();
    writes(false);
    CHECK_EQ(mpi_init(GW_THREAD_SINGLE, &provided), GW_OK);
    cvars();
    writes(true);
    categories();
    CHECK_EQ(tool_pvar_session_create(&s), 0);
    counters(s);
    levels(s);
    handles(s);
    CHECK_EQ(tool_pvar_session_free(&s), 0);
    CHECK_EQ(mpi_finalize(), GW_OK);
    cvars();
    CHECK_EQ(tool_finalize(), 0);
    return unit_end();
}
