/* check_type.c -- data of other datatypes than the other side says.  Messages: proto/ finds it, here it is put into words.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check/check_private.h"

static void mismatch(const struct proto_mismatch *m)
{
    char site[CHECK_SITE_TEXT], comm[CHECK_COMM_TEXT];
    check_say("datatypes differ: %s receives %lld x %s, but the message from rank %d with tag %d on %s was sent as %lld x "
              "%s. The sequence of basic types that is received must be that which was sent",
              check_site_text(check_use_receiver(m->ctx, m->recv_buf), site), (long long)m->recv_count, m->recv_type, m->src,
              m->tag, check_comm_name(m->ctx, comm), (long long)m->sent_count, m->sent_type);
}

static bool fits(struct type_signature s, int64_t bytes, int64_t room, struct gw_type *there)
{
    struct type_signature r = type_signature(there, room, s.n);
    return (r.n == s.n && r.hash == s.hash) || room * there->size < bytes || type_has_packed(there);
}

/* Partitions: what the sender said when it was introduced.  The receive may have room for more, and divide the data otherwise. */
static void parts_met(const struct p2p_parts_met *m)
{
    const struct p2p_parts *sent = m->sent;
    char site[CHECK_SITE_TEXT], comm[CHECK_COMM_TEXT];
    if (sent->may_be_any || fits(sent->signature, sent->bytes, m->partitions * m->count, m->type)) return;
    check_say("datatypes differ: %s receives %d partitions of %lld x %s, but the partitioned send of rank %d with tag %d on %s has "
              "%d partitions of %lld x %s. The sequence of basic types of all partitions together must be that which is sent",
              check_site_text(check_use_maker(m->req->obj.id), site), m->partitions, (long long)m->count, type_name(m->type),
              m->src, m->tag, check_comm_name(m->comm->ctx, comm), (int)sent->partitions, (long long)sent->count, sent->type);
}

bool check_type_fits(int64_t count, struct gw_type *t, int64_t room, struct gw_type *there)
{
    if (t == there && count <= room) return true;
    return type_has_packed(t) || fits(type_signature(t, count, INT64_MAX), count * t->size, room, there);
}

void check_type_begin(void)
{
    proto_upcalls.mismatch = mismatch;
    p2p_upcalls.parts_met = parts_met;
}
