/* io_private.h -- shared by the files of io.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_IO_IO_PRIVATE_H
#define GW_IO_IO_PRIVATE_H

#include <sys/uio.h>

#include "base/base.h"
#include "coll/coll.h"
#include "io/io.h"
#include "type/type.h"

/* ---- errors (file.c) ---- */
/* Reports the failure of a system call on the file `name`, such as "writing NAME: No space left on device"; returns its code. */
int io_fail(int system_error, const char *doing, const char *name);
/* Collective.  Returns rc if that is an error, else the worst code of the other ranks, with a text. */
int io_agree(struct gw_file *f, int rc);
int io_open_late(struct gw_file *f); /* see io_need_open() */
/* Opens the file if this rank has not done so (hint romio_no_indep_rw).  Called before f->fd is used. */
static inline int io_need_open(struct gw_file *f) { return likely(!f->hints.collective_only) ? GW_OK : io_open_late(f); }

/* ---- the same call everywhere (calls.c) ---- */
/* Each blocking collective call begins with one of these: they agree on rc, and return GW_ENOTSAME on every rank, with both calls' names, unless
 * all make the same call, so that what follows in it is the same everywhere.  call: one of these, or the `how` of an access, with IO_BEGUN for
 * a split one, and with IO_STARTED for one with a request, which says it in its struct io_extent. */
enum io_call {
    IO_BEGUN = 1 << 8,
    IO_STARTED = 1 << 9,
    IO_OPEN = 1 << 10,
    IO_CLOSE,
    IO_SET_SIZE,
    IO_PREALLOCATE,
    IO_SET_VIEW,
    IO_SET_ATOMICITY,
    IO_SET_INFO,
    IO_SYNC,
    IO_SEEK_SHARED
};
int io_enter(struct gw_file *f, int call, int rc);
int io_enter_same(struct gw_file *f, int call, int rc, int64_t value,
                  const char *what); /* GW_ENOTSAME also unless all have the same value */
/* For a minimum over the words of all ranks, and one over their inverses. */
int64_t io_call_word(const struct gw_file *f, int call);
int io_calls_judge(const struct gw_file *f, int64_t least, int64_t greatest); /* GW_ENOTSAME: of two calls */

/* ---- hints (hints.c) ---- */
void io_hints_default(struct io_hints *h);
void io_hints_read(struct io_hints *h, const struct gw_info *info); /* absent keys and invalid values change nothing */
int io_hints_share(struct gw_file *f, struct io_hints *h);          /* collective: all get the hints of rank 0 */
int io_hints_change(struct gw_file *f, struct gw_info *info);       /* collective: part of a call */
/* Applies MPIIO_HINTS, which takes precedence over the hints of the program. */
void io_hints_of_user(struct io_hints *h, const char *file);
void io_hints_look(void); /* warns of what is wrong in MPIIO_HINTS, whichever files it is for; once in a process */
void io_hints_show(struct gw_file *f);

/* ---- the file system (fs.c) ---- */
/* open(2) that also sets the layout of a file that it creates, if the file system has stripes.  -1: errno. */
int io_fs_open(const char *name, int flags, mode_t permissions, const struct io_hints *h);
int io_fs_open_direct(const struct gw_file *f); /* opens the file again with O_DIRECT; -1: not possible */
void io_fs_ask(struct gw_file *f);              /* fills in lock_all, block, and the stripes of the hints */
void io_fs_advise(const struct gw_file *f);     /* advises the kernel of the access pattern */

/* ---- aggregators (place.c) ---- */
/* The ranks that are aggregators, in order, to ranks_out; how many (1 to n).  node[i]: the number of rank i's node, by first appearance;
 * names: of each rank's host.  list: "host:most,..." where host may be * and most *, "" for any; stride -1: spread over nodes and
 * within them, 1 consecutive ranks, and so on. */
int io_place_choose(const int *node, const char *const *names, int n, int wanted, const char *list, int stride, int *ranks_out);
int io_place(struct gw_file *f); /* collective: fills in aggregators */

