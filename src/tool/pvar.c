/* pvar.c -- the counters of the rooms as performance variables.
 *
 * The rooms count from the start of the process and never stop.  A handle of a counter, an aggregate or a timer has a value of its
 * own: what was counted while it was started, since it was reset.  Levels and states are what they are now; a high-water mark is
 * the highest level since the handle was made or reset.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tool/tool_private.h"
#include "base/base.h"
#include "base/count.h"
#include "base/lock.h"
#include "life/life.h"

#include <stdio.h>
#include <stdlib.h>

/* The source of a variable's value.  pvar.which selects one of its kind: a path, a level, a counter, an algorithm, a length of a
 * communicator's queues, or 2 * enum io_count + direction for files. */
enum source {
    SENT_MESSAGES,
    SENT_BYTES,
    PEER_MESSAGES,
    PEER_BYTES,
    POSTED,
    LEVEL,
    MARK,
    COUNTED,
    ALGORITHM_USES,
    COMM_COLLECTIVES,
    COMM_ALGORITHM,
    COMM_QUEUE,
    WIN_OPERATIONS,
    FILE_COUNT
};
enum { QUEUE_POSTED, QUEUE_MESSAGES, QUEUE_BYTES };
struct pvar {
    char name[48], text[160];
    int class, bind, verbosity, category;
    enum source from;
    int which;
};
enum { PVARS_ROOM = 160 };
/* The variables, in the order of their indices; made once, constant afterwards. */
static struct {
    pthread_once_t once;
    int n;
    struct pvar at[PVARS_ROOM];
} pvars = {.once = PTHREAD_ONCE_INIT};

/* ---- the table ---- */
static struct pvar *add(enum source from, int which, int class, int category, const char *name, const char *text)
{
    if (pvars.n == PVARS_ROOM) gw_die("there are more than %d performance variables", PVARS_ROOM);
    struct pvar *v = &pvars.at[pvars.n++];
    assert(name[0] && strlen(name) < sizeof v->name);
    *v = (struct pvar){.class = class,
                       .bind = GW_T_BIND_NO_OBJECT,
                       .verbosity = GW_T_VERBOSITY_USER_BASIC,
                       .category = category,
                       .from = from,
                       .which = which};
    snprintf(v->name, sizeof v->name, "%s", name);
    snprintf(v->text, sizeof v->text, "%s", text);
    return v;
}

static void add_paths(void)
{
    static const char *const paths[PROTO_PATHS] = {"e0", "e1", "r0", "r1"};
    static const char *const ways[PROTO_PATHS] = {"inline, in one line of the receiver's ring", "through the library's buffers",
                                                  "copied by the receiver out of the sender's memory",
                                                  "in pieces through the library's buffers"};
    static const struct {
        enum source from;
        int class;
        const char *name, *text;
    } kinds[] = {{SENT_MESSAGES, GW_T_PVAR_CLASS_COUNTER, "sent_messages", "Messages that went %s"},
                 {SENT_BYTES, GW_T_PVAR_CLASS_AGGREGATE, "sent_bytes", "Bytes of messages that went %s"},
                 {PEER_MESSAGES, GW_T_PVAR_CLASS_COUNTER, "peer_messages",
                  "To each rank of the communicator, on whatever communicator: messages that went %s"},
                 {PEER_BYTES, GW_T_PVAR_CLASS_AGGREGATE, "peer_bytes",
                  "To each rank of the communicator, on whatever communicator: bytes of messages that went %s"}};
    char name[48], text[160];
    for (size_t k = 0; k < GW_ARRAY_LEN(kinds); k++)
        for (int p = 0; p < PROTO_PATHS; p++) {
            const char *at = strstr(kinds[k].text, "%s");
            snprintf(name, sizeof name, "%s_%s", kinds[k].name, paths[p]);
            snprintf(text, sizeof text, "%.*s%s", (int)(at - kinds[k].text), kinds[k].text, ways[p]);
            struct pvar *v = add(kinds[k].from, p, kinds[k].class, CAT_MESSAGES, name, text);
            if (kinds[k].from >= PEER_MESSAGES) v->bind = GW_T_BIND_MPI_COMM;
        }
}

