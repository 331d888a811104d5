/* check_private.h -- what the files of check/ share.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_CHECK_CHECK_PRIVATE_H
#define GW_CHECK_CHECK_PRIVATE_H

#include "check/check.h"

#include "base/base.h"
#include "base/lock.h"
#include "proto/proto.h"

/* ---- places and calls (check_place.c) ---- */
struct check_site {
    int fn;
    const void *from;
}; /* a call, and the address behind it in the program */
/* This thread: together, as where it lies is asked for several times a call. */
struct check_me {
    struct check_site now; /* the call that it is in, from check_enter() */
    int depth;             /* of calls that are looked at; check_thread.c */
    bool counts;
    int n_arrays; /* check_array.c */
};
extern _Thread_local struct check_me check_me;
enum { CHECK_SITE_TEXT = 320 };
/* "MPI_Isend at main+0x2a (heat.c:12)"; out: CHECK_SITE_TEXT bytes. */
const char *check_site_text(struct check_site s, char *out);
const char *check_call_name(int fn);
/* The same for another process, which may have the file elsewhere in memory: the place in the file, 0: unknown, and its name. */
enum { CHECK_MODULE_TEXT = 32 };
uint64_t check_site_pack(struct check_site s, char *module);
struct check_site check_site_unpack(int fn, uint64_t place, const char *module);
void check_place_begin(void);
const void *check_outside(const void *from); /* the nearest return address that is not in this library */

/* ---- findings (check_say.c) ---- */
void check_say(const char *fmt, ...) GW_PRINTF(1, 2) GW_COLD;
void check_remark(const char *fmt, ...) GW_PRINTF(1, 2) GW_COLD; /* about the check itself; no finding */
bool check_is_alone(void);
void check_say_alone(void); /* the last instance is over, but for what the program may still free */
/* The name of the communicator of a context on the wire; out: CHECK_COMM_TEXT bytes. */
const char *check_comm_name(uint32_t ctx, char *out);
enum { CHECK_COMM_TEXT = GW_MAX_OBJECT_NAME + 32 };
/* "the window NAME"; w NULL: one that was freed.  out: CHECK_WIN_TEXT bytes. */
const char *check_win_name(const struct rma_win *w, char *out);
enum { CHECK_WIN_TEXT = GW_MAX_OBJECT_NAME + 32 };

/* ---- types (check_type.c) ---- */
void check_type_begin(void);
/* The basic types of (count, t) are the first ones of (room, there), or there is no room for them, which is an error by itself. */
bool check_type_fits(int64_t count, struct gw_type *t, int64_t room, struct gw_type *there);

/* ---- buffers (check_span.c) ----
 * What a call may read or write of the program's memory, (buf, count, type). */
struct check_span {
    const void *buf;
    int64_t count;
    struct gw_type *type;
    uintptr_t lo, hi; /* bytes lie in [lo, hi); lo == hi: there are none */
    bool is_written;
    bool is_told;   /* that it lies over another one */
    bool owns_type; /* it was made for this span; else the caller's */
    int64_t each;   /* it is that of several calls, each of so many of the count; 0: of one */
    uint64_t *sums; /* of what is read, a number for each piece of the packed data; NULL: not taken */
    int64_t n_sums, piece;
};
struct check_span check_span(const void *buf, int64_t count, struct gw_type *t, bool is_written);
void check_span_drop(struct check_span *s);   /* one that is not given away */
void check_span_forget(struct check_span *s); /* its sums: from here on it may change */
/* Exactly; at: the first byte that they share. */
bool check_span_overlap(const struct check_span *a, const struct check_span *b, uintptr_t *at_out);
void check_span_sum(struct check_span *s); /* if it is only read */
/* of what is written too: the operation has been made, the program does not know it yet */
void check_span_sum_now(struct check_span *s);
/* The pieces of so many bytes, of *piece_out each, the last one perhaps less: at most CHECK_PIECES.  And their sums, of memory that can be read. */
enum { CHECK_PIECES = 64, CHECK_PIECE_MIN = 8 };
int64_t check_span_pieces_of(int64_t bytes, int64_t *piece_out);
static inline int64_t check_span_pieces(int64_t bytes, int64_t *piece_out)
{
    if (bytes > CHECK_PIECE_MIN) return check_span_pieces_of(bytes, piece_out);
    *piece_out = bytes;
    return bytes > 0;
}
void check_sum_pieces(const void *at, int64_t bytes, int64_t piece, uint64_t *sums_out);
void check_span_append_sums(struct check_span *s, const struct check_span *next); /* of pieces of the same size, all whole */
/* From here on this thread asks once only whether a page can be read, until it lets go: of many buffers that the library looks at in a row. */
void check_pages_hold(bool afresh); /* else what it knew before counts, too: of buffers that an operation has just used */
void check_pages_let_go(void);
bool check_can_read(const void *at, size_t n);                  /* mapped, and not protected */
uint64_t check_sum_bytes(uint64_t h, const void *at, size_t n); /* h: of what comes before, else CHECK_SEED */
enum { CHECK_SEED = 0x27220a95 };
static inline uint64_t check_sum_word(uint64_t h, uint64_t w)
{
    h = (h ^ w) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}
