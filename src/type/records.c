/* records.c -- packing of many records of a few small blocks each, such as arrays of structures with gaps.
 *
 * Records are packed in batches that stay in the first-level cache, block by block over a batch.  Such loops are bound by stores.
 * They are fastest if a loop writes three words of a record in the order of their addresses, and if 16-byte words are not mixed
 * with smaller ones (Zen 3, measured 2026-11).  So blocks below 16 bytes are split into words of 1, 2, 4 or 8 bytes (two
 * overlapping ones for other sizes), which are moved three at a time; there is a loop for each combination of widths.  Larger
 * blocks are moved one at a time.  If one loop can move whole records, there are no batches.  No byte outside of the blocks is
 * read or written.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "type/type_private.h"
#include "base/base.h"

typedef char block16 __attribute__((vector_size(16)));

enum { BATCH_BYTES = 14 << 10, FEW = 48 /* records: below, making the steps costs more than they save */ };

/* ---- two or three words of each record --------------------------------------------------------------------------------- */
#define LOOP_PARAMETERS                                                                                                            \
    char *restrict to, int64_t to_step, const char *restrict from, int64_t from_step, int64_t n, const int64_t *to_at,             \
        const int64_t *from_at
#define WORD(B) WORD_##B
#define WORD_1  uint8_t
#define WORD_2  uint16_t
#define WORD_4  uint32_t
#define WORD_8  uint64_t
#define WORD_16 block16
#define MOVE_2(A, B)                                                                                                               \
    do {                                                                                                                           \
        WORD(A) a;                                                                                                                 \
        WORD(B) b;                                                                                                                 \
        memcpy(&a, from + f0, A), memcpy(&b, from + f1, B);                                                                        \
        memcpy(to + t0, &a, A), memcpy(to + t1, &b, B);                                                                            \
    } while (0)
#define MOVE_3(A, B, C)                                                                                                            \
    do {                                                                                                                           \
        WORD(A) a;                                                                                                                 \
        WORD(B) b;                                                                                                                 \
        WORD(C) c;                                                                                                                 \
        memcpy(&a, from + f0, A), memcpy(&b, from + f1, B), memcpy(&c, from + f2, C);                                              \
        memcpy(to + t0, &a, A), memcpy(to + t1, &b, B), memcpy(to + t2, &c, C);                                                    \
    } while (0)
/* Hides the sum from the compiler, which would else keep a pointer for each word, and there are not enough registers. */
#define NEXT                                                                                                                       \
    do {                                                                                                                           \
        to += to_step, from += from_step;                                                                                          \
        __asm__("" : "+r"(to));                                                                                                    \
        __asm__("" : "+r"(from));                                                                                                  \
    } while (0)

/* Two records per iteration. */
#define LOOP_2(A, B)                                                                                                               \
    static __attribute__((noinline)) void words_##A##_##B(LOOP_PARAMETERS)                                                         \
    {                                                                                                                              \
        const int64_t t0 = to_at[0], t1 = to_at[1], f0 = from_at[0], f1 = from_at[1];                                              \
        for (; n >= 2; n -= 2) {                                                                                                   \
            MOVE_2(A, B);                                                                                                          \
            NEXT;                                                                                                                  \
            MOVE_2(A, B);                                                                                                          \
            NEXT;                                                                                                                  \
        }                                                                                                                          \
        if (n) MOVE_2(A, B);                                                                                                       \
    }
#define LOOP_3(A, B, C)                                                                                                            \
    static __attribute__((noinline)) void words_##A##_##B##_##C(LOOP_PARAMETERS)                                                   \
    {                                                                                                                              \
        const int64_t t0 = to_at[0], t1 = to_at[1], f0 = from_at[0], f1 = from_at[1];                                              \
        const int64_t t2 = to_at[2], f2 = from_at[2];                                                                              \
        for (; n >= 2; n -= 2) {                                                                                                   \
            MOVE_3(A, B, C);                                                                                                       \
            NEXT;                                                                                                                  \
            MOVE_3(A, B, C);                                                                                                       \
            NEXT;                                                                                                                  \
        }                                                                                                                          \
        if (n) MOVE_3(A, B, C);                                                                                                    \
    }
