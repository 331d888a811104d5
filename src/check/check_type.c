/* check_type.c -- a message of other datatypes than its receive says: proto/ finds it, here it is put into words.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

static void mismatch(struct gw_done *done, int err)
{
    (void)err;
    const struct proto_mismatch *m = container_of(done, struct proto_mismatch, done);
    char site[CHECK_SITE_TEXT], comm[CHECK_COMM_TEXT];
    check_say("datatypes differ: %s receives %lld x %s, but the message from rank %d with tag %d on %s was sent as %lld x "
              "%s. The sequence of basic types that is received must be that which was sent",
              check_site_text(check_use_receiver(m->ctx, m->recv_buf), site), (long long)m->recv_count, m->recv_type, m->src, m->tag,
              check_comm_name(m->ctx, comm), (long long)m->sent_count, m->sent_type);
}

void check_type_begin(void)
{
    proto_mismatch_teller = mismatch;
}
