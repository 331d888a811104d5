/* event.c -- events and their listeners.
 *
 * An event is told where it happens, in the thread in which it happens, to the listeners whose registration is for what that
 * place needs: where a lock is held, those who promised to call nothing but MPI_T_ (with threads of the program: to be
 * thread-safe too); on a thread of the library, those who promised to be thread-safe.  Nothing is stored, so a listener that
 * promised less has missed it, and its dropped-handler is told so at once.  What a listener itself causes is dropped too, and so is what comes for more registrations than LISTENERS: their dropped-handlers are told how many when
 * the listeners have returned.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "tool/tool_private.h"
#include "base/base.h"
#include "base/event.h"
#include "base/lock.h"
#include "base/time.h"

#include <stdlib.h>
#include <unistd.h>

enum { ELEMENTS = 4, SAFETIES = 4, LISTENERS = 16 };
static const int safeties[SAFETIES] = {GW_T_CB_REQUIRE_NONE, GW_T_CB_REQUIRE_MPI_RESTRICTED, GW_T_CB_REQUIRE_THREAD_SAFE,
                                       GW_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};

static const struct {
    const char *name, *text;
    int n, bind, category;
} kinds[GW_EVENTS] = {
    [GW_EVENT_UNEXPECTED] =
        {"unexpected_message",
         "A message of the program came before its receive: rank of the sender in the job, tag, context of its communicator, bytes",
         4, GW_T_BIND_NO_OBJECT, CAT_MESSAGES},
    [GW_EVENT_RENDEZVOUS] = {"rendezvous",
                             "A large message is fetched: rank of the sender in the job, tag, bytes, 1 if its memory may be read",
                             4, GW_T_BIND_NO_OBJECT, CAT_MESSAGES},
    [GW_EVENT_COLLECTIVE] = {"collective",
                             "An algorithm was chosen for a collective: context of the communicator, number of the "
                             "algorithm (as comm_algorithm), bytes, ranks",
                             4, GW_T_BIND_MPI_COMM, CAT_COLLECTIVES},
    [GW_EVENT_SLEPT] = {"slept", "A wait slept in the kernel: nanoseconds", 1, GW_T_BIND_NO_OBJECT, CAT_WAITING},
    [GW_EVENT_EPOCH] =
        {"window_epoch",
         "An epoch of a window begins or ends: number of the window, call (0 fence, 1 start, 2 complete, 3 post, 4 wait "
         "or test, 5 lock, 6 unlock, 7 lock_all, 8 unlock_all), target of a lock or -1, assertions",
         4, GW_T_BIND_MPI_WIN, CAT_ONE_SIDED},
    [GW_EVENT_FILE] =
        {"file_access",
         "An access to a file is over: number of the file, way (0 read, 1 write; 2 and 3: collective), bytes, nanoseconds", 4,
         GW_T_BIND_MPI_FILE, CAT_FILES},
};

struct tool_registration {
    struct tool_live live;
    int kind;
    uint32_t key;   /* the first value of events of its object: the context of a communicator, the id of other objects */
    int64_t missed; /* events that were dropped and not reported to its dropped-handler yet */
    struct {
        struct gw_callback fn;
        void *user_data;
    } listener[SAFETIES];
    struct gw_callback dropped, freed;
    void *freed_data;
    int busy; /* listeners that run at this moment */
    bool is_free;
};
struct tool_instance {
    struct tool_live live;
    const struct gw_event *event;
};
/* Under tool_lock. */
static struct {
    struct tool_live *registrations, *instances;
} alive;
/* The state of a thread: it runs a listener; it does so with locks of the library held. */
static _Thread_local struct {
    bool is_listening, is_confined;
} mine;
const struct tool_calls *tool_call_user;

/* ---- telling ---- */
struct call {
    struct tool_registration *r;
    struct gw_callback fn;
    void *user_data;
    int64_t dropped; /* number of dropped events; 0: the call is for an event */
};

/* The listener with the weakest promise of safety that is sufficient; -1: none. */
static int listener_for(const struct tool_registration *r, int from)
{
    for (int i = from; i < SAFETIES; i++)
        if (r->listener[i].fn.fn) return i;
    return -1;
}

