/* tcp_tls.c -- see tcp_tls.h.
 *
 * The thread waits for events of both sockets of each connection, edge by edge, and then moves what can be moved until nothing can.  libssl works
 * on memory (BIO_s_mem), so that all calls of the system are ours: no SIGPIPE, and nothing blocks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_tcp/tcp_tls.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/list.h"
#include "base/lock.h"
#include "base/time.h"

enum { CHUNK = 16 << 10, CIPHER = 2 * CHUNK };

/* What is used of libssl and libcrypto 3, whose headers need not be there. */
typedef struct ssl_ctx_st ssl_ctx;
typedef struct ssl_st ssl;
typedef struct bio_st bio;
typedef unsigned client_key_fn(ssl *s, const char *hint, char *name, unsigned name_most, unsigned char *key, unsigned key_most);
typedef unsigned server_key_fn(ssl *s, const char *name, unsigned char *key, unsigned key_most);
static struct {
    const void *(*TLS_method)(void);
    ssl_ctx *(*SSL_CTX_new)(const void *method);
    void (*SSL_CTX_free)(ssl_ctx *c);
    long (*SSL_CTX_ctrl)(ssl_ctx *c, int what, long n, void *p);
    int (*SSL_CTX_set_ciphersuites)(ssl_ctx *c, const char *names);
    int (*SSL_CTX_set_num_tickets)(ssl_ctx *c, size_t n);
    void (*SSL_CTX_set_psk_client_callback)(ssl_ctx *c, client_key_fn *fn);
    void (*SSL_CTX_set_psk_server_callback)(ssl_ctx *c, server_key_fn *fn);
    ssl *(*SSL_new)(ssl_ctx *c);
    void (*SSL_free)(ssl *s);
    void (*SSL_set_bio)(ssl *s, bio *in, bio *out);
    void (*SSL_set_accept_state)(ssl *s);
    void (*SSL_set_connect_state)(ssl *s);
    int (*SSL_set_ex_data)(ssl *s, int at, void *p);
    void *(*SSL_get_ex_data)(const ssl *s, int at);
    int (*SSL_do_handshake)(ssl *s);
    int (*SSL_read)(ssl *s, void *to, int n);
    int (*SSL_write)(ssl *s, const void *from, int n);
    int (*SSL_get_error)(const ssl *s, int rc);
    int (*SSL_shutdown)(ssl *s);
    bio *(*BIO_new)(const void *kind);
    const void *(*BIO_s_mem)(void);
    int (*BIO_read)(bio *b, void *to, int n);
    int (*BIO_write)(bio *b, const void *from, int n);
    size_t (*BIO_ctrl_pending)(bio *b);
    void (*ERR_clear_error)(void);
} lib;
enum { SSL_WANT_READ = 2, SSL_WANT_WRITE = 3, CTRL_MIN_VERSION = 123, TLS_1_3 = 0x0304 }; /* of libssl's interface */

struct carried {
    struct gw_list link; /* in tls.all, or in `gone` of the thread */
    int net, app;
    ssl *s;
    bio *in, *out; /* what came from the network; what goes there */
    struct tcp_tls_key key;
    bool is_greeted, app_is_over, net_is_over, is_dead;
    size_t clear_at, clear_n, cipher_at, cipher_n; /* what was taken out and not passed on yet */
    char clear[CHUNK], cipher[CIPHER];
};

static struct {
    pthread_mutex_t lock; /* guards the list, and a connection until both its ends are watched; its members are the thread's */
    struct gw_list all;
    void *so[2];
    ssl_ctx *ctx;
    pthread_t thread;
    bool is_open;
    int watch, stop; /* epoll; eventfd */
    atomic_bool is_over;
    _Atomic int n_busy; /* connections on which something is to be passed on to the network */
} tls = {.lock = PTHREAD_MUTEX_INITIALIZER, .watch = -1, .stop = -1};

/* ---- libssl --------------------------------------------------------------------------------------------------------------------- */
static unsigned key_take(ssl *s, unsigned char *key, unsigned most)
{
    const struct carried *c = lib.SSL_get_ex_data(s, 0);
    if (most < sizeof c->key) return 0;
    memcpy(key, &c->key, sizeof c->key);
    return sizeof c->key;
}
static unsigned client_key(ssl *s, const char *hint, char *name, unsigned name_most, unsigned char *key, unsigned most)
{
    static const char who[] = "godwit";
    (void)hint;
    if (name_most < sizeof who) return 0;
    memcpy(name, who, sizeof who);
    return key_take(s, key, most);
}
static unsigned server_key(ssl *s, const char *name, unsigned char *key, unsigned most)
{
    return strcmp(name, "godwit") == 0 ? key_take(s, key, most) : 0;
}