static void add_files(void)
{
    static const struct {
        int count, class;
        const char *name, *text;
    } rows[] = {{IO_CALLS_ALONE, GW_T_PVAR_CLASS_COUNTER, "calls", "Independent calls on the file that %s"},
                {IO_CALLS_ALL, GW_T_PVAR_CLASS_COUNTER, "collectives", "Collective calls on the file that %s"},
                {IO_SYSTEM_CALLS, GW_T_PVAR_CLASS_COUNTER, "system_calls", "System calls by which this rank %s it"},
                {IO_BYTES, GW_T_PVAR_CLASS_AGGREGATE, "bytes", "Bytes of the file that this rank itself %s"}};
    static const char *const ways[] = {"read", "write"}, *const past[] = {"read", "wrote"};
    char name[48], text[160];
    for (size_t k = 0; k < GW_ARRAY_LEN(rows) * 2; k++) {
        const char *at = strstr(rows[k / 2].text, "%s");
        snprintf(name, sizeof name, "file_%s_%s", ways[k % 2], rows[k / 2].name);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - rows[k / 2].text), rows[k / 2].text, past[k % 2], at + 2);
        add(FILE_COUNT, rows[k / 2].count * 2 + (int)(k % 2), rows[k / 2].class, CAT_FILES, name, text)->bind = GW_T_BIND_MPI_FILE;
    }
}

static void add_queues(void)
{
    static const struct {
        const char *name, *text;
    } rows[] = {[QUEUE_POSTED] = {"comm_posted_receives", "Receives of the program on the communicator that wait for a message"},
                [QUEUE_MESSAGES] = {"comm_unexpected_messages",
                                    "Messages of the program on the communicator held for which no receive is posted"},
                [QUEUE_BYTES] = {"comm_unexpected_bytes",
                                 "Bytes of the program's messages on the communicator held for which no receive is posted"}};
    _Static_assert(GW_ARRAY_LEN(rows) == QUEUE_BYTES + 1, "one each");
    for (int k = 0; k < (int)GW_ARRAY_LEN(rows); k++)
        add(COMM_QUEUE, k, GW_T_PVAR_CLASS_LEVEL, CAT_MESSAGES, rows[k].name, rows[k].text)->bind = GW_T_BIND_MPI_COMM;
}

static int counted_category(const char *name)
{
    return strncmp(name, "rma", 3) == 0 ? CAT_ONE_SIDED
        : strncmp(name, "fil", 3) == 0  ? CAT_FILES
        : strncmp(name, "cop", 3) == 0  ? CAT_COPIES
        : strncmp(name, "un", 2) == 0   ? CAT_MESSAGES
                                        : CAT_WAITING;
}

static void make(void)
{
    char name[48], text[160], algorithm[40];
    add_paths();
    add(POSTED, 0, GW_T_PVAR_CLASS_LEVEL, CAT_MESSAGES, "posted_receives", "Receives that wait for a message");
    add(LEVEL, GW_LEVEL_UNEXPECTED_MESSAGES, GW_T_PVAR_CLASS_LEVEL, CAT_MESSAGES, "unexpected_messages",
        "Messages held for which no receive is posted");
    add(MARK, GW_LEVEL_UNEXPECTED_MESSAGES, GW_T_PVAR_CLASS_HIGHWATERMARK, CAT_MESSAGES, "unexpected_messages_max",
        "The most messages that were held at once");
    add(LEVEL, GW_LEVEL_UNEXPECTED_BYTES, GW_T_PVAR_CLASS_LEVEL, CAT_MESSAGES, "unexpected_bytes",
        "Bytes of the messages held for which no receive is posted");
    add(MARK, GW_LEVEL_UNEXPECTED_BYTES, GW_T_PVAR_CLASS_HIGHWATERMARK, CAT_MESSAGES, "unexpected_bytes_max",
        "The most bytes of messages that were held at once");
    add_queues();
    static const int classes[] = {
        [GW_COUNTER] = GW_T_PVAR_CLASS_COUNTER, [GW_TIMER] = GW_T_PVAR_CLASS_TIMER, [GW_AGGREGATE] = GW_T_PVAR_CLASS_AGGREGATE};
    for (int i = 0; i < gw_counter_row_count; i++) {
        const struct gw_counter_row *r = &gw_counter_rows[i];
        add(COUNTED, i, classes[r->class], counted_category(r->name), r->name, r->text);
    }
    add(COMM_COLLECTIVES, 0, GW_T_PVAR_CLASS_COUNTER, CAT_COLLECTIVES, "comm_collectives",
        "Collectives that were begun on the communicator")
        ->bind = GW_T_BIND_MPI_COMM;
    add(COMM_ALGORITHM, 0, GW_T_PVAR_CLASS_STATE, CAT_COLLECTIVES, "comm_algorithm",
        "Algorithm of the last collective on the communicator")
        ->bind = GW_T_BIND_MPI_COMM;
    add(WIN_OPERATIONS, 0, GW_T_PVAR_CLASS_COUNTER, CAT_ONE_SIDED, "win_operations",
        "One-sided operations that this rank began on the window")
        ->bind = GW_T_BIND_MPI_WIN;
    add_files();
    for (int i = 0; i < coll_algorithms(); i++) {
        coll_algorithm_name(i, algorithm, sizeof algorithm);
        snprintf(text, sizeof text, "Collectives for which this algorithm was chosen: %s", algorithm);
        for (char *p = algorithm; *p; p++)
            if (*p == ' ') *p = '_';
        snprintf(name, sizeof name, "coll_%s", algorithm);
        add(ALGORITHM_USES, i, GW_T_PVAR_CLASS_COUNTER, CAT_COLLECTIVES, name, text)->verbosity = GW_T_VERBOSITY_TUNER_BASIC;
    }
}

