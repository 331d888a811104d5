/* p2p_unexpected.c -- small sends before their receives: they return, their data and order are right, they cost little memory, and it
 * goes back to the system once they are received.
 *
 * args: BYTES of a message (4), MESSAGES of each worker (1000), HOW (in), WHEN (barrier).  All but rank 0 send to rank 0.
 * HOW rank 0 receives: in (order), reverse (each has a tag of its own), tag (16 tags, the last one first, from any source), never.
 * WHEN: barrier, after one that the workers enter when they have sent: where sends waited for receives the program would hang there.
 *       late: a while after they began.  finalize: the same, and workers go into MPI_Finalize at once.
 * With GODWIT_UNEXPECTED_MAX a copy of what has no room at rank 0 stays with its sender; EXPECT=kept, held (see counters.def) says that this
 * must happen.
 *
 * users.md row 22
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <unistd.h>

#include "counters_check.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif
/* What a sanitizer writes beside each eighth of memory that is used, and does not give back with it; what ThreadSanitizer keeps of the last
 * accesses comes to it. */
#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
enum { SHADOW = 1, SLACK_KIB = 4096 };
#elif defined __SANITIZE_THREAD__ || __has_feature(thread_sanitizer)
enum { SHADOW = 36, SLACK_KIB = 12288 };
#else
enum { SHADOW = 0, SLACK_KIB = 4096 };
#endif
enum { TAGS = 16, OVERRUN_KIB = 1536 /* of a sender: what its ring holds when rank 0 says that it has no room */ };
static int bytes, messages;
static const char *how, *when;
static unsigned char *buffer, *expected;
static int *next; /* of each worker */
static MPI_T_pvar_handle kept, held;
static MPI_Comm workers;

/* Of this process alone, in memory. */
static long private_kib(void)
{
    long all = 0, resident = 0, shared = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%ld %ld %ld", &all, &resident, &shared) != 3) resident = shared = 0;
    if (f) fclose(f);
    return (resident - shared) * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Where there is room the number itself stands in the message, and all of it depends on it and on the sender. */
static void message_fill(unsigned char *b, int from, int number)
{
    memset(b, (from * 37 + number * 11 + (number >> 8)) & 255, (size_t)bytes);
    if (bytes >= (int)sizeof number) memcpy(b, &number, sizeof number);
}

static int tag_of(int number) { return strcmp(how, "reverse") == 0 ? number : strcmp(how, "tag") == 0 ? number % TAGS : 1; }

static void message_check(int from, int number, const MPI_Status *s)
{
    message_fill(expected, from, number);
    CHECK(memcmp(buffer, expected, (size_t)bytes) == 0);
    CHECK_EQ(s->MPI_SOURCE, from);
    CHECK_EQ(s->MPI_TAG, tag_of(number));
    CHECK_EQ(count_of(s), bytes);
}

static void receive_all(void)
{
    MPI_Status s;
    if (strcmp(how, "tag") == 0) {
        for (int tag = TAGS - 1; tag >= 0; tag--) {
            int each = messages / TAGS + (tag < messages % TAGS);
            for (int i = 0; i < each * (size - 1); i++) {
                MPI_Recv(buffer, bytes, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &s);
                message_check(s.MPI_SOURCE, next[s.MPI_SOURCE]++ * TAGS + tag, &s);
            }
            memset(next, 0, (size_t)size * sizeof *next);
        }
        return;
    }
    bool is_reverse = strcmp(how, "reverse") == 0;
    for (int i = 0; i < messages; i++) {
        int number = is_reverse ? messages - 1 - i : i;
        for (int from = 1; from < size; from++) {
            MPI_Recv(buffer, bytes, MPI_BYTE, from, tag_of(number), MPI_COMM_WORLD, &s);
            message_check(from, number, &s);
        }
    }
}

static void send_all(void)
{
    for (int i = 0; i < messages; i++) {
        MPI_Request r;
        message_fill(buffer, rank, i);
        if (i % 5 == 4) {
            MPI_Isend(buffer, bytes, MPI_BYTE, 0, tag_of(i), MPI_COMM_WORLD, &r);
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        } else {
            MPI_Send(buffer, bytes, MPI_BYTE, 0, tag_of(i), MPI_COMM_WORLD);
        }
    }
    memset(buffer, 0, (size_t)bytes); /* it is ours again */
}

/* Progress without receiving what they send. */
static void look_aside(void)
{
    for (int i = 0; i < 200; i++) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, messages + TAGS, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
        usleep(1000);
    }
}