/* False: unchanged.  Else which bytes of the packed data, [from, to), as far as is known; *gone_out: the memory is not there any more, or protected. */
bool check_span_changed(const struct check_span *s, int64_t *from_out, int64_t *to_out, bool *gone_out);

/* ---- intervals of addresses, ordered (check_tree.c): what shares bytes with one of them is found without a look at all ---- */
struct check_node {
    uintptr_t lo, hi; /* [lo, hi), set by the caller before it is added */
};
struct check_tree {
    struct check_branch *v;
    size_t n, room;
    uintptr_t longest;
    struct check_leaf *spare; /* of a tree that has become empty */
};                            /* zeros: an empty one */
void check_tree_add(struct check_tree *t, struct check_node *n);
void check_tree_extend(struct check_tree *t, struct check_node *n, uintptr_t hi); /* one that is in it, to a larger hi */
void check_tree_remove(struct check_tree *t, struct check_node *n);               /* that is in it */
/* empties it and frees its memory, which an empty tree keeps some of; the nodes stay the caller's */
void check_tree_drop(struct check_tree *t);
const char *check_tree_broken(const struct check_tree *t); /* which invariant does not hold, NULL: all do */
/* Shows those that share bytes with [lo, hi), by address, until one is enough (true). */
typedef bool check_node_fn(struct check_node *n, void *arg);
bool check_tree_each(const struct check_tree *t, uintptr_t lo, uintptr_t hi, check_node_fn *fn, void *arg);

/* ---- ranges in order (check_sort.c) ---- */
struct check_range {
    uint64_t lo, with; /* with: what the caller wants */
};
void check_sort(struct check_range *v, size_t n); /* by lo; equal ones stay in their order */

/* ---- what the program holds (check_table.c) ----
 * An item for every handle that a call has made.  Those of requests also know what the operation may touch, and whether it does. */
