/* link.c -- see link.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "agent/link.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

enum { HEAD = 5 * sizeof(uint32_t), PIECE = 64 << 10 };

enum link_state link_read(struct link *l)
{
    if (l->in < 0) return LINK_CLOSED;
    if (l->used) memmove(l->got, l->got + l->used, l->have - l->used);
    l->have -= l->used;
    l->used = 0;
    if (l->cap - l->have < PIECE) l->got = gw_xrealloc(l->got, l->cap = 2 * l->cap + PIECE);
    ssize_t n = read(l->in, l->got + l->have, l->cap - l->have);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return LINK_OPEN;
    if (n <= 0) return LINK_CLOSED;
    l->have += (size_t)n;
    return LINK_OPEN;
}

bool link_next(struct link *l, struct link_frame *f)
{
    uint32_t head[5];
    if (l->is_broken || l->have - l->used < HEAD) return false;
    memcpy(head, l->got + l->used, HEAD);
    for (int i = 0; i < 5; i++) head[i] = le32toh(head[i]);
    if (head[0] < LINK_ORDER || head[0] > LINK_DONE || head[4] > LINK_FRAME_MOST) {
        l->is_broken = true;
        return false;
    }
    if (l->have - l->used < HEAD + head[4]) return false;
    *f = (struct link_frame){(enum link_kind)head[0], head[1], head[2], head[3], l->got + l->used + HEAD, head[4]};
    l->used += HEAD + head[4];
    return true;
}

bool link_line(struct link *l, char *line_out, size_t cap)
{
    assert(cap > 0);
    if (l->have == l->used) return false;
    char *from = l->got + l->used, *end = memchr(from, '\n', l->have - l->used);
    if (!end) return false;
    size_t n = (size_t)(end - from);
    l->used += n + 1;
    if (n >= cap) n = cap - 1;
    memcpy(line_out, from, n);
    line_out[n] = 0;
    return true;
}

static void queue(struct link *l, const void *data, size_t len)
{
    memcpy(l->queue + l->queued, data, len);
    l->queued += len;
}

void link_send(struct link *l, const struct link_frame *f)
{
    assert(f->len <= LINK_FRAME_MOST);
    if (l->out < 0 || l->is_broken) return;
    uint32_t head[5] = {f->kind, f->a, f->b, f->c, (uint32_t)f->len};
    for (int i = 0; i < 5; i++) head[i] = htole32(head[i]);
    l->queue = gw_xrealloc(l->queue, l->queued + HEAD + f->len);
    queue(l, head, HEAD);
    if (f->len) queue(l, f->data, f->len);
    link_flush(l);
}

bool link_flush(struct link *l)
{
    while (l->out >= 0 && l->sent < l->queued) {
        ssize_t n = write(l->out, l->queue + l->sent, l->queued - l->sent);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return false;
        if (n < 0) {
            l->is_broken = true; /* its end is told by link_read(), where there is one */
            break;
        }
        l->sent += (size_t)n;
    }
    l->queued = l->sent = 0;
    return true;
}

void link_close(struct link *l)
{
    if (l->in >= 0) close(l->in);
    if (l->out >= 0 && l->out != l->in) close(l->out);
    free(l->got);
    free(l->queue);
    *l = (struct link){.in = -1, .out = -1};
}