/* ---- counting and timing (stats.c) ---- */
static inline void io_count_add(struct gw_file *f, bool write, enum io_count what, int64_t n)
{
    _Atomic int64_t *c = &f->counts[write][what];
    if (unlikely(gw_threads)) /* the only case that has to pay for a locked instruction, of which a small access had six */
        atomic_fetch_add_explicit(c, n, memory_order_relaxed);
    else
        atomic_store_explicit(c, atomic_load_explicit(c, memory_order_relaxed) + n, memory_order_relaxed);
}
void io_count_call(struct gw_file *f, bool write, int64_t at, int64_t moved); /* a system call at a place; moved < 0: it failed */
void io_count_active(struct gw_file *f, bool write, int64_t active);          /* aggregators in one collective call */
/* The phase that begins now; the one that ends. */
int io_clock_slow(struct gw_file *f, int phase);
static inline int io_clock(struct gw_file *f, int phase) { return unlikely(f->clock.since != 0) ? io_clock_slow(f, phase) : 0; }
void io_clock_start(struct gw_file *f, uint64_t opened_ns);
void io_clock_enter(struct gw_file *f, bool write, int phase); /* what passed since the last call was the program's */
void io_report(struct gw_file *f);                             /* collective; rank 0 prints */
/* What was done when (trace.c), if hints.stats is 2. */
void io_trace_begin(struct gw_file *f);
void io_trace_call(struct gw_file *f, bool write, int64_t moved); /* of a file that is traced */
void io_trace_end(struct gw_file *f);                             /* writes it */
void io_trace_free(struct gw_file *f);
struct io_totals {
    int64_t counts[2][IO_COUNTS];
    int64_t callers[2]; /* ranks that made calls of their own */
};
/* The next piece of advice for one direction, from *rule on (0 at first); NULL: no more. */
const char *io_advice(const struct io_totals *t, bool write, int aggregators, int64_t stripes, int *rule);

/* ---- representations (rep.c) ---- */
enum io_rep_kind { IO_REP_PLAIN, IO_REP_EXTERNAL32, IO_REP_USER }; /* plain: "native" and "internal", as in memory */
struct io_rep {
    const char *name;
    enum io_rep_kind kind;
    struct io_rep_user user;
    struct io_rep *next;
};
const struct io_rep *io_rep_find(const char *name); /* NULL: not known */
void io_rep_finalize(void);
int io_rep_bytes(const struct io_rep *rep, struct gw_type *t, int64_t *bytes_out); /* of one instance's data in the file */
/* The type with the sizes and extents that it has in the file; held. */
int io_rep_type(const struct io_rep *rep, struct gw_type *t, struct gw_type **type_out);
int io_rep_write(const struct io_rep *rep, const void *buf, int64_t count, struct gw_type *t, void *out, int64_t bytes);
int io_rep_read(const struct io_rep *rep, const void *in, int64_t bytes, void *buf, int64_t count, struct gw_type *t);

/* ---- views (view.c) ---- */
int io_view_plain(struct io_view *v); /* bytes from 0 on */
void io_view_release(struct io_view *v);
/* How many of the stream's bytes [pos, pos + bytes) come before the first that does not lie before this byte of the file. */
int64_t io_view_before(const struct io_view *v, int64_t pos, int64_t bytes, int64_t file_bytes);
int io_offset_byte(const struct io_view *v, int64_t pos, int64_t *byte_out); /* of the stream's byte pos; GW_EARG: too far */

/* The runs of the file that hold bytes [pos, pos + bytes) of the view's stream, in the stream's order. */
struct io_run {
    int64_t at, bytes;
};
struct io_walk {
    struct type_cursor cursor;
    int64_t left; /* stream bytes that the cursor has not handed out */
    int64_t at;   /* of a dense view: the next byte of the file */
    struct iovec runs[128];
    int n, next;
    struct io_run ahead; /* taken from `runs`, not handed out; bytes 0: none */
    struct io_run rest;  /* of what io_walk_below() cut; bytes 0: none */
};
int io_walk_begin(struct io_walk *w, const struct io_view *v, int64_t pos, int64_t bytes);
bool io_walk_next(struct io_walk *w, struct io_run *run_out); /* neighbours are one run */
/* The same cut off at byte `end` of the file, from where on the rest comes later.  Not to be mixed with io_walk_next. */
bool io_walk_below(struct io_walk *w, int64_t end, struct io_run *run_out);

/* ---- moving (move.c) ---- */
/* Between the stream of the view from byte pos on and a buffer in memory, in the file's own representation.  *moved_out: bytes, also
 * when it fails; fewer than asked for: the end of the file. */
int io_move(struct gw_file *f, bool write, int64_t pos, const void *buf, int64_t count, struct gw_type *t, int64_t *moved_out);

/* One run of the file and one of memory. */
int io_move_run(struct gw_file *f, bool write, void *buf, int64_t at, int64_t bytes, int64_t *moved_out);

