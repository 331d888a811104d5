/* fuzz_tcp.c -- what members of the job send over TCP sockets of our own: two connections, whose bytes come in pieces of any length.
 * What the wire hands up, what it writes to memory that waits for a long message, and which connections it ends are compared with a
 * reading of the same bytes that is told nothing of pieces.  And texts that say where a process is.
 *
 * An input is a byte that says which of these: the bytes of one connection as they are, after one for the pieces; steps that make heads
 * and payloads that are sound, or nearly so; a text; traffic, as record_tcp.py writes what came to ranks: its pieces, and the memory that
 * waits for its long messages.  With FUZZ_TRAFFIC=1 in the environment an input of the last sort must be taken as a whole: that the
 * corpus is still what ranks send.
 *
 * The sockets are made up (the linker's --wrap): the kernel's would take most of the time, and what they do tcp_test.c looks at.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/base.h"
#include "base/count.h"
#include "boot/boot.h"
#include "fuzz.h"
#include "node/node.h"
#include "wire_tcp/tcp_private.h"

enum { AS_IT_IS, STEPS, TEXT, TRAFFIC, WAYS, TAKES = 6, LANE = 3, PIECE_MOST = 60000, STREAM_MOST = 4 * PIECE_MOST };

struct sums {
    uint64_t n, sum;
};
static struct wire *wire;
static struct sums handed, wanted;
static bool must_be_taken; /* FUZZ_TRAFFIC */

/* Freed memory is kept for a while, not for as long as there is room: pages that were written lately are the quick ones. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "quarantine_size_mb=4:malloc_context_size=5"; }

/* ---- sockets -------------------------------------------------------------------------------------------------------------------- */
enum { SOCKETS = 1 << 20 }; /* numbers that the kernel gives nobody */
static struct made_up {
    const uint8_t *at; /* what has come */
    size_t n;
    bool is_open, has_ended;
    struct tcp_welcome said;
} sockets[2];

static struct made_up *made_up(int fd) { return fd >= SOCKETS && fd < SOCKETS + 2 ? &sockets[fd - SOCKETS] : NULL; }

ssize_t __real_recv(int fd, void *to, size_t n, int flags);
ssize_t __real_readv(int fd, const struct iovec *to, int n);
int __real_close(int fd);
int __real_epoll_ctl(int ep, int op, int fd, struct epoll_event *event);
int64_t __real_boot_port_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_recv(int fd, void *to, size_t n, int flags);
ssize_t __wrap_readv(int fd, const struct iovec *to, int n);
int __wrap_close(int fd);
int __wrap_epoll_ctl(int ep, int op, int fd, struct epoll_event *event);
int64_t __wrap_boot_port_write(int fd, const void *bytes, size_t n);

ssize_t __wrap_readv(int fd, const struct iovec *to, int n)
{
    struct made_up *s = made_up(fd);
    size_t sum = 0;
    if (!s) return __real_readv(fd, to, n);
    FUZZ_CHECK(s->is_open);
    if (!s->n && s->has_ended) return 0;
    for (int i = 0; i < n && s->n; i++) {
        size_t here = to[i].iov_len < s->n ? to[i].iov_len : s->n;
        memcpy(to[i].iov_base, s->at, here);
        s->at += here;
        s->n -= here;
        sum += here;
    }
    errno = EAGAIN;
    return sum ? (ssize_t)sum : -1;
}

ssize_t __wrap_recv(int fd, void *to, size_t n, int flags)
{
    struct iovec iov = {to, n};
    return made_up(fd) ? __wrap_readv(fd, &iov, 1) : __real_recv(fd, to, n, flags);
}

int __wrap_close(int fd)
{
    struct made_up *s = made_up(fd);
    if (!s) return __real_close(fd);
    FUZZ_CHECK(s->is_open);
    s->is_open = false;
    return 0;
}

int __wrap_epoll_ctl(int ep, int op, int fd, struct epoll_event *event)
{
    struct made_up *s = made_up(fd);
    if (s) FUZZ_CHECK(s->is_open);
    return s ? 0 : __real_epoll_ctl(ep, op, fd, event);
}

int64_t __wrap_boot_port_write(int fd, const void *bytes, size_t n)
{
    struct made_up *s = made_up(fd);
    if (!s) return __real_boot_port_write(fd, bytes, n);
    FUZZ_CHECK(s->is_open && n == sizeof s->said);
    memcpy(&s->said, bytes, n);
    return (int64_t)n;
}

