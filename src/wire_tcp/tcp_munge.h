/* tcp_munge.h -- MUNGE credentials in the greeting of connections between hosts (GODWIT_NET_AUTH=munge): each end shows that it is a process of
 * this user, by a word that the hosts' daemons munged, which share a key, make and read.
 *
 * The credential of who connects holds the key of the accepting process, the rest of the hello, and a random number; it can be read by this user
 * alone.  munged reads each one once, so that it serves for no second connection; its key is no other process's.  The answer's credential holds
 * the same with another `way`: it was made for this connection.  libmunge of the system is opened when this is asked for.
 *
 * BLOCKS  make and check ask munged over a socket of this host; libmunge gives up after a few tries of 2 s.  Lanes ask by tcp_ask.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_WIRE_TCP_TCP_MUNGE_H
#define GW_WIRE_TCP_TCP_MUNGE_H

#include "base/base.h"

enum { TCP_MUNGE_TEXT = 512, TCP_MUNGE_MOST = 64 }; /* bytes of a credential, filled up with 0; of what it holds, at most */
/* Why a credential is refused: numbers of munge_err_t, and three of ours: it is another user's; it was made for something
 * else; munged is there, but has not answered. */
enum tcp_munge_reason {
    TCP_MUNGE_SNAFU = 1,
    TCP_MUNGE_SOCKET = 6,
    TCP_MUNGE_BAD_CRED = 8,
    TCP_MUNGE_CRED_INVALID = 14,
    TCP_MUNGE_CRED_EXPIRED = 15,
    TCP_MUNGE_CRED_REWOUND = 16,
    TCP_MUNGE_CRED_REPLAYED = 17,
    TCP_MUNGE_CRED_UNAUTHORIZED = 18,
    TCP_MUNGE_USER = 100,
    TCP_MUNGE_OTHER,
    TCP_MUNGE_SILENT,
};
enum { TCP_MUNGE_OPT_SOCKET = 8, TCP_MUNGE_OPT_UID_RESTRICTION = 9 }; /* of munge_opt_t */

int tcp_munge_open(void); /* opens libmunge and asks munged once; may be called again.  GW_OK or an error.  Not concurrently */
int tcp_munge_make(const void *what, size_t bytes, char out[TCP_MUNGE_TEXT]); /* 0, or the reason; any thread, as the next ones */
/* Is it a fresh credential of this user's with so many bytes in it?  0, or the reason. */
int tcp_munge_check(const char text[TCP_MUNGE_TEXT], void *what_out, size_t bytes);
/* "MUNGE there says: Expired credential; set the clocks ..."; at: "here", "there".  Overwritten by this thread's next call. */
const char *tcp_munge_why(int reason, const char *at) GW_COLD;

#endif
