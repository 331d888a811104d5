/* doctor_memory.c -- mpiexec doctor: shared memory, direct copies, limits, files that other libraries have left behind.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "base/plain.h"
#include "job/say.h"
#include "job/words.h"

#define MIB ((uint64_t)1 << 20)

/* The default size of the shared memory of a node (untouched pages cost nothing). */
static uint64_t segment_bytes(int ranks)
{
    assert(ranks > 0);
    return 8 * MIB + 2 * MIB * (uint64_t)ranks;
}

void doctor_check_memfd(const struct machine *m, struct answer *a)
{
    if (!m->memfd_error) {
        doctor_answer_add(a, "memfd works");
        return;
    }
    doctor_answer_add(a, "memfd_create: %s", strerror(m->memfd_error));
    if (m->memfd_error == EPERM || m->memfd_error == ENOSYS)
        doctor_answer_raise(
            a, FINDING_NOTE,
            "a sandbox forbids memfd_create, so shared memory lies in unlinked files in /dev/shm or $TMPDIR, which cannot be "
            "sealed: allow it in the seccomp profile of the container");
    else
        doctor_answer_raise(a, FINDING_PROBLEM, "raise the limits of files and memory (ulimit -n -f -v, memory of the container)");
}

void doctor_check_dev_shm(const struct machine *m, struct answer *a)
{
    char total[32], left[32];
    if (!m->shm_total) {
        doctor_answer_add(a, "not there");
        doctor_answer_raise(
            a, FINDING_NOTE,
            "Godwit does without; other libraries (NCCL, Open MPI, OpenMP tools) want: mount -t tmpfs tmpfs /dev/shm");
        return;
    }
    doctor_answer_add(a, "%s, %s free", doctor_bytes_text(m->shm_total, total), doctor_bytes_text(m->shm_free, left));
    if (m->shm_total < 256 * MIB)
        doctor_answer_raise(a, FINDING_NOTE,
                            "Godwit does without; other libraries (NCCL, Open MPI) die of SIGBUS there: docker run --shm-size=1g");
    else if (m->shm_free < 64 * MIB)
        doctor_answer_raise(a, FINDING_NOTE, "Godwit does without; for other libraries remove what nobody uses: ls -l /dev/shm");
}

void doctor_check_memory(const struct machine *m, struct answer *a)
{
    char left[32], need[32];
    if (m->memory < 0) {
        doctor_answer_add(a, "the kernel does not say");
        return;
    }
    doctor_answer_add(a, "%s can still be taken (%s)", doctor_bytes_text((uint64_t)m->memory, left), m->memory_limit);
    if ((uint64_t)m->memory < segment_bytes(m->ranks)) {
        doctor_answer_add(a, "; shared memory of %d ranks may grow to %s", m->ranks,
                          doctor_bytes_text(segment_bytes(m->ranks), need));
        doctor_answer_raise(a, FINDING_PROBLEM,
                            "start fewer ranks, end what else runs, or raise the limit (docker --memory, srun --mem)");
    }
}

/* ---- direct copies ---------------------------------------------------------------------------------------------------------- */
static void ptrace_advice(const struct machine *m, struct answer *a)
{
    int64_t scope = doctor_root_number(m, "/proc/sys/kernel/yama/ptrace_scope");
    char text[4096];
    doctor_root_read(m, text, sizeof text, "/proc/self/status");
    const char *seccomp = strstr(text, "\nSeccomp:");
    bool filtered = seccomp && atoi(seccomp + 9) == 2;
    if (scope > 0) doctor_answer_add(a, "; ptrace_scope is %d", (int)scope);
    if (scope == 3)
        doctor_answer_raise(a, FINDING_NOTE,
                            "large messages take two copies; this machine refuses until its next start, with another "
                            "kernel.yama.ptrace_scope (0) in /etc/sysctl.d");
    else if (scope > 0)
        doctor_answer_raise(a, FINDING_NOTE, "large messages take two copies; to copy once: sysctl kernel.yama.ptrace_scope=0");
    else if (doctor_root_number(m, "/sys/fs/selinux/booleans/deny_ptrace") == 1)
        doctor_answer_raise(a, FINDING_NOTE, "large messages take two copies; SELinux refuses: setsebool -P deny_ptrace 0");
    else if (m->cma_error == ENOSYS)
        doctor_answer_raise(a, FINDING_NOTE,
                            "large messages take two copies; this kernel has no process_vm_readv (CONFIG_CROSS_MEMORY_ATTACH)");
    else
        doctor_answer_raise(a, FINDING_NOTE, "large messages take two copies; %s",
                            filtered ? "the seccomp profile of the container refuses: docker run --cap-add SYS_PTRACE"
                                     : "to copy once, all ranks must be of one user, in one user namespace, and not set-user-id");
}

