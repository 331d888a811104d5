/* shmem_face.h -- the bodies of the entry points of libgodwit_shmem.so: memory of this node is loaded and stored here, all else
 * goes to sym/.
 *
 * The entry points are generated (gen/shmem_entries.py): a pshmem_ function each, whose one line calls a function of this header
 * with the name that the program used, its size or kind of element, and SYM_CTX_DEFAULT or its context; shmem_ names are weak
 * aliases of them, which nothing here calls.  Functions of the default context take the short way where the target is near;
 * contexts of the user go to sym/, which knows their teams and options.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SHMEM_SHMEM_FACE_H
#define GW_SHMEM_SHMEM_FACE_H

#include "sym/sym.h"
#include "sym/sym_near.h"

#pragma GCC visibility push(default)
#include <shmem.h>
#include <pshmem.h>
#pragma GCC visibility pop

/* A weak name of the function `strong`. */
#define FACE_WEAK(name, strong) extern __typeof__(strong) name __attribute__((weak, alias(#strong), visibility("default")))

enum { FACE_SMALL = 256 }; /* bytes that are copied here: more is for sym/, which knows how to copy */
/* Nothing is not: its pointers may be NULL. */
GW_INLINE bool face_is_small(size_t bytes) { return bytes - 1 < FACE_SMALL; }

/* Is the memory of the PE near?  Then s says where. */
GW_INLINE bool face_find(sym_ctx_id ctx, struct sym_spot *s) { return likely(ctx == SYM_CTX_DEFAULT) && sym_near_find(s); }
/* The same for an atomic word. */
GW_INLINE bool face_find_word(sym_ctx_id ctx, struct sym_spot *s, int bytes)
{
    return likely(((uintptr_t)s->addr & (uintptr_t)(bytes - 1)) == 0) && face_find(ctx, s);
}
GW_INLINE size_t face_bytes(size_t n, size_t size)
{
    size_t bytes;
    return unlikely(__builtin_mul_overflow(n, size, &bytes)) ? SIZE_MAX : bytes;
}

/* Of the long ways: GODWIT_CHECK looks at all that is accessed. */
GW_INLINE void face_look(const char *call, sym_ctx_id ctx, struct sym_access a)
{
    if (unlikely(godwit_sym_near.checks)) godwit_sym_check_access(call, ctx, &a);
}
/* What an atomic does; a signal adds or sets. */
GW_INLINE struct sym_access face_access(const struct sym_atomic *a, bool is_fetch, int pe)
{
    return (struct sym_access){is_fetch ? SYM_FETCHES : SYM_CHANGES, a->at, (size_t)a->bytes, pe, NULL, false};
}

/* ---- remote memory access ---- */
GW_INLINE void face_copy(char *dest, const char *source, size_t bytes, size_t size)
{
    if (likely(bytes == size) && size <= 16) {
        memcpy(dest, source, size); /* one element: a move, which a PE that polls the word sees whole */
    } else if (bytes == 8) {
        memcpy(dest, source, 8);
    } else {
        memmove(dest, source, bytes);
    }
}
GW_INLINE void face_put(const char *call, sym_ctx_id ctx, void *dest, const void *source, size_t bytes, size_t size, int pe,
                        bool nbi)
{
    struct sym_spot s = {.addr = dest, .pe = pe};
    if (face_is_small(bytes) && face_find(ctx, &s) && (bytes == size || bytes <= s.left)) {
        face_copy(s.at, source, bytes, size);
    } else {
        face_look(call, ctx, (struct sym_access){SYM_WRITES, dest, bytes, pe, source, false});
        godwit_sym_put(call, ctx, dest, source, bytes, pe, nbi);
    }
}
GW_INLINE void face_get(const char *call, sym_ctx_id ctx, void *dest, const void *source, size_t bytes, size_t size, int pe,
                        bool nbi)
{
    struct sym_spot s = {.addr = source, .pe = pe};
    if (face_is_small(bytes) && face_find(ctx, &s) && (bytes == size || bytes <= s.left)) {
        face_copy(dest, s.at, bytes, size);
    } else {
        face_look(call, ctx, (struct sym_access){SYM_READS, source, bytes, pe, NULL, false});
        godwit_sym_get(call, ctx, dest, source, bytes, pe, nbi);
    }
}