static bool lib_find(void)
{
#define SYMBOL(so, name)                                                                                                           \
    {                                                                                                                              \
        so, #name, (void **)&lib.name                                                                                              \
    }
    const struct {
        int so;
        const char *name;
        void **at;
    } symbols[] = {SYMBOL(0, TLS_method),
                   SYMBOL(0, SSL_CTX_new),
                   SYMBOL(0, SSL_CTX_free),
                   SYMBOL(0, SSL_CTX_ctrl),
                   SYMBOL(0, SSL_CTX_set_ciphersuites),
                   SYMBOL(0, SSL_CTX_set_num_tickets),
                   SYMBOL(0, SSL_CTX_set_psk_client_callback),
                   SYMBOL(0, SSL_CTX_set_psk_server_callback),
                   SYMBOL(0, SSL_new),
                   SYMBOL(0, SSL_free),
                   SYMBOL(0, SSL_set_bio),
                   SYMBOL(0, SSL_set_accept_state),
                   SYMBOL(0, SSL_set_connect_state),
                   SYMBOL(0, SSL_set_ex_data),
                   SYMBOL(0, SSL_get_ex_data),
                   SYMBOL(0, SSL_do_handshake),
                   SYMBOL(0, SSL_read),
                   SYMBOL(0, SSL_write),
                   SYMBOL(0, SSL_get_error),
                   SYMBOL(0, SSL_shutdown),
                   SYMBOL(1, BIO_new),
                   SYMBOL(1, BIO_s_mem),
                   SYMBOL(1, BIO_read),
                   SYMBOL(1, BIO_write),
                   SYMBOL(1, BIO_ctrl_pending),
                   SYMBOL(1, ERR_clear_error)};
#undef SYMBOL
    for (size_t i = 0; i < GW_ARRAY_LEN(symbols); i++)
        if (!(*symbols[i].at = dlsym(tls.so[symbols[i].so], symbols[i].name))) return false;
    return true;
}

static int lib_open(void)
{
    if (tls.ctx) return GW_OK;
    tls.so[0] = dlopen("libssl.so.3", RTLD_NOW | RTLD_LOCAL);
    tls.so[1] = tls.so[0] ? dlopen("libcrypto.so.3", RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!tls.so[1]) {
        const char *why = dlerror();
        return gw_fail(GW_EUNSUPPORTED,
                       "GODWIT_NET_TLS needs libssl.so.3, which cannot be opened (%s): install it (Debian: libssl3)",
                       why ? why : "no reason given");
    }
    if (!lib_find()) return gw_fail(GW_EUNSUPPORTED, "GODWIT_NET_TLS: libssl.so.3 lacks functions that version 3.0 has");
    tls.ctx = lib.SSL_CTX_new(lib.TLS_method());
    /* TLS 1.3 alone, by the cipher of the hash that such keys have; no tickets: each connection greets anew. */
    bool is_set = tls.ctx && lib.SSL_CTX_ctrl(tls.ctx, CTRL_MIN_VERSION, TLS_1_3, NULL) == 1 &&
        lib.SSL_CTX_set_ciphersuites(tls.ctx, "TLS_AES_128_GCM_SHA256") == 1 && lib.SSL_CTX_set_num_tickets(tls.ctx, 0) == 1;
    if (!is_set) return gw_fail(GW_EUNSUPPORTED, "GODWIT_NET_TLS: libssl.so.3 does not take TLS 1.3 with TLS_AES_128_GCM_SHA256");
    lib.SSL_CTX_set_psk_client_callback(tls.ctx, client_key);
    lib.SSL_CTX_set_psk_server_callback(tls.ctx, server_key);
    return GW_OK;
}

/* ---- one connection ------------------------------------------------------------------------------------------------------------- */
/* Did a call of libssl fail for good?  (It may only want more from the network.) */
static bool is_failure(struct carried *c, int rc)
{
    int why = lib.SSL_get_error(c->s, rc);
    return why != SSL_WANT_READ && why != SSL_WANT_WRITE;
}

static bool is_no_news(ssize_t n) { return n < 0 && (errno == EAGAIN || errno == EINTR); }

