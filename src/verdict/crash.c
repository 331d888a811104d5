/* crash.c -- stacks of ranks that crash: while they wait for it, from core files, or by tracing (see crash.h).
 *
 * Traced, each signal to a rank stops its thread and is handed on, but for the first one that will kill it: then mpiexec lets go of the
 * whole rank, stopped, so that gdb can look at it, and lets the signal come after all.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "verdict/crash.h"
#include "base/base.h"
#include "base/os.h"
#include "job/child.h"
#include "job/job.h"
#include "job/program.h"
#include "job/say.h"
#include "verdict/stack.h"

static struct {
    int first;               /* the rank that was reported to crash, with its stack or why there is none; -1: none */
    bool is_tracing_refused; /* it was said that the kernel refuses to trace */
} said = {.first = -1};

bool crash_is_one(int sig)
{
    return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL || sig == SIGABRT || sig == SIGTRAP || sig == SIGSYS;
}

/* ---- core files -------------------------------------------------------------------------------------------------------------- */
bool crash_core_glob(const char *pattern, bool uses_pid, const char *folder, int pid, char *out, size_t cap)
{
    assert(cap > 16);
    size_t n = 0;
    bool has_pid = false;
    if (*pattern == '|' || !*pattern) return false;
    if (*pattern != '/') n = (size_t)snprintf(out, cap, "%s/", folder);
    for (const char *p = pattern; *p && *p != '\n' && n + 16 < cap; p++) {
        if (*p != '%') {
            out[n++] = *p;
        } else if (*++p == 'p') {
            n += (size_t)snprintf(out + n, cap - n, "%d", pid);
            has_pid = true;
        } else if (*p == '%') {
            out[n++] = '%';
        } else if (*p) {
            out[n++] = '*';
        } else {
            break;
        }
    }
    if (n + 16 >= cap) return false;
    if (uses_pid && !has_pid) n += (size_t)snprintf(out + n, cap - n, ".%d", pid);
    out[n] = 0;
    return true;
}

static void kernel_word(const char *path, char *out, size_t cap)
{
    if (!gw_line_read(out, cap, "%s", path)) out[0] = 0;
    out[strcspn(out, "\n")] = 0;
}

/* The newest core file of these names that was written in the last minute; the caller frees it.  NULL: none. */
static char *core_find(const char *names)
{
    glob_t found = {0};
    struct stat st;
    time_t newest = time(NULL) - 60;
    const char *best = NULL;
    if (glob(names, GLOB_NOSORT, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++)
            if (stat(found.gl_pathv[i], &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_mtime >= newest) {
                newest = st.st_mtime;
                best = found.gl_pathv[i];
            }
    char *core = best ? gw_xasprintf("%s", best) : NULL;
    globfree(&found);
    return core;
}

void crash_say(const struct job *j, int rank)
{
    assert(rank >= 0 && rank < j->n);
    const struct launch_app *a = &j->o.apps[j->ranks[rank].app];
    char pattern[256], uses[8], folder[4096], names[8192];
    bool is_looked_at = said.first == rank;
    if (said.first >= 0 && (!is_looked_at || j->o.crash_stacks)) return;
    said.first = rank;
    kernel_word("/proc/sys/kernel/core_pattern", pattern, sizeof pattern);
    kernel_word("/proc/sys/kernel/core_uses_pid", uses, sizeof uses);
    if (!a->wdir || !realpath(a->wdir, folder))
        if (!getcwd(folder, sizeof folder)) folder[0] = 0;
    bool has_core = WCOREDUMP(j->ranks[rank].status),
         is_file = crash_core_glob(pattern, uses[0] == '1', folder, (int)j->ranks[rank].was, names, sizeof names);
    char *core = has_core && is_file ? core_find(names) : NULL, *program = program_find(a->argv[0], a->wdir);
    if (core) {
        say_line("its core file is %s", core);
        if (!is_looked_at && (!program || !stack_say(rank, 0, program, core))) say_line("its stack: gdb %s %s", a->argv[0], core);
    } else if (has_core && !is_file && strstr(pattern, "systemd-coredump")) {
        say_line("its stack: coredumpctl debug %d", (int)j->ranks[rank].was);
    } else if (has_core) {
        say_line("a core was written, where /proc/sys/kernel/core_pattern says: %s", pattern);
    } else if (!j->o.crash_stacks && !is_looked_at) {
        say_line("for its stack run it again with mpiexec --stacks-on-crash, or after `ulimit -c unlimited`");
    }
    free(core);
    free(program);
}

static void announce(const struct job *j, int rank, pid_t pid, int sig, int code, uint64_t address)
{
    assert(rank >= 0 && rank < j->n && sig > 0);
    char where[64] = "";
    bool has_address = code > 0 && code != SI_KERNEL && sig != SIGABRT && sig != SIGSYS;
    if (has_address) snprintf(where, sizeof where, " at address 0x%llx", (unsigned long long)address);
    said.first = rank;
    say_line("rank %d (host %s, pid %d) crashes: %s%s", rank, j->host, (int)pid, strsignal(sig), where);
}

bool crash_is_under_way(const struct job *j, int but)
{
    int r = said.first;
    /* Of a script's child the end is the script's affair. */
    return r >= 0 && r != but && j->ranks[r].pid > 0 && atomic_load(&job_slot(j, r)->pid) == j->ranks[r].pid;
}

static void stack_or_why(int rank, pid_t pid)
{
    if (!stack_say(rank, pid, NULL, NULL)) say_line("a stack of it needs gdb or eu-stack: on Debian, apt install gdb");
}

/* ---- ranks that wait for it (boot_crash.c) ------------------------------------------------------------------------------------- */
void crash_look_waiting(const struct job *j)
{
    for (int i = 0; i < j->n; i++) {
        struct boot_rank *slot = job_slot(j, i);
        if (atomic_load(&slot->crash.state) != BOOT_CRASHED) continue;
        pid_t pid = atomic_load(&slot->pid);
        if (said.first < 0 && !j->ending) {
            announce(j, i, pid, slot->crash.signal, slot->crash.code, slot->crash.address);
            /* The rank has written the pid, and mpiexec may have more permissions: it must not print the stack of another process. */
            if (child_is_ours(pid))
                stack_or_why(i, pid);
            else
                say_line("no stack of it: mpiexec has started no process %d", (int)pid);
        }
        atomic_store(&slot->crash.state, BOOT_CRASH_SEEN);
        gw_futex_wake(&slot->crash.state, 1 << 16);
    }
}

/* ---- tracing ----------------------------------------------------------------------------------------------------------------- */
void crash_trace(pid_t pid)
{
    assert(pid > 0);
    if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)PTRACE_O_TRACECLONE) == 0 || errno == ESRCH || said.is_tracing_refused) return;
    said.is_tracing_refused = true;
    say_line(
        "--stacks-on-crash: the kernel refuses to trace the ranks (%s): in a container allow ptrace (docker run --cap-add SYS_PTRACE)",
        strerror(errno));
}

