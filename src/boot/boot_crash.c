/* boot_crash.c -- tells mpiexec of a signal by which this process is about to die, and waits until it has looked at it.
 *
 * A handler, because nothing else sees the process between the fault and its end without a cost to programs that do not crash: a tracer
 * (mpiexec --stacks-on-crash) stops it for every signal, and keeps debuggers away; core files are for the system to allow.  It is there
 * from before main(), so that MPI_Init changes no handler, and does nothing after boot_crash_end().  Before boot_crash_begin() it has no
 * slot yet: the handler then looks for it in the segment itself.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "boot/boot_private.h"
#include "base/os.h"
#include "base/settings.h"

int boot_crash_watcher;

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static struct {
    struct boot_crash *record; /* in the rank's slot; NULL: not known yet */
    pid_t process;             /* the process that reports its crashes; a forked child does not.  0: none does */
    struct {                   /* before boot_crash_begin(): what GODWIT_BOOT says */
        pid_t process;         /* 0: over */
        int fd, local;
    } early;
} crash;
static char stack[65536] GW_ALIGNED(64);

/* For a crash before MPI_Init has mapped the segment: maps this rank's slot in mpiexec's segment.  False: mpiexec did not start this
 * process as a rank.  Runs in the signal handler. */
static bool early_begin(void)
{
    struct boot_head h;
    struct stat st;
    pid_t me = getpid();
    if (crash.early.process != me || pread(crash.early.fd, &h, sizeof h, 0) != (ssize_t)sizeof h) return false;
    if (h.magic != BOOT_MAGIC || h.version != GODWIT_SHM_VERSION || h.launcher_pid != getppid()) return false;
    if (crash.early.local < 0 || crash.early.local >= h.nlocal || h.ranks_offset != BOOT_RANKS_OFFSET) return false;
    uint64_t at = h.ranks_offset + (uint64_t)crash.early.local * sizeof(struct boot_rank), end = at + sizeof(struct boot_rank);
    if (fstat(crash.early.fd, &st) != 0 || (uint64_t)st.st_size < end) return false;
    char *map = mmap(NULL, end, PROT_READ | PROT_WRITE, MAP_SHARED, crash.early.fd, 0);
    if (map == MAP_FAILED) return false;
    struct boot_rank *slot = (struct boot_rank *)(void *)(map + at);
    int32_t nobody = 0; /* the slot may belong to a parent whose environment this process has inherited */
    if (!atomic_compare_exchange_strong(&slot->pid, &nobody, (int32_t)me) && nobody != me) return false;
    crash.record = &slot->crash;
    boot_crash_watcher = h.launcher_pid;
    return true;
}

/* The first thread that crashes describes the crash in the slot; it and all others wait until mpiexec has looked at the process.  Runs
 * in the signal handler. */
static void tell_and_wait(int sig, const siginfo_t *si)
{
    assert(crash.record);
    enum { PATIENCE_MS = 10000, SLICE_MS = 100 };
    uint32_t none = BOOT_NO_CRASH, state;
    if (atomic_compare_exchange_strong(&crash.record->state, &none, BOOT_CRASH_NOTED)) {
        crash.record->signal = sig;
        crash.record->code = si->si_code;
        crash.record->address = (uint64_t)(uintptr_t)si->si_addr;
        atomic_store(&crash.record->state, BOOT_CRASHED);
        kill(boot_crash_watcher, SIGCHLD);
    }
    for (int ms = 0; ms < PATIENCE_MS && kill(boot_crash_watcher, 0) == 0; ms += SLICE_MS) {
        state = atomic_load(&crash.record->state);
        if (state == BOOT_CRASH_SEEN) break;
        gw_futex_wait(&crash.record->state, state, (int64_t)SLICE_MS * 1000000);
    }
}

/* verdict/stack_tree.c knows this name.  Calls only what is safe in a signal handler. */
static void boot_crash_handler(int sig, siginfo_t *si, void *context)
{
    struct sigaction end = {.sa_handler = SIG_DFL};
    int kept = errno;
    (void)context;
    if ((getpid() == crash.process && atomic_load(&boot_slot->phase) != BOOT_ABORTED) || early_begin()) tell_and_wait(sig, si);
    sigaction(sig, &end, NULL);
    /* A fault happens again when the handler returns, so the core file has its address; a signal that was sent must be sent again. */
    if (si->si_code <= 0 || sig == SIGABRT) syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), sig);
    errno = kept;
}

static bool is_default(const struct sigaction *a) { return !(a->sa_flags & SA_SIGINFO) && a->sa_handler == SIG_DFL; }

__attribute__((constructor)) static void install(void)
{
    struct sigaction ours = {.sa_sigaction = boot_crash_handler, .sa_flags = SA_SIGINFO | SA_ONSTACK}, old;
    const char *boot = secure_getenv("GODWIT_BOOT"), *text = secure_getenv("GODWIT_CRASH_REPORT");
    bool wanted = true;
    stack_t alternate;
    if (!boot || !strstr(boot, ",crash=1") || (text && gw_set_bool(text, &wanted) && !wanted)) return;
    if (sigaltstack(NULL, &alternate) == 0 && alternate.ss_flags & SS_DISABLE) {
        alternate = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
        sigaltstack(&alternate, NULL);
    }
    crash.early.fd = boot_list_int(boot, "fd", -1), crash.early.local = boot_list_int(boot, "local", -1);
    crash.early.process = getpid();
    for (size_t i = 0; i < GW_ARRAY_LEN(signals); i++)
        if (sigaction(signals[i], NULL, &old) == 0 && is_default(&old)) sigaction(signals[i], &ours, NULL);
}

void boot_crash_begin(void)
{
    crash.early.process = 0;
    if (!boot_crash_watcher || !gw_set.crash_report) return;
    crash.record = &boot_slot->crash;
    crash.process = getpid();
}

void boot_crash_end(void) { crash.process = 0; }