#define EACH_C(X, A, B) X(A, B, 1) X(A, B, 2) X(A, B, 4) X(A, B, 8) X(A, B, 16)
#define EACH_BC(X, A)   EACH_C(X, A, 1) EACH_C(X, A, 2) EACH_C(X, A, 4) EACH_C(X, A, 8) EACH_C(X, A, 16)
#define EACH_3(X)       EACH_BC(X, 1) EACH_BC(X, 2) EACH_BC(X, 4) EACH_BC(X, 8) EACH_BC(X, 16)
#define EACH_B(X, A)    X(A, 1) X(A, 2) X(A, 4) X(A, 8) X(A, 16)
#define EACH_2(X)       EACH_B(X, 1) EACH_B(X, 2) EACH_B(X, 4) EACH_B(X, 8) EACH_B(X, 16)
EACH_2(LOOP_2)
EACH_3(LOOP_3)

typedef void (*loop_fn)(LOOP_PARAMETERS);
#define NAME_2(A, B)    words_##A##_##B,
#define NAME_3(A, B, C) words_##A##_##B##_##C,
static const loop_fn loops_2[25] = {EACH_2(NAME_2)}, loops_3[125] = {EACH_3(NAME_3)}; /* indexed by the logarithms of the widths */

/* ---- a record ------------------------------------------------------------------------------------------------------------ */
/* What one loop moves of each record: two or three words, or one block. */
struct step {
    loop_fn loop; /* NULL: one block */
    int64_t at[3], pos[3], bytes;
};
struct record { /* offsets are relative to the first block, as the buffer's address may be NULL */
    int n_words, n_steps;
    struct {
        int64_t at, pos;
        int log;
    } words[2 * TYPE_RECORD_BLOCKS];
    struct step steps[TYPE_RECORD_BLOCKS + 1];
};

static void add_word(struct record *r, int64_t at, int64_t pos, int64_t bytes)
{
    assert(r->n_words < (int)GW_ARRAY_LEN(r->words) && bytes > 0 && bytes <= 16 && (bytes & (bytes - 1)) == 0);
    r->words[r->n_words].at = at, r->words[r->n_words].pos = pos;
    r->words[r->n_words++].log = __builtin_ctzll((uint64_t)bytes);
}

/* Adds a block of 1 to 32 bytes as one or two words. */
static void add_words(struct record *r, int64_t at, int64_t pos, int64_t bytes)
{
    int64_t first = bytes >= 16 ? 16 : bytes >= 8 ? 8 : bytes >= 4 ? 4 : bytes >= 2 ? 2 : 1, rest = bytes - first;
    int64_t last = (rest & (rest - 1)) == 0 ? rest : first;
    add_word(r, at, pos, first);
    if (last > 0) add_word(r, at + bytes - last, pos + bytes - last, last);
}

static void words_to_steps(struct record *r)
{
    for (int i = 0, many; i < r->n_words; i += many) {
        int left = r->n_words - i, code = 0;
        assert(r->n_steps < (int)GW_ARRAY_LEN(r->steps));
        struct step *s = &r->steps[r->n_steps++];
        many = left == 4 ? 2 : left < 3 ? left : 3;
        for (int w = 0; w < many; w++) {
            s->at[w] = r->words[i + w].at, s->pos[w] = r->words[i + w].pos;
            code = code * 5 + r->words[i + w].log;
        }
        s->loop = many == 3 ? loops_3[code] : many == 2 ? loops_2[code] : NULL;
        s->bytes = 1 << r->words[i].log;
    }
}

