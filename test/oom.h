/* oom.h -- for tests: allocations that fail, one after the other.  Only for files *_oom_test.c, whose programs are linked so that what
 * all rooms ask of malloc() and its kin goes by here (meson.build).  gw_xmalloc() and proto_pool_take_slow(), which end the process with a
 * sentence where there is no memory, are left alone.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TEST_OOM_H
#define GW_TEST_OOM_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

#include "unit.h"

static int oom_left = -1, oom_spared; /* so many allocations succeed, then one fails; -1: all succeed */
static bool oom_struck;

static bool oom_strikes(void)
{
    if (oom_left < 0 || oom_spared || oom_left-- > 0) return false;
    oom_struck = true;
    return true;
}

/* Around what a call needs before it: oom_go(oom_pause()). */
static inline int oom_pause(void)
{
    int left = oom_left;
    oom_left = -1;
    return left;
}
static inline void oom_go(int left) { oom_left = left; }

#define OOM_WRAP(type, name, parameters, arguments, fails)                                                                         \
    type __real_##name parameters;                                                                                                 \
    type __wrap_##name parameters;                                                                                                 \
    type __wrap_##name parameters { return oom_strikes() ? fails : __real_##name arguments; }
OOM_WRAP(void *, malloc, (size_t n), (n), NULL)
OOM_WRAP(void *, calloc, (size_t n, size_t size), (n, size), NULL)
OOM_WRAP(void *, realloc, (void *p, size_t n), (p, n), NULL)
OOM_WRAP(void *, aligned_alloc, (size_t align, size_t n), (align, n), NULL)
OOM_WRAP(int, posix_memalign, (void **p_out, size_t align, size_t n), (p_out, align, n), ENOMEM)
OOM_WRAP(char *, strdup, (const char *s), (s), NULL)

#define OOM_SPARE(type, name, parameters, arguments)                                                                               \
    type __real_##name parameters;                                                                                                 \
    type __wrap_##name parameters;                                                                                                 \
    type __wrap_##name parameters                                                                                                  \
    {                                                                                                                              \
        oom_spared++;                                                                                                              \
        type got = __real_##name arguments;                                                                                        \
        oom_spared--;                                                                                                              \
        return got;                                                                                                                \
    }
struct proto_pool;
OOM_SPARE(void *, gw_xmalloc, (size_t n), (n))
OOM_SPARE(void *, gw_xcalloc, (size_t n, size_t size), (n, size))
OOM_SPARE(void *, gw_xrealloc, (void *p, size_t n), (p, n))
OOM_SPARE(void *, proto_pool_take_slow, (struct proto_pool * p), (p))

/* A call that needs memory.  It is made with its first allocation failing, then its second, and so on until none fails.  Where one
 * fails it answers GW_ENOMEM with a sentence, and is_clean() finds everything as it was before; or it does without and answers GW_OK.
 * end() is called after each GW_OK. */
struct oom_call {
    const char *name;
    int (*call)(void);
    void (*end)(void);
    int least;     /* so many allocations at least */
    int no_memory; /* what it answers instead of GW_ENOMEM, without a sentence; 0: GW_ENOMEM */
};

static inline void oom_try(const struct oom_call *c, bool (*is_clean)(void))
{
    int n = 0;
    for (;; n++) {
        oom_left = n;
        oom_struck = false;
        gw_fail_clear();
        int rc = c->call();
        oom_left = -1;
        bool is_right = rc == GW_OK || (oom_struck && (c->no_memory ? rc == c->no_memory : rc == GW_ENOMEM && gw_fail_text()[0]));
        if (rc == GW_OK) c->end();
        if (!is_right || !is_clean()) {
            unit_failures++;
            fprintf(stderr, "%s, allocation %d fails: it answers %d (%s)%s\n", c->name, n + 1, rc, gw_fail_text(),
                    is_right ? " and leaves something" : "");
        }
        if (!oom_struck || n == 1000) break;
    }
    if (n < c->least || n == 1000) {
        unit_failures++;
        fprintf(stderr, "%s: %d allocations\n", c->name, n);
    }
}

#endif