/* Of what there is of messages at most: all that is left when they are gone, and what comes to it while they are there. */
static long slack_kib(long most) { return SLACK_KIB + most / 8 * SHADOW; }

/* What rank 0 may take while all messages are there: 64 bytes and the data, rounded up to 16, of each; or its bound, what is under way when
 * it is reached, and the headers of what the senders keep, which they cannot do for less than 200 bytes each.  A worker: its bound. */
static long most_kib(void)
{
    const char *set = getenv("GODWIT_UNEXPECTED_MAX");
    double all = (double)messages * (size - 1) * (64 + (bytes + 15) / 16 * 16) / 1024, room = set ? strtod(set, NULL) : 0;
    if (set && strpbrk(set, "kK")) room *= 1024;
    if (set && strpbrk(set, "mM")) room *= 1024 * 1024;
    room /= 1024;
    if (!set) room = 0; /* all fits, or somewhat less does */
    double most = rank && set ? room : room ? room + (size - 1) * (OVERRUN_KIB + room / 200 * 96) : all;
    return (long)(most * 1.07);
}

/* What says that a copy was fetched may come a little later than the barrier is over. */
static void wait_for_memory(long before, long most)
{
    for (int i = 0; i < 10000 && private_kib() - before > most; i++) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        CHECK(!flag);
        usleep(1000);
    }
}

static void check_memory(long before, const char *at, long most)
{
    long now = private_kib() - before;
    if (now > most) fprintf(stderr, "rank %d: %ld KiB more than before, at most %ld, %s\n", rank, now, most, at);
    CHECK(now <= most);
}

/* Of all workers together: to those on another node the word that there is no room takes a while. */
static void check_ways(void)
{
    unsigned long long n[2] = {counted(kept), counted(held)};
    const char *expect = getenv("EXPECT");
    MPI_Allreduce(MPI_IN_PLACE, n, 2, MPI_UNSIGNED_LONG_LONG, MPI_SUM, workers);
    if (expect && strcmp(expect, "kept") == 0) CHECK(n[0] > 0);
    if (expect && strcmp(expect, "held") == 0) CHECK(n[1] > 0);
    bool is_little = (double)messages * (size - 1) * (bytes + 80) < 32 << 20; /* any machine has room for that */
    if (!getenv("GODWIT_UNEXPECTED_MAX")) CHECK(n[1] == 0 && (n[0] == 0 || !is_little));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    bytes = argc > 1 ? atoi(argv[1]) : 4, messages = argc > 2 ? atoi(argv[2]) : 1000;
    how = argc > 3 ? argv[3] : "in", when = argc > 4 ? argv[4] : "barrier";
    buffer = malloc((size_t)bytes + 1), expected = malloc((size_t)bytes + 1), next = calloc((size_t)size, sizeof *next);
    memset(buffer, 1, (size_t)bytes + 1), memset(expected, 1, (size_t)bytes + 1);
    counters_begin();
    kept = counter("sends_kept", MPI_T_PVAR_CLASS_COUNTER), held = counter("sends_held", MPI_T_PVAR_CLASS_COUNTER);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &workers);
    bool is_measured = !getenv("GODWIT_WIRES") && !getenv("GODWIT_VNODES"); /* libfabric has buffers of its own, and fills them */
    MPI_Barrier(MPI_COMM_WORLD);
    long before = private_kib();
    if (rank) send_all();
    if (rank == 0 && strcmp(when, "barrier") != 0) look_aside();
    if (strcmp(when, "barrier") == 0) MPI_Barrier(MPI_COMM_WORLD);
    long most = most_kib();
    if (is_measured) check_memory(before, "with all messages there", most + slack_kib(most));
    if (rank) check_ways();
    counters_end();
    MPI_Comm_free(&workers);
    if (rank == 0 && strcmp(how, "never") != 0) receive_all();
    if (strcmp(when, "finalize") == 0) {
        MPI_Finalize();
        return failures != 0;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_measured && strcmp(how, "never") != 0) {
        wait_for_memory(before, slack_kib(most));
        check_memory(before, "when all were received", slack_kib(most));
    }
    free(buffer), free(expected), free(next);
    return test_end();
}