static bool listens(const struct tool_registration *r, const struct gw_event *e)
{
    return !r->is_free && r->kind == (int)e->kind && (kinds[r->kind].bind == GW_T_BIND_NO_OBJECT || r->key == (uint32_t)e->v[0]) &&
        listener_for(r, 0) >= 0;
}

static int calls_find(const struct gw_event *e, int needs, struct call *calls)
{
    int n = 0;
    for (struct tool_live *l = alive.registrations; l; l = l->next) {
        struct tool_registration *r = container_of(l, struct tool_registration, live);
        if (!listens(r, e)) continue;
        int i = listener_for(r, needs);
        if (i < 0 && !r->dropped.fn) continue;
        if (mine.is_listening || n == LISTENERS) {
            r->missed++;
            continue;
        }
        r->busy++;
        calls[n++] =
            i < 0 ? (struct call){r, r->dropped, NULL, 1} : (struct call){r, r->listener[i].fn, r->listener[i].user_data, 0};
    }
    return n;
}

/* Collects the dropped-handlers that must be called. */
static int calls_missed(struct call *calls)
{
    int n = 0;
    for (struct tool_live *l = alive.registrations; l && n < LISTENERS; l = l->next) {
        struct tool_registration *r = container_of(l, struct tool_registration, live);
        if (r->missed == 0 || !r->dropped.fn) continue;
        r->busy++;
        calls[n++] = (struct call){r, r->dropped, NULL, r->missed};
        r->missed = 0;
    }
    return n;
}

/* True: the registration was freed and nothing uses it, so the caller frees it, without the lock.  The lock is held. */
static bool is_over(const struct tool_registration *r) { return r->is_free && r->busy == 0; }

static void registration_end(struct tool_registration *r)
{
    assert(is_over(r));
    if (r->freed.fn) tool_call_user->freed(&r->freed, r, GW_T_CB_REQUIRE_NONE, r->freed_data);
    free(r);
}

static void calls_make(struct call *calls, int n, struct tool_instance *it, int needs)
{
    mine.is_listening = true;
    for (struct call *c = calls; c < calls + n; c++) {
        if (c->dropped)
            tool_call_user->dropped(&c->fn, c->dropped, c->r, 0, safeties[needs], c->user_data);
        else
            tool_call_user->event(&c->fn, it, c->r, safeties[needs], c->user_data);
    }
    mine.is_listening = false;
    pthread_mutex_lock(&tool_lock);
    for (int i = 0; i < n; i++) {
        assert(calls[i].r->busy > 0);
        calls[i].r->busy--;
    }
    for (int i = 0; i < n; i++)
        if (!is_over(calls[i].r)) calls[i].r = NULL;
    pthread_mutex_unlock(&tool_lock);
    for (int i = 0; i < n; i++)
        if (calls[i].r) registration_end(calls[i].r);
}

/* What is told on a thread of the library comes besides what the program's threads do. */
static int needs_of(const struct gw_event *e)
{
    if (gw_threads && gw_thread_is_own(gettid())) return 2;
    return e->is_free ? 0 : gw_program_threads ? 2 : 1;
}

static void tell(const struct gw_event *e)
{
    struct tool_instance it = {.event = e};
    struct call calls[LISTENERS];
    int needs = needs_of(e);
    pthread_mutex_lock(&tool_lock);
    int n = calls_find(e, needs, calls);
    if (n) tool_live_add(&alive.instances, &it.live);
    pthread_mutex_unlock(&tool_lock);
    if (n == 0) return;
    mine.is_confined = !e->is_free;
    calls_make(calls, n, &it, needs);
    pthread_mutex_lock(&tool_lock);
    tool_live_del(&alive.instances, &it.live);
    n = calls_missed(calls);
    pthread_mutex_unlock(&tool_lock);
    calls_make(calls, n, NULL, needs);
    mine.is_confined = false;
}

bool tool_is_confined(void) { return mine.is_confined; }

