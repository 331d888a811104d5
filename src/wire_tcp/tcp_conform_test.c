/* tcp_conform_test.c -- the wire over TCP keeps what wire.h promises of every wire.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sys/socket.h>

#include "wire_tcp/tcp_private.h"
#include "base/settings.h"

#include "../../test/wires.h"

/* The other end of our connection is closed, as the kernel does when a process ends. */
static void end_closes(struct wire *w, struct wire_ep *ep)
{
    (void)ep;
    CHECK(w->ins != NULL);
    for (struct tcp_in *in = w->ins; in; in = in->next) shutdown(in->fd, SHUT_RDWR);
}

int main(void)
{
    static const struct wires_rig rig = {.ops = &tcp_ops, .lane = 3, .kill = end_closes};
    setenv("GODWIT_SINGLETON", "1", 1);
    CHECK_EQ(boot_init(), GW_OK);
    CHECK_EQ(type_init(), GW_OK);
    wires_conform(&rig);
    type_finalize();
    boot_finalize();
    gw_settings_free();
    return unit_end();
}
