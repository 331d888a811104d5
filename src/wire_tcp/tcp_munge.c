/* tcp_munge.c -- see tcp_munge.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_tcp/tcp_munge.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "base/settings.h"
#include "base/time.h"

/* What is used of libmunge, whose header need not be there; tcp_munge_test.c compares where it is. */
typedef struct munge_ctx munge_context;
static struct {
    munge_context *(*ctx_create)(void);
    void (*ctx_destroy)(munge_context *ctx);
    int (*ctx_set)(munge_context *ctx, int option, ...);
    int (*encode)(char **text, munge_context *ctx, const void *what, int bytes);
    int (*decode)(const char *text, munge_context *ctx, void **what, int *bytes, uid_t *uid, gid_t *gid);
    const char *(*strerror)(int err);
    bool is_open;
} lib;

static bool lib_find(void *so)
{
    return (*(void **)&lib.ctx_create = dlsym(so, "munge_ctx_create")) &&
        (*(void **)&lib.ctx_destroy = dlsym(so, "munge_ctx_destroy")) && (*(void **)&lib.ctx_set = dlsym(so, "munge_ctx_set")) &&
        (*(void **)&lib.encode = dlsym(so, "munge_encode")) && (*(void **)&lib.decode = dlsym(so, "munge_decode")) &&
        (*(void **)&lib.strerror = dlsym(so, "munge_strerror"));
}

static const char *socket_path(void) { return gw_set.net_munge_socket[0] ? gw_set.net_munge_socket : NULL; }

static munge_context *context(void)
{
    munge_context *ctx = lib.ctx_create();
    if (ctx && socket_path() && lib.ctx_set(ctx, TCP_MUNGE_OPT_SOCKET, socket_path()) != 0) {
        lib.ctx_destroy(ctx);
        return NULL;
    }
    return ctx;
}

/* munged may end while libmunge writes to it, which must not end this process: SIGPIPE is held back meanwhile, and taken if it came. */
struct held {
    sigset_t before;
    bool was_pending;
};
static void pipe_hold(struct held *h)
{
    sigset_t pending, pipe;
    sigpending(&pending);
    h->was_pending = sigismember(&pending, SIGPIPE);
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &h->before);
}
static void pipe_release(const struct held *h)
{
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    if (!h->was_pending) sigtimedwait(&pipe, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &h->before, NULL);
}

/* A socket that nobody serves is refused at once; of a daemon that hangs libmunge says the same, after its tries. */
static int reason_of(int rc, uint64_t since)
{
    static const uint64_t silent_ns = 1500000000;
    return rc == TCP_MUNGE_SOCKET && gw_now_ns() - since > silent_ns ? TCP_MUNGE_SILENT : rc;
}

int tcp_munge_make(const void *what, size_t bytes, char out[TCP_MUNGE_TEXT])
{
    munge_context *ctx = context();
    char *text = NULL;
    assert(bytes <= TCP_MUNGE_MOST);
    struct held held;
    int rc = ctx ? lib.ctx_set(ctx, TCP_MUNGE_OPT_UID_RESTRICTION, geteuid()) : TCP_MUNGE_SNAFU;
    uint64_t since = gw_now_ns();
    pipe_hold(&held);
    if (rc == 0) rc = reason_of(lib.encode(&text, ctx, what, (int)bytes), since);
    pipe_release(&held);
    memset(out, 0, TCP_MUNGE_TEXT);
    if (rc == 0 && strlen(text) >= TCP_MUNGE_TEXT) rc = TCP_MUNGE_SNAFU;
    if (rc == 0) snprintf(out, TCP_MUNGE_TEXT, "%s", text);
    free(text);
    if (ctx) lib.ctx_destroy(ctx);
    return rc;
}

int tcp_munge_check(const char text[TCP_MUNGE_TEXT], void *what_out, size_t bytes)
{
    if (!memchr(text, 0, TCP_MUNGE_TEXT)) return TCP_MUNGE_BAD_CRED;
    munge_context *ctx = context();
    void *what = NULL;
    int n = 0;
    uid_t uid = (uid_t)-1;
    gid_t gid;
    struct held held;
    uint64_t since = gw_now_ns();
    pipe_hold(&held);
    int rc = ctx ? reason_of(lib.decode(text, ctx, &what, &n, &uid, &gid), since) : TCP_MUNGE_SNAFU;
    pipe_release(&held);
    if (rc == 0 && uid != geteuid()) rc = TCP_MUNGE_USER;
    if (rc == 0 && (n < 0 || (size_t)n != bytes)) rc = TCP_MUNGE_OTHER;
    if (rc == 0) memcpy(what_out, what, bytes);
    free(what);
    if (ctx) lib.ctx_destroy(ctx);
    return rc;
}

static const char *advice(int reason)
{
    switch (reason) {
    case TCP_MUNGE_SOCKET:
        return "start munged on that host (systemctl start munge), or name its socket by GODWIT_NET_MUNGE_SOCKET";
    case TCP_MUNGE_SILENT: return "it takes connections but is stopped, or hangs: start it again (systemctl restart munge)";
    case TCP_MUNGE_CRED_INVALID: return "give the munged of all hosts the same /etc/munge/munge.key";
    case TCP_MUNGE_CRED_EXPIRED:
    case TCP_MUNGE_CRED_REWOUND: return "set the clocks of the hosts alike (timedatectl)";
    case TCP_MUNGE_CRED_REPLAYED: return "somebody sends again what he has read from the network, or two hosts share one munged";
    case TCP_MUNGE_CRED_UNAUTHORIZED:
    case TCP_MUNGE_USER: return "all ranks have to run as one user, with the same number on all hosts";
    case TCP_MUNGE_OTHER: return "it was made for another connection or job";
    default: return "see munged's log on that host";
    }
}

const char *tcp_munge_why(int reason, const char *at)
{
    static _Thread_local char text[300];
    const char *word = reason == TCP_MUNGE_USER ? "a credential of another user"
        : reason == TCP_MUNGE_OTHER             ? "a credential for something else"
        : reason == TCP_MUNGE_SILENT            ? "nothing, for 10 s"
                                                : NULL;
    snprintf(text, sizeof text, "MUNGE %s says: %s; %s", at, word ? word : lib.strerror(reason), advice(reason));
    return text;
}

int tcp_munge_open(void)
{
    char text[TCP_MUNGE_TEXT];
    if (lib.is_open) return GW_OK;
    void *so = dlopen("libmunge.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!so)
        return gw_fail(GW_EUNSUPPORTED,
                       "GODWIT_NET_AUTH=munge needs libmunge.so.2, which cannot be opened (%s): install it (Debian: "
                       "libmunge2), or unset it",
                       dlerror());
    if (!lib_find(so)) return gw_fail(GW_EUNSUPPORTED, "GODWIT_NET_AUTH=munge: libmunge.so.2 lacks functions that version 0.5 has");
    int rc = tcp_munge_make("", 1, text);
    if (rc == 0) rc = tcp_munge_check(text, &(char){0}, 1);
    if (rc != 0)
        return gw_fail(GW_EUNSUPPORTED, "GODWIT_NET_AUTH=munge: %s (%s)", tcp_munge_why(rc, "here"),
                       socket_path() ? socket_path() : "libmunge's own socket");
    lib.is_open = true;
    return GW_OK;
}