/* Each moves something on: true, if it did. */
static bool to_net(struct carried *c)
{
    if (c->cipher_at == c->cipher_n && lib.BIO_ctrl_pending(c->out) > 0) {
        int n = lib.BIO_read(c->out, c->cipher, CIPHER);
        c->cipher_at = 0;
        c->cipher_n = n > 0 ? (size_t)n : 0;
    }
    if (c->cipher_at == c->cipher_n) return false;
    ssize_t n = send(c->net, c->cipher + c->cipher_at, c->cipher_n - c->cipher_at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) c->cipher_at += (size_t)n;
    c->is_dead = c->is_dead || (n < 0 && !is_no_news(n));
    return n > 0;
}
static bool from_net(struct carried *c)
{
    char some[CHUNK];
    if (c->net_is_over || c->clear_at < c->clear_n) return false;
    ssize_t n = recv(c->net, some, sizeof some, MSG_DONTWAIT);
    if (is_no_news(n)) return false;
    c->net_is_over = n <= 0;
    if (n > 0 && lib.BIO_write(c->in, some, (int)n) != n) c->is_dead = true;
    return n > 0;
}
static bool greet(struct carried *c)
{
    if (c->is_greeted) return false;
    int rc = lib.SSL_do_handshake(c->s);
    c->is_greeted = rc == 1;
    c->is_dead = c->is_dead || (rc != 1 && is_failure(c, rc));
    return c->is_greeted;
}
static bool to_app(struct carried *c)
{
    if (c->is_greeted && c->clear_at == c->clear_n) {
        int n = lib.SSL_read(c->s, c->clear, CHUNK);
        c->clear_at = 0;
        c->clear_n = n > 0 ? (size_t)n : 0;
        c->is_dead = c->is_dead || (n <= 0 && is_failure(c, n)); /* a close in good order, too */
    }
    if (c->clear_at == c->clear_n) return false;
    ssize_t n = send(c->app, c->clear + c->clear_at, c->clear_n - c->clear_at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) c->clear_at += (size_t)n;
    c->is_dead = c->is_dead || (n < 0 && !is_no_news(n) && c->app_is_over);
    return n > 0;
}
static bool from_app(struct carried *c)
{
    char some[CHUNK];
    if (!c->is_greeted || c->app_is_over || c->cipher_at < c->cipher_n || lib.BIO_ctrl_pending(c->out) > 0) return false;
    ssize_t n = recv(c->app, some, sizeof some, MSG_DONTWAIT);
    if (is_no_news(n)) return false;
    c->app_is_over = n <= 0;
    if (n > 0 && lib.SSL_write(c->s, some, (int)n) != n) c->is_dead = true;
    if (n <= 0) (void)lib.SSL_shutdown(c->s);
    return true;
}

static bool has_rest(const struct carried *c) { return c->cipher_at < c->cipher_n || lib.BIO_ctrl_pending(c->out) > 0; }

/* Moves on what can be; true: it is over. */
static bool carry(struct carried *c)
{
    lib.ERR_clear_error();
    bool moved = true;
    while (moved && !c->is_dead) {
        moved = from_net(c);
        moved |= greet(c);
        moved |= to_app(c);
        moved |= from_app(c);
        moved |= to_net(c);
    }
    if (c->is_dead) (void)to_net(c); /* what libssl says of it */
    bool is_delivered = c->clear_at == c->clear_n;
    return c->is_dead || (c->app_is_over && !has_rest(c)) || (c->net_is_over && is_delivered);
}

static void carried_free(struct carried *c)
{
    if (c->s) lib.SSL_free(c->s); /* with its memory of both ways */
    close(c->net);
    close(c->app);
    explicit_bzero(c, sizeof *c);
    free(c);
}

/* ---- the thread ----------------------------------------------------------------------------------------------------------------- */
static void *run(void *unused)
{
    enum { EVENTS = 64 };
    struct epoll_event events[EVENTS];
    while (!atomic_load_explicit(&tls.is_over, memory_order_acquire)) {
        struct gw_list gone;
        int n = epoll_wait(tls.watch, events, EVENTS, -1);
        gw_list_init(&gone);
        for (int i = 0; i < n; i++) {
            struct carried *c = events[i].data.ptr;
            if (!c || c->net < 0) continue; /* told to look; over since an event before in this list */
            if (!carry(c)) continue;
            pthread_mutex_lock(&tls.lock);
            gw_list_del(&c->link);
            pthread_mutex_unlock(&tls.lock);
            gw_list_push(&gone, &c->link);
            epoll_ctl(tls.watch, EPOLL_CTL_DEL, c->net, NULL);
            epoll_ctl(tls.watch, EPOLL_CTL_DEL, c->app, NULL);
            shutdown(c->app, SHUT_RDWR); /* a child of the program's may hold the wire's end */
            close(c->net);
            c->net = -1;
        }
        while (!gw_list_empty(&gone)) {
            struct carried *c = container_of(gone.next, struct carried, link);
            gw_list_del(&c->link);
            carried_free(c);
        }
    }
    return unused;
}

