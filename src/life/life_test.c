/* life_test.c -- two users of the rooms: which of their functions are called when, and what works then.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "life/life.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../test/unit.h"
#include "base/lock.h"
#include "coll/coll.h"

static char said[64]; /* letters of the functions that were called: of the first user small, of the second capital */
static void say(char c) { said[strlen(said)] = c; }
static bool has_said(const char *what)
{
    bool same = strcmp(said, what) == 0;
    if (!same) fprintf(stderr, "said %s, not %s\n", said, what);
    memset(said, 0, sizeof said);
    return same;
}

static void meet(void) { CHECK(coll_barrier(&gw_comm_self, NULL) == GW_OK); }
static void up(void) { say('u'); }
static void wake(void) { meet(), say('w'); }
static void leave(void) { meet(), say('l'); }
static void rest(void) { say('r'); }
static void down(void)
{
    say('d');
    if (write(STDOUT_FILENO, said, strlen(said)) < 0) _exit(2);
}
static void other_up(void) { say('U'); }
static void other_wake(void) { meet(), say('W'); }
static void other_leave(void) { meet(), say('L'); }
static const struct life_user one = {.up = up, .wake = wake, .leave = leave, .rest = rest, .down = down};
static bool joins;
static bool is_joined(void) { return joins; }
static const struct life_user other = {.up = other_up, .wake = other_wake, .leave = other_leave, .is_joined = is_joined};

static void one_after_the_other(void)
{
    CHECK(!life_has_begun() && life_highest() == GW_THREAD_SINGLE);
    life_begin(&one, GW_THREAD_SERIALIZED, false);
    CHECK(has_said("uw") && life_has_begun() && life_is_last() && life_highest() == GW_THREAD_SERIALIZED && gw_threads);
    life_begin(&one, GW_THREAD_SINGLE, false); /* a session beside it */
    CHECK(has_said("") && !life_is_last() && life_highest() == GW_THREAD_SERIALIZED);
    life_end(&one, true);
    CHECK(has_said(""));
    life_end(&one, true);
    CHECK(has_said("lr") && life_has_begun() && life_highest() == GW_THREAD_SINGLE);
}

static void both_at_once(void)
{
    life_begin(&other, GW_THREAD_SINGLE, false);
    CHECK(has_said("UW") && gw_threads); /* others may begin in any thread */
    life_begin(&one, GW_THREAD_MULTIPLE, false);
    CHECK(has_said("w") && gw_threads && life_highest() == GW_THREAD_MULTIPLE && life_may_lock());
    life_end(&other, true);
    CHECK(has_said("L") && life_is_last() && gw_threads); /* the other one still works */
    meet();
    life_end(&one, true);
    CHECK(has_said("lr") && !gw_threads);
}

static void *begin_beside(void *level)
{
    life_begin(&one, *(int *)level, false);
    return NULL;
}

/* The World Model at a level, and a session of another thread beside it: were locks real from the first on, and what was said? */
static void beside_world(int level, bool may_join, const char *advice)
{
    int pipes[2], errors = dup(STDERR_FILENO), session = GW_THREAD_MULTIPLE;
    char text[1024] = "";
    pthread_t t;
    joins = may_join;
    life_begin(&other, level, true);
    CHECK(gw_threads == !advice);
    CHECK(errors >= 0 && pipe(pipes) == 0 && dup2(pipes[1], STDERR_FILENO) >= 0);
    CHECK(pthread_create(&t, NULL, begin_beside, &session) == 0 && pthread_join(t, NULL) == 0);
    dup2(errors, STDERR_FILENO);
    close(errors), close(pipes[1]);
    CHECK(gw_threads && life_highest() == GW_THREAD_MULTIPLE);
    CHECK(read(pipes[0], text, sizeof text - 1) >= 0);
    CHECK(advice ? strstr(text, advice) != NULL : text[0] == 0);
    close(pipes[0]);
    life_end(&one, true);
    life_end(&other, true);
    CHECK(!gw_threads);
    memset(said, 0, sizeof said);
}

/* In a process of its own, as the rooms come up once in each.  What it says at its end comes by a pipe. */
static void in_a_child(void)
{
    int pipes[2], status;
    char text[16] = "";
    CHECK(pipe(pipes) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(pipes[1], STDOUT_FILENO);
        life_begin(&one, GW_THREAD_SERIALIZED, true);
        CHECK(has_said("uw") && !gw_threads); /* MPI_Init: nobody else comes */
        life_end(&one, true);
        CHECK(has_said("lr"));
        exit(0);
    }
    close(pipes[1]);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    CHECK(read(pipes[0], text, sizeof text - 1) == 1 && strcmp(text, "d") == 0);
    close(pipes[0]);
}

int main(void)
{
    setenv("GODWIT_SINGLETON", "1", 1);
    in_a_child();
    one_after_the_other();
    both_at_once();
    beside_world(GW_THREAD_FUNNELED, true, NULL);
    beside_world(GW_THREAD_SERIALIZED, true, NULL);
    beside_world(GW_THREAD_SINGLE, true, "MPI_THREAD_FUNNELED or more");
    return unit_end();
}
