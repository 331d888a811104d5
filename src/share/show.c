/* show.c -- how the others come to the file: under /proc, or by a port of its maker, which exists until all have it.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "share/share_private.h"

#include <errno.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/os.h"
#include "base/time.h"

/* How long the maker waits for the others to fetch the descriptor. */
#define SHOW_NS UINT64_C(20000000000)

void share_show_begin(struct share_show *s, int others, struct share_offer *o)
{
    *s = (struct share_show){.fd = o->file.fd, .others = others, .end_ns = gw_now_ns() + SHOW_NS};
    o->port = (struct boot_port){0};
    if (others == 0 || (prctl(PR_GET_DUMPABLE) == 1 && gw_has_proc())) return;
    s->is_open = boot_port_make(&o->port) == GW_OK && boot_gate_open(&s->gate, &o->port) == 0;
    if (!s->is_open) o->port = (struct boot_port){0};
}

int share_show_step(struct share_show *s, const struct share_words *w)
{
    if (!s->is_open || s->others == 0) return GW_OK;
    if (gw_now_ns() >= s->end_ns)
        return gw_fail(GW_ERMA_SHARED, "%d ranks did not ask this one, which is not dumpable (PR_SET_DUMPABLE), for %s's memory",
                       (int)s->others, w->one);
    struct pollfd p = {s->gate.fd, POLLIN, 0};
    int to = poll(&p, 1, 1) > 0 ? boot_gate_accept(&s->gate) : -1;
    if (to < 0 && s->gate.is_stuck)
        return gw_fail(GW_ERMA_SHARED, "%s's memory cannot be handed out by a socket (accept4: %s)%s", w->one, strerror(errno),
                       gw_error_advice(errno));
    if (to < 0) return GW_AGAIN;
    s->others -= boot_fd_send(to, s->fd) == 0;
    close(to);
    return s->others == 0 ? GW_OK : GW_AGAIN;
}

void share_show_end(struct share_show *s)
{
    if (s->is_open) boot_gate_close(&s->gate);
    s->is_open = false;
}

void share_fetch_begin(struct share_fetch *s, const struct share_offer *o)
{
    s->socket = o->port.name ? boot_port_connect(&o->port, (int)(SHOW_NS / 1000000)) : -1;
}

int share_fetch_step(struct share_fetch *s, const struct share_words *w, const struct share_offer *o, int *fd_out)
{
    if (!o->port.name) return share_open(w, &o->file, o->file.bytes, fd_out);
    struct pollfd p = {s->socket, POLLIN, 0};
    if (s->socket >= 0 && poll(&p, 1, 1) == 0) return GW_AGAIN;
    int got = -1;
    if (s->socket >= 0) {
        got = boot_fd_receive(s->socket);
        close(s->socket);
        s->socket = -1;
    }
    const char *why = got < 0 ? "its owner is not dumpable (PR_SET_DUMPABLE), and did not hand it out by a socket"
                              : share_fault(&o->file, got, o->file.bytes);
    if (why) return share_refused(w, &o->file, got, why);
    *fd_out = got;
    return GW_OK;
}
