/* tcp_ask.h -- questions to munged (tcp_munge.h) by a thread of their own, so that a daemon that is slow, or hangs, stops no lane.
 *
 *   tcp_ask_make(), tcp_ask_check() --munged answers, all bells ring--> done --tcp_ask_take()--> freed
 *   any --tcp_ask_drop()--> freed, maybe later
 *
 * One after the other.  When libmunge has given up (TCP_MUNGE_SILENT), so have all that wait then: 10 s are waited once, not once a connection.
 * Any thread may call; of one question, one at a time.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_TCP_TCP_ASK_H
#define GW_WIRE_TCP_TCP_ASK_H

#include "base/base.h"
#include "wire_tcp/tcp_munge.h"

struct tcp_ask;

int tcp_ask_open(void);              /* starts the thread, after tcp_munge_open(); may be called again.  GW_OK or an error */
void tcp_ask_bell(int lane, int fd); /* an eventfd that is written at each answer; -1: no longer */
struct tcp_ask *tcp_ask_make(const void *what, size_t bytes);
struct tcp_ask *tcp_ask_check(const char text[TCP_MUNGE_TEXT], size_t bytes);
bool tcp_ask_is_done(const struct tcp_ask *a);
/* Waits for it so long at most, and not at all once such a wait was in vain, until munged answers again.  Is it done? */
bool tcp_ask_wait(const struct tcp_ask *a, int ms);
/* Of one that is done: 0, and out gets the credential [TCP_MUNGE_TEXT], or what it holds; or the reason.  *ask is NULL then. */
int tcp_ask_take(struct tcp_ask **ask, void *out);
void tcp_ask_drop(struct tcp_ask **ask); /* nobody wants the answer; NULL: nothing is done */

#endif
