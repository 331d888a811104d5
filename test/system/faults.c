/* faults.c -- runs a program in which some uses of one system call fail.
 *
 *     faults [-w NAME] [-o FILE] [-u PATH] CALL ERROR FIRST LAST PROGRAM [ARG...]
 *
 * Uses are counted from 1, over all processes that come of PROGRAM, or those whose name (comm) is NAME; uses FIRST to LAST fail with
 * ERROR, with -u not before PATH is there or PROGRAM has ended.  FILE gets the number of uses, and of those that failed.  The kernel asks this process about each use (seccomp's user
 * notification), so a program cannot tell such a failure from a real one.  Status: PROGRAM's; 77: the kernel does not do this.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    const char *name;
    int number;
} calls[] = {
#define C(name)                                                                                                                    \
    {                                                                                                                              \
#name, SYS_##name                                                                                                          \
    }
    C(epoll_create1),
    C(epoll_ctl),
    C(epoll_wait),
    C(signalfd4),
    C(waitid),
    C(wait4),
    C(timerfd_create),
    C(pipe2),
    C(socketpair),
    C(socket),
    C(bind),
    C(listen),
    C(accept4),
    C(connect),
    C(clone),
    C(execve),
    C(memfd_create),
    C(ftruncate),
    C(fallocate),
    C(mmap),
    C(munmap),
    C(fcntl),
    C(dup2),
    C(setpgid),
    C(prctl),
    C(kill),
    C(rt_sigprocmask),
    C(rt_sigaction),
    C(sched_getaffinity),
    C(sched_setaffinity),
    C(getrandom),
    C(openat),
    C(read),
    C(write),
    C(pread64),
    C(readv),
    C(poll),
    C(prlimit64),
    C(getsockopt),
    C(setsockopt),
    C(sendmsg),
    C(recvmsg),
    C(sendto),
    C(recvfrom),
    C(newfstatat),
    C(readlink),
    C(getdents64),
    C(futex),
    C(eventfd2),
    C(pidfd_open),
    C(pidfd_send_signal),
    C(process_vm_readv),
    C(process_vm_writev),
    C(madvise),
    C(mremap),
    C(close_range),
    C(clock_nanosleep),
    C(getcwd),
    C(uname),
    C(mprotect),
    C(sysinfo),
    C(fstat),
    C(close),
    C(access),
    C(sched_yield),
    C(pselect6),
    C(ppoll),
    C(vfork),
    C(clone3),
    C(mlock),
    C(lseek),
    C(setitimer),
    C(getsockname),
    C(unlink),
    C(fchmod),
    C(mkdir),
    C(chdir),
    C(ioctl),
    C(ptrace),
    C(membarrier),
    C(rt_sigtimedwait),
    C(pwrite64),
    C(process_madvise),
    C(statfs),
    C(unlinkat),
    C(shutdown),
    C(gettid),
    C(timerfd_settime),
#undef C
};
static const struct {
    const char *name;
    int number;
} errors[] = {
#define E(name)                                                                                                                    \
    {                                                                                                                              \
#name, name                                                                                                                \
    }
    E(ENOSYS), E(EPERM), E(EMFILE), E(ENOMEM), E(EINTR), E(EAGAIN), E(ENOSPC), E(EACCES), E(EIO), E(ECHILD), E(ECONNREFUSED),
#undef E
};

static struct shared {
    _Atomic int listener, may_go;
} * shared;

static int filter_set(int number)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
}

/* In the child: no system call may come between the filter and the program. */
static void become(int number, char **argv)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int listener = filter_set(number);
    atomic_store(&shared->listener, listener < 0 ? -2 : listener);
    while (!atomic_load(&shared->may_go)) __builtin_ia32_pause();
    if (listener < 0) _exit(77);
    execvp(argv[0], argv); /* the descriptor closes on exec */
    _exit(127);
}

static int is_named(int pid, const char *who)
{
    char path[40], name[32] = "";
    if (!who) return 1;
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    FILE *f = fopen(path, "re");
    if (f && !fgets(name, sizeof name, f)) name[0] = 0;
    if (f) fclose(f);
    name[strcspn(name, "\n")] = 0;
    return strcmp(name, who) == 0;
}

int main(int argc, char **argv)
{
    const char *who = NULL, *file = NULL, *until = NULL;
    int at = 1, number = -1, error = 0, status = 0, is_over = 0;
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2)
        *(argv[at][1] == 'w' ? &who : argv[at][1] == 'u' ? &until : &file) = argv[at + 1];
    if (argc < at + 5) return 2;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, argv[at]) == 0) number = calls[i].number;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (strcmp(errors[i].name, argv[at + 1]) == 0) error = errors[i].number;
    long first = atol(argv[at + 2]), last = atol(argv[at + 3]), used = 0, failed = 0;
    if (number < 0 || !error) return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that is ended leaves no job that hangs */
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    atomic_store(&shared->listener, -1);
    pid_t child = fork();
    if (child == 0) become(number, argv + at + 4);
    while (atomic_load(&shared->listener) == -1) sched_yield();
    int handle = (int)syscall(SYS_pidfd_open, child, 0), listener = -1;
    if (atomic_load(&shared->listener) >= 0) listener = (int)syscall(SYS_pidfd_getfd, handle, atomic_load(&shared->listener), 0);
    atomic_store(&shared->may_go, 1);
    if (listener < 0) {
        kill(child, SIGKILL);
        fprintf(stderr, "faults: the kernel does not tell of system calls\n");
        return 77;
    }
    /* Until the program has ended; what it leaves behind meets no more failures but ENOSYS. */
    for (struct pollfd p[2] = {{listener, POLLIN, 0}, {handle, POLLIN, 0}}; !is_over;) {
        if (poll(p, 2, -1) < 0) continue;
        if (p[0].revents & POLLIN) {
            struct seccomp_notif asked;
            struct seccomp_notif_resp answer;
            memset(&asked, 0, sizeof asked);
            if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) continue;
            int counts = is_named((int)asked.pid, who), fails = counts && ++used >= first && used <= last;
            for (struct pollfd end = {handle, POLLIN, 0}; fails && until && access(until, F_OK) != 0 && poll(&end, 1, 10) == 0;) {}
            memset(&answer, 0, sizeof answer);
            answer.id = asked.id;
            answer.error = fails ? -error : 0;
            answer.flags = fails ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE;
            failed += fails;
            ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
        } else if (p[1].revents & POLLIN) {
            is_over = waitpid(child, &status, WNOHANG) == child;
        }
    }
    if (file) {
        FILE *f = fopen(file, "we");
        if (f) fprintf(f, "%ld %ld\n", used, failed), fclose(f);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