/* ---- collective (collective.c) ---- */
struct io_data { /* what a call moves */
    bool write;
    int64_t pos;
    struct gw_data data;
};
/* io_move of all ranks at once: all fail or none. */
int io_all_move(struct gw_file *f, const struct io_data *d, int64_t *moved_out);

/* ---- collective behind a request (started.c) ---- */
/* how: of the access.  rc: of the checks: where this rank failed it takes part all the same, with nothing, as the others count on it. */
int io_start(struct gw_file *f, int how, int rc, const struct io_data *d, struct gw_req **req_out);
void io_started_init(void);
void io_drain_slow(struct gw_file *f);
/* Exchanges of blocking calls come behind those of what was started before. */
static inline void io_drain(struct gw_file *f)
{
    if (unlikely(atomic_load_explicit(&f->started, memory_order_acquire))) io_drain_slow(f);
}
/* Between memory and the file's own representation, all at once (access.c).  *each_out: bytes of an item in the file. */
int io_stage(struct gw_file *f, const struct io_data *d, char **stage_out, int64_t *each_out);
int io_unstage(struct gw_file *f, const struct io_data *d, char *stage, int64_t each, int64_t k, int64_t *moved_out);

/* What each rank says of its access, and what that is for all together. */
struct io_extent {
    int64_t from, to, bytes; /* of the file: [from, to), of which so many bytes */
    int64_t in_order;        /* places in the file do not go back */
    int64_t runs;
    int64_t call;  /* io_call_word(); 0: a blocking call, which has agreed on that */
    int64_t cover; /* sum of the mixed begins of the runs less that of their ends: equal sums, equal bytes (but for 2^-64) */
    uint64_t room; /* of rank 0: memory of the node for windows of the file; 0: none */
    int64_t window;
};

int io_extent_of(struct gw_file *f, int64_t pos, int64_t bytes, struct io_extent *e);
enum io_way { IO_ALONE, IO_WINDOWS, IO_MESSAGES };
/* What all extents are together, and which way is taken.  All ranks answer alike. */
enum io_way io_extents_judge(const struct gw_file *f, bool write, const struct io_extent *all, struct io_extent *whole);

/* By aggregators that get all by messages (two_phase.c), or with windows in memory of the node (window.c).  All ranks call; what a rank
 * returns is what happened to itself. */
int io_by_messages(struct gw_file *f, const struct io_data *d, const struct io_extent *whole, int64_t *moved_out);
int io_by_windows(struct gw_file *f, const struct io_data *d, const struct io_extent *whole, int64_t *moved_out);
/* The same in steps.  By messages each makes at most one exchange, as `as` says; false: that was the last one, or it failed. */
struct phase;
struct phase *io_steps_begin(struct gw_file *f, const struct io_data *d, const struct io_extent *whole, struct coll_as *as);
bool io_steps_next(struct phase *p, int *rc_out);
int io_steps_end(struct phase *p, int64_t *moved_out);            /* what happened to this rank */
void io_windows_offer(struct gw_file *f, struct io_extent *mine); /* of rank 0, before the ranks exchange their extents */
void io_windows_leave(const struct gw_file *f, const struct io_extent *of_rank_0); /* every rank, when it has no more to do there */
/* With windows each does one window's worth of work, if there is some (io_windows_can; where another rank makes some, it rings this
 * one's doorbell); false: this rank is through. */
struct pool;
struct pool *io_windows_begin(struct gw_file *f, const struct io_data *d, const struct io_extent *whole);
bool io_windows_can(const struct pool *p);
bool io_windows_next(struct pool *p);
int io_windows_end(struct pool *p, int64_t *moved_out); /* what happened to this rank */

/* ---- the shared file pointer (shared.c) ---- */
int io_shared_make(struct gw_file *f, int64_t at); /* collective */
void io_shared_free(struct gw_file *f);
void io_shared_set(struct gw_file *f, int64_t at); /* rank 0 */
int io_shared_get(struct gw_file *f, int64_t *at_out);
int io_shared_take(struct gw_file *f, int64_t etypes, int64_t *at_out);  /* where it was; moves it on */
int io_shared_order(struct gw_file *f, int64_t etypes, int64_t *at_out); /* collective: the same in the order of ranks */
int io_not_sequential(const struct gw_file *f);                          /* fails for a file of MPI_MODE_SEQUENTIAL (view.c) */
/* Where a pointer that is at `now` goes (view.c). */
int io_seek_place(struct gw_file *f, int64_t offset, int whence, int64_t now, int64_t *to_out);

#endif
