/* io.h -- files (MPI 4.1 chapter 14) on POSIX file systems: open, views, data access.
 *
 * A file is opened by all members of a communicator.  The object has a private communicator over the same group, a file descriptor (by hints:
 * opened later, or a second one with O_DIRECT), and a view: a datatype that is tiled over the file from a displacement on; a rank sees the
 * stream of its data bytes.  Data access maps a range of that stream to extents of the file (view.c) and the buffer to ranges of memory (type/),
 * and copies by pread and pwrite.  Offsets are in etypes at the interface, in bytes inside; 64-bit.
 *
 * ERRORS   The status has the bytes that the system has transferred, also when the call fails.  Collective calls agree: if one rank fails, all
 *          return an error.
 * REQUESTS Non-blocking calls of one rank complete in the call, which returns the error; those of collective calls advance in progress
 *          (started.c).
 * LOCKING  Byte-range locks of the open file are taken only in atomic mode, for data sieving writes, and on network file systems.
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
    int64_t disp;                     /* bytes */
    struct gw_type *etype, *filetype; /* the user's; with references */
    struct gw_type *file_etype,
        *file_filetype; /* their layout in the file, if the data representation has other sizes; with references */
    const struct io_rep *rep;
    bool overlaps; /* a tile contains bytes of the file twice: allowed in read-only files */
};

enum io_choice { IO_AUTO, IO_DISABLE, IO_ENABLE };
/* The same on all ranks: those of rank 0. */
struct io_hints {
    int64_t read_buffer, write_buffer; /* bytes of a data sieving buffer */
    int64_t collective_buffer;         /* bytes of an aggregator's buffer */
    int32_t sieve_read, sieve_write;   /* data sieving: enum io_choice */
    int32_t buffer_read, buffer_write; /* two-phase collective buffering: enum io_choice */
    int32_t aggregators;               /* number of aggregators; 0: chosen automatically, */
    int32_t multiplier;                /* times this */
    int32_t collective_only;           /* deferred open: rank 0 and aggregators at once, other ranks on first use */
    int32_t direct;                    /* O_DIRECT, if offset, length and memory are aligned */
    int32_t permissions;               /* of a file that is created; -1: by the umask */
    int32_t stripes,
        start;      /* stripe count and first server: requested at creation, then actual; 0, -1: chosen by the file system */
    int64_t stripe; /* bytes of a stripe; 0: chosen by the file system, or not striped */
    int32_t sequential, random, once;  /* access_style */
    int32_t stats, timers, time_waits; /* reports at close */
    int32_t idle;                      /* bit i: hint number i of those without effect was given (hints.c) */
    char aggregator_list[128];         /* cb_config_list: host:number,... */
};

/* Access statistics of a rank and file, by direction (enum io_how: 0 read, 1 write). */
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
/* Times by phase, if hints.timers; for files that one thread uses. */
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
    bool lock_all;                                   /* a network file system whose clients are coherent only through locks */
    int64_t block;                                   /* preferred I/O size of the file system, bytes */
    int n_aggregators, *aggregators;                 /* ranks */
    _Atomic int64_t counts[2][IO_COUNTS], end_of[2]; /* end_of: where the last system call ended; -1: there was none */
    struct io_clock clock;
    struct io_trace *trace;     /* trace of MPIIO_STATS=2; NULL: none */
    _Atomic int64_t position;   /* individual file pointer, etypes */
    uint64_t shared;            /* shared file pointer: offset in the node segment; 0: rank 0 has it, on another node */
    struct io_keeper *keeper;   /* at rank 0: serves the shared file pointer to other nodes; NULL: there are none */
    _Atomic uint32_t questions; /* number of requests that this rank has sent there */
    int split;                  /* `how` of the active split collective; -1: none */
    int64_t split_moved;
    _Atomic(struct io_op *) started; /* queue of non-blocking collective calls: the first is being executed */
    struct gw_lock range;            /* held while a byte range of the file is locked, because threads share the descriptor */
};
extern struct gw_file io_no_file; /* stands for MPI_FILE_NULL: only its error handler is used.  Valid before init */

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

/* Data access (section 14.4).  `how`: READ or WRITE; plus AT (explicit `offset`), OWN (individual file pointer) or SHARED (shared file pointer);
 * plus ALL for collective calls (with SHARED: in rank order).  With req_out the call is non-blocking and does not wait for other ranks.  status
 * may be NULL. */
enum io_how { IO_READ = 0, IO_WRITE = 1, IO_AT = 2, IO_OWN = 4, IO_SHARED = 8, IO_ALL = 16 };
int io_access(struct gw_file *f, int how, int64_t offset, const void *buf, int64_t count, struct gw_type *t,
              struct gw_status *status, struct gw_req **req_out);
/* Split collectives: io_begin() performs the access. */
int io_begin(struct gw_file *f, int how, int64_t offset, const void *buf, int64_t count, struct gw_type *t);
int io_end(struct gw_file *f, int how, struct gw_status *status);

/* ---- data representations of users (section 14.5.3) ---- */
struct io_rep_user {
    struct gw_callback read, write; /* fn NULL: no conversion */
    void (*extent)(void);
    void *extra_state;
};
/* Users' functions take handles, so the facade calls them; it sets this at its init.  GW_OK or, after gw_fail(), an error. */
struct io_user_calls {
    int (*extent)(const struct io_rep_user *u, struct gw_type *t, int64_t *extent_out);
    int (*convert)(const struct gw_callback *fn, void *extra_state, void *buf, struct gw_type *t, int64_t count, void *file);
};
extern const struct io_user_calls *io_call_user;
/* Registers a representation until the process ends.  wide: the functions take MPI_Count. */
int io_register_datarep(const char *name, void (*read)(void), void (*write)(void), void (*extent)(void), void *extra_state,
                        bool wide);
void io_rep_tag(const char *name, uint8_t abi); /* the ABI by which its functions were passed */

#endif