static const struct pvar *pvar_at(int i)
{
    pthread_once(&pvars.once, make);
    return i >= 0 && i < pvars.n ? &pvars.at[i] : NULL;
}

static bool is_counting(const struct pvar *v)
{
    return v->class == GW_T_PVAR_CLASS_COUNTER || v->class == GW_T_PVAR_CLASS_AGGREGATE || v->class == GW_T_PVAR_CLASS_TIMER;
}

int tool_pvar_category(int i)
{
    const struct pvar *v = pvar_at(i);
    assert(v); /* the caller counts to tool_pvar_get_num() */
    return v->category;
}

int tool_pvar_bind(int i)
{
    const struct pvar *v = pvar_at(i);
    return v ? v->bind : GW_T_BIND_NO_OBJECT;
}

int tool_pvar_get_num(int *n_out)
{
    TOOL_READY();
    pvar_at(0);
    if (!n_out) return GW_T_ERR_INVALID;
    *n_out = pvars.n;
    return 0;
}

int tool_pvar_get_index(const char *name, int var_class, int *i_out)
{
    TOOL_READY();
    if (!name || !i_out) return GW_T_ERR_INVALID;
    pvar_at(0);
    for (int i = 0; i < pvars.n; i++) {
        if (pvars.at[i].class != var_class || strcmp(pvars.at[i].name, name) != 0) continue;
        *i_out = i;
        return 0;
    }
    return GW_T_ERR_INVALID_NAME;
}

int tool_pvar_get_info(int i, char *name, int *name_len, int *verbosity_out, int *class_out, enum tool_type *type_out,
                       struct tool_enum **enum_out, char *desc, int *desc_len, int *bind_out, int *readonly_out,
                       int *continuous_out, int *atomic_out)
{
    TOOL_READY();
    const struct pvar *v = pvar_at(i);
    if (!v) return GW_T_ERR_INVALID_INDEX;
    bool is_state = v->from == COMM_ALGORITHM;
    tool_text(v->name, name, name_len);
    tool_text(v->text, desc, desc_len);
    tool_set(verbosity_out, v->verbosity);
    tool_set(class_out, v->class);
    tool_set(bind_out, v->bind);
    tool_set(readonly_out, !is_counting(v) && v->from != MARK);
    tool_set(continuous_out, !is_counting(v));
    tool_set(atomic_out, is_counting(v) || v->from == MARK);
    if (type_out) *type_out = is_state ? TOOL_INT : TOOL_U64;
    if (enum_out) *enum_out = is_state ? &tool_algorithms : NULL;
    return 0;
}

/* ---- sessions and handles ---- */
struct tool_pvar_handle {
    struct tool_live live;
    struct tool_pvar_handle *next; /* of the session */
    const struct pvar *v;
    uint64_t object;
    int count, mark; /* mark: number of the level's mark, if from == MARK */
    bool is_started;
    uint64_t *value, *base; /* [count] of counters: the value so far, and the count of the room at the last update */
};
struct tool_pvar_session {
    struct tool_live live;
    struct tool_pvar_handle *handles;
};
/* Under tool_lock. */
static struct {
    struct tool_live *handles, *sessions;
} alive;