enum { CHECK_SPANS = 3 };
struct check_array {
    const char *name;
    struct check_span span;
}; /* of counts, displacements or handles; the span has its sums */
struct check_item {
    struct check_item *next; /* in its bucket */
    uint32_t id;
    int32_t handles;                 /* given out and not freed */
    struct check_site made, started; /* started: of persistent requests, the last time */
    uint32_t ctx;                    /* requests of messages: on the wire, */
    int32_t rank, tag;               /* the peer; rank GW_UNDEFINED: not a message's */
    uint32_t owner;                  /* id of the window, file or partitioned request whose operation it is, to `rank`; 0: none */
    int32_t partitions;              /* the span is that of the first of so many; 0: the operation is not partitioned */
    int64_t n_calls;                 /* loose ones: of a loop that went along the buffers */
    bool is_loose;                   /* no handle: not in the table, lives as long as the spans are in use */
    int n_spans;
    struct check_span *spans; /* types are held, or owned; they lie behind the item, and then: */
    struct check_used {
        struct check_node node;
        struct check_item *item;
    } * used; /* of spans in use */
    struct check_link {
        struct check_item *next, **at;
        struct owed *of;
    } links[2];      /* in use, of the same owner: and rank; at NULL: not in use, or no owner */
    bool is_active;  /* the spans are in use now */
    bool is_receive; /* of one message, into the first span (check_recv.c) */
    bool is_ready;   /* persistent: of MPI_Rsend_init */
    bool is_cancelled;
    uint32_t running; /* receives: id of the request that a message meets, which is another one's of persistent ones */
    int n_arrays;
    struct check_array *arrays; /* that the call was given and that must not change; NULL: none */
};
extern struct gw_lock check_lock;                /* over the table and what hangs in it */
struct check_item *check_item_find(uint32_t id); /* locked; NULL: there is none */
struct check_item *check_item_new(int n_spans);  /* which the caller fills; not in the table */
struct check_item *check_item_add(uint32_t id, struct check_site made, int n_spans);
void check_item_drop(struct check_item *i);
void check_item_free(struct check_item *i); /* a loose one */
void check_items_free(void);
/* The next one in no order, NULL after the last; begin with *state 0. */
struct check_item *check_item_next(struct check_item *after, size_t *bucket);

/* ---- arrays that the call was given (check_array.c) ---- */
void check_arrays_begin(struct check_me *me); /* another call: those noted for the last one are not its */
void check_arrays_take(struct check_item *i); /* what check_array() noted in this call belongs to this request */
void check_arrays_look(struct check_item *i); /* tells the first one that has changed, once */
void check_arrays_drop(struct check_array *v, int n);

/* " to rank 3 with tag 5 on MPI_COMM_WORLD", or empty. */
enum { CHECK_ABOUT_TEXT = CHECK_COMM_TEXT + 96 };
const char *check_about_text(const struct check_item *i, char *out);

enum { CHECK_EVERYONE = -1 };
/* ---- operations by their owner (check_owed.c); with check_lock ---- */
struct check_item *check_owed_first(uint32_t owner, int32_t rank); /* rank: or CHECK_EVERYONE */
struct check_item *check_owed_any(void);
int64_t check_owed_calls(uint32_t owner, int32_t rank);
void check_owed_add(struct check_item *i);
void check_owed_more(struct check_item *i); /* it is that of one call more */
void check_owed_remove(struct check_item *i);

/* ---- buffers in use (check_use.c) ----
 * Before the call: do its buffers lie over others, pending ones or each other? */
void check_use_look(struct check_span *spans, int n); /* sets their is_told */
/* The same for what a collective receives from each of n members, or neighbours, among themselves.  types NULL: all of type t, displacements
 * in its extent; else in bytes. */
void check_use_blocks(const void *buf, int n, struct gw_counts counts, struct gw_counts displs, const struct gw_type *t,
                      struct gw_type **types);
/* After a call that started an operation: its request gets an item and the spans are in use.  *r may become another request: one that
 * is complete at once has no identity.  Spans of what is read: their sums are taken before the call, and given away with this one. */