static void add_block(struct record *r, int64_t at, int64_t pos, int64_t bytes)
{
    assert(r->n_steps < (int)GW_ARRAY_LEN(r->steps));
    struct step *s = &r->steps[r->n_steps++];
    s->loop = bytes > 16 && bytes <= 32 ? words_16_16 : NULL;
    s->at[0] = at, s->pos[0] = pos, s->bytes = bytes;
    s->at[1] = at + bytes - 16, s->pos[1] = pos + bytes - 16;
}

static inline int64_t block_at(const struct type_prog *p, int64_t i)
{
    return p->kind == PROG_RUNS ? run_at(p, i) : p->child->disp + i * p->stride;
}
static inline int64_t block_bytes(const struct type_prog *p, int64_t i)
{
    return p->kind == PROG_VECTOR ? p->child->bytes : p->run ? p->run : p->from[i + 1] - p->from[i];
}

/* Can one loop move whole records? */
static bool fits_one_loop(const struct type_prog *p)
{
    int64_t words = 0;
    for (int64_t i = 0; i < p->count && words <= 3; i++) {
        int64_t bytes = block_bytes(p, i);
        words += bytes > 32 ? 4 : (bytes & (bytes - 1)) == 0 && bytes != 32 ? 1 : 2;
    }
    return words <= 3;
}

static void record_make(struct record *r, const struct type_prog *p)
{
    int64_t small = fits_one_loop(p) ? 33 : 16;
    r->n_words = r->n_steps = 0;
    for (int large = 0; large < 2; large++) {
        for (int64_t i = 0, pos = 0, bytes; i < p->count; i++, pos += bytes) {
            bytes = block_bytes(p, i);
            if (large && bytes >= small) add_block(r, block_at(p, i) - block_at(p, 0), pos, bytes);
            if (!large && bytes < small) add_words(r, block_at(p, i) - block_at(p, 0), pos, bytes);
        }
        if (!large) words_to_steps(r);
    }
}

static inline void move_block(bool pack, char *mem, int64_t stride, char *stream, int64_t each, int64_t n, int64_t bytes)
{
    if (pack)
        type_move_strided(stream, each, mem, stride, n, bytes);
    else
        type_move_strided(mem, stride, stream, each, n, bytes);
}

static void move_batch(bool pack, const struct record *r, char *mem, int64_t stride, char *stream, int64_t each, int64_t n)
{
    for (int i = 0; i < r->n_steps; i++) {
        const struct step *s = &r->steps[i];
        if (s->loop && pack)
            s->loop(stream, each, mem, stride, n, s->pos, s->at);
        else if (s->loop)
            s->loop(mem, stride, stream, each, n, s->at, s->pos);
        else
            move_block(pack, mem + s->at[0], stride, stream + s->pos[0], each, n, s->bytes);
    }
}

void type_move_records(bool pack, const struct type_prog *p, char *mem, int64_t stride, char *stream, int64_t n)
{
    assert(p->count <= TYPE_RECORD_BLOCKS && n > 0 && (p->kind == PROG_RUNS || p->child->kind == PROG_BLOCK));
    mem = mem_at(mem, p->disp);
    if (n < FEW) {
        for (int64_t i = 0, pos = 0; i < p->count; pos += block_bytes(p, i++))
            move_block(pack, mem_at(mem, block_at(p, i)), stride, stream + pos, p->bytes, n, block_bytes(p, i));
        return;
    }
    struct record r;
    record_make(&r, p);
    mem = mem_at(mem, block_at(p, 0));
    int64_t far = gw_max64(p->bytes, stride < 0 ? -stride : stride), batch = gw_max64(BATCH_BYTES / gw_max64(far, 1), 8);
    if (r.n_steps == 1) batch = n;
    for (; n > batch; n -= batch, mem += batch * stride, stream += batch * p->bytes)
        move_batch(pack, &r, mem, stride, stream, p->bytes, batch);
    move_batch(pack, &r, mem, stride, stream, p->bytes, n);
}
