/* kernels.c -- the inner loops of packing: many small blocks at equal distances, or at listed offsets.
 *
 * Each loop has a source and a destination, so that it serves both packing and unpacking.  Frequent block sizes are constants, so
 * that copies compile to loads and stores; other sizes are copied as two overlapping words.  Loops are unrolled by hand, as a
 * small loop runs at half speed if its jump crosses a 32-byte boundary of code (Skylake's erratum; measured 2026-11).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type/type_private.h"

typedef char block16 __attribute__((vector_size(16)));

#define COPY_ENDS(T)                                                                                                               \
    do {                                                                                                                           \
        T a, b;                                                                                                                    \
        memcpy(&a, from, sizeof a);                                                                                                \
        memcpy(&b, from + n - sizeof b, sizeof b);                                                                                 \
        memcpy(to, &a, sizeof a);                                                                                                  \
        memcpy(to + n - sizeof b, &b, sizeof b);                                                                                   \
    } while (0)

/* memcpy without a call where n is small. */
static inline void copy_small(char *to, const char *from, size_t n)
{
    if (n >= 16 && n <= 32) {
        COPY_ENDS(block16);
    } else if (n >= 8 && n < 16) {
        COPY_ENDS(uint64_t);
    } else if (n > 64) {
        memcpy(to, from, n);
    } else if (n > 32) {
        block16 a, b, c, d;
        memcpy(&a, from, 16), memcpy(&b, from + 16, 16);
        memcpy(&c, from + n - 32, 16), memcpy(&d, from + n - 16, 16);
        memcpy(to, &a, 16), memcpy(to + 16, &b, 16);
        memcpy(to + n - 32, &c, 16), memcpy(to + n - 16, &d, 16);
    } else if (n >= 4) {
        COPY_ENDS(uint32_t);
    } else if (n >= 2) {
        COPY_ENDS(uint16_t);
    } else if (n) {
        *to = *from;
    }
}

/* ---- equal distances ----------------------------------------------------------------------------------------------------- */
/* Is the distance of blocks small?  If it is large, the loop must have a single store instruction: the hardware prefetcher
 * recognises far stores only by their instruction. */
static inline bool is_close(int64_t step) { return step < 256 && step > -256; }
#define STRIDED(B)                                                                                                                 \
    static void strided_##B(char *restrict to, int64_t to_step, const char *restrict from, int64_t from_step, int64_t n)           \
    {                                                                                                                              \
        for (; n >= 4 && is_close(to_step); n -= 4) {                                                                              \
            memcpy(to, from, B);                                                                                                   \
            memcpy(to + to_step, from + from_step, B);                                                                             \
            memcpy(to + 2 * to_step, from + 2 * from_step, B);                                                                     \
            memcpy(to + 3 * to_step, from + 3 * from_step, B);                                                                     \
            to += 4 * to_step, from += 4 * from_step;                                                                              \
        }                                                                                                                          \
        for (; n > 0; n--, to += to_step, from += from_step) memcpy(to, from, B);                                                  \
    }
// clang-format off
STRIDED(1)
STRIDED(2)
STRIDED(4)
STRIDED(8)
STRIDED(12)
STRIDED(16)
STRIDED(20)
STRIDED(24)
STRIDED(32)
STRIDED(40)
STRIDED(48)
STRIDED(64)
// clang-format on
#define EACH_STRIDED(X) X(1) X(2) X(4) X(8) X(12) X(16) X(20) X(24) X(32) X(40) X(48) X(64)

/* Blocks of W to 2 W bytes. */
#define STRIDED_ENDS(W, T)                                                                                                         \
    static void strided_from_##W(char *restrict to, int64_t to_step, const char *restrict from, int64_t from_step, int64_t n,      \
                                 int64_t bytes)                                                                                    \
    {                                                                                                                              \
        int64_t last = bytes - W;                                                                                                  \
        for (; n >= 2; n -= 2, to += 2 * to_step, from += 2 * from_step) {                                                         \
            ENDS(W, T, 0, 0);                                                                                                      \
            ENDS(W, T, to_step, from_step);                                                                                        \
        }                                                                                                                          \
        if (n > 0) ENDS(W, T, 0, 0);                                                                                               \
    }
#define ENDS(W, T, to_add, from_add)                                                                                               \
    do {                                                                                                                           \
        T a, b;                                                                                                                    \
        memcpy(&a, from + from_add, W), memcpy(&b, from + from_add + last, W);                                                     \
        memcpy(to + to_add, &a, W), memcpy(to + to_add + last, &b, W);                                                             \
    } while (0)
// clang-format off
STRIDED_ENDS(2, uint16_t)
STRIDED_ENDS(4, uint32_t)
STRIDED_ENDS(8, uint64_t)
STRIDED_ENDS(16, block16)
// clang-format on

void type_move_strided(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n, int64_t bytes)
{
    switch (bytes) {
#define CASE(B)                                                                                                                    \
    case B: strided_##B(to, to_step, from, from_step, n); return;
        EACH_STRIDED(CASE)
#undef CASE
    }
    if (bytes < 4)
        strided_from_2(to, to_step, from, from_step, n, bytes);
    else if (bytes < 8)
        strided_from_4(to, to_step, from, from_step, n, bytes);
    else if (bytes < 16)
        strided_from_8(to, to_step, from, from_step, n, bytes);
    else if (bytes < 32)
        strided_from_16(to, to_step, from, from_step, n, bytes);
    else if (bytes <= 64)
        for (; n > 0; n--, to += to_step, from += from_step) copy_small(to, from, (size_t)bytes);
    else
        for (; n > 0; n--, to += to_step, from += from_step) memcpy(to, from, (size_t)bytes);
}

