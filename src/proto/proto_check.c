/* proto_check.c -- validation of messages that arrive.
 *
 * A stranger that reaches a port, or a faulty rank, may send anything.  This file checks what does not depend on the state of an operation:
 * kind, length, ranges of numbers, and whether the named sender can be reached by the wire on which the message arrived.  The handlers check
 * whether it fits the operation.  An invalid message is dropped and counted (gw_refused), and has no other effect.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "proto/proto_private.h"

static const char *const kind_names[] = {[PROTO_EAGER] = "EAGER",   [PROTO_EAGER_SYNC] = "EAGER_SYNC",
                                         [PROTO_RTS] = "RTS",       [PROTO_CTS] = "CTS",
                                         [PROTO_DATA] = "DATA",     [PROTO_HELP] = "HELP",
                                         [PROTO_FIN] = "FIN",       [PROTO_ACK] = "ACK",
                                         [PROTO_CANCEL] = "CANCEL", [PROTO_CANCEL_ACK] = "CANCEL_ACK",
                                         [PROTO_NOTE] = "NOTE",     [PROTO_FLOW] = "FLOW",
                                         [PROTO_PUT] = "PUT",       [PROTO_LEFT] = "LEFT",
                                         [PROTO_FAULT] = "FAULT",   [PROTO_TAGGED] = "TAGGED"};

bool proto_msg_reject(uint8_t kind, const char *field, int64_t value)
{
    bool is_known = kind < GW_ARRAY_LEN(kind_names) && kind_names[kind];
    gw_refused(is_known ? kind_names[kind] : "a message of unknown kind", field, value);
    return false;
}

/* Lengths of payloads; kinds that are not here are none. */
static const struct {
    size_t least, most;
} lengths[] = {[PROTO_EAGER] = {0, MSG_DATA_MAX},
               [PROTO_EAGER_SYNC] = {PROTO_SYNC_PREFIX, MSG_DATA_MAX + PROTO_SYNC_PREFIX},
               [PROTO_RTS] = {sizeof(struct proto_rts), sizeof(struct proto_rts)},
               [PROTO_CTS] = {sizeof(struct proto_cts), sizeof(struct proto_cts)},
               [PROTO_DATA] = {1, MSG_DATA_MAX},
               [PROTO_HELP] = {sizeof(struct proto_help), sizeof(struct proto_help)},
               [PROTO_NOTE] = {sizeof(struct proto_note), sizeof(struct proto_note)},
               [PROTO_FAULT] = {sizeof(struct proto_fault), sizeof(struct proto_fault)},
               [PROTO_FIN] = {0, 0},
               [PROTO_ACK] = {0, 0},
               [PROTO_CANCEL] = {0, 0},
               [PROTO_CANCEL_ACK] = {0, 0},
               [PROTO_FLOW] = {0, 0},
               [PROTO_PUT] = {0, 0},
               [PROTO_LEFT] = {0, 0},
               [PROTO_TAGGED] = {0, 0}};
_Static_assert(GW_ARRAY_LEN(lengths) == GW_ARRAY_LEN(kind_names), "a length and a name of each kind");

static bool check_length(uint8_t kind, size_t len)
{
    if (kind < PROTO_EAGER || kind >= GW_ARRAY_LEN(lengths)) return proto_msg_reject(0, "kind", kind);
    return (len >= lengths[kind].least && len <= lengths[kind].most) || proto_msg_reject(kind, "length", (int64_t)len);
}

/* Of those that take part in matching.  Negative tags are those of partitioned messages; a wildcard is no message's. */
static bool check_hdr(const struct proto_lane *pl, bool is_far, uint8_t kind, const struct proto_hdr *h)
{
    if (h->src < 0) return proto_msg_reject(kind, "source", h->src);
    if (h->tag == GW_ANY_TAG) return proto_msg_reject(kind, "tag", h->tag);
    bool is_answered = kind != PROTO_EAGER;
    return !is_answered || peer_may_say(pl->lane, h->world, is_far) || proto_msg_reject(kind, "sender", h->world);
}

bool proto_msg_check_rts(const struct proto_rts *rts)
{
    if (rts->cookie == 0) return proto_msg_reject(PROTO_RTS, "cookie", 0);
    return rts->len >= 0 || proto_msg_reject(PROTO_RTS, "bytes", rts->len);
}

static bool check_ctl(const struct proto_lane *pl, bool is_far, uint8_t kind, const struct proto_ctl *c, const void *payload)
{
    int64_t says = 0; /* number of the sender, in kinds of messages that have it */
    struct proto_note note;
    if (kind == PROTO_CANCEL || kind == PROTO_FLOW || kind == PROTO_TAGGED) {
        says = (int64_t)(kind == PROTO_CANCEL ? c->value : c->to);
    } else if (kind == PROTO_NOTE) {
        memcpy(&note, payload, sizeof note);
        if ((int64_t)c->value < 0) return proto_msg_reject(kind, "elements", (int64_t)c->value);
        if (note.count < 0) return proto_msg_reject(kind, "count", note.count);
        says = note.world;
    } else {
        return true;
    }
    if ((kind == PROTO_FLOW || kind == PROTO_TAGGED) && !is_far)
        return proto_msg_reject(kind, "sender", says); /* on a node the flag stands in the door, and no network matches */
    if (kind == PROTO_TAGGED && (pl->tags.state == TAGS_OFF || c->value - 1 >= PROTO_TAGGED_MOST))
        return proto_msg_reject(kind, "messages", (int64_t)c->value);
    return peer_may_say(pl->lane, says, is_far) || proto_msg_reject(kind, "sender", says);
}

bool proto_msg_check(const struct proto_lane *pl, bool is_far, uint8_t kind, const void *hdr, const void *payload, size_t len)
{
    struct proto_hdr h;
    struct proto_ctl c;
    struct proto_rts rts;
    if (!check_length(kind, len)) return false;
    if (kind > PROTO_RTS) {
        memcpy(&c, hdr, sizeof c);
        return check_ctl(pl, is_far, kind, &c, payload);
    }
    memcpy(&h, hdr, sizeof h);
    if (!check_hdr(pl, is_far, kind, &h)) return false;
    if (kind != PROTO_RTS) return true;
    memcpy(&rts, payload, sizeof rts);
    return proto_msg_check_rts(&rts);
}

/* ---- what a message is for ---- */
struct proto_op *proto_op_of_cookie(const struct proto_lane *pl, bool is_far, enum proto_kind kind, uint64_t cookie)
{
    struct proto_op *op = proto_cookie_find(&pl->op_cookies, cookie);
    if (likely(op) && likely((op->peer->by && peer_by_net(op->peer)) == is_far)) return op;
    proto_msg_reject((uint8_t)kind, "cookie", (int64_t)cookie);
    return NULL;
}

struct proto_recv *proto_recv_of_cookie(const struct proto_lane *pl, bool is_far, enum proto_kind kind, uint64_t cookie)
{
    struct proto_recv *r = proto_cookie_find(&pl->recv_cookies, cookie);
    if (likely(r) && likely(peer_is_far(pl->lane, r->world) == is_far)) return r;
    proto_msg_reject((uint8_t)kind, "cookie", (int64_t)cookie);
    return NULL;
}
