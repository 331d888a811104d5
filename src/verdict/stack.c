/* stack.c -- the command `mpiexec --stack`: chooses the job, runs gdb or eu-stack on each rank, prints the merged stacks.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "verdict/stack.h"
#include "base/base.h"
#include "base/os.h"
#include "base/time.h"
#include "boot/world.h"
#include "job/child.h"
#include "job/program.h"
#include "job/say.h"

/* ---- one rank -------------------------------------------------------------------------------------------------------------- */
enum tool { TOOL_NONE, TOOL_GDB, TOOL_EU_STACK };

static enum tool tool_find(void)
{
    static const char *const names[] = {NULL, "gdb", "eu-stack"};
    for (int t = TOOL_GDB; t <= TOOL_EU_STACK; t++) {
        char *path = program_find(names[t], NULL);
        free(path);
        if (path) return (enum tool)t;
    }
    return TOOL_NONE;
}

struct look { /* at one rank */
    int rank;
    pid_t pid;
    const char *program, *core; /* core: a file to examine instead of the process; NULL: none */
    pid_t tool;                 /* pid of gdb or eu-stack; 0: not started, or ended */
    int fd;                     /* of the file that has its output */
    uint64_t since;             /* ns */
    bool told;                  /* it was told to end, because it took too long */
};

static void look_exec(enum tool tool, const struct look *l)
{
    assert(tool == TOOL_GDB || tool == TOOL_EU_STACK);
    char number[16], *program = (char *)(uintptr_t)l->program, *core = (char *)(uintptr_t)l->core;
    int fd = l->fd;
    snprintf(number, sizeof number, "%d", (int)l->pid);
    char *gdb[] = {"gdb",
                   "-nx",
                   "-q",
                   "-batch",
                   "-ex",
                   "set width 0",
                   "-ex",
                   "set print frame-arguments none",
                   "-ex",
                   "set backtrace limit 1000",
                   core ? program : "-p",
                   core ? core : number,
                   "-ex",
                   "thread apply all backtrace",
                   NULL};
    char *eu_stack[] = {"eu-stack", "-s", "-n", "1000", "-p", number, NULL};
    char *eu_core[] = {"eu-stack", "-s", "-n", "1000", "--core", core, "-e", program, NULL};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    child_signals_reset();
    dup2(null, 0);
    dup2(fd, 1);
    dup2(fd, 2);
    unsetenv("DEBUGINFOD_URLS"); /* else the tool would ask a server for debug information */
    setenv("LC_ALL", "C", 1);
    execvp(tool == TOOL_GDB ? gdb[0] : eu_stack[0], tool == TOOL_GDB ? gdb : core ? eu_core : eu_stack);
    _exit(EXIT_NOT_FOUND);
}

static void look_begin(struct look *l, enum tool tool)
{
    assert(tool != TOOL_NONE);
    l->fd = boot_file_make("godwit-stack", 0);
    l->since = gw_now_ns();
    pid_t pid = l->fd < 0 ? -1 : fork();
    if (pid == 0) look_exec(tool, l);
    if (pid > 0)
        l->tool = pid;
    else
        say_line("rank %d: cannot start a process: %s", l->rank, strerror(errno));
}

/* Runs the tool on all ranks, a few at a time: each stops its rank for a moment and takes a core. */
static void look_at_all(struct look *looks, int n, enum tool tool)
{
    assert(n >= 0);
    enum { SECONDS = 30 };
    int next = 0, running = 0, most = gw_cores_allowed();
    while (next < n || running) {
        for (; next < n && running < most; next++) {
            look_begin(&looks[next], tool);
            running += looks[next].tool > 0;
        }
        for (int i = 0; i < next; i++) {
            struct look *l = &looks[i];
            if (!l->tool) continue;
            uint64_t seconds = (gw_now_ns() - l->since) / 1000000000;
            int status;
            if (child_ended(l->tool, &status) != 0) {
                child_reap(l->tool);
                l->tool = 0;
                running--;
            } else if (seconds >= SECONDS + 2) {
                child_kill(l->tool, SIGKILL);
            } else if (seconds >= SECONDS && !l->told) { /* SIGTERM first, on which it detaches from the rank */
                child_kill(l->tool, SIGTERM);
                l->told = true;
            }
        }
        if (running) usleep(5000);
    }
}

/* The output of the tool; the caller frees it. */
static char *look_text(struct look *l)
{
    off_t n = l->fd < 0 ? 0 : lseek(l->fd, 0, SEEK_END);
    char *text = gw_xcalloc(1, (size_t)(n > 0 ? n : 0) + 1);
    if (n > 0 && pread(l->fd, text, (size_t)n, 0) != n) text[0] = 0;
    if (l->fd >= 0) close(l->fd);
    return text;
}

/* The pid of the process that traces this one; 0: none. */
static int tracer_of(pid_t pid)
{
    char path[64], line[256];
    int tracer = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "TracerPid: %d", &tracer) == 1) break;
    if (f) fclose(f);
    return tracer;
}

static int ptrace_scope(void)
{
    int scope = 0;
    FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    if (f && fscanf(f, "%d", &scope) != 1) scope = 0;
    if (f) fclose(f);
    return scope;
}