/* ---- listed offsets -------------------------------------------------------------------------------------------------------- */
/* Hidden from the vectorizer, which would extend the offsets in vector registers, and be slower. */
static inline char *place(const char *mem, int64_t at)
{
    __asm__("" : "+r"(at));
    return mem_at(mem, at);
}

#define RUNS(B, T)                                                                                                                 \
    static void pack_runs_##B##_##T(char *restrict to, const char *restrict mem, int64_t n, const T *restrict at)                  \
    {                                                                                                                              \
        int64_t i = 0;                                                                                                             \
        for (; i + 4 <= n; i += 4, to += 4 * B) {                                                                                  \
            memcpy(to, place(mem, at[i]), B);                                                                                      \
            memcpy(to + B, place(mem, at[i + 1]), B);                                                                              \
            memcpy(to + 2 * B, place(mem, at[i + 2]), B);                                                                          \
            memcpy(to + 3 * B, place(mem, at[i + 3]), B);                                                                          \
        }                                                                                                                          \
        for (; i < n; i++, to += B) memcpy(to, place(mem, at[i]), B);                                                              \
    }                                                                                                                              \
    static void unpack_runs_##B##_##T(char *restrict mem, const char *restrict from, int64_t n, const T *restrict at)              \
    {                                                                                                                              \
        int64_t i = 0;                                                                                                             \
        for (; i + 4 <= n; i += 4, from += 4 * B) {                                                                                \
            memcpy(place(mem, at[i]), from, B);                                                                                    \
            memcpy(place(mem, at[i + 1]), from + B, B);                                                                            \
            memcpy(place(mem, at[i + 2]), from + 2 * B, B);                                                                        \
            memcpy(place(mem, at[i + 3]), from + 3 * B, B);                                                                        \
        }                                                                                                                          \
        for (; i < n; i++, from += B) memcpy(place(mem, at[i]), from, B);                                                          \
    }
#define EACH_RUNS(X, T) X(1, T) X(2, T) X(4, T) X(8, T) X(12, T) X(16, T) X(24, T) X(32, T) X(48, T) X(64, T)
#define CASE(B, T)                                                                                                                 \
    case B:                                                                                                                        \
        pack ? pack_runs_##B##_##T(stream, mem, n, at) : unpack_runs_##B##_##T(mem, stream, n, at);                                \
        return;
#define MOVE_RUNS(T)                                                                                                               \
    EACH_RUNS(RUNS, T)                                                                                                             \
    static void move_runs_##T(bool pack, char *mem, char *stream, int64_t n, int64_t bytes, const T *at)                           \
    {                                                                                                                              \
        switch (bytes) {                                                                                                           \
            EACH_RUNS(CASE, T)                                                                                                     \
        }                                                                                                                          \
        for (int64_t i = 0; i < n; i++, stream += bytes) {                                                                         \
            if (pack)                                                                                                              \
                copy_small(stream, mem_at(mem, at[i]), (size_t)bytes);                                                             \
            else                                                                                                                   \
                copy_small(mem_at(mem, at[i]), stream, (size_t)bytes);                                                             \
        }                                                                                                                          \
    }
MOVE_RUNS(int32_t)
MOVE_RUNS(int64_t)
#undef CASE

/* The most frequent case loads two offsets at once, and moves two blocks at once, as loads and stores take the time. */
typedef uint64_t pair64 __attribute__((vector_size(16)));
static void unpack_8_near(char *restrict mem, const char *restrict from, int64_t n, const int32_t *restrict at)
{
    const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    int64_t i = 0;
    for (; i + 4 <= n; i += 4, from += 32) {
        pair64 a, b;
        int64_t places[2];
        memcpy(&a, from, 16), memcpy(&b, from + 16, 16);
        memcpy(places, at + i, 16);
        memcpy(mem_at(mem, little ? (int32_t)places[0] : places[0] >> 32), &(uint64_t){a[0]}, 8);
        memcpy(mem_at(mem, little ? places[0] >> 32 : (int32_t)places[0]), &(uint64_t){a[1]}, 8);
        memcpy(mem_at(mem, little ? (int32_t)places[1] : places[1] >> 32), &(uint64_t){b[0]}, 8);
        memcpy(mem_at(mem, little ? places[1] >> 32 : (int32_t)places[1]), &(uint64_t){b[1]}, 8);
    }
    for (; i < n; i++, from += 8) memcpy(mem_at(mem, at[i]), from, 8);
}

void type_move_runs(bool pack, char *mem, char *stream, int64_t n, const struct type_prog *p, int64_t first)
{
    if (p->near && p->run == 8 && !pack)
        unpack_8_near(mem, stream, n, p->near + first);
    else if (p->near)
        move_runs_int32_t(pack, mem, stream, n, p->run, p->near + first);
    else
        move_runs_int64_t(pack, mem, stream, n, p->run, p->at + first);
}

void type_move_lengths(bool pack, char *mem, char *stream, int64_t n, const int64_t *from, const int64_t *at)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t bytes = from[i + 1] - from[i];
        if (pack)
            copy_small(stream, mem_at(mem, at[i]), (size_t)bytes);
        else
            copy_small(mem_at(mem, at[i]), stream, (size_t)bytes);
        stream += bytes;
    }
}
