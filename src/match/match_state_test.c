/* match_state_test.c -- match_broken() finds each invariant of match.h that is made not to hold, and nothing in a queue that is right.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "match/match_private.h"

#include <stdio.h>

#include "../../test/unit.h"

enum { N = 6 };
static struct {
    struct match_msg m GW_ALIGNED(MATCH_UNIT);
} memory[N + 1];
static struct match_msg *const msg[N] = {&memory[1].m, &memory[2].m, &memory[3].m, &memory[4].m, &memory[5].m, &memory[6].m};
static struct match_recv recv[N];
static struct match_queue *q;

static const char *broken(void)
{
    const char *what = match_broken(q);
    return what ? what : "";
}
static void expect(const char *begin)
{
    const char *what = broken();
    CHECK(begin[0] ? strncmp(what, begin, strlen(begin)) == 0 : !what[0]);
    if (begin[0] ? strncmp(what, begin, strlen(begin)) != 0 : what[0])
        fprintf(stderr, "  it says \"%s\", not \"%s\"\n", what, begin);
}

/* Messages 0, 1, 2 of source 1, tag 5; 3 of tag 6; 4 of source 2.  Receives 0, 1 of source 3; 2 with a wildcard. */
static void fill(void)
{
    q = match_new();
    match_msgs_behind(q, memory);
    for (int i = 0; i < 5; i++) {
        *msg[i] = (struct match_msg){.ctx = 8, .src = i < 4 ? 1 : 2, .tag = i == 3 ? 6 : 5};
        match_add(q, msg[i]);
    }
    for (int i = 0; i < 3; i++) {
        recv[i] = (struct match_recv){.ctx = i < 2 ? 8 : 16, .src = i < 2 ? 3 : GW_ANY_SOURCE, .tag = 5};
        CHECK(match_post(q, &recv[i]) == NULL);
    }
    expect("");
    CHECK(match_probe(q, 8, GW_ANY_SOURCE, 5, false) == msg[0]); /* now there is a second table */
    expect("");
}
static void leave(void)
{
    expect("");
    match_free(q);
}

int main(void)
{
    fill();
    recv[2].ctx = 8, recv[2].src = 1; /* as if a receive had been posted although its message is here */
    expect("the numbers of wildcards");
    recv[2].src = GW_ANY_SOURCE, recv[2].ctx = 16;
    CHECK(match_post(q, &(struct match_recv){.ctx = 8, .src = 2, .tag = 5}) == msg[4]);
    struct match_recv late = {.ctx = 8, .src = 4, .tag = 5};
    CHECK(match_post(q, &late) == NULL);
    *msg[4] = (struct match_msg){.ctx = 8, .src = 2, .tag = 5};
    match_add(q, msg[4]);
    msg[4]->src = 4;
    expect("M1");
    msg[4]->src = 2;
    match_remove_recv(q, &late);
    leave();

    fill();
    uint64_t seq = recv[0].seq;
    recv[0].seq = recv[1].seq + 1;
    expect("M3");
    recv[0].seq = seq;
    q->n_posted++;
    expect("the number of posted");
    q->n_posted--;
    struct match_recv *prev = recv[1].prev;
    recv[1].prev = &recv[1];
    expect("the chains");
    recv[1].prev = prev;
    leave();

    fill();
    q->n_msgs++;
    expect("the number of messages");
    q->n_msgs--;
    msg[1]->tag = 7; /* it stands in a row of others */
    expect("a row of messages of equal numbers");
    msg[1]->tag = 5;
    q->rows[FORM_EXACT]--;
    expect("a table has all");
    q->rows[FORM_EXACT]++;
    uint32_t earlier = msg[2]->earlier;
    msg[2]->earlier = 0;
    expect("the list of messages");
    msg[2]->earlier = earlier;
    leave();

    /* 1 and 2 change places in their row: both links right, but 2 would leave before 1 */
    fill();
    uint32_t one = msg[0]->next[0], two = msg[1]->next[0], end = msg[2]->next[0], first = msg[1]->prev[0];
    msg[0]->next[0] = two, msg[2]->next[0] = one, msg[1]->next[0] = end;
    msg[2]->prev[0] = first, msg[1]->prev[0] = two, msg[0]->prev[0] = one;
    expect("M2");
    msg[0]->next[0] = one, msg[1]->next[0] = two, msg[2]->next[0] = end;
    msg[1]->prev[0] = first, msg[2]->prev[0] = one, msg[0]->prev[0] = two;
    leave();
    return unit_end();
}