static void message_add(struct sums *s, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    s->n++;
    s->sum = s->sum * 31 + (fuzz_sum(fuzz_sum(FUZZ_SUM_BEGIN ^ kind, hdr, WIRE_HDR_BYTES), payload, len) ^ len);
}

static void arrived(void *ctx, int lane, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    FUZZ_CHECK(ctx == &handed && lane == LANE && kind < WIRE_CAUGHT && len <= TCP_PACK_MAX);
    FUZZ_CHECK((uintptr_t)hdr % TCP_ALIGN == 0 && (uintptr_t)payload % TCP_ALIGN == 0);
    message_add(&handed, kind, hdr, payload, len);
}

/* ---- memory that waits, and what must be in it ---------------------------------------------------------------------------------- */
static struct take {
    struct gw_done done;
    uint64_t ticket;
    char *to, *want;
    size_t bytes, got;
    int n_done, err;        /* as the wire says */
    int n_over, over_err;   /* as it must */
    const struct model *by; /* NULL: nothing has come yet */
} takes[TAKES];

static void take_done(struct gw_done *d, int err)
{
    struct take *t = container_of(d, struct take, done);
    t->n_done++;
    t->err = err != GW_OK;
}

static void take_begin(struct take *t, size_t bytes)
{
    *t = (struct take){.done.fn = take_done, .bytes = bytes, .to = calloc(1, bytes), .want = calloc(1, bytes)};
    FUZZ_CHECK(t->to && t->want && tcp_recv_into(wire, t->to, t->bytes, &t->ticket, &t->done) == GW_POSTED);
}

static void take_end(struct take *t)
{
    FUZZ_CHECK(t->n_done == t->n_over && t->err == t->over_err && memcmp(t->to, t->want, t->bytes) == 0);
    free(t->to);
    free(t->want);
    *t = (struct take){0};
}

static void takes_end(void)
{
    for (int i = 0; i < TAKES; i++)
        if (takes[i].to) take_end(&takes[i]);
    free(wire->takes);
    wire->takes = NULL;
    wire->n_takes = wire->free_take = 0;
}

/* ---- a connection, read plainly -------------------------------------------------------------------------------------- */
static struct model {
    struct made_up *socket;
    struct tcp_in *in;
    uint8_t message[sizeof(struct tcp_head) + TCP_PACK_MAX + TCP_ALIGN], stream[STREAM_MOST];
    size_t have, need, at, n_stream; /* of the stream the next one, and all */
    struct take *part;
    size_t part_left, skip;
    bool is_gone;
} ends[2];

static void model_gone(struct model *m)
{
    m->is_gone = true;
    for (int i = 0; i < TAKES; i++)
        if (takes[i].to && takes[i].by == m && !takes[i].n_over) takes[i].n_over = takes[i].over_err = 1;
}

static void model_part(struct model *m, const uint64_t ticket[2], uint32_t len)
{
    struct take *t = NULL;
    for (int i = 0; i < TAKES; i++)
        if (takes[i].to && takes[i].ticket == ticket[0] && !takes[i].n_over) t = &takes[i];
    if (!t || ticket[1] || len == 0 || len > t->bytes - t->got || (t->by && t->by != m)) {
        model_gone(m);
        return;
    }
    t->by = m;
    m->part = t;
    m->part_left = len;
    m->skip = (TCP_ALIGN - len % TCP_ALIGN) % TCP_ALIGN;
    m->have = 0;
}

static void model_head(struct model *m)
{
    uint32_t len;
    uint64_t ticket[2];
    memcpy(&len, m->message, sizeof len);
    memcpy(ticket, m->message + 8, sizeof ticket);
    if (m->message[4] == TCP_PART)
        model_part(m, ticket, len);
    else if (m->message[4] >= WIRE_CAUGHT || len > TCP_PACK_MAX)
        model_gone(m);
    else
        m->need = (sizeof(struct tcp_head) + len + 7) / 8 * 8;
}

/* n bytes of a message or a part, of which there are `most` more. */
static const uint8_t *model_copy(void *to, const uint8_t *at, const uint8_t *end, size_t most, size_t *have)
{
    size_t n = (size_t)(end - at) < most ? (size_t)(end - at) : most;
    memcpy(to, at, n);
    *have += n;
    return at + n;
}

static const uint8_t *model_part_more(struct model *m, const uint8_t *at, const uint8_t *end)
{
    struct take *t = m->part;
    size_t before = t->got;
    at = model_copy(t->want + t->got, at, end, m->part_left, &t->got);
    m->part_left -= t->got - before;
    if (m->part_left == 0 && t->got == t->bytes) t->n_over = 1;
    return at;
}