int tool_pvar_session_create(struct tool_pvar_session **s_out)
{
    TOOL_READY();
    if (!s_out) return GW_T_ERR_INVALID;
    struct tool_pvar_session *s = calloc(1, sizeof *s);
    if (!s) return GW_T_ERR_OUT_OF_SESSIONS;
    pthread_mutex_lock(&tool_lock);
    tool_live_add(&alive.sessions, &s->live);
    pthread_mutex_unlock(&tool_lock);
    *s_out = s;
    return 0;
}

/* The lock is held, as in the functions below. */
static void handle_drop(struct tool_pvar_session *s, struct tool_pvar_handle *h)
{
    struct tool_pvar_handle **at = &s->handles;
    for (; *at != h; at = &(*at)->next) assert(*at);
    *at = h->next;
    tool_live_del(&alive.handles, &h->live);
    if (h->v->from == MARK) gw_level_unwatch(&gw_levels[h->v->which], h->mark);
    free(h->value);
    free(h);
}

int tool_pvar_session_free(struct tool_pvar_session **s)
{
    TOOL_READY();
    if (!s) return GW_T_ERR_INVALID;
    pthread_mutex_lock(&tool_lock);
    bool is_live = tool_is_live(alive.sessions, *s);
    if (is_live) {
        while ((*s)->handles) handle_drop(*s, (*s)->handles);
        tool_live_del(&alive.sessions, &(*s)->live);
        free(*s);
        *s = NULL;
    }
    pthread_mutex_unlock(&tool_lock);
    return is_live ? 0 : GW_T_ERR_INVALID_SESSION;
}

static struct gw_comm *comm_of(uint64_t id) { return (struct gw_comm *)gw_obj_lookup(id, GW_KIND_COMM); }
static struct rma_win *win_of(uint64_t id) { return (struct rma_win *)gw_obj_lookup(id, GW_KIND_WIN); }

static struct gw_file *file_of(uint64_t id)
{
    struct gw_file *f = (struct gw_file *)gw_obj_lookup(id, GW_KIND_FILE);
    return f == &io_no_file ? NULL : f;
}

bool tool_object_lives(int bind, uint64_t object)
{
    return bind == GW_T_BIND_NO_OBJECT ||
        (bind == GW_T_BIND_MPI_COMM      ? comm_of(object) != NULL
             : bind == GW_T_BIND_MPI_WIN ? win_of(object) != NULL
                                         : file_of(object) != NULL);
}

/* Walks the queues at each read, so that messages need no counters.  The lane's lock is taken before tool_lock; in programs without locks
 * only the thread that uses MPI can read them. */
static int look_at_queue(const struct pvar *v, uint64_t object, uint64_t *out)
{
    struct proto_lengths n;
    const struct gw_comm *c = comm_of(object);
    if (!c) return GW_T_ERR_INVALID_HANDLE;
    if (tool_is_confined() || !life_may_lock()) return GW_T_ERR_NOT_ACCESSIBLE;
    gw_lock(&c->lane->lock);
    proto_lengths(c->lane, c->ctx, &n);
    gw_unlock(&c->lane->lock);
    *out = (uint64_t)(v->which == QUEUE_POSTED ? n.posted : v->which == QUEUE_MESSAGES ? n.messages : n.bytes);
    return 0;
}

/* The present counts of the rooms; not for COMM_QUEUE. */
static void look(const struct tool_pvar_handle *h, uint64_t *out)
{
    const struct pvar *v = h->v;
    const struct gw_comm *c = v->bind == GW_T_BIND_MPI_COMM ? comm_of(h->object) : NULL;
    struct proto_tally t;
    switch (v->from) {
    case SENT_MESSAGES:
    case SENT_BYTES:
        proto_sent_to(-1, &t);
        *out = v->from == SENT_BYTES ? t.bytes[v->which] : t.messages[v->which];
        break;
    case PEER_MESSAGES:
    case PEER_BYTES:
        assert(c && h->count == c->targets);
        for (int i = 0; i < h->count; i++) {
            proto_sent_to(group_world(comm_target_group(c), i), &t);
            out[i] = v->from == PEER_BYTES ? t.bytes[v->which] : t.messages[v->which];
        }
        break;
    case POSTED: *out = (uint64_t)proto_posted(); break;
    case LEVEL: *out = (uint64_t)atomic_load_explicit(&gw_levels[v->which].now, memory_order_relaxed); break;
    case MARK: *out = (uint64_t)atomic_load_explicit(&gw_levels[v->which].mark[h->mark], memory_order_relaxed); break;
    case COUNTED: *out = atomic_load_explicit(gw_counter_rows[v->which].counter, memory_order_relaxed); break;
    case ALGORITHM_USES: *out = coll_algorithm_uses(v->which); break;
    case COMM_COLLECTIVES: *out = c->colls; break;
    case COMM_ALGORITHM: *out = c->chosen; break;
    case FILE_COUNT:
        *out = (uint64_t)atomic_load_explicit(&file_of(h->object)->counts[v->which % 2][v->which / 2], memory_order_relaxed);
        break;
    case COMM_QUEUE: /* look_at_queue() */ break;
    case WIN_OPERATIONS: *out = atomic_load_explicit(&win_of(h->object)->n_ops, memory_order_relaxed); break;
    }
}