void doctor_check_cma(const struct machine *m, struct answer *a)
{
    if (m->cma_error == NOT_TRIED) {
        doctor_answer_add(a, "could not be tried");
        return;
    }
    doctor_answer_add(a, "process_vm_readv between two processes %s", m->cma_error ? "is refused: " : "works");
    if (!m->cma_error) return;
    doctor_answer_add(a, "%s", strerror(m->cma_error));
    ptrace_advice(m, a);
}

/* ---- limits ----------------------------------------------------------------------------------------------------------------- */
void doctor_check_memlock(const struct machine *m, struct answer *a)
{
    char size[32];
    struct words rdma;
    if (m->memlock == UINT64_MAX) {
        doctor_answer_add(a, "no limit");
        return;
    }
    doctor_answer_add(a, "%s", doctor_bytes_text(m->memlock, size));
    doctor_root_list(m, "/sys/class/infiniband", &rdma);
    if (rdma.n && m->memlock < 1024 * MIB)
        doctor_answer_raise(a, FINDING_NOTE,
                            "libraries that use the RDMA devices here need more: ulimit -l unlimited (LimitMEMLOCK=infinity of the "
                            "batch system's daemon, docker --ulimit memlock=-1)");
    words_free(&rdma);
}

void doctor_check_files(const struct machine *m, struct answer *a)
{
    assert(m->ranks > 0);
    enum { OWN = 32 }; /* descriptors of mpiexec itself */
    uint64_t need = OWN + 3 * (uint64_t)m->ranks;
    if (m->files == UINT64_MAX) {
        doctor_answer_add(a, "no limit");
        return;
    }
    doctor_answer_add(a, "at most %llu", (unsigned long long)m->files);
    if (m->files >= need) return;
    doctor_answer_add(a, "; %d ranks need about %llu", m->ranks, (unsigned long long)need);
    doctor_answer_raise(a, FINDING_PROBLEM,
                        "raise the hard limit: ulimit -Hn %llu (as root; /etc/security/limits.conf, docker --ulimit nofile)",
                        (unsigned long long)need);
}

struct pids {
    int64_t left, max;
};
static void pids_least(const struct machine *m, const char *folder, void *arg)
{
    struct pids *p = arg;
    int64_t max = doctor_root_number(m, "%s/pids.max", folder), now = doctor_root_number(m, "%s/pids.current", folder);
    if (max < 0 || now < 0 || max - now >= p->left) return;
    *p = (struct pids){max > now ? max - now : 0, max};
}

/* The number of threads of our user, which the limit counts. */
static int64_t threads_of_user(const struct machine *m)
{
    struct words all;
    char text[4096];
    int64_t n = 0;
    doctor_root_list(m, "/proc", &all);
    for (int i = 0; i < all.n; i++) {
        if (all.at[i][0] < '0' || all.at[i][0] > '9' || !doctor_root_read(m, text, sizeof text, "/proc/%s/status", all.at[i]))
            continue;
        const char *uid = strstr(text, "\nUid:"), *threads = strstr(text, "\nThreads:");
        if (uid && threads && strtoul(uid + 5, NULL, 10) == m->uid) n += atoll(threads + 9);
    }
    words_free(&all);
    return n;
}