_Static_assert(GW_EVENTS <= 32, "a bit of the mask each");
/* Updates the mask of event kinds with listeners.  The lock is held. */
static void mask_update(void)
{
    uint32_t mask = 0;
    for (struct tool_live *l = alive.registrations; l; l = l->next) {
        struct tool_registration *r = container_of(l, struct tool_registration, live);
        if (!r->is_free && listener_for(r, 0) >= 0) mask |= 1u << r->kind;
    }
    gw_upcalls.event = tell;
    atomic_store_explicit(&gw_event_mask, mask, memory_order_release);
}

/* ---- inquiries ---- */
int tool_event_category(int i) { return kinds[i].category; }

int tool_event_bind(int i) { return i >= 0 && i < GW_EVENTS ? kinds[i].bind : GW_T_BIND_NO_OBJECT; }

int tool_event_get_num(int *n_out)
{
    TOOL_READY();
    if (!n_out) return GW_T_ERR_INVALID;
    *n_out = GW_EVENTS;
    return 0;
}

int tool_event_get_index(const char *name, int *i_out)
{
    TOOL_READY();
    if (!name || !i_out) return GW_T_ERR_INVALID;
    for (int i = 0; i < GW_EVENTS; i++) {
        if (strcmp(kinds[i].name, name) != 0) continue;
        *i_out = i;
        return 0;
    }
    return GW_T_ERR_INVALID_NAME;
}

int tool_event_get_info(int i, char *name, int *name_len, int *verbosity_out, int64_t *displacements_out, int *n, char *desc,
                        int *desc_len, int *bind_out)
{
    TOOL_READY();
    if (i < 0 || i >= GW_EVENTS) return GW_T_ERR_INVALID_INDEX;
    tool_text(kinds[i].name, name, name_len);
    tool_text(kinds[i].text, desc, desc_len);
    tool_set(verbosity_out, GW_T_VERBOSITY_USER_DETAIL);
    tool_set(bind_out, kinds[i].bind);
    for (int k = 0; n && displacements_out && k < *n && k < kinds[i].n; k++) displacements_out[k] = k * (int64_t)sizeof(int64_t);
    tool_set(n, kinds[i].n);
    return 0;
}

int tool_source_get_num(int *n_out)
{
    TOOL_READY();
    if (!n_out) return GW_T_ERR_INVALID;
    *n_out = 1;
    return 0;
}

int tool_source_get_info(int i, char *name, int *name_len, char *desc, int *desc_len, int *is_ordered_out, int64_t *ticks_out,
                         int64_t *max_ticks_out)
{
    TOOL_READY();
    if (i != 0) return GW_T_ERR_INVALID_INDEX;
    tool_text("process", name, name_len);
    tool_text("This process; time is that of the monotonic clock, in nanoseconds", desc, desc_len);
    tool_set(is_ordered_out, !gw_threads);
    if (ticks_out) *ticks_out = 1000000000;
    if (max_ticks_out) *max_ticks_out = INT64_MAX;
    return 0;
}

int tool_source_get_timestamp(int i, int64_t *time_out)
{
    TOOL_READY();
    if (i != 0) return GW_T_ERR_INVALID_INDEX;
    if (!time_out) return GW_T_ERR_INVALID;
    *time_out = (int64_t)gw_now_ns();
    return 0;
}

/* ---- registrations ---- */
int tool_event_handle_alloc(int i, uint64_t object, struct tool_registration **r_out)
{
    TOOL_READY();
    if (i < 0 || i >= GW_EVENTS) return GW_T_ERR_INVALID_INDEX;
    if (!r_out) return GW_T_ERR_INVALID;
    if (!tool_object_lives(kinds[i].bind, object)) return GW_T_ERR_INVALID_HANDLE;
    struct tool_registration *r = calloc(1, sizeof *r);
    if (!r) return GW_T_ERR_OUT_OF_HANDLES;
    r->kind = i;
    r->key = kinds[i].bind == GW_T_BIND_MPI_COMM ? ((struct gw_comm *)gw_obj_lookup(object, GW_KIND_COMM))->ctx >> GW_STREAM_BITS
                                                 : (uint32_t)object;
    pthread_mutex_lock(&tool_lock);
    tool_live_add(&alive.registrations, &r->live);
    pthread_mutex_unlock(&tool_lock);
    *r_out = r;
    return 0;
}