struct check_about {
    struct gw_comm *comm;
    int rank, tag;
    uint32_t owner;
};
void check_use_track(struct gw_req **r, struct check_span *spans, int n, struct check_about about);
/* The same for a receive of one message. */
void check_use_track_receive(struct gw_req **r, struct check_span *span, struct check_about about);
/* Before and after a persistent request is started. */
void check_use_prepare(uint32_t id);
void check_use_start(struct gw_req *r, struct check_site site);
/* The operation is complete and the program knows it; is_gone: the request too. */
void check_use_over(uint32_t id, bool is_gone);
/* The same for operations that end without a request of their own, by a call on their owner. */
void check_use_pend(const struct check_span *spans, int n, struct check_about about);
/* What belongs to the owner and `rank` (CHECK_EVERYONE: to all) is complete, whether it has requests or not. */
void check_use_settle(uint32_t owner, int rank);
bool check_use_is_short(uint32_t owner, int rank, int most); /* there are less than `most` that are not */
/* It lies over nothing that is in use, but for what check_late.c has. */
bool check_use_is_apart(const struct check_span *s);
bool check_use_is_none(void); /* there is nothing in use, but for that */
/* A call that was looked at late, as if it were made now; sums: of its contents then, or NULL.  With check_lock. */
void check_use_again(struct check_span *s, const uint64_t *sums, struct check_site site, struct check_about about);
/* The request's span is that of one partition of so many; and a send's partition is about to be marked ready. */
void check_use_divide(uint32_t id, int partitions);
void check_use_partition(uint32_t id, int number);
void check_use_cancelled(uint32_t id);
void check_use_mark_ready(uint32_t id); /* a persistent ready send */
bool check_use_is_ready(uint32_t id);
struct check_item *check_use_running(uint32_t id, const struct check_span *s); /* that lies there; with check_lock */
bool check_use_receives(uint32_t id, struct check_site *started_out); /* it is under way, and there is something to receive into */
void check_use_forget(uint32_t id);                                   /* the program gave it up: nobody knows when it is complete */
/* The call that receives into this buffer: an operation under way, else (it has not got so far, or blocks) the one that we are in. */
struct check_site check_use_receiver(uint32_t ctx, const void *buf);
struct check_site check_use_maker(uint32_t id); /* the call that made this request, which may be the one that we are in */
void check_use_end(void);

/* ---- operations on windows that are looked at late (check_late.c); with check_lock ---- */
/* Instead of check_use_look() and check_use_pend() for one run of bytes of a predefined type, up to CHECK_LATE_MAX bytes, that
 * check_use_is_apart(); is_there: what it has is so now.  Answers whether sums of it were taken.
 * So many calls are kept at most, and so many entries, of each of which several may be; with one more, check_use.c gets them all. */
enum { CHECK_LATE_MAX = 1 << 20, CHECK_LATE_ENTRIES = 1 << 18, CHECK_LATE_CALLS = 1 << 22 };
bool check_late_add(const struct check_span *s, const struct check_about *about, bool is_there);
/* The same for a buffer that is written, by a call that is like the last one but for where it lies; false: it is not, and nothing has been
 * done. */
struct check_late_step {
    const struct check_me *me;
    const void *buf;
    int64_t count;
    struct gw_type *type;
    uint32_t owner;
    int target;
};
bool check_late_next(const struct check_late_step *s, bool is_there);
bool check_late_may_meet(uintptr_t lo, uintptr_t hi);
int check_late_count(uint32_t owner, int target);
void check_late_settle(uint32_t owner, int target); /* as check_use_settle() */
void check_late_now(void);                          /* from now on check_use.c has them all */
void check_late_end(void);

/* ---- receive buffers that must not be written (check_recv.c) ---- */
void check_recv_begin(void);
void check_recv_sum(struct check_span *s);                      /* before the receive is posted; and when the message is there */
void check_recv_posted(struct check_item *i, struct gw_req *r); /* just now; the lane's and check_lock are held */
void check_recv_arrivals(void);                                 /* a call ends: takes the sums of what has come in it */
void check_recv_end(void);

/* ---- races in windows (check_race.c; what they are: check_race.h) ---- */
enum race_kind {
    RACE_GET,
    RACE_PUT,
    RACE_FETCH /* an accumulate of MPI_NO_OP */,
    RACE_SWAP,
    RACE_LOAD,
    RACE_STORE,
    RACE_UPDATE,
    RACE_KINDS
};
struct check_race {
    enum race_kind kind;
    int target;
    int64_t disp, count; /* of the target */
    struct gw_type *type;
    const struct gw_op *op; /* RACE_UPDATE */
    const void *data;       /* PUT, GET: the same bytes here, if they are there already; else NULL */
    int64_t data_count;
    struct gw_type *data_type;
    bool brings;        /* data to the origin */
    bool has_request;   /* which may say that it is complete there */
    const void *before; /* PUT: what was there; NULL: not known */
    void *owned;        /* the caller's to free, where that did not fit into its room */
};
/* Before a put: looks at what is there, if that is wanted; into the room if it fits. */
void check_race_before(struct rma_win *w, struct check_race *a, void *room, size_t cap);
void check_race_access(struct rma_win *w, const struct check_race *a); /* after it */
void check_race_call(void);                                            /* any call begins */
void check_race_touch(const struct check_span *s);                     /* a call uses this memory; with check_lock */
bool check_race_is_exposed(uintptr_t lo, uintptr_t hi);                /* that matters; with check_lock */
/* A get like the last one, in all but displacement and data; false: look at it all. */
bool check_race_next(struct rma_win *w, const struct check_me *me, int target, int64_t disp, int64_t bytes);
/* After the fence; after MPI_Win_start; before MPI_Win_complete; before MPI_Win_post; after MPI_Win_wait; after a lock (target: or
 * CHECK_EVERYONE), and before a call that completes what was done under it, local: at the origin; before MPI_Win_free. */