/* Hands a connection over to the thread, which may find it over as soon as one end is watched; the lock keeps it there until both are.
 * False, with errno: it cannot be carried, and is not the caller's any more either. */
static bool watch_both(struct carried *c)
{
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    pthread_mutex_lock(&tls.lock);
    gw_list_push(&tls.all, &c->link);
    bool is_seen = epoll_ctl(tls.watch, EPOLL_CTL_ADD, c->net, &e) == 0;
    bool is_carried = is_seen && epoll_ctl(tls.watch, EPOLL_CTL_ADD, c->app, &e) == 0;
    int err = errno;
    if (!is_seen) {
        gw_list_del(&c->link);
        carried_free(c);
    } else if (!is_carried) { /* the thread, which sees this, frees it */
        shutdown(c->app, SHUT_RDWR);
        shutdown(c->net, SHUT_RDWR);
    }
    pthread_mutex_unlock(&tls.lock);
    errno = err;
    return is_carried;
}

int tcp_tls_wrap(int fd, bool is_accepting, const struct tcp_tls_key *key)
{
    int pair[2];
    if (!tls.is_open || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
        int err = errno;
        close(fd);
        errno = err;
        return -1;
    }
    struct carried *c = gw_xcalloc(1, sizeof *c);
    c->net = fd;
    c->app = pair[0];
    c->key = *key;
    c->s = lib.SSL_new(tls.ctx);
    c->in = lib.BIO_new(lib.BIO_s_mem());
    c->out = lib.BIO_new(lib.BIO_s_mem());
    if (!c->s || !c->in || !c->out) gw_die("no memory for a connection by TLS");
    lib.SSL_set_bio(c->s, c->in, c->out);
    lib.SSL_set_ex_data(c->s, 0, c);
    if (is_accepting)
        lib.SSL_set_accept_state(c->s);
    else
        lib.SSL_set_connect_state(c->s);
    if (watch_both(c)) return pair[1]; /* from here on it is the thread's */
    int err = errno;
    close(pair[1]);
    errno = err;
    return -1;
}

int tcp_tls_open(void)
{
    if (tls.is_open) return GW_OK;
    int rc = lib_open();
    if (rc != GW_OK) return rc;
    gw_list_init(&tls.all);
    atomic_store_explicit(&tls.is_over, false, memory_order_relaxed);
    tls.watch = epoll_create1(EPOLL_CLOEXEC);
    tls.stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event e = {.events = EPOLLIN};
    if (tls.watch < 0 || tls.stop < 0 || epoll_ctl(tls.watch, EPOLL_CTL_ADD, tls.stop, &e) != 0)
        return gw_fail(GW_EOTHER, "no descriptors for GODWIT_NET_TLS: %s", strerror(errno));
    tls.is_open = gw_thread_start(&tls.thread, run, NULL) == GW_OK;
    return tls.is_open ? GW_OK : gw_fail(GW_ENOMEM, "the thread of GODWIT_NET_TLS cannot be started");
}

/* Is something of the wire's on its way to the network?  By the queues of the sockets alone, as the rest is the thread's. */
static bool is_quiet(void)
{
    bool quiet = true;
    char one;
    pthread_mutex_lock(&tls.lock);
    for (struct gw_list *l = tls.all.next; l != &tls.all && quiet; l = l->next) {
        struct carried *c = container_of(l, struct carried, link);
        quiet = recv(c->app, &one, 1, MSG_PEEK | MSG_DONTWAIT) < 0;
    }
    pthread_mutex_unlock(&tls.lock);
    return quiet;
}

void tcp_tls_close(void)
{
    static const uint64_t patience_ns = 2000000000;
    if (!tls.is_open) return;
    for (uint64_t since = gw_now_ns(); !is_quiet() && gw_now_ns() - since < patience_ns;) usleep(1000);
    atomic_store_explicit(&tls.is_over, true, memory_order_release);
    (void)!write(tls.stop, &(uint64_t){1}, sizeof(uint64_t));
    pthread_join(tls.thread, NULL);
    while (!gw_list_empty(&tls.all)) {
        struct carried *c = container_of(tls.all.next, struct carried, link);
        gw_list_del(&c->link);
        for (uint64_t since = gw_now_ns(); !carry(c) && has_rest(c) && gw_now_ns() - since < patience_ns;) usleep(1000);
        carried_free(c);
    }
    close(tls.watch);
    close(tls.stop);
    tls.watch = tls.stop = -1;
    tls.is_open = false;
}