/* The long way of p and g.  Parameters lie where those of p and g do: the short way does not move them. */
void face_put_far(void *dest, int pe, const void *source, const char *call, sym_ctx_id ctx, size_t bytes);
void face_get_far(const void *source, int pe, void *dest, const char *call, sym_ctx_id ctx, size_t bytes);
/* The same of 8 bytes or less; the value is its bits. */
void face_p_far(const void *dest, uint64_t value, int pe, const char *call, sym_ctx_id ctx, size_t bytes);
uint64_t face_g_far(const void *source, int pe, const char *call, sym_ctx_id ctx, size_t bytes);

/* From the first byte to the last of strided blocks; SIZE_MAX: for sym/ (nothing, strides below 1, or that large). */
GW_INLINE size_t face_extent(ptrdiff_t stride, size_t block, size_t n, size_t size)
{
    const size_t large = (size_t)1 << 28;
    if (unlikely(stride < 1 || (size_t)stride > large || n - 1 >= large || block - 1 >= large)) return SIZE_MAX;
    return ((n - 1) * (size_t)stride + block) * size;
}
GW_INLINE void face_blocks(char *dest, const char *source, const struct sym_strided *s, size_t size)
{
    for (size_t i = 0; i < s->n; i++) {
        char *to = dest + i * (size_t)s->dest_stride * size;
        const char *from = source + i * (size_t)s->source_stride * size;
        for (size_t k = 0; k < s->block; k++) memcpy(to + k * size, from + k * size, size);
    }
}
GW_INLINE void face_put_strided(const char *call, sym_ctx_id ctx, const struct sym_strided *s, size_t size, int pe)
{
    size_t bytes = face_extent(s->dest_stride, s->block, s->n, size);
    struct sym_spot spot = {.addr = s->dest, .pe = pe};
    if (bytes != SIZE_MAX && s->source_stride > 0 && face_find(ctx, &spot) && bytes <= spot.left) {
        face_blocks(spot.at, s->source, s, size);
    } else {
        if (bytes != SIZE_MAX) face_look(call, ctx, (struct sym_access){SYM_CHANGES, s->dest, bytes, pe, NULL, false});
        godwit_sym_put_strided(call, ctx, s, pe);
    }
}
GW_INLINE void face_get_strided(const char *call, sym_ctx_id ctx, const struct sym_strided *s, size_t size, int pe)
{
    size_t bytes = face_extent(s->source_stride, s->block, s->n, size);
    struct sym_spot spot = {.addr = s->source, .pe = pe};
    if (bytes != SIZE_MAX && s->dest_stride > 0 && face_find(ctx, &spot) && bytes <= spot.left) {
        face_blocks(s->dest, spot.at, s, size);
    } else {
        if (bytes != SIZE_MAX) face_look(call, ctx, (struct sym_access){SYM_READS, s->source, bytes, pe, NULL, false});
        godwit_sym_get_strided(call, ctx, s, pe);
    }
}

