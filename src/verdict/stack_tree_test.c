/* stack_tree_test.c -- what gdb and eu-stack print is read, cleaned, merged and printed.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "base/base.h"
#include "job/words.h"
#include "unit.h"
#include "verdict/stack.h"

static struct stacks s;

/* The tree of all that was added since the last. */
static void tree(const char *want)
{
    char *text = stack_tree(&s);
    CHECK_STR(text, want);
    free(text);
    stack_free_all(&s);
}

/* A stack of frames "a/b/c", outermost first. */
static void add(int rank, const char *frames)
{
    s.at = gw_xrealloc(s.at, sizeof *s.at * (size_t)(s.n + 1));
    struct stack *to = &s.at[s.n++];
    *to = (struct stack){.rank = rank};
    char *copy = strdup(frames), *save;
    for (char *p = strtok_r(copy, "/", &save); p; p = strtok_r(NULL, "/", &save)) words_add(&to->frames, p);
    free(copy);
}

static void merging(void)
{
    tree("");
    add(0, "main");
    tree("[0] main\n");
    add(2, "main/solve/PMPI_Allreduce");
    add(0, "main/solve/PMPI_Allreduce");
    add(5, "main/solve/PMPI_Allreduce");
    add(1, "main/solve/PMPI_Allreduce");
    tree("[0-2,5] main / solve / PMPI_Allreduce\n");
    add(0, "main/solve/PMPI_Allreduce");
    add(1, "main/solve/PMPI_Recv");
    add(2, "main/solve/PMPI_Allreduce");
    add(3, "main/output/write");
    add(4, "main/output"); /* in output itself: on the line above */
    tree("[0-4] main\n"
         "  [0-2] solve\n"
         "    [0,2] PMPI_Allreduce\n"
         "    [1] PMPI_Recv\n"
         "  [3,4] output\n"
         "    [3] write\n");
    add(0, "main/a");
    add(0, "worker/wait");
    add(0, "worker/wait");
    add(1, "main/a");
    add(1, "worker/wait");
    add(1, "worker/run");
    tree("[0,1] main / a\n"
         "[0,1] (4 threads) worker\n"
         "  [0,1] (3 threads) wait\n"
         "  [1] run\n");
    add(1, "main/f/f/f/g"); /* recursion, of different depth */
    add(0, "main/f/f/g");
    tree("[0,1] main / f / f\n  [0] g\n  [1] f / g\n");
    for (int r = 999; r >= 0; r--) add(r, r % 2 ? "main/odd" : "main/even");
    char *text = stack_tree(&s);
    CHECK(strncmp(text, "[0-999] main\n  [0,2,4,", 22) == 0);
    const char *odd = strstr(text, "999] odd\n");
    CHECK(odd && strstr(text, "\n  [1,3,5,") && strlen(odd) == 9);
    free(text);
    stack_free_all(&s);
}

static const char gdb[] = "[New LWP 1050]\n"
                          "[Thread debugging using libthread_db enabled]\n"
                          "syscall () at ../sysdeps/unix/sysv/linux/x86_64/syscall.S:38\n"
                          "38\t../sysdeps/unix/sysv/linux/x86_64/syscall.S: No such file or directory.\n"
                          "\n"
                          "Thread 2 (Thread 0x7f78434c86c0 (LWP 1050) \"st\"):\n"
                          "#0  0x00007f784411cdf2 in __libc_pause () at ../sysdeps/unix/sysv/linux/pause.c:29\n"
                          "#1  0x000055fe829ac19a in other (a=...) at st.c:4\n"
                          "#2  0x00007f78440d21f5 in start_thread (arg=...) at ./nptl/pthread_create.c:442\n"
                          "#3  0x00007f78441528ec in clone3 () at ../sysdeps/unix/sysv/linux/x86_64/clone3.S:81\n"
                          "\n"
                          "Thread 1 (Thread 0x7f7844046c40 (LWP 1048) \"st\"):\n"
                          "#0  syscall () at ../sysdeps/unix/sysv/linux/x86_64/syscall.S:38\n"
                          "#1  0x00007f78442c978d in gw_futex_wait (word=..., expected=...) at ../w/src/base/os.c:23\n"
                          "#2  0x00007f784426b0c0 in PMPI_Barrier (comm=...) at src/facade/entry_coll.c:523\n"
                          "#3  0x000055fe829ac1c0 in solve<int, (kind)2> (rank=...) at /home/me/my work/st.c:5\n"
                          "#4  <signal handler called>\n"
                          "#5  0x000055fe829ac1c1 in (anonymous namespace)::run () from /lib/librun.so\n"
                          "#6  0x000055fe829ac1c2 in ?? ()\n"
                          "#7  0x000055fe829ac212 in main () at st.c:6\n"
                          "[Inferior 1 (process 1048) detached]\n";