static void model_bytes(struct model *m, const uint8_t *at, size_t n)
{
    for (const uint8_t *end = at + n; at < end && !m->is_gone;) {
        if (m->part_left) {
            at = model_part_more(m, at, end);
            continue;
        }
        if (m->skip) {
            m->skip--;
            at++;
            continue;
        }
        size_t most = (m->need ? m->need : sizeof(struct tcp_head)) - m->have;
        at = model_copy(m->message + m->have, at, end, most, &m->have);
        if (!m->need && m->have == sizeof(struct tcp_head)) model_head(m);
        if (m->is_gone || !m->need || m->have < m->need) continue;
        uint32_t len;
        memcpy(&len, m->message, sizeof len);
        message_add(&wanted, m->message[4], m->message + 8, m->message + sizeof(struct tcp_head), len);
        m->have = m->need = 0;
    }
}

/* ---- both of them --------------------------------------------------------------------------------------------------------------- */
static void end_begin(struct model *m, int as)
{
    m->socket = &sockets[as];
    *m->socket = (struct made_up){.is_open = true};
    m->in = calloc(1, sizeof *m->in);
    FUZZ_CHECK(m->in);
    *m->in = (struct tcp_in){.what = TCP_IS_IN, .fd = SOCKETS + as, .as = as, .nonce = 7};
    m->have = m->need = m->part_left = m->skip = m->at = m->n_stream = 0;
    m->is_gone = false;
    wire->nonces[as] = 0;
    tcp_in_begin(wire, m->in);
    FUZZ_CHECK(!m->in->is_gone && m->socket->said.reply == tcp_door_place()->reply && m->socket->said.magic == TCP_MAGIC);
}

static size_t waits(const struct model *m) { return m->n_stream - m->at; }

/* The first n bytes that wait arrive. */
static void piece(struct model *m, size_t n)
{
    if (n > waits(m)) n = waits(m);
    if (n > PIECE_MOST) n = PIECE_MOST;
    if (n == 0) return;
    m->socket->at = m->stream + m->at;
    m->socket->n = n;
    model_bytes(m, m->stream + m->at, n);
    m->at += n;
    while (!m->in->is_gone && m->socket->n) tcp_in_read(m->in);
    FUZZ_CHECK(m->in->is_gone == m->is_gone && handed.n == wanted.n && handed.sum == wanted.sum);
}

static void ends_end(const uint64_t dropped)
{
    unsigned n_gone = 0;
    for (int i = 0; i < 2; i++) {
        struct model *m = &ends[i];
        while (waits(m)) piece(m, PIECE_MOST);
        n_gone += m->is_gone;
        m->socket->has_ended = true;
        if (m->is_gone) continue;
        FUZZ_CHECK(tcp_in_read(m->in) == 1 && m->in->is_gone); /* it sees the end */
        model_gone(m);
    }
    FUZZ_CHECK(gw_count.net_dropped == dropped + n_gone && !wire->ins && !wire->hot);
    FUZZ_CHECK(!sockets[0].is_open && !sockets[1].is_open);
    tcp_ins_free(wire);
}

/* ---- inputs --------------------------------------------------------------------------------------------------------------------- */
static void stream_add(struct model *m, const void *bytes, size_t n)
{
    if (!waits(m)) m->at = m->n_stream = 0;
    if (n > STREAM_MOST - m->n_stream)
        n = STREAM_MOST - m->n_stream; /* then what follows makes no sense, and that is welcome, too */
    memcpy(m->stream + m->n_stream, bytes, n);
    m->n_stream += n;
}

static void head_add(struct model *m, uint32_t len, unsigned kind, uint64_t first, uint64_t second)
{
    struct tcp_head h = {.len = len, .kind = (uint8_t)kind};
    memcpy(h.hdr, &first, sizeof first);
    memcpy(h.hdr + 8, &second, sizeof second);
    stream_add(m, &h, sizeof h);
}

static uint8_t pattern[TCP_PACK_MAX + TCP_ALIGN + 256];

static void pattern_make(void)
{
    for (size_t i = 0; i < sizeof pattern; i++) pattern[i] = (uint8_t)(i * 7 + (i >> 8));
}

static void payload_add(struct model *m, uint32_t len, unsigned salt)
{
    len = (len + 7) / 8 * 8;
    stream_add(m, pattern + salt % 256, len < TCP_PACK_MAX + TCP_ALIGN ? len : TCP_PACK_MAX + TCP_ALIGN);
}