static void explain_none(const struct look *l, const char *text, bool *refused)
{
    if (l->told) {
        say_line("rank %d (pid %d): no stack within the time", l->rank, (int)l->pid);
    } else if (strstr(text, "not permitted")) {
        if (!*refused && ptrace_scope() > 0)
            say_line("the kernel refuses to look into rank %d (pid %d): sysctl kernel.yama.ptrace_scope=0, or run this as root",
                     l->rank, (int)l->pid);
        else if (!*refused)
            say_line(
                "the kernel refuses to look into rank %d (pid %d): in a container allow ptrace (docker run --cap-add SYS_PTRACE); "
                "`mpiexec doctor` says more",
                l->rank, (int)l->pid);
        *refused = true;
    } else if (kill(l->pid, 0) < 0 && errno == ESRCH) {
        say_line("rank %d (pid %d) has ended", l->rank, (int)l->pid);
    } else {
        say_line("rank %d (pid %d): no stack: %.*s", l->rank, (int)l->pid, (int)strcspn(text, "\n"),
                 *text ? text : "the debugger said nothing");
    }
}

/* ---- a job ------------------------------------------------------------------------------------------------------------------ */
static int job_stacks(const struct running_job *j, bool whole)
{
    enum tool tool = tool_find();
    struct stacks s = {0};
    int n = 0, rc = 0;
    bool refused = false;
    if (tool == TOOL_NONE) {
        say_line("--stack needs gdb or eu-stack, and neither is here; on Debian: apt install gdb");
        return 1;
    }
    struct look *looks = gw_xcalloc((size_t)j->n + 1, sizeof *looks);
    for (int i = 0; i < j->n; i++) {
        int tracer = tracer_of(j->ranks[i].pid);
        if (tracer)
            say_line("rank %d (pid %d) is held by a debugger (pid %d) already", j->ranks[i].rank, (int)j->ranks[i].pid, tracer);
        else
            looks[n++] = (struct look){.rank = j->ranks[i].rank, .pid = j->ranks[i].pid, .fd = -1};
        if (tracer) rc = 1;
    }
    look_at_all(looks, n, tool);
    for (int i = 0; i < n; i++) {
        char *text = look_text(&looks[i]);
        if (!stack_parse(&s, text, looks[i].rank, whole)) {
            explain_none(&looks[i], text, &refused);
            rc = 1;
        }
        free(text);
    }
    free(looks);
    char *tree = stack_tree(&s);
    printf("job %s: %d of %d ranks of %s, by %s\n%s", j->id, j->n, j->size, j->command, tool == TOOL_GDB ? "gdb" : "eu-stack",
           tree);
    free(tree);
    stack_free_all(&s);
    char *words = verdict_jobs_words(j);
    if (words) fputs(words, stdout);
    free(words);
    return rc;
}

bool stack_say(int rank, pid_t pid, const char *program, const char *core)
{
    enum tool tool = tool_find();
    struct look l = {.rank = rank, .pid = pid, .program = program, .core = core, .fd = -1};
    struct stacks s = {0};
    if (tool == TOOL_NONE) return false;
    look_at_all(&l, 1, tool);
    char *text = look_text(&l), *tree = NULL;
    bool is_there = stack_parse(&s, text, rank, false) > 0, is_refused = false;
    if (is_there) tree = stack_tree(&s);
    if (is_there) fputs(tree, stderr);
    if (!is_there && !core) explain_none(&l, text, &is_refused);
    free(tree);
    free(text);
    stack_free_all(&s);
    return is_there || !core;
}

/* The job with this id, or with this pid as its mpiexec or as a rank. */
static const struct running_job *job_of(const struct running_jobs *jobs, const char *word)
{
    for (int i = 0; i < jobs->n; i++) {
        const struct running_job *j = &jobs->at[i];
        if (strcmp(j->id, word) == 0 || j->launcher == atoi(word)) return j;
        for (int r = 0; r < j->n; r++)
            if (j->ranks[r].pid == atoi(word)) return j;
    }
    return NULL;
}

static void jobs_list(const struct running_jobs *jobs)
{
    for (int i = 0; i < jobs->n; i++)
        fprintf(stderr, "  %s  %d ranks  %s\n", jobs->at[i].id, jobs->at[i].size, jobs->at[i].command);
}

static int of_jobs(const struct running_jobs *jobs, const char *word, bool whole)
{
    const struct running_job *j = word ? job_of(jobs, word) : jobs->n == 1 ? &jobs->at[0] : NULL;
    if (j) return job_stacks(j, whole);
    if (!jobs->n && !gw_has_proc()) {
        say_line(
            "jobs cannot be seen from here: /proc is %s, so mpiexec --stack%s%s finds none of the processes that this user may "
            "have; call it where mpiexec was started, or mount /proc of this pid namespace",
            access("/proc/self", F_OK) == 0 || access("/proc/version", F_OK) == 0 ? "of another pid namespace" : "hidden",
            word ? "=" : "", word ? word : "");
        return 1;
    }
    if (word)
        say_line("there is no job %s of this user on this machine%s", word, jobs->n ? "; these run:" : "");
    else
        say_line("%s",
                 jobs->n ? "several jobs of this user run here; say which (mpiexec --stack JOB):"
                         : "no job of this user runs on this machine");
    jobs_list(jobs);
    return 1;
}

int stack_main(int argc, char **argv)
{
    const char *word = strchr(argv[0], '=');
    bool whole = false;
    struct running_jobs jobs;
    if (word) word++;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0 || strcmp(argv[i], "--verbose") == 0) {
            whole = true;
        } else if (word || argv[i][0] == '-') {
            say_line("--stack wants one job, and -v for whole stacks: mpiexec --stack [-v] [JOB]; not %s", argv[i]);
            return EXIT_USAGE;
        } else {
            word = argv[i];
        }
    }
    verdict_jobs_find(word && geteuid() == 0, &jobs);
    int rc = of_jobs(&jobs, word, whole);
    verdict_jobs_free(&jobs);
    return rc;
}
