/* mem.h -- memory by kind: whose it is, whether the CPU may touch it, how bytes get in and out, how another process comes to it.
 *
 * A kind of memory is a driver, as UCX has memory types and libfabric HMEM interfaces.  MEM_HOST is what every address is that no
 * driver knows.  Without a driver gw_data_of() (type/type.h) asks nobody, and mem_copy() is memcpy.  mem_add() sets gw_slow_path:
 * paths inlined into entry points need not ask for the kind, because they are not taken.
 *
 * LOCK     None.  mem_add() is called by one thread before others call MPI; all else by any number of threads, which drivers bear.
 * RETURNS  GW_OK, GW_POSTED (mem_copy_start()) or a negative code, after gw_fail(); outputs are written on success only.
 * INVARIANT M1  Kinds are 0 .. the number of drivers, without a hole, and never go: a kind that was asked for once stays good.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_MEM_MEM_H
#define GW_MEM_MEM_H

#include "base/base.h"

enum { MEM_HOST, MEM_KINDS = 8 }; /* how many kinds there may be */
enum { MEM_TOKEN_BYTES = 128 };

/* What a driver knows of the allocation that an address lies in. */
struct mem_attr {
    int kind;
    int device; /* its number among the driver's; host memory: -1 */
    char *base; /* where the allocation begins, and its bytes; host memory: NULL, 0: unknown */
    uint64_t bytes;
    uint64_t id; /* another one at the same address has another number: for caches of registrations; host memory: 0 */
};

/* Travels as bytes to another process of the node, which opens the memory by it. */
struct mem_token {
    int32_t kind;
    uint32_t len;
    char bytes[MEM_TOKEN_BYTES];
};

/* The calls of a driver.  NULL where it lacks one: copy_start and progress (it copies at once), share, open and close. */
struct mem_driver {
    const char *name;
    bool cpu_may_touch; /* loads, stores and system calls of this process reach it */
    /* Is this address its own?  Fills all but the kind. */
    bool (*query)(const void *p, struct mem_attr *attr_out);
    /* One side lies in its memory, the other there or in memory that the CPU may touch.  The data are there when it returns. */
    int (*copy)(void *dst, const void *src, size_t n);
    /* GW_POSTED: progress() calls done->fn() later; else it is complete or failed, and done is not called. */
    int (*copy_start)(void *dst, const void *src, size_t n, struct gw_done *done);
    void (*progress)(void);
    int (*share)(const void *p, struct mem_token *token_out); /* fills all but the kind */
    int (*open)(const struct mem_token *token, void **p_out);
    void (*close)(void *p);
};

GW_EXTERN bool mem_has_drivers; /* there is another kind than MEM_HOST */
/* The new kind, or GW_EARG: there are too many.  The driver stays the caller's, for the life of the process. */
int mem_add(const struct mem_driver *d);
const char *mem_kind_name(int kind);

void mem_query(const void *p, struct mem_attr *attr_out); /* slow: asks the drivers */
int mem_kind(const void *p);
bool mem_kind_is_cpu(int kind); /* May loads, stores and system calls of this process go to its addresses? */

/* memcpy() between any two kinds. */
int mem_copy_among(void *dst, const void *src, size_t n) GW_COLD;
static inline int mem_copy(void *dst, const void *src, size_t n)
{
    if (unlikely(mem_has_drivers)) return mem_copy_among(dst, src, n);
    memcpy(dst, src, n);
    return GW_OK;
}
/* The same, perhaps complete later.  GW_POSTED: both sides stay as they are until mem_progress() has called done->fn(). */
int mem_copy_start(void *dst, const void *src, size_t n, struct gw_done *done);
void mem_progress(void);

/* Memory of a kind, shown to the node's other processes; they open it, use it as their own kind, and close it.  GW_EARG: it is host
 * memory (room `share` has that), its driver cannot, or the token is none of this process's kinds. */
int mem_share(const void *p, struct mem_token *token_out);
int mem_open(const struct mem_token *token, void **p_out);
void mem_close(int kind, void *p);

#endif
