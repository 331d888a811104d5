/* io.h -- files (MPI 4.1 chapter 14) on POSIX file systems: open, views, data access.
 *
 * A file is opened by every member of a communicator; the object holds a private communicator over the same group, a file
 * descriptor (hints: none yet, or one more with O_DIRECT), and a view: the datatype that is tiled over the file from a displacement on, of whose data bytes a rank sees
 * the stream.  Data access turns a place in that stream into runs of the file (view.c), the buffer into runs of memory (type/), and
 * moves the one to the other with pread and pwrite.  Offsets are counted in etypes, everything inside in bytes, 64-bit.
 *
 * What a call says was moved is what the system said was moved, also when the call fails.  Collective calls agree: where one rank fails,
 * all return an error.  Requests of one rank are complete when the call that makes them returns, and an error is returned by that call;
 * those of collective calls go on where MPI makes progress (started.c).
 * The file is locked only in atomic mode, where data sieving writes, and on network file systems (byte-range locks of the open file).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_IO_IO_H
#define GW_IO_IO_H

#include "base/lock.h"
#include "comm/comm.h"

struct io_rep; /* a data representation */
struct io_trace;
struct io_op;

struct io_view {
    int64_t disp;                               /* bytes */
    struct gw_type *etype, *filetype;           /* the user's, held */
    struct gw_type *file_etype, *file_filetype; /* as they lie in the file, where the representation's sizes differ; held */
    const struct io_rep *rep;
    bool overlaps; /* bytes of the file that a tile has twice: only of a file that is only read */
};

enum io_choice { IO_AUTO, IO_DISABLE, IO_ENABLE };
/* Equal on all ranks: those of rank 0. */
struct io_hints {
    int64_t read_buffer, write_buffer; /* of data sieving, bytes */
    int64_t collective_buffer;         /* of an aggregator, bytes */
    int32_t sieve_read, sieve_write;   /* enum io_choice */
    int32_t buffer_read, buffer_write; /* two-phase: enum io_choice */
    int32_t aggregators;               /* how many; 0: as many as seem good, */
    int32_t multiplier;                /* times this */
    int32_t collective_only;           /* only rank 0 and aggregators open the file, others when they first need it */
    int32_t direct;                    /* past the page cache, where place, length and memory allow it */
    int32_t permissions;               /* of a file that is created; -1: as the umask says */
    int32_t stripes, start;            /* of a file that is created on a striped file system; then what it has; 0, -1: its choice */
    int64_t stripe;                    /* bytes of one; 0: the file system's choice, or there are none */
    int32_t sequential, random, once;  /* access_style */
    int32_t stats, timers, time_waits; /* what is reported when it is closed */
    int32_t idle;                      /* bit i: number i of the hints without effect was given (hints.c) */
    char aggregator_list[128];         /* cb_config_list: host:number,... */
};

/* What a rank did to a file, by direction (enum io_how: 0 read, 1 write). */
enum io_count {
    IO_CALLS_ALONE,
    IO_CALLS_ALL,
    IO_SYSTEM_CALLS,
    IO_STRIPE_SIZED,
    IO_BYTES,
    IO_REWRITES,
    IO_REWRITE_BYTES,
    IO_GAPS,
    IO_GAP_BYTES,
    IO_ACTIVE,
    IO_ACTIVE_END = IO_ACTIVE + 4, /* collective calls by the number of aggregators that had work */
    IO_COUNTS = IO_ACTIVE_END
};
/* Where its time went, if hints.timers: of a file that one thread uses. */
enum io_phase { IO_T_OPEN, IO_T_COMPUTE, IO_T_WAIT, IO_T_COLL, IO_T_EXCHANGE, IO_T_SEND, IO_T_FILE, IO_T_OTHER, IO_PHASES };
struct io_clock {
    int phase, dir;
    uint64_t since; /* ns; 0: it does not run */
    uint64_t spent[2][IO_PHASES];
};

