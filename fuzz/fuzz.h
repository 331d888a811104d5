/* fuzz.h -- what the fuzz targets share: numbers and texts out of the fuzzer's bytes, and checks that end the run.
 *
 * A target is one function, LLVMFuzzerTestOneInput(); libFuzzer brings main().  Bytes that are used up read as zeros, so that
 * every input means something.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_FUZZ_FUZZ_H
#define GW_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUZZ_CHECK(cond)                                                                                                           \
    do {                                                                                                                           \
        if (!(cond)) {                                                                                                             \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond);                                                     \
            abort();                                                                                                               \
        }                                                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

struct input {
    const uint8_t *at, *end;
};

static inline struct input in_open(const uint8_t *data, size_t size) { return (struct input){data, data + size}; }
static inline bool in_more(const struct input *in) { return in->at < in->end; }
static inline unsigned in_byte(struct input *in) { return in_more(in) ? *in->at++ : 0; }

/* In [0, n), n up to 65536. */
static inline int in_below(struct input *in, int n)
{
    unsigned v = in_byte(in);
    if (n > 256) v = v << 8 | in_byte(in);
    return (int)(v % (unsigned)n);
}

/* Small numbers of both signs, powers of two and their neighbours, and any other. */
static inline int64_t in_number(struct input *in)
{
    unsigned kind = in_byte(in);
    if (kind < 128) return (int64_t)kind - 32;
    uint64_t v = 0;
    if (kind < 192) {
        v = ((uint64_t)1 << (in_byte(in) & 63)) + (uint64_t)(int64_t)((int)(kind & 3) - 1);
        return (int64_t)(kind & 4 ? -v : v);
    }
    for (int i = 0; i < 8; i++) v = v << 8 | in_byte(in);
    return (int64_t)v;
}

/* The next n bytes at most, up to and without the first zero, as a text of its own; the caller frees. */
static inline char *in_text(struct input *in, size_t n)
{
    size_t have = (size_t)(in->end - in->at), len = 0;
    if (n > have) n = have;
    while (len < n && in->at[len]) len++;
    char *text = malloc(len + 1);
    if (!text) abort();
    if (len) memcpy(text, in->at, len);
    text[len] = 0;
    in->at += len < n ? len + 1 : len;
    return text;
}

/* A function without the fuzzer's counters, which would be most of the time where it takes a step for each byte.  Not inlined: there it
 * would have them. */
#define FUZZ_UNCOUNTED __attribute__((noinline, no_sanitize("coverage")))

/* A sum of n bytes, on from `h`, in the manner of FNV-1a with 8 bytes a step. */
#define FUZZ_SUM_BEGIN UINT64_C(0xcbf29ce484222325)
FUZZ_UNCOUNTED static inline uint64_t fuzz_sum(uint64_t h, const void *bytes, size_t n)
{
    const uint8_t *at = bytes;
    uint64_t word;
    for (; n >= sizeof word; n -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        h = (h ^ word) * UINT64_C(0x100000001b3);
        h ^= h >> 29;
    }
    for (; n; n--) h = (h ^ *at++) * UINT64_C(0x100000001b3);
    return h;
}

#endif