static void steps(struct input *in)
{
    for (int i = 0; i < 60 && in_more(in); i++) {
        unsigned what = in_byte(in);
        struct model *m = &ends[what & 1];
        struct take *t;
        uint32_t len;
        switch (what >> 1 & 7) {
        case 0:
        case 1:
            len = (uint32_t)in_below(in, what >> 4 ? 100 : 1000);
            head_add(m, len, what >> 4, what, ~(uint64_t)what);
            payload_add(m, len, what);
            break;
        case 2:
            len = (uint32_t)in_below(in, 300);
            if (len == 299) len = (uint32_t)TCP_PACK_MAX - (uint32_t)in_below(in, 9); /* seldom: it takes long */
            head_add(m, len, in_byte(in) % WIRE_CAUGHT, what, 0);
            payload_add(m, len, what);
            break;
        case 3:
        case 4: /* all of a long message, or some */
            t = &takes[in_byte(in) % TAKES];
            len = what >> 4 < 4 ? (uint32_t)t->bytes : 1 + (uint32_t)in_below(in, (int)t->bytes);
            head_add(m, len, TCP_PART, t->ticket, 0);
            payload_add(m, len, what);
            break;
        case 5:
            len = (uint32_t)in_number(in);
            if (what >> 4 == 0) head_add(m, len, TCP_PART, (uint64_t)in_number(in), (uint64_t)in_number(in));
            if (what >> 4 == 1) head_add(m, len, in_byte(in), 0, 0);
            break;
        case 6: piece(m, (size_t)in_below(in, 300)); break;
        default: piece(m, PIECE_MOST); break;
        }
    }
}

static void as_it_is(struct input *in)
{
    size_t n = 1 + (size_t)in_byte(in) * 3 + (size_t)(in->end - in->at) / 50;
    stream_add(&ends[0], in->at, (size_t)(in->end - in->at));
    while (waits(&ends[0])) piece(&ends[0], n);
}

/* A byte and a number of two: what has come to the first connection, or to the second, followed by that; memory that waits from now on. */
static void traffic(struct input *in)
{
    while (in_more(in)) {
        unsigned what = in_byte(in) & 3;
        size_t n = in_byte(in), left;
        n |= (size_t)in_byte(in) << 8;
        if (what >= 2) {
            for (int i = 0; i < TAKES; i++) {
                if (takes[i].to && !takes[i].n_over) continue;
                if (takes[i].to) take_end(&takes[i]);
                take_begin(&takes[i], n + 1);
                break;
            }
            continue;
        }
        left = (size_t)(in->end - in->at);
        if (n > left) n = left;
        stream_add(&ends[what], in->at, n);
        in->at += n;
        while (waits(&ends[what])) piece(&ends[what], PIECE_MOST);
        if (must_be_taken) FUZZ_CHECK(!ends[what].is_gone);
    }
    for (int i = 0; must_be_taken && i < TAKES; i++) FUZZ_CHECK(!takes[i].to || takes[i].n_over);
}

static void text(struct input *in)
{
    char *t = in_text(in, (size_t)(in->end - in->at)), again[TCP_PLACE];
    struct tcp_place p;
    if (tcp_place_read(t, &p)) {
        tcp_place_text(&p, again);
        FUZZ_CHECK(strcmp(t, again) == 0);
    }
    free(t);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    setenv("GODWIT_SINGLETON", "1", 1);
    pattern_make();
    must_be_taken = getenv("FUZZ_TRAFFIC") != NULL;
    FUZZ_CHECK(boot_init() == GW_OK && tcp_ops.open(LANE, arrived, &handed, &wire) == GW_OK);
    FUZZ_CHECK(node_numbers_max() >= 2);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t waiting[TAKES] = {8, 100, 1, 500, 24, 24 * 30 + 1};
    struct input in = in_open(data, size);
    unsigned how = in_byte(&in) % WAYS;
    uint64_t dropped = gw_count.net_dropped;
    if (how == TEXT) {
        text(&in);
        return 0;
    }
    handed = wanted = (struct sums){0};
    for (int i = 0; how != TRAFFIC && i < TAKES; i++) take_begin(&takes[i], waiting[i]);
    for (int i = 0; i < 2; i++) end_begin(&ends[i], i);
    if (how == STEPS)
        steps(&in);
    else if (how == TRAFFIC)
        traffic(&in);
    else
        as_it_is(&in);
    ends_end(dropped);
    takes_end();
    return 0;
}
