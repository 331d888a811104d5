/* tcp_ask.c -- see tcp_ask.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_tcp/tcp_ask.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/list.h"
#include "base/lock.h"
#include "base/time.h"

struct tcp_ask {
    struct gw_list link; /* in asks.waiting */
    bool is_check, is_done, is_dropped;
    int reason;
    size_t bytes;
    char text[TCP_MUNGE_TEXT], what[TCP_MUNGE_MOST];
};

static struct {
    pthread_mutex_t lock; /* of all, and of what tcp_ask holds: the thread runs also where gw_lock() does nothing */
    pthread_cond_t more, done;
    struct gw_list waiting;
    bool has_thread, is_slow; /* is_slow: the last one who waited did so in vain */
    int bell[GW_MAX_LANES];   /* + 1; 0: none */
} asks = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static void finish(struct tcp_ask *a, int reason)
{
    a->reason = reason;
    a->is_done = true;
    if (a->is_dropped) free(a);
}

static struct tcp_ask *next_take(void)
{
    struct tcp_ask *a = container_of(asks.waiting.next, struct tcp_ask, link);
    gw_list_del(&a->link);
    return a;
}

static void *serve(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&asks.lock);
    for (;;) {
        while (gw_list_empty(&asks.waiting)) pthread_cond_wait(&asks.more, &asks.lock);
        struct tcp_ask *a = next_take();
        pthread_mutex_unlock(&asks.lock);
        int reason = a->is_check ? tcp_munge_check(a->text, a->what, a->bytes) : tcp_munge_make(a->what, a->bytes, a->text);
        pthread_mutex_lock(&asks.lock);
        finish(a, reason);
        if (reason != TCP_MUNGE_SILENT) asks.is_slow = false;
        while (reason == TCP_MUNGE_SILENT && !gw_list_empty(&asks.waiting))
            finish(next_take(), reason); /* waited for once, for all */
        pthread_cond_broadcast(&asks.done);
        for (int i = 0; i < GW_MAX_LANES; i++)
            if (asks.bell[i]) (void)!write(asks.bell[i] - 1, &(uint64_t){1}, sizeof(uint64_t));
    }
    return NULL;
}

int tcp_ask_open(void)
{
    pthread_t thread;
    int rc = GW_OK;
    pthread_mutex_lock(&asks.lock);
    if (!asks.has_thread) {
        gw_list_init(&asks.waiting);
        rc = gw_thread_start(&thread, serve, NULL);
        asks.has_thread = rc == GW_OK;
        if (rc == GW_OK) pthread_detach(thread); /* it may be in libmunge when the process ends */
    }
    pthread_mutex_unlock(&asks.lock);
    return rc;
}

void tcp_ask_bell(int lane, int fd)
{
    pthread_mutex_lock(&asks.lock);
    asks.bell[lane] = fd + 1;
    pthread_mutex_unlock(&asks.lock);
}

static struct tcp_ask *begin(struct tcp_ask *a)
{
    pthread_mutex_lock(&asks.lock);
    assert(asks.has_thread);
    gw_list_push(&asks.waiting, &a->link);
    pthread_cond_signal(&asks.more);
    pthread_mutex_unlock(&asks.lock);
    return a;
}

struct tcp_ask *tcp_ask_make(const void *what, size_t bytes)
{
    struct tcp_ask *a = gw_xcalloc(1, sizeof *a);
    assert(bytes <= sizeof a->what);
    a->bytes = bytes;
    memcpy(a->what, what, bytes);
    return begin(a);
}

struct tcp_ask *tcp_ask_check(const char text[TCP_MUNGE_TEXT], size_t bytes)
{
    struct tcp_ask *a = gw_xcalloc(1, sizeof *a);
    assert(bytes <= sizeof a->what);
    a->is_check = true;
    a->bytes = bytes;
    memcpy(a->text, text, sizeof a->text);
    return begin(a);
}

bool tcp_ask_is_done(const struct tcp_ask *a)
{
    pthread_mutex_lock(&asks.lock);
    bool is_done = a->is_done;
    pthread_mutex_unlock(&asks.lock);
    return is_done;
}

bool tcp_ask_wait(const struct tcp_ask *a, int ms)
{
    uint64_t end = gw_now_ns() + (uint64_t)ms * 1000000;
    struct timespec until = {(time_t)(end / 1000000000), (long)(end % 1000000000)};
    pthread_mutex_lock(&asks.lock);
    int rc = 0;
    while (!a->is_done && !asks.is_slow && rc == 0) rc = pthread_cond_clockwait(&asks.done, &asks.lock, CLOCK_MONOTONIC, &until);
    bool is_done = a->is_done;
    if (!is_done) asks.is_slow = true;
    pthread_mutex_unlock(&asks.lock);
    return is_done;
}

int tcp_ask_take(struct tcp_ask **ask, void *out)
{
    struct tcp_ask *a = *ask;
    assert(tcp_ask_is_done(a));
    int reason = a->reason;
    if (reason == 0) memcpy(out, a->is_check ? a->what : a->text, a->is_check ? a->bytes : sizeof a->text);
    free(a);
    *ask = NULL;
    return reason;
}

void tcp_ask_drop(struct tcp_ask **ask)
{
    struct tcp_ask *a = *ask;
    if (!a) return;
    *ask = NULL;
    pthread_mutex_lock(&asks.lock);
    a->is_dropped = true; /* munged may be reading it: its answer is nobody's */
    bool is_done = a->is_done;
    pthread_mutex_unlock(&asks.lock);
    if (is_done) free(a);
}