static const char eu_stack[] = "PID 1048 - process\n"
                               "TID 1048:\n"
                               "#0  0x00007f784414a829 syscall\n"
                               "    ../sysdeps/unix/sysv/linux/x86_64/syscall.S:38\n"
                               "#1  0x00007f784426b0c0 - 1 PMPI_Barrier\n"
                               "    src/facade/entry_coll.c:523:10\n"
                               "#2  0x000055fe829ac1c0 - 1 solve\n"
                               "    /tmp/st.c:5:55\n"
                               "#3  0x000055fe829ac1c1\n"
                               "#4  0x000055fe829ac212 main\n"
                               "    /tmp/st.c:6:115\n"
                               "#5  0x00007f784407024a __libc_start_call_main\n"
                               "    ../sysdeps/nptl/libc_start_call_main.h:58:16\n"
                               "#6  0x00007f7844070305 __libc_start_main@@GLIBC_2.34\n"
                               "#7  0x000055fe829ac0c1 _start\n"
                               "TID 1050:\n"
                               "#0  0x00007f784411cdf2 pause\n"
                               "#1  0x000055fe829ac19a std::other(int, char)\n"
                               "    /tmp/st.c:4:31\n"
                               "#2  0x00007f78440d21f5 start_thread\n"
                               "#3  0x00007f78441528ec __clone3\n";