struct gw_file {
    struct gw_obj obj;
    struct gw_comm *comm; /* private */
    struct gw_errhandler *errhandler;
    char *name;
    int fd, amode;
    int direct_fd; /* the same file with O_DIRECT; -1: none */
    bool atomic;
    struct io_view view;
    struct io_hints hints;
    bool lock_all;                   /* a network file system: ranks elsewhere see what was written only through locks */
    int64_t block;                   /* bytes that the file system likes */
    int n_aggregators, *aggregators; /* ranks */
    _Atomic int64_t counts[2][IO_COUNTS], end_of[2]; /* end_of: where the last system call ended; -1: there was none */
    struct io_clock clock;
    struct io_trace *trace;     /* what MPIIO_STATS=2 writes; NULL: nothing */
    _Atomic int64_t position;   /* individual file pointer, etypes */
    uint64_t shared;            /* the shared file pointer: where in the node's memory; 0: on another node, that of rank 0 */
    struct io_keeper *keeper;   /* at rank 0: answers ranks on other nodes; NULL: there are none */
    _Atomic uint32_t questions; /* that this rank asked it */
    int split;                  /* `how` of the split collective that has begun; -1: none */
    int64_t split_moved;
    _Atomic(struct io_op *) started; /* non-blocking collective calls, in order: the first is under way, the others come after it */
    struct gw_lock range;            /* held while a byte range of the file is locked: threads share the descriptor that holds it */
};
extern struct gw_file io_no_file; /* MPI_FILE_NULL: only its error handler means something.  Usable before init */

void io_init(void);
void io_finalize(void);

/* Collective: open, close, set_size, preallocate, set_info, set_view, set_atomicity, sync. */
int io_open(struct gw_comm *c, const char *name, int amode, struct gw_info *info, struct gw_file **file_out);
int io_close(struct gw_file **file);
int io_delete(const char *name, struct gw_info *info);
int io_set_size(struct gw_file *f, int64_t size);
int io_preallocate(struct gw_file *f, int64_t size);
int io_get_size(struct gw_file *f, int64_t *size_out);
int io_get_group(struct gw_file *f, struct gw_group **group_out);
int io_get_amode(struct gw_file *f, int *amode_out);
int io_set_info(struct gw_file *f, struct gw_info *info); /* info may be NULL */
int io_get_info(struct gw_file *f, struct gw_info **info_out);
int io_set_atomicity(struct gw_file *f, int flag);
int io_get_atomicity(struct gw_file *f, int *flag_out);
int io_sync(struct gw_file *f);
int io_set_errhandler(struct gw_file *f, struct gw_errhandler *eh);
int io_get_errhandler(struct gw_file *f, struct gw_errhandler **eh_out);

int io_set_view(struct gw_file *f, int64_t disp, struct gw_type *etype, struct gw_type *filetype, const char *rep,
                struct gw_info *info);
int io_get_view(struct gw_file *f, int64_t *disp_out, struct gw_type **etype_out, struct gw_type **filetype_out, char *rep_out);
int io_get_type_extent(struct gw_file *f, struct gw_type *t, int64_t *extent_out);
int io_get_byte_offset(struct gw_file *f, int64_t offset, int64_t *disp_out);
int io_seek(struct gw_file *f, int64_t offset, int whence);
int io_get_position(struct gw_file *f, int64_t *offset_out);
int io_seek_shared(struct gw_file *f, int64_t offset, int whence); /* collective */
int io_get_position_shared(struct gw_file *f, int64_t *offset_out);

/* Data access (section 14.4).  `how`: READ or WRITE plus one of AT (`offset` counts), OWN (the individual file pointer), SHARED (the
 * shared one), plus ALL for a collective call (with SHARED: in the order of ranks).  With req_out the call makes a request, and
 * waits for no other rank; status may be NULL. */
enum io_how { IO_READ = 0, IO_WRITE = 1, IO_AT = 2, IO_OWN = 4, IO_SHARED = 8, IO_ALL = 16 };
int io_access(struct gw_file *f, int how, int64_t offset, const void *buf, int64_t count, struct gw_type *t,
              struct gw_status *status, struct gw_req **req_out);
/* Split collectives: the access is made when it begins. */
int io_begin(struct gw_file *f, int how, int64_t offset, const void *buf, int64_t count, struct gw_type *t);
int io_end(struct gw_file *f, int how, struct gw_status *status);

/* ---- data representations of users (section 14.5.3) ---- */
struct io_rep_user {
    struct gw_callback read, write; /* fn NULL: the bytes are as in memory */
    void (*extent)(void);
    void *extra_state;
};
/* User functions take handles, so the door calls them: it fills this in at init.  They answer GW_OK or, after gw_fail(), a code. */
struct io_user_calls {
    int (*extent)(const struct io_rep_user *u, struct gw_type *t, int64_t *extent_out);
    int (*convert)(const struct gw_callback *fn, void *extra_state, void *buf, struct gw_type *t, int64_t count, void *file);
};
extern const struct io_user_calls *io_call_user;
/* For the rest of the process's MPI.  wide: the functions count with MPI_Count. */
int io_register_datarep(const char *name, void (*read)(void), void (*write)(void), void (*extent)(void), void *extra_state,
                        bool wide);
void io_rep_tag(const char *name, uint8_t abi); /* its functions came through that door */

#endif