/* ---- atomics ---- */
GW_INLINE uint64_t face_atomic(const char *call, sym_ctx_id ctx, struct sym_atomic a, int pe)
{
    struct sym_spot s = {.addr = a.at, .pe = pe};
    if (likely(face_find_word(ctx, &s, a.bytes))) return sym_near_amo(&a, s.at);
    struct sym_atomic far = {a.op, a.bytes, (void *)(uintptr_t)s.addr, a.value, a.compare};
    face_look(call, ctx, face_access(&far, true, s.pe));
    return godwit_sym_atomic(call, ctx, &far, s.pe);
}
/* The old value is not wanted: of a PE of another node nothing is waited for. */
GW_INLINE void face_update(const char *call, sym_ctx_id ctx, struct sym_atomic a, int pe)
{
    struct sym_spot s = {.addr = a.at, .pe = pe};
    if (likely(face_find_word(ctx, &s, a.bytes))) {
        sym_near_amo(&a, s.at);
        return;
    }
    struct sym_atomic far = {a.op, a.bytes, (void *)(uintptr_t)s.addr, a.value, a.compare};
    face_look(call, ctx, face_access(&far, false, s.pe));
    godwit_sym_update(call, ctx, &far, s.pe);
}
GW_INLINE void face_atomic_nbi(const char *call, sym_ctx_id ctx, struct sym_atomic a, void *fetch_out, int pe)
{
    struct sym_spot s = {.addr = a.at, .pe = pe};
    if (likely(face_find_word(ctx, &s, a.bytes))) {
        uint64_t old = sym_near_amo(&a, s.at);
        if (a.bytes == 8)
            *(uint64_t *)fetch_out = old;
        else
            *(uint32_t *)fetch_out = (uint32_t)old;
        return;
    }
    struct sym_atomic far = {a.op, a.bytes, (void *)(uintptr_t)s.addr, a.value, a.compare};
    face_look(call, ctx, face_access(&far, true, s.pe));
    godwit_sym_atomic_nbi(call, ctx, &far, fetch_out, s.pe);
}
/* Values of float and double travel as their bits. */
GW_INLINE uint64_t face_bits_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
GW_INLINE uint64_t face_bits_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
GW_INLINE float face_float(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}
GW_INLINE double face_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- signals ---- */
GW_INLINE void face_signal_at(void *at, const struct sym_signal *signal)
{
    if (signal->is_add) {
        __atomic_fetch_add((uint64_t *)at, signal->value, __ATOMIC_RELEASE);
    } else {
        __atomic_store_n((uint64_t *)at, signal->value, __ATOMIC_RELEASE);
    }
}
GW_INLINE void face_signal(const char *call, sym_ctx_id ctx, struct sym_signal signal, int pe)
{
    struct sym_spot s = {.addr = signal.at, .pe = pe};
    if (likely(face_find_word(ctx, &s, 8))) {
        face_signal_at(s.at, &signal);
    } else {
        struct sym_signal far = signal; /* a copy, so that the short way needs no memory */
        face_look(call, ctx, (struct sym_access){SYM_CHANGES, signal.at, 8, pe, NULL, false});
        godwit_sym_put_signal(call, ctx, NULL, NULL, 0, &far, pe, false);
    }
}
struct face_data {
    void *dest;
    const void *source;
    size_t bytes, size;
};
GW_INLINE bool face_is_add(const char *call, int sig_op)
{
    if (unlikely(sig_op != SHMEM_SIGNAL_SET) && unlikely(sig_op != SHMEM_SIGNAL_ADD))
        godwit_sym_wrong(call, "sig_op", sig_op, "SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD");
    return sig_op == SHMEM_SIGNAL_ADD;
}
GW_INLINE void face_put_signal(const char *call, sym_ctx_id ctx, struct face_data d, struct sym_signal signal, int pe, bool nbi)
{
    struct sym_spot flag = {.addr = signal.at, .pe = pe}, s = {.addr = d.dest, .pe = pe};
    if (d.bytes <= FACE_SMALL && face_find_word(ctx, &flag, 8) && (d.bytes == 0 || (face_find(ctx, &s) && d.bytes <= s.left))) {
        if (d.bytes) face_copy(s.at, d.source, d.bytes, d.size);
        face_signal_at(flag.at, &signal);
    } else {
        struct sym_signal far = signal;
        face_look(call, ctx, (struct sym_access){SYM_WRITES, d.dest, d.bytes, pe, d.source, true});
        face_look(call, ctx, (struct sym_access){SYM_CHANGES, signal.at, 8, pe, NULL, false});
        godwit_sym_put_signal(call, ctx, d.dest, d.source, d.bytes, &far, pe, nbi);
    }
}