int tool_event_handle_check(struct tool_registration *r)
{
    TOOL_READY();
    pthread_mutex_lock(&tool_lock);
    bool is_live = tool_is_live(alive.registrations, r);
    pthread_mutex_unlock(&tool_lock);
    return is_live ? 0 : GW_T_ERR_INVALID_HANDLE;
}

static int safety_index(int safety)
{
    for (int i = 0; i < SAFETIES; i++)
        if (safeties[i] == safety) return i;
    return -1;
}

/* A function of NULL removes the listener. */
int tool_event_register_callback(struct tool_registration *r, int safety, void *user_data, struct gw_callback fn)
{
    int i = safety_index(safety);
    TOOL_READY();
    if (i < 0) return GW_T_ERR_INVALID;
    pthread_mutex_lock(&tool_lock);
    bool is_live = tool_is_live(alive.registrations, r);
    if (is_live) {
        r->listener[i].fn = fn;
        r->listener[i].user_data = user_data;
        mask_update();
    }
    pthread_mutex_unlock(&tool_lock);
    return is_live ? 0 : GW_T_ERR_INVALID_HANDLE;
}

int tool_event_callback_check(struct tool_registration *r, int safety)
{
    int rc = tool_event_handle_check(r);
    return rc != 0 ? rc : safety_index(safety) < 0 ? GW_T_ERR_INVALID : 0;
}

int tool_event_set_dropped_handler(struct tool_registration *r, struct gw_callback fn)
{
    TOOL_READY();
    pthread_mutex_lock(&tool_lock);
    bool is_live = tool_is_live(alive.registrations, r);
    if (is_live) r->dropped = fn;
    pthread_mutex_unlock(&tool_lock);
    return is_live ? 0 : GW_T_ERR_INVALID_HANDLE;
}

int tool_event_handle_free(struct tool_registration *r, void *user_data, struct gw_callback fn)
{
    TOOL_READY();
    pthread_mutex_lock(&tool_lock);
    bool is_live = tool_is_live(alive.registrations, r), now = false;
    if (is_live) {
        r->is_free = true;
        r->freed = fn;
        r->freed_data = user_data;
        tool_live_del(&alive.registrations, &r->live);
        mask_update();
        now = is_over(r);
    }
    pthread_mutex_unlock(&tool_lock);
    if (now) registration_end(r);
    return is_live ? 0 : GW_T_ERR_INVALID_HANDLE;
}

/* ---- an event, from within its listener ---- */
static int event_of(struct tool_instance *it, struct gw_event *e_out)
{
    pthread_mutex_lock(&tool_lock);
    bool is_live = tool_is_live(alive.instances, it);
    if (is_live) *e_out = *it->event;
    pthread_mutex_unlock(&tool_lock);
    return is_live ? 0 : GW_T_ERR_INVALID_HANDLE;
}

int tool_event_read(struct tool_instance *it, int element, void *buf)
{
    struct gw_event e;
    TOOL_READY();
    int rc = event_of(it, &e);
    if (rc != 0) return rc;
    if (element < 0 || element >= kinds[e.kind].n) return GW_T_ERR_INVALID_INDEX;
    if (!buf) return GW_T_ERR_INVALID;
    memcpy(buf, &e.v[element], sizeof e.v[element]);
    return 0;
}

int tool_event_copy(struct tool_instance *it, void *buf)
{
    struct gw_event e;
    TOOL_READY();
    int rc = event_of(it, &e);
    if (rc != 0) return rc;
    if (!buf) return GW_T_ERR_INVALID;
    memcpy(buf, e.v, sizeof e.v[0] * (size_t)kinds[e.kind].n);
    return 0;
}

int tool_event_get_timestamp(struct tool_instance *it, int64_t *time_out)
{
    struct gw_event e;
    TOOL_READY();
    int rc = event_of(it, &e);
    if (rc != 0) return rc;
    if (!time_out) return GW_T_ERR_INVALID;
    *time_out = (int64_t)e.time_ns;
    return 0;
}

int tool_event_get_source(struct tool_instance *it, int *source_out)
{
    struct gw_event e;
    TOOL_READY();
    int rc = event_of(it, &e);
    if (rc != 0) return rc;
    if (!source_out) return GW_T_ERR_INVALID;
    *source_out = 0;
    return 0;
}