int check_race_fence(struct rma_win *w, int assertions);
void check_race_started(struct rma_win *w, struct gw_group *g);
int check_race_complete(struct rma_win *w);
void check_race_post(struct rma_win *w, struct gw_group *g);
int check_race_waited(struct rma_win *w);
void check_race_locked(struct rma_win *w, int target, bool is_exclusive);
void check_race_completes(struct rma_win *w, int target, bool is_local);
void check_race_free(struct rma_win *w);

/* ---- threads (check_thread.c) ---- */
void check_thread_look(void);           /* a call begins: may this thread make it? */
void check_inside(struct check_me *me); /* it is in a call that is looked at, */
void check_left(struct check_me *me);   /* or has left it */

/* ---- memory that the CPU may not touch (check_stage.c) ---- */
struct check_run;
int check_stage_before(struct check_run *r) GW_COLD;
int check_stage_after(struct check_run *r, int rc) GW_COLD; /* always after check_stage_before(), and after the target */
/* For the kinds of check: of the requests of the call, and of its window. */
int check_stage_start(struct check_run *r);
int check_stage_started(struct check_run *r, int rc);
int check_stage_free(struct check_run *r);
int check_stage_freed(struct check_run *r, int rc);
void check_stage_partition(uint32_t id, int partition); /* of a send: it is ready; of a receive: it has arrived */
int check_stage_window(struct check_run *r);
int check_stage_windowed(struct check_run *r, int rc);

/* ---- one call (check_run.c) ----
 * A kind of check: the buffers of the call (check_run_use()), and what it looks at before and after the target, with gw_checking;
 * what is done for memory that the CPU may not touch beside what its buffers need (check_stage.c).  All may be NULL.  `before` and
 * `stage_before` answer as check_before(). */
struct check_kind {
    void (*uses)(struct check_run *r);
    int (*before)(struct check_run *r);
    int (*after)(struct check_run *r, int rc);
    int (*stage_before)(struct check_run *r);
    int (*stage_after)(struct check_run *r, int rc);
    bool fills_all; /* every entry point of these calls sets all that is looked at in struct check_args */
};
struct check_was { /* of a request that is completed: active before the call */
    struct gw_req *q;
    uint32_t id;
};
struct check_run {
    struct check_args a; /* first; as given */
    const struct check_kind *kind;
    struct check_me *me;
    enum check_form form;
    int n_spans;               /* buffers of the call in `spans` */
    struct check_stage *stage; /* what takes their place; NULL: nothing does */
    struct check_about about;  /* what a message or an operation is about */
    struct gw_comm *held;      /* comm_free */
    struct check_call *record;
    struct check_site site;
    uint32_t id; /* of the request that is given back */
    int told;    /* an error that `after` answers unless there is another one */
    struct check_was *was;
    char small[64]; /* from here on nothing is set before it is used */
    struct check_was few[32];
    struct check_race race;
    struct check_span spans[CHECK_SPANS];
    void **args[CHECK_SPANS]; /* where in `a` their addresses stand */
};
static inline void check_run_use(struct check_run *r, void **arg, struct check_span s)
{
    r->args[r->n_spans] = arg;
    r->spans[r->n_spans++] = s;
}
void check_run_drop(struct check_run *r); /* the spans: nobody uses them */
void check_runs_free(void);               /* at the end: what is kept for the next call */

#endif
