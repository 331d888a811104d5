/* refuse.c -- runs a program in which the kernel refuses some calls, as the sandboxes of containers do.
 *
 *     refuse cma|memfd|pidfd|room EPERM|ENOSYS PROGRAM [ARG...]
 *                                                         cma: process_vm_readv and process_vm_writev; pidfd: pidfd_getfd;
 *                                                         room: memfd_create and fallocate
 *     refuse                                              does the kernel let a process read another's memory?  0: it does, 1: it does not
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Reads a word of the parent, as the ranks of a node read each other: not its own child. */
static int may_read(void)
{
    int word = 7, got = 0, status = 0;
    struct iovec to = {&got, sizeof got}, from = {&word, sizeof word};
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    pid_t child = fork();
    if (child == 0) {
        got = word = 0; /* here, not where it is read */
        _exit(process_vm_readv(getppid(), &to, 1, &from, 1, 0) == sizeof got && got == 7 ? 0 : 1);
    }
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 1) return may_read();
    if (argc < 4) return 2;
    static const struct {
        const char *word;
        unsigned calls[2];
    } kinds[] = {{"cma", {SYS_process_vm_readv, SYS_process_vm_writev}},
                 {"memfd", {SYS_memfd_create, SYS_memfd_create}},
                 {"pidfd", {SYS_pidfd_getfd, SYS_pidfd_getfd}},
                 {"room", {SYS_memfd_create, SYS_fallocate}}};
    size_t kind = 0;
    while (kind < sizeof kinds / sizeof *kinds && strcmp(argv[1], kinds[kind].word) != 0) kind++;
    if (kind == sizeof kinds / sizeof *kinds) return 2;
    unsigned answer = strcmp(argv[2], "ENOSYS") == 0 ? ENOSYS : EPERM;
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kinds[kind].calls[0], 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kinds[kind].calls[1], 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof *rules, rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("refuse");
        return 77;
    }
    execvp(argv[3], argv + 3);
    perror(argv[3]);
    return 127;
}