void doctor_check_processes(const struct machine *m, struct answer *a)
{
    assert(m->ranks > 0);
    enum { OWN = 4 }; /* keeper, PMIx threads */
    struct pids group = {INT64_MAX, 0};
    int64_t need = m->ranks + OWN, left = INT64_MAX;
    doctor_cgroup_each(m, "", pids_least, &group);
    doctor_cgroup_each(m, "pids", pids_least, &group);
    if (m->processes != UINT64_MAX && m->uid != 0) { /* the limit does not apply to root */
        int64_t used = threads_of_user(m);
        left = (int64_t)m->processes - used;
        doctor_answer_add(a, "at most %llu of this user, %lld are there", (unsigned long long)m->processes, (long long)used);
    } else {
        doctor_answer_add(a, "no limit of the user");
    }
    if (group.left < INT64_MAX)
        doctor_answer_add(a, "; at most %lld in the control group, %lld are left", (long long)group.max, (long long)group.left);
    if (left >= need && group.left >= need) return;
    doctor_answer_add(a, "; %d ranks need %lld and what threads they start", m->ranks, (long long)need);
    doctor_answer_raise(a, FINDING_PROBLEM, "%s",
                        group.left < need ? "raise the limit of the group (docker --pids-limit, systemd TasksMax)"
                                          : "end what else runs, or raise the limit: ulimit -u (/etc/security/limits.conf)");
}

void doctor_check_limits(const struct machine *m, struct answer *a)
{
    char size[32];
    struct {
        const char *name, *option;
        uint64_t is;
    } const all[] = {{"address space", "-v", m->address_space}, {"size of files", "-f", m->file_size}};
    bool any = false;
    for (size_t i = 0; i < GW_ARRAY_LEN(all); i++) {
        if (all[i].is == UINT64_MAX) continue;
        doctor_answer_add(a, "%s%s %s", any ? ", " : "", all[i].name, doctor_bytes_text(all[i].is, size));
        any = true;
        if (all[i].is < segment_bytes(m->ranks))
            doctor_answer_raise(a, FINDING_PROBLEM, "the shared memory of %d ranks does not fit: ulimit %s unlimited", m->ranks,
                                all[i].option);
    }
    if (!any) doctor_answer_add(a, "address space and files are not limited");
}

