/* fuzz_tcp.c -- what members of the job send over TCP sockets of our own: two connections, whose bytes come in pieces of any length.
 * What the wire hands up, what it writes to memory that waits for a long message, and which connections it ends are compared with a
 * reading of the same bytes one at a time.  And texts that say where a process is.
 *
 * An input is a byte that says which of these: the bytes of one connection as they are, after one for the pieces; steps that make heads
 * and payloads that are sound, or nearly so; a text.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "node/node.h"
#include "wire_tcp/tcp_private.h"

enum { AS_IT_IS, STEPS, TEXT, WAYS, TAKES = 6, LANE = 3, PIECE_MOST = 60000, STREAM_MOST = 4 * PIECE_MOST };

struct sums {
    uint64_t n, sum;
};
static struct wire *wire;
static struct sums handed, wanted;

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

static void takes_begin(const size_t bytes[TAKES])
{
    for (int i = 0; i < TAKES; i++) {
        struct take *t = &takes[i];
        *t = (struct take){.done.fn = take_done, .bytes = bytes[i], .to = calloc(1, bytes[i]), .want = calloc(1, bytes[i])};
        FUZZ_CHECK(t->to && t->want && tcp_recv_into(wire, t->to, t->bytes, &t->ticket, &t->done) == GW_POSTED);
    }
}

static void takes_end(void)
{
    for (int i = 0; i < TAKES; i++) {
        struct take *t = &takes[i];
        FUZZ_CHECK(t->n_done == t->n_over && t->err == t->over_err && memcmp(t->to, t->want, t->bytes) == 0);
        free(t->to);
        free(t->want);
    }
    free(wire->takes);
    wire->takes = NULL;
    wire->n_takes = wire->free_take = 0;
}

/* ---- a connection, read one byte at a time -------------------------------------------------------------------------------------- */
static struct model {
    int peer; /* the other end's socket */
    struct tcp_in *in;
    uint8_t message[sizeof(struct tcp_head) + TCP_PACK_MAX + TCP_ALIGN], stream[STREAM_MOST];
    size_t have, need, n_stream;
    struct take *part;
    size_t part_left, skip;
    bool is_gone;
} ends[2];

static void model_gone(struct model *m)
{
    m->is_gone = true;
    for (int i = 0; i < TAKES; i++)
        if (takes[i].by == m && !takes[i].n_over) takes[i].n_over = takes[i].over_err = 1;
}

static void model_part(struct model *m, const uint64_t ticket[2], uint32_t len)
{
    struct take *t = NULL;
    for (int i = 0; i < TAKES; i++)
        if (takes[i].ticket == ticket[0] && !takes[i].n_over) t = &takes[i];
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

/* As fuzz_sum(), without the fuzzer's counters. */
__attribute__((no_sanitize("coverage"))) static void model_byte(struct model *m, uint8_t byte)
{
    if (m->is_gone) return;
    if (m->part_left) {
        m->part->want[m->part->got++] = (char)byte;
        if (--m->part_left == 0 && m->part->got == m->part->bytes) m->part->n_over = 1;
        return;
    }
    if (m->skip) {
        m->skip--;
        return;
    }
    m->message[m->have++] = byte;
    if (m->have == sizeof(struct tcp_head)) model_head(m);
    if (m->is_gone || !m->need || m->have < m->need) return;
    uint32_t len;
    memcpy(&len, m->message, sizeof len);
    message_add(&wanted, m->message[4], m->message + 8, m->message + sizeof(struct tcp_head), len);
    m->have = m->need = 0;
}

/* ---- both of them --------------------------------------------------------------------------------------------------------------- */
static void end_begin(struct model *m, int as)
{
    int fds[2];
    struct tcp_welcome hello;
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    m->peer = fds[0];
    m->in = calloc(1, sizeof *m->in);
    FUZZ_CHECK(m->in);
    *m->in = (struct tcp_in){.what = TCP_IS_IN, .fd = fds[1], .as = as, .nonce = 7};
    m->have = m->need = m->part_left = m->skip = m->n_stream = 0;
    m->is_gone = false;
    wire->nonces[as] = 0;
    tcp_in_begin(wire, m->in);
    FUZZ_CHECK(!m->in->is_gone && recv(m->peer, &hello, sizeof hello, 0) == (ssize_t)sizeof hello);
    FUZZ_CHECK(hello.reply == tcp_door_place()->reply && hello.magic == TCP_MAGIC);
}

/* The first n bytes that wait arrive. */
static void piece(struct model *m, size_t n)
{
    int left = 0;
    if (n > m->n_stream) n = m->n_stream;
    if (n > PIECE_MOST) n = PIECE_MOST;
    if (n == 0) return;
    FUZZ_CHECK(m->in->is_gone || send(m->peer, m->stream, n, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)n);
    for (size_t i = 0; i < n; i++) model_byte(m, m->stream[i]);
    m->n_stream -= n;
    memmove(m->stream, m->stream + n, m->n_stream);
    while (!m->in->is_gone && ioctl(m->in->fd, FIONREAD, &left) == 0 && left > 0) tcp_in_read(m->in);
    FUZZ_CHECK(m->in->is_gone == m->is_gone && handed.n == wanted.n && handed.sum == wanted.sum);
}

static void ends_end(const uint64_t dropped)
{
    unsigned n_gone = 0;
    for (int i = 0; i < 2; i++) {
        struct model *m = &ends[i];
        while (m->n_stream) piece(m, PIECE_MOST);
        n_gone += m->is_gone;
        close(m->peer);
        if (m->is_gone) continue;
        FUZZ_CHECK(tcp_in_read(m->in) == 1 && m->in->is_gone); /* it sees the end */
        model_gone(m);
    }
    FUZZ_CHECK(gw_count.net_dropped == dropped + n_gone && !wire->ins && !wire->hot);
    tcp_ins_free(wire);
}

/* ---- inputs --------------------------------------------------------------------------------------------------------------------- */
static void stream_add(struct model *m, const void *bytes, size_t n)
{
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

static void payload_add(struct model *m, uint32_t len, unsigned salt)
{
    static uint8_t bytes[TCP_PACK_MAX + TCP_ALIGN];
    len = (len + 7) / 8 * 8;
    if (len > sizeof bytes) len = sizeof bytes;
    for (uint32_t i = 0; i < len; i++) bytes[i] = (uint8_t)(salt + i * 7 + (i >> 8));
    stream_add(m, bytes, len);
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
    while (ends[0].n_stream) piece(&ends[0], n);
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
    takes_begin(waiting);
    for (int i = 0; i < 2; i++) end_begin(&ends[i], i);
    if (how == STEPS)
        steps(&in);
    else
        as_it_is(&in);
    ends_end(dropped);
    takes_end();
    return 0;
}