/* The number in the line of /proc/TID/status that begins with `name`; 0 if there is none. */
static uint64_t status_of(pid_t tid, const char *name, int base)
{
    char path[64], line[256];
    uint64_t value = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, strlen(name)) == 0) value = strtoull(line + strlen(name), NULL, base);
    if (f) fclose(f);
    return value;
}

/* Will the signal end the process?  It has no handler, or the kernel has removed the handler because the signal was blocked. */
static bool will_kill(pid_t tid, int sig)
{
    assert(sig > 0);
    return crash_is_one(sig) && !((status_of(tid, "SigCgt:", 16) | status_of(tid, "SigIgn:", 16)) >> (sig - 1) & 1);
}

/* Detaches from all threads of a rank, of which `tid` is about to get a signal; the rank stays stopped. */
static void let_go(pid_t pid, pid_t tid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    ptrace(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)SIGSTOP);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        pid_t other = atoi(e->d_name);
        siginfo_t si;
        if (other <= 0 || other == tid || ptrace(PTRACE_INTERRUPT, other, NULL, NULL) != 0) continue;
        while (waitid(P_PID, (id_t)other, &si, WSTOPPED | WEXITED | WNOWAIT | __WALL) < 0 && errno == EINTR) {}
        ptrace(PTRACE_DETACH, other, NULL, NULL);
    }
    if (d) closedir(d);
}

static int rank_of(const struct job *j, pid_t pid)
{
    for (int i = 0; i < j->n; i++)
        if (j->ranks[i].pid == pid) return i;
    return -1;
}

static void crashed(const struct job *j, int rank, pid_t tid, int sig)
{
    assert(rank >= 0 && rank < j->n && sig > 0);
    pid_t pid = j->ranks[rank].pid;
    siginfo_t si = {0};
    if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &si) != 0) si.si_code = 0;
    announce(j, rank, pid, sig, si.si_code, (uint64_t)(uintptr_t)si.si_addr);
    let_go(pid, tid);
    stack_or_why(rank, pid);
    syscall(SYS_tgkill, pid, tid, sig); /* the process is not reaped, so the pid still belongs to it */
    child_kill(pid, SIGCONT);
}

static void stopped(const struct job *j, pid_t tid, int event, int sig)
{
    enum { STOPS = 1 << SIGSTOP | 1 << SIGTSTP | 1 << SIGTTIN | 1 << SIGTTOU };
    if (event == PTRACE_EVENT_STOP && (STOPS >> sig & 1)) {
        ptrace(PTRACE_LISTEN, tid, NULL, NULL);
        return;
    }
    if (event) sig = 0;
    int rank = sig && said.first < 0 && !j->ending && will_kill(tid, sig) ? rank_of(j, (pid_t)status_of(tid, "Tgid:", 10)) : -1;
    if (rank >= 0)
        crashed(j, rank, tid, sig);
    else
        ptrace(PTRACE_CONT, tid, NULL, (void *)(uintptr_t)sig);
}

void crash_look(const struct job *j)
{
    siginfo_t si = {0};
    while (waitid(P_ALL, 0, &si, WSTOPPED | WNOHANG | __WALL) == 0 && si.si_pid != 0) {
        if (si.si_code == CLD_TRAPPED) stopped(j, si.si_pid, si.si_status >> 8, si.si_status & 0x7f);
        si.si_pid = 0;
    }
}
