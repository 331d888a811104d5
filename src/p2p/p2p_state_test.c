/* p2p_state_test.c -- each way in which a buffer of buffered sends can be wrong is told.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p/p2p_private.h"

#include "unit.h"

enum { ROOM = 100 };
static char memory[ROOM];
static struct bsend_buffer b, other;
static struct bsend_piece first = {.buffer = &b, .number = 2, .start = memory, .bytes = 60};
static struct bsend_piece second = {.buffer = &b, .number = 1, .start = memory + 60, .bytes = 40};
static struct bsend_flush flush = {.number = 1};

static const char *broken(void)
{
    const char *what = p2p_bsend_broken(&b);
    return what ? what : "";
}

int main(void)
{
    b.base = memory, b.size = ROOM, b.attached = true, b.last_number = 2;
    gw_list_init(&b.pieces), gw_list_init(&b.flushes);
    CHECK_STR(broken(), "");
    gw_list_push(&b.pieces, &first.link), gw_list_push(&b.pieces, &second.link);
    gw_list_push(&b.flushes, &flush.link);
    CHECK_STR(broken(), "");
    second.bytes = 41;
    CHECK_STR(broken(), "a piece lies in the buffer");
    second.bytes = 40, second.start--;
    CHECK_STR(broken(), "pieces are in order, and do not overlap");
    second.start++, second.number = 3;
    CHECK_STR(broken(), "pieces are numbered as they are sent");
    second.number = 0;
    CHECK_STR(broken(), "pieces are numbered as they are sent");
    second.number = 2;
    CHECK_STR(broken(), "a flush that is not complete waits for a piece");
    second.number = 1, first.buffer = &other;
    CHECK_STR(broken(), "a piece knows its buffer");
    first.buffer = &b, b.attached = false;
    CHECK_STR(broken(), "a buffer that is not attached is empty");
    b.attached = b.automatic = true, second.start = first.start - 1; /* wherever malloc puts them */
    CHECK_STR(broken(), "");
    return unit_end();
}
