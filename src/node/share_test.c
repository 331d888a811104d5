/* share_test.c -- a rank knows whether another program runs on its core, in each situation that a machine can be in,
 * by a kernel and a clock of the test's own.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "node/node_private.h"

#include <sys/resource.h>

#include "../../test/unit.h"

/* What the kernel has counted of this thread, and how often it was asked. */
static long switches, questions;
static bool is_refused;
int getrusage(__rusage_who_t who, struct rusage *r)
{
    CHECK_EQ((int)who, RUSAGE_THREAD);
    questions++;
    *r = (struct rusage){.ru_nivcsw = switches};
    return is_refused ? -1 : 0;
}

enum { ALONE = 4000, SHARED = 3 };
static uint64_t now = 1, us;
static int pauses; /* yields that made who waits sleep at once */

/* A yield that takes so many ns, in which the core was lost so often. */
static void yield(uint64_t ns, int n)
{
    uint64_t before = now;
    now += ns * us / 1000;
    switches += n;
    pauses += node_share_yielded(before, now, 1500 * us);
}
static void pass(uint64_t ns) { now += ns * us / 1000; }
static void begin(bool learns)
{
    us = (uint64_t)gw_ticks_per_us();
    atomic_store(&gw_node.spin, ALONE + 1);
    node_share_open(learns, ALONE, SHARED);
    questions = pauses = 0;
}
static void is(bool shared)
{
    CHECK_EQ(node_share_is(), shared);
    CHECK_EQ(node_spin(), (shared ? SHARED : ALONE) + 1);
}

static void idle_machine(void)
{
    begin(true);
    for (int i = 0; i < 100000; i++) yield(400, 0);
    is(false);
    CHECK_EQ(questions, 0); /* nor does it cost anything */
}

/* A hypervisor's stalls of 10 us to 5 ms, an interrupt in each hundredth yield. */
static void virtual_machine(void)
{
    begin(true);
    for (int i = 0; i < 1000; i++) {
        yield(i % 10 ? 700 : (uint64_t)10000 << i / 10 % 10, 0);
        is(false);
    }
    CHECK_EQ(pauses, 0);
    CHECK_EQ(questions, 100);
}

/* What ran before, while this rank computed, is not taken for a neighbour. */
static void daemons(void)
{
    begin(true);
    for (int i = 0; i < 100; i++) {
        pass(1000000);
        switches++;
        yield(20000, 0);
        is(false);
        yield(400, 0);
        is(false);
    }
    switches++;
    yield(4000000, 0);
    CHECK_EQ(pauses, 0);
    is(false);
}

/* Ranks of another job that spin and then yield: long yields at first, quick ones once both share, each with a switch. */
static void second_job(void)
{
    begin(true);
    yield(60000, 1);
    is(false);
    yield(60000, 1);
    is(true);
    for (int i = 0; i < 100000; i++) {
        yield(2000, 1);
        is(true);
    }
    CHECK(questions < 200000 / 200 + 10); /* seldom: not once a yield */
    uint64_t end = now;
    while (node_share_is()) yield(400, 0);
    CHECK(now - end <= 1000 * us); /* it has ended: within a millisecond */
    is(false);
    questions = 0;
    for (int i = 0; i < 1000; i++) yield(400, 0);
    CHECK_EQ(questions, 0);
    CHECK_EQ(pauses, 0);
}

/* A program that computes takes its time slice in each yield: who waits sleeps instead. */
static void computing(void)
{
    begin(true);
    yield(7000000, 1);
    yield(7000000, 1);
    is(true);
    CHECK_EQ(pauses, 1);
    for (int i = 0; i < 10; i++) { /* after each pause once more */
        pass(20000000);
        yield(7000000, 1);
        is(true);
    }
    CHECK_EQ(pauses, 11);
    pass(20000000);
    yield(400, 0);
    is(false);
}

/* A container's quota is used up: one long halt that the kernel counts as a switch, and then a core for itself. */
static void quota(void)
{
    begin(true);
    for (int i = 0; i < 20; i++) {
        yield(50000000, 1);
        yield(400, 0);
        is(false);
        for (int k = 0; k < 1000; k++) yield(400, 0);
    }
    CHECK_EQ(pauses, 0);
}

/* More ranks than cores, or a number of looks that the user has said: nothing is learnt, and only far too long yields count. */
static void known(void)
{
    begin(false);
    for (int i = 0; i < 1000; i++) yield(100000, 1);
    is(false);
    CHECK_EQ(questions, 0);
    yield(2000000, 0);
    CHECK_EQ(pauses, 1); /* one of those before was not asked for */
    yield(2000000, 0);
    CHECK_EQ(pauses, 1);
    yield(2000000, 1);
    CHECK_EQ(pauses, 2);
}

/* A sandbox that lets nobody ask: then the time must do. */
static void refused(void)
{
    is_refused = true;
    begin(true);
    yield(60000, 0);
    yield(60000, 0);
    is(true);
    is_refused = false;
}

int main(void)
{
    idle_machine();
    virtual_machine();
    daemons();
    second_job();
    computing();
    quota();
    known();
    refused();
    return unit_end();
}