static void reading(void)
{
    CHECK_EQ(stack_parse(&s, gdb, 3, false), 2);
    tree("[3] other (st.c:4) / __libc_pause\n"
         "[3] main (st.c:6) / ?? / (anonymous namespace)::run / <signal handler called> / solve<int, (kind)2> (st.c:5) / "
         "PMPI_Barrier\n");
    CHECK_EQ(stack_parse(&s, gdb, 3, true), 2);
    tree("[3] clone3 / start_thread / other (st.c:4) / __libc_pause\n"
         "[3] main (st.c:6) / ?? / (anonymous namespace)::run / <signal handler called> / solve<int, (kind)2> (st.c:5) / "
         "PMPI_Barrier"
         " / gw_futex_wait (os.c:23) / syscall\n");
    CHECK_EQ(stack_parse(&s, eu_stack, 0, false), 2);
    CHECK_EQ(stack_parse(&s, eu_stack, 1, false), 2);
    tree("[0,1] main (st.c:6) / ?? / solve (st.c:5) / PMPI_Barrier\n[0,1] std::other(int, char) (st.c:4) / pause\n");
    CHECK_EQ(stack_parse(&s, eu_stack, 0, true), 2);
    tree("[0] _start / __libc_start_main / __libc_start_call_main / main (st.c:6) / ?? / solve (st.c:5) / PMPI_Barrier / syscall\n"
         "[0] __clone3 / start_thread / std::other(int, char) (st.c:4) / pause\n");
    /* The profile's own thread is none of the program's. */
    static const char profiled[] =
        "#0 0x1 in clock_nanosleep ()\n#1 0x2 in prof_sample_look (unused=0x0) at tools/profile/sample.c:9\n"
        "#2 0x3 in start_thread ()\n#0 0x1 in nap ()\n#1 0x2 in main () at st.c:6\n";
    CHECK_EQ(stack_parse(&s, profiled, 0, false), 1);
    tree("[0] main (st.c:6) / nap\n");
    CHECK_EQ(stack_parse(&s, profiled, 0, true), 2);
    tree("[0] start_thread / prof_sample_look (sample.c:9) / clock_nanosleep\n[0] main (st.c:6) / nap\n");
    CHECK_EQ(stack_parse(&s, "#0 0x1 in nap ()\n#1 0x2 in ?? ()\n#2 0x3 in __libc_start_main_impl ()\n#3 0x4 in ?? ()\n", 0, false),
             1);
    tree("[0] ?? / nap\n"); /* a program without symbols */
    CHECK_EQ(
        stack_parse(&s,
                    "#0 0x1 in send_far (b=...) at src/p2p/p2p.c:9\n#1 0x2 in rest_Send (buf=...) at src/facade/entry_p2p.c:2129\n"
                    "#2 0x3 in rest_day () at st.c:4\n#3 0x4 in main () at st.c:6\n",
                    0, false),
        1);
    tree("[0] main (st.c:6) / rest_day (st.c:4) / PMPI_Send\n"); /* an entry point's second part */
    /* A crash: our handler is cut off, of gdb's and eu-stack's, and what it passes through. */
    CHECK_EQ(
        stack_parse(&s,
                    "#0 0x1 in syscall ()\n#1 0x2 in boot_crash_handler (sig=11) at boot_crash.c:60\n#2 <signal handler called>\n"
                    "#3 0x3 in fall () at a.c:1\n#4 0x4 in main () at a.c:2\n",
                    0, false),
        1);
    CHECK_EQ(stack_parse(&s,
                         "#0 0x1 syscall\n#1 0x2 - 1 boot_crash_handler\n#2 0x2 - 1 users_handler\n#3 0x2 __restore_rt\n"
                         "#4 0x3 - 1 fall\n    a.c:1:1\n#5 0x4 - 1 main\n    a.c:2:1\n",
                         1, false),
             1);
    tree("[0,1] main (a.c:2) / fall (a.c:1)\n");
    CHECK_EQ(stack_parse(&s, "#0 0x1 in boot_crash_handler ()\n#1 <signal handler called>\n", 0, false), 1);
    tree("[0] <signal handler called> / boot_crash_handler\n"); /* nothing else is known */
    CHECK_EQ(stack_parse(&s, "#0 f ()\n#1 f ()\n#2 f ()\n#3 f ()\n#4 f ()\n#5 f ()\n#6 f ()\n#7 f ()\n#8 main ()\n", 0, false), 1);
    tree("[0] main / f / f / f / f / f / f / f / f\n");
    CHECK_EQ(
        stack_parse(&s, "#0 f ()\n#1 f ()\n#2 f ()\n#3 f ()\n#4 f ()\n#5 f ()\n#6 f ()\n#7 f ()\n#8 f ()\n#9 main ()\n", 0, false),
        1);
    tree("[0] main / f [9 times]\n");
    CHECK_EQ(stack_parse(&s, "#0 0x1 in clone3 ()\n", 0, false), 1);
    tree("[0] clone3\n");
    CHECK_EQ(stack_parse(&s, "", 0, false), 0);
    CHECK_EQ(stack_parse(&s, "ptrace: Operation not permitted.\n#x\n#", 0, false), 0);
    for (size_t n = 0; n < sizeof gdb;
         n++) { /* cut short anywhere: in memory of its own, so that a sanitizer sees reads behind it */
        char *cut = strndup(gdb, n);
        stack_parse(&s, cut, 0, n % 2);
        free(cut);
        cut = strndup(eu_stack, n < sizeof eu_stack ? n : 0);
        stack_parse(&s, cut, 0, n % 2);
        free(cut);
        stack_free_all(&s);
    }
}

static void ranges(void)
{
    static const struct {
        int n, at[8];
        const char *want;
    } cases[] = {
        {0, {0}, ""},
        {1, {7}, "7"},
        {2, {0, 1}, "0,1"},
        {3, {0, 1, 2}, "0-2"},
        {4, {0, 1, 2, 5}, "0-2,5"},
        {6, {1, 3, 4, 5, 9, 10}, "1,3-5,9,10"},
        {4, {2, 2, 3, 3}, "2,3"},
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(cases); i++) {
        char *text = stack_ranks_text(cases[i].at, cases[i].n);
        CHECK_STR(text, cases[i].want);
        free(text);
    }
}

int main(void)
{
    ranges();
    merging();
    reading();
    return unit_end();
}