static struct tool_pvar_handle *handle_new(const struct pvar *v, uint64_t object)
{
    struct tool_pvar_handle *h = calloc(1, sizeof *h);
    if (!h) return NULL;
    *h = (struct tool_pvar_handle){.v = v, .object = object, .count = 1};
    if (v->from == PEER_MESSAGES || v->from == PEER_BYTES) h->count = comm_of(object)->targets;
    assert(h->count > 0);
    h->value = calloc((size_t)h->count * 2, sizeof *h->value);
    h->mark = v->from == MARK && h->value ? gw_level_watch(&gw_levels[v->which]) : 0;
    if (!h->value || h->mark < 0) {
        free(h->value);
        free(h);
        return NULL;
    }
    h->base = h->value + h->count;
    h->is_started = !is_counting(v);
    return h;
}

int tool_pvar_handle_alloc(struct tool_pvar_session *s, int i, uint64_t object, struct tool_pvar_handle **handle_out,
                           int *count_out)
{
    TOOL_READY();
    const struct pvar *v = pvar_at(i);
    if (!v) return GW_T_ERR_INVALID_INDEX;
    if (!handle_out || !count_out) return GW_T_ERR_INVALID;
    if (!tool_object_lives(v->bind, object)) return GW_T_ERR_INVALID_HANDLE;
    pthread_mutex_lock(&tool_lock);
    int rc = tool_is_live(alive.sessions, s) ? 0 : GW_T_ERR_INVALID_SESSION;
    struct tool_pvar_handle *h = rc == 0 ? handle_new(v, object) : NULL;
    if (rc == 0 && !h) rc = GW_T_ERR_OUT_OF_HANDLES;
    if (rc == 0) {
        h->next = s->handles;
        s->handles = h;
        tool_live_add(&alive.handles, &h->live);
        *handle_out = h;
        *count_out = h->count;
    }
    pthread_mutex_unlock(&tool_lock);
    return rc;
}

static bool belongs(const struct tool_pvar_session *s, const struct tool_pvar_handle *h)
{
    const struct tool_pvar_handle *k = s->handles;
    while (k && k != h) k = k->next;
    return k != NULL;
}

int tool_pvar_handle_free(struct tool_pvar_session *s, struct tool_pvar_handle **h)
{
    TOOL_READY();
    if (!h) return GW_T_ERR_INVALID;
    pthread_mutex_lock(&tool_lock);
    int rc = !tool_is_live(alive.sessions, s) ? GW_T_ERR_INVALID_SESSION : !belongs(s, *h) ? GW_T_ERR_INVALID_HANDLE : 0;
    if (rc == 0) handle_drop(s, *h);
    pthread_mutex_unlock(&tool_lock);
    if (rc == 0) *h = NULL;
    return rc;
}

/* ---- what is done with a handle ---- */
enum action { START, STOP, RESET, READ, READRESET, WRITE };

static void gather(struct tool_pvar_handle *h)
{
    assert(is_counting(h->v) && h->count > 0);
    if (!h->is_started) return;
    uint64_t *now = gw_xmalloc(sizeof *now * (size_t)h->count);
    look(h, now);
    for (int i = 0; i < h->count; i++) {
        h->value[i] += now[i] - h->base[i];
        h->base[i] = now[i];
    }
    free(now);
}

static void read_out(struct tool_pvar_handle *h, void *buf)
{
    uint64_t now;
    if (is_counting(h->v)) {
        gather(h);
        memcpy(buf, h->value, sizeof *h->value * (size_t)h->count);
        return;
    }
    assert(h->count == 1);
    look(h, &now);
    if (h->v->from == COMM_ALGORITHM)
        *(int *)buf = (int)now;
    else
        memcpy(buf, &now, sizeof now);
}