/* ---- order and completion ---- */
GW_INLINE void face_fence(const char *call, sym_ctx_id ctx)
{
    if (unlikely(ctx != SYM_CTX_DEFAULT) || unlikely(!sym_near_fence())) godwit_sym_fence(call, ctx);
}
GW_INLINE void face_quiet(const char *call, sym_ctx_id ctx)
{
    if (unlikely(ctx != SYM_CTX_DEFAULT) || unlikely(!sym_near_quiet())) godwit_sym_quiet(call, ctx);
}
GW_INLINE void face_pe_quiet(const char *call, sym_ctx_id ctx, const int *pes, size_t n)
{
    if (n == 0) return;
    bool is_near = likely(ctx == SYM_CTX_DEFAULT) && likely(sym_near_quiet());
    for (size_t i = 0; is_near && i < n; i++) is_near = (uint32_t)pes[i] - godwit_sym_near.first < godwit_sym_near.n;
    if (unlikely(!is_near)) godwit_sym_pe_quiet(call, ctx, pes, n);
}

/* ---- waiting ----  Another `cmp` than the six holds for nothing here; sym/ says what is wrong. */
GW_INLINE void face_wait(const char *call, const void *var, enum gw_elem elem, int cmp, const void *value)
{
    struct sym_wait w = {.vars = var, .elem = elem, .cmp = (enum sym_cmp)cmp, .n = 1, .values = value, .how = SYM_ALL};
    godwit_sym_wait(call, &w);
}
GW_INLINE int face_test(const char *call, const void *var, enum gw_elem elem, int cmp, const void *value)
{
    struct sym_wait w = {.vars = var, .elem = elem, .cmp = (enum sym_cmp)cmp, .n = 1, .values = value, .how = SYM_ALL};
    return godwit_sym_test(call, &w) != 0;
}
GW_INLINE uint64_t face_signal_wait(const char *call, uint64_t *at, int cmp, uint64_t value)
{
    uint64_t now = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    return sym_holds_unsigned(cmp, now, value) && likely(!godwit_sym_near.checks)
        ? now
        : godwit_sym_signal_wait(call, at, (enum sym_cmp)cmp, value);
}
uint64_t face_signal_fetch(const char *call, const uint64_t *at);

/* ---- setup and collectives: bodies of more than a line (face.c) ---- */
int face_init_thread(const char *call, int requested, int *provided_out);
int face_level(int level); /* of GW_THREAD_*: the SHMEM_THREAD_* */
/* The team of an active set. */
GW_INLINE sym_team_id face_set(const char *call, int start, int log_stride, int size)
{
    return godwit_sym_set(call, (struct sym_set){start, log_stride, size});
}
/* The elements of a reduction of an active set. */
GW_INLINE size_t face_count(const char *call, int nreduce)
{
    if (unlikely(nreduce < 0)) godwit_sym_wrong(call, "nreduce", nreduce, "0 or more");
    return (size_t)nreduce;
}
GW_INLINE int face_reduce(const char *call, sym_team_id team, enum sym_op op, enum gw_elem elem, void *dest, const void *source,
                          size_t n)
{
    struct sym_reduce r = {.op = op, .elem = elem, .dest = dest, .source = source, .n = n};
    return godwit_sym_reduce(call, team, &r);
}
GW_INLINE int face_scan(const char *call, sym_team_id team, enum gw_elem elem, void *dest, const void *source, size_t n,
                        bool is_inclusive)
{
    struct sym_reduce r = {.op = SYM_OP_SUM, .elem = elem, .dest = dest, .source = source, .n = n};
    return godwit_sym_scan(call, team, &r, is_inclusive);
}
GW_INLINE int face_alltoalls(const char *call, sym_team_id team, struct sym_strided s)
{
    return godwit_sym_alltoalls(call, team, &s);
}
void face_bcast_set(const char *call, sym_team_id team, struct face_data d, int root);
void face_barrier_set(const char *call, sym_team_id team);

#endif
