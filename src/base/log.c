/* log.c -- everything that the library prints: warnings, explanations, last words.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base_private.h"
#include "base/os.h"
#include "base/plain.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

unsigned gw_log_mask;

static struct {
    _Atomic int rank; /* -1: not known yet */
    _Atomic int size;
    _Atomic int words_us; /* how long gw_last_words() waits for the launcher to take the words; 0: not at all */
    void (*_Atomic tell)(void);
} state = {.rank = -1};

bool gw_log_rank_known(int *rank_out)
{
    int rank = atomic_load_explicit(&state.rank, memory_order_acquire);
    if (rank < 0) return false;
    *rank_out = rank;
    return true;
}

void gw_log_identity(int rank, int size)
{
    atomic_store_explicit(&state.size, size, memory_order_relaxed);
    /* Pairs with the acquire in gw_log_rank_known(): a thread that sees the rank sees the size. */
    atomic_store_explicit(&state.rank, rank, memory_order_release);
    gw_settings_report();
}

/* One write(2) a line: lines of many ranks into one terminal or file do not mix. */
static void log_line(const char *prefix, const char *fmt, va_list args)
{
    char line[2048];
    size_t len = gw_plain_format(line, sizeof line - 1, "%s", prefix);
    len += gw_plain_vformat(line + len, sizeof line - len - 1, fmt, args);
    if (line[len - 1] != '\n') line[len++] = '\n';
    for (size_t at = 0; at < len;) {
        ssize_t w = write(STDERR_FILENO, line + at, len - at);
        if (w <= 0) return;
        at += (size_t)w;
    }
}

void gw_explain(unsigned cat, const char *fmt, ...)
{
    const char *name = cat & GW_LOG_WIRE ? "wire"
        : cat & GW_LOG_PROTO             ? "proto"
        : cat & GW_LOG_COLL              ? "coll"
        : cat & GW_LOG_TOPO              ? "topo"
        : cat & GW_LOG_WAIT              ? "wait"
                                         : "boot";
    char prefix[64];
    int rank;
    if (gw_log_rank_known(&rank))
        snprintf(prefix, sizeof prefix, "godwit[%d] %s: ", rank, name);
    else
        snprintf(prefix, sizeof prefix, "godwit %s: ", name);
    va_list args;
    va_start(args, fmt);
    log_line(prefix, fmt, args);
    va_end(args);
}

static void log_who(char *out, size_t cap)
{
    struct utsname u;
    if (uname(&u) != 0) u.nodename[0] = 0;
    int rank;
    if (gw_log_rank_known(&rank))
        snprintf(out, cap, "godwit: rank %d (%.64s, pid %d): ", rank, u.nodename, (int)getpid());
    else
        snprintf(out, cap, "godwit: (%.64s, pid %d): ", u.nodename, (int)getpid());
}

void gw_warn(const char *fmt, ...)
{
    char prefix[48] = "godwit: warning: ";
    int rank;
    if (gw_log_rank_known(&rank) && atomic_load_explicit(&state.size, memory_order_relaxed) > 1)
        snprintf(prefix, sizeof prefix, "godwit[%d]: warning: ", rank);
    va_list args;
    va_start(args, fmt);
    log_line(prefix, fmt, args);
    va_end(args);
}

void gw_note(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    log_line("godwit: ", fmt, args);
    va_end(args);
}

void gw_die(const char *fmt, ...)
{
    gw_settings_report();
    char prefix[160];
    log_who(prefix, sizeof prefix);
    va_list args;
    va_start(args, fmt);
    log_line(prefix, fmt, args);
    va_end(args);
    void (*tell)(void) = atomic_exchange_explicit(&state.tell, NULL, memory_order_acquire); /* [A1] */
    if (tell) tell();
    gw_exit_now(1);
}

/* [R1] pairs with [A1]: the launcher has been joined. */
void gw_die_tells(void (*launcher)(void)) { atomic_store_explicit(&state.tell, launcher, memory_order_release); }

void gw_words_take(int us) { atomic_store_explicit(&state.words_us, us, memory_order_relaxed); }

void gw_last_words(void)
{
    /* A lock held by a blocked thread must not stop us. */
    if (ftrylockfile(stdout) == 0) {
        fflush_unlocked(stdout);
        funlockfile(stdout);
    }
    int us = atomic_exchange_explicit(&state.words_us, 0, memory_order_relaxed);
    if (us > 0) usleep((useconds_t)us);
}

void gw_exit_now(int status)
{
    /* exit() is not safe here, for other threads may run and atexit handlers may call back into us. */
    gw_last_words();
    _exit(status);
}
