/* type_private.h -- how a type is kept: its shape (what it is made of), its loop program, what the user said.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TYPE_TYPE_PRIVATE_H
#define GW_TYPE_TYPE_PRIVATE_H

#include "type/type.h"

/* Every derived type is: `outer` times, `stride` bytes apart, a list of segments; segment i is `count` copies of `type`, one
 * extent apart, from displacement `disp`.  Bounds, element counts and loop programs are computed from this one form. */
struct type_seg {
    int64_t count, disp;
    struct gw_type *type;
};

/* The loop program: what memory the bytes of the packed stream come from, in order.  Nodes are immutable; a node may point
 * into the program of a type that this one holds. */
enum prog_kind { PROG_EMPTY, PROG_BLOCK, PROG_VECTOR, PROG_RUNS, PROG_LIST };
struct type_prog {
    uint8_t kind;
    int64_t disp;                  /* added to the base */
    int64_t bytes;                 /* of the whole node in the packed stream */
    int64_t count, stride;         /* VECTOR: count children, stride bytes apart.  RUNS, LIST: count entries */
    const struct type_prog *child; /* VECTOR: one; LIST: array of count nodes (their disp says where) */
    int64_t run;                   /* RUNS: bytes of every run, or 0: they differ */
    const int64_t *at;             /* RUNS: displacement of each run, if `near` is NULL */
    const int32_t *near;           /* RUNS of equal size: the same where they all are small; half the memory to read */
    const int64_t *from;           /* RUNS (run == 0), LIST: stream position of each entry; count + 1 of them */
};

static inline int64_t run_at(const struct type_prog *p, int64_t i) { return p->near ? p->near[i] : p->at[i]; }

/* What MPI_Type_get_contents gives back. */
struct type_tree {
    int combiner;
    int64_t n_ints, n_aints, n_counts, n_types;
    int *ints;
    int64_t *aints, *counts;
    struct gw_type **types; /* held */
    int64_t few[3];         /* the first ints in full width, should type_mark_large() ask */
    int64_t outer, stride, n_segs;
    struct type_seg *segs; /* their types are held */
    bool is_marked;        /* MPI_Type_create_resized or an array somewhere inside: bounds are marked */
    int64_t align;         /* strictest alignment of its basic elements */
    void *memory[6];       /* of the program: freed with the type */
    int n_memory;
};

/* One constructor call in the making. */
struct type_args {
    int combiner;
    int64_t n_ints, n_aints, n_counts, n_types;
    const int *ints;
    const int64_t *aints, *counts;
    struct gw_type **types;
    int64_t outer, stride, n_segs;
    const struct type_seg *segs;
    bool resized;
    int64_t lb, extent; /* with resized */
};
int type_make(const struct type_args *a, struct gw_type **type_out);

int type_prog_build(struct gw_type *t); /* from its shape; sets prog, is_dense, is_single */

/* Bases may be NULL (MPI_BOTTOM) and displacements addresses, which C's pointer arithmetic does not allow. */
static inline char *mem_at(const char *base, int64_t disp) { return (char *)((uintptr_t)base + (uintptr_t)disp); }

/* Kernels: n blocks of `bytes`, the two sides at their own distances; n equal runs from the first on; n blocks of
 * from[i + 1] - from[i] bytes at places at[].  The stream is dense. */
void type_move_strided(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n, int64_t bytes);
void type_move_runs(bool pack, char *mem, char *stream, int64_t n, const struct type_prog *p, int64_t first); /* of equal RUNS */
void type_move_lengths(bool pack, char *mem, char *stream, int64_t n, const int64_t *from, const int64_t *at);
/* n records, `stride` bytes apart in memory, of the blocks of p: RUNS or a VECTOR of BLOCKs, of at most that many. */
enum { TYPE_RECORD_BLOCKS = 16 };
void type_move_records(bool pack, const struct type_prog *p, char *mem, int64_t stride, char *stream, int64_t n);

/* Basic elements of one instance in the order of the stream. */
struct elem_info {
    uint8_t size, align, external;
    uint8_t part[2];
};
extern const struct elem_info type_elem_info[GW_ELEM_COUNT];

static inline int64_t tree_align(const struct gw_type *t) { return t->tree ? t->tree->align : type_elem_info[t->elem].align; }

#endif