static int reset(struct tool_pvar_handle *h)
{
    if (h->v->from == MARK) {
        gw_level_reset(&gw_levels[h->v->which], h->mark);
        return 0;
    }
    if (!is_counting(h->v)) return GW_T_ERR_PVAR_NO_WRITE;
    gather(h);
    memset(h->value, 0, sizeof *h->value * (size_t)h->count);
    return 0;
}

static int write_in(struct tool_pvar_handle *h, const void *buf)
{
    uint64_t v;
    if (h->v->from == MARK) {
        memcpy(&v, buf, sizeof v);
        atomic_store_explicit(&gw_levels[h->v->which].mark[h->mark], (int64_t)v, memory_order_relaxed);
        return 0;
    }
    if (!is_counting(h->v)) return GW_T_ERR_PVAR_NO_WRITE;
    gather(h);
    memcpy(h->value, buf, sizeof *h->value * (size_t)h->count);
    return 0;
}

static int do_one(struct tool_pvar_handle *h, enum action what, void *out, const void *in)
{
    if (!tool_object_lives(h->v->bind, h->object)) return GW_T_ERR_INVALID_HANDLE;
    bool can_stop = is_counting(h->v), can_reset = can_stop || h->v->from == MARK;
    switch (what) {
    case START:
        if (!can_stop) return GW_T_ERR_PVAR_NO_STARTSTOP;
        if (!h->is_started) look(h, h->base);
        h->is_started = true;
        return 0;
    case STOP:
        if (!can_stop) return GW_T_ERR_PVAR_NO_STARTSTOP;
        gather(h);
        h->is_started = false;
        return 0;
    case RESET: return reset(h);
    case READ: read_out(h, out); return 0;
    case READRESET:
        if (!can_reset) return GW_T_ERR_PVAR_NO_ATOMIC;
        read_out(h, out);
        return reset(h);
    default: return write_in(h, in);
    }
}

static int act(struct tool_pvar_session *s, struct tool_pvar_handle *h, enum action what, void *out, const void *in)
{
    TOOL_READY();
    if ((what >= READ && h == TOOL_ALL_HANDLES)) return GW_T_ERR_INVALID_HANDLE;
    if ((what == READ || what == READRESET) && !out) return GW_T_ERR_INVALID;
    if (what == WRITE && !in) return GW_T_ERR_INVALID;
    const struct pvar *queue = NULL;
    uint64_t object = 0, length = 0;
    pthread_mutex_lock(&tool_lock);
    int rc = tool_is_live(alive.sessions, s) ? 0 : GW_T_ERR_INVALID_SESSION;
    if (rc == 0 && h == TOOL_ALL_HANDLES) {
        for (struct tool_pvar_handle *k = s->handles; k; k = k->next) do_one(k, what, NULL, NULL);
    } else if (rc == 0 && !belongs(s, h)) {
        rc = GW_T_ERR_INVALID_HANDLE;
    } else if (rc == 0 && what == READ && h->v->from == COMM_QUEUE) {
        queue = h->v;
        object = h->object;
    } else if (rc == 0) {
        rc = do_one(h, what, out, in);
    }
    pthread_mutex_unlock(&tool_lock);
    if (!queue) return rc;
    rc = look_at_queue(queue, object, &length);
    if (rc == 0) memcpy(out, &length, sizeof length);
    return rc;
}

int tool_pvar_start(struct tool_pvar_session *s, struct tool_pvar_handle *h) { return act(s, h, START, NULL, NULL); }
int tool_pvar_stop(struct tool_pvar_session *s, struct tool_pvar_handle *h) { return act(s, h, STOP, NULL, NULL); }
int tool_pvar_reset(struct tool_pvar_session *s, struct tool_pvar_handle *h) { return act(s, h, RESET, NULL, NULL); }
int tool_pvar_read(struct tool_pvar_session *s, struct tool_pvar_handle *h, void *buf) { return act(s, h, READ, buf, NULL); }
int tool_pvar_readreset(struct tool_pvar_session *s, struct tool_pvar_handle *h, void *buf)
{
    return act(s, h, READRESET, buf, NULL);
}
int tool_pvar_write(struct tool_pvar_session *s, struct tool_pvar_handle *h, const void *buf)
{
    return act(s, h, WRITE, NULL, buf);
}