void doctor_check_huge_pages(const struct machine *m, struct answer *a)
{
    char thp[128], shmem[128];
    if (!doctor_root_read(m, thp, sizeof thp, "/sys/kernel/mm/transparent_hugepage/enabled")) {
        doctor_answer_add(a, "this kernel has no transparent ones");
        return;
    }
    doctor_root_read(m, shmem, sizeof shmem, "/sys/kernel/mm/transparent_hugepage/shmem_enabled");
    int64_t fixed = doctor_root_number(m, "/proc/sys/vm/nr_hugepages");
    doctor_answer_add(a, "transparent %s", thp);
    if (*shmem) doctor_answer_add(a, ", shared memory %s", shmem);
    if (fixed > 0) doctor_answer_add(a, ", %lld reserved", (long long)fixed);
    if (strstr(thp, "[never]"))
        doctor_answer_raise(
            a, FINDING_NOTE,
            "programs with large arrays miss the TLB more often: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
}

/* ---- folders ---------------------------------------------------------------------------------------------------------------- */
void doctor_check_tmp(const struct machine *m, struct answer *a)
{
    char path[PATH_MAX], left[32];
    struct statvfs fs;
    const char *tmp = m->tmpdir && *m->tmpdir ? m->tmpdir : "/tmp";
    snprintf(path, sizeof path, "%s%s", m->root, tmp);
    doctor_answer_add(a, "%s", tmp);
    if (access(path, W_OK | X_OK) < 0 || statvfs(path, &fs) < 0) {
        doctor_answer_add(a, ": %s", strerror(errno));
        doctor_answer_raise(a, FINDING_NOTE,
                            "compilers and programs of other MPI libraries (PMIx) need it: export TMPDIR=/a/folder/of/yours");
        return;
    }
    doctor_answer_add(a, ", %s free", doctor_bytes_text((uint64_t)fs.f_bavail * fs.f_frsize, left));
    if ((uint64_t)fs.f_bavail * fs.f_frsize < MIB)
        doctor_answer_raise(a, FINDING_NOTE, "make room there, or export TMPDIR=/a/folder/with/room");
}

void doctor_check_home(const struct machine *m, struct answer *a)
{
    doctor_answer_add(a, "%s", m->home ? m->home : "HOME is not set");
    if (m->is_known) return;
    doctor_answer_add(a, "; user %u is in no passwd", m->uid);
    doctor_answer_raise(
        a, FINDING_NOTE,
        "Godwit does without; PMIx, and with it mpirun and programs of Open MPI, crash: export HOME=/a/folder/of/yours");
}

/* Does a process of our user have the file mapped or open? */
static bool in_use(const struct machine *m, const struct words *processes, const char *file)
{
    for (int i = 0; i < processes->n; i++) {
        char path[PATH_MAX], line[1024];
        if (processes->at[i][0] < '0' || processes->at[i][0] > '9') continue;
        snprintf(path, sizeof path, "%s/proc/%s/maps", m->root, processes->at[i]);
        FILE *f = fopen(path, "re");
        bool found = false;
        while (f && !found && fgets(line, sizeof line, f)) found = strstr(line, file) != NULL;
        if (f) fclose(f);
        if (found) return true;
    }
    return false;
}

/* MPI libraries leave these in /dev/shm when their ranks are killed.  Godwit's own memory has no name. */
void doctor_check_stale(const struct machine *m, struct answer *a)
{
    static const char *const begin[] = {"mpich_",   "shm_mpich", "vader_segment", "sm_segment", "psm2_shm",
                                        "psm3_shm", "nccl-",     "Intel_MPI_",    "mv2_",       "ucx_shm"};
    enum { YOUNG_S = 60 /* a younger file may be about to be mapped */, MOST_LISTED = 8 };
    struct words files, processes;
    struct stat st;
    char path[PATH_MAX], first[PATH_MAX] = "", list[180] = "", size[32];
    int n = 0, listed = 0;
    uint64_t bytes = 0;
    doctor_root_list(m, "/dev/shm", &files);
    doctor_root_list(m, "/proc", &processes);
    for (int i = 0; i < files.n; i++) {
        size_t k = 0;
        while (k < GW_ARRAY_LEN(begin) && strncmp(files.at[i], begin[k], strlen(begin[k])) != 0) k++;
        snprintf(path, sizeof path, "%s/dev/shm/%s", m->root, files.at[i]);
        if (k == GW_ARRAY_LEN(begin) || lstat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != m->uid) continue;
        snprintf(path, sizeof path, "/dev/shm/%s", files.at[i]);
        if (st.st_mtime > time(NULL) - YOUNG_S || in_use(m, &processes, path)) continue;
        n++;
        if (gw_is_shell_word(path) && strlen(list) + strlen(path) + 1 < sizeof list && listed < MOST_LISTED) {
            if (!listed++) snprintf(first, sizeof first, "%s", path);
            gw_text_add(list, sizeof list, " %s", path);
        }
        bytes += (uint64_t)st.st_blocks * 512;
    }
    words_free(&files);
    words_free(&processes);
    if (n)
        doctor_answer_add(a, "%d of yours (%s)%s%s", n, doctor_bytes_text(bytes, size), *first ? ", such as " : "", first);
    else
        doctor_answer_add(a, "none");
    if (!n) return;
    const char *used =
        m->sees_all ? "no process uses them" : "no process that is seen from here uses them, others are not known; if none does";
    path[0] = 0;
    if (n > listed) snprintf(path, sizeof path, " (and %d more of yours like them)", n - listed);
    if (*first)
        doctor_answer_raise(a, FINDING_NOTE, "%s: rm%s%s", used, list, path);
    else
        doctor_answer_raise(a, FINDING_NOTE, "%s: their names are no words for a command: look with ls -b /dev/shm", used);
}
