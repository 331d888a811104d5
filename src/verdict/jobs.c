/* jobs.c -- the running jobs of this machine: each mpiexec holds an open descriptor of its job's segment, which describes the job.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/plain.h"
#include "base/time.h"
#include "boot/call.h"
#include "job/child.h"
#include "job/words.h"
#include "verdict/stack.h"
#include "verdict/verdict.h"
#include "verdict/where.h"

/* Reads /proc/PID/NAME, zeros included.  Returns its length. */
static size_t proc_read(pid_t pid, const char *name, char *text_out, size_t cap)
{
    assert(cap > 1);
    char path[64];
    size_t n = 0;
    ssize_t r;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && n + 1 < cap && (r = read(fd, text_out + n, cap - 1 - n)) > 0) n += (size_t)r;
    if (fd >= 0) close(fd);
    text_out[n] = 0;
    return n;
}

/* The rank of a process from its environment; -1: it is no rank. */
static int rank_of(pid_t pid)
{
    enum { CAP = 1 << 18 };
    static const char name[] = "GODWIT_RANK=";
    char *env = gw_xmalloc(CAP);
    size_t n = proc_read(pid, "environ", env, CAP);
    int rank = -1;
    for (size_t i = 0; i < n; i += strlen(env + i) + 1)
        if (strncmp(env + i, name, sizeof name - 1) == 0) rank = atoi(env + i + sizeof name - 1);
    free(env);
    return rank;
}

static bool is_of_user(pid_t pid, uid_t user)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return stat(path, &st) == 0 && st.st_uid == user;
}

/* Is it a segment, owned by the user of the process?  That user may be another one, if root looks at the jobs of all users. */
static bool is_segment_of(int fd, pid_t pid, struct boot_head *h)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && is_of_user(pid, st.st_uid) && pread(fd, h, sizeof *h, 0) == sizeof *h &&
        h->magic == BOOT_MAGIC && h->version == GODWIT_SHM_VERSION && h->launcher_pid == pid && h->nlocal > 0 &&
        h->nlocal <= MAX_RANKS;
}

int verdict_jobs_segment_open(pid_t pid, struct boot_head *head_out)
{
    char folder[64], link[64], to[64];
    int found = -1;
    snprintf(folder, sizeof folder, "/proc/%d/fd", (int)pid);
    DIR *d = opendir(folder);
    for (struct dirent *e; d && found < 0 && (e = readdir(d));) {
        if (e->d_name[0] == '.' || snprintf(link, sizeof link, "%s/%.16s", folder, e->d_name) >= (int)sizeof link) continue;
        ssize_t n = readlink(link, to, sizeof to - 1);
        to[n > 0 ? n : 0] = 0;
        if (strncmp(to, "/memfd:godwit ", 14) != 0) continue;
        int fd = open(link, O_RDONLY | O_CLOEXEC);
        if (fd < 0) continue;
        if (is_segment_of(fd, pid, head_out))
            found = fd;
        else
            close(fd);
    }
    if (d) closedir(d);
    return found;
}

/* Adds a process as a rank.  Processes that a rank has left behind are also children of mpiexec with its number, so of several the oldest
 * is the rank.  The first n_sure entries are certain. */
static void rank_add(struct running_job *j, int n_sure, int rank, pid_t pid)
{
    assert(n_sure >= 0 && n_sure <= j->n);
    for (int i = 0; i < j->n; i++) {
        if (j->ranks[i].rank != rank) continue;
        if (i >= n_sure && child_start_time(pid) < child_start_time(j->ranks[i].pid)) j->ranks[i].pid = pid;
        return;
    }
    j->ranks = gw_xrealloc(j->ranks, sizeof *j->ranks * (size_t)(j->n + 1));
    j->ranks[j->n++] = (struct running_rank){rank, pid};
}

/* Ranks that have called MPI_Init say who they are, wherever a script or a debugger has put them; the others are our children.  What a
 * slot says is believed of processes of the job's user only. */
static void ranks_find(struct running_job *j, int fd, const struct boot_head *head, const struct words *processes)
{
    struct boot_rank slot;
    struct stat st;
    char name[32];
    if (fstat(fd, &st) != 0) return;
    for (int i = 0; i < head->nlocal; i++) {
        if (pread(fd, &slot, sizeof slot, (off_t)(head->ranks_offset + sizeof slot * (uint64_t)i)) != sizeof slot) break;
        pid_t pid = atomic_load_explicit(&slot.pid, memory_order_relaxed);
        bool is_child = slot.started > 0 && child_parent_of(slot.started) == j->launcher;
        if (pid > 0 && is_of_user(pid, st.st_uid) && (rank_of(pid) == i || (is_child && slot.started == pid)))
            rank_add(j, j->n, i, pid);
        else if (is_child && is_of_user(slot.started, st.st_uid) && rank_of(slot.started) < 0) /* env -i */
            rank_add(j, j->n, i, slot.started);
    }
    for (int i = 0, n_sure = j->n; i < processes->n; i++) {
        pid_t pid = atoi(processes->at[i]);
        if (child_parent_of(pid) != j->launcher) continue;
        proc_read(pid, "comm", name, sizeof name);
        int rank = strncmp(name, "mpiexec-keeper", 14) == 0 ? -1 : rank_of(pid);
        if (rank >= 0 && rank < head->nlocal) rank_add(j, n_sure, rank, pid);
    }
}

static int by_rank(const void *a, const void *b)
{
    return ((const struct running_rank *)a)->rank - ((const struct running_rank *)b)->rank;
}

static void job_add(struct running_jobs *jobs, pid_t pid, int fd, const struct boot_head *head, const struct words *processes)
{
    char command[4096], id[sizeof head->jobid];
    struct running_job j = {.launcher = pid, .size = head->size};
    snprintf(id, sizeof id, "%.*s", (int)sizeof head->jobid - 1, head->jobid);
    gw_plain(j.id, sizeof j.id, id, GW_PLAIN_WORD); /* where root looks at the jobs of all users, these are texts of theirs */
    size_t n = proc_read(pid, "cmdline", command, sizeof command);
    for (size_t i = 0; i + 1 < n; i++)
        if (!command[i]) command[i] = ' ';
    j.command = gw_plain_copy(command, 0);
    ranks_find(&j, fd, head, processes);
    if (j.n) qsort(j.ranks, (size_t)j.n, sizeof *j.ranks, by_rank);
    jobs->at = gw_xrealloc(jobs->at, sizeof *jobs->at * (size_t)(jobs->n + 1));
    jobs->at[jobs->n++] = j;
}

void verdict_jobs_find(bool of_all_users, struct running_jobs *found_out)
{
    struct words processes = {0};
    struct boot_head head;
    struct stat st;
    char path[64];
    *found_out = (struct running_jobs){0};
    DIR *d = opendir("/proc");
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] > '0' && e->d_name[0] <= '9') words_add(&processes, e->d_name);
    if (d) closedir(d);
    for (int i = 0; i < processes.n; i++) {
        snprintf(path, sizeof path, "/proc/%s", processes.at[i]);
        if (stat(path, &st) < 0 || (!of_all_users && st.st_uid != geteuid())) continue;
        int fd = verdict_jobs_segment_open(atoi(processes.at[i]), &head);
        if (fd < 0) continue;
        job_add(found_out, atoi(processes.at[i]), fd, &head, &processes);
        close(fd);
    }
    words_free(&processes);
}

/* The slots of a segment that another process has: its numbers are within the file, what stands there may be anything. */
static const struct boot_rank *slots_map(int fd, const struct boot_head *head, void **map_out, size_t *bytes_out)
{
    struct stat st;
    uint64_t end = head->ranks_offset + sizeof(struct boot_rank) * (uint64_t)head->nlocal;
    if (head->ranks_offset > 1 << 20 || head->ranks_offset % _Alignof(struct boot_rank)) return NULL;
    if (fstat(fd, &st) != 0 || (uint64_t)st.st_size < end) return NULL;
    *bytes_out = end;
    *map_out = mmap(NULL, end, PROT_READ, MAP_SHARED, fd, 0);
    return *map_out == MAP_FAILED ? NULL : (const struct boot_rank *)((const char *)*map_out + head->ranks_offset);
}

char *verdict_jobs_words(const struct running_job *j)
{
    struct boot_head head;
    void *map;
    size_t bytes;
    int fd = verdict_jobs_segment_open(j->launcher, &head);
    const struct boot_rank *slots = fd < 0 ? NULL : slots_map(fd, &head, &map, &bytes);
    if (fd >= 0) close(fd);
    if (!slots) return NULL;
    struct verdict_rank *ranks = gw_xcalloc((size_t)head.nlocal, sizeof *ranks);
    for (int i = 0; i < head.nlocal; i++) ranks[i] = (struct verdict_rank){.world = i, .is_gone = true};
    for (int i = 0; i < j->n; i++) {
        int at = j->ranks[i].rank;
        if (at >= head.nlocal) continue;
        ranks[at].is_gone = false;
        ranks[at].phase = atomic_load_explicit(&slots[at].phase, memory_order_acquire);
        where_copy(&slots[at].where, &ranks[at].where);
    }
    munmap(map, bytes);
    char *text = verdict_words(&(struct verdict_job){
        .ranks = ranks, .n = head.nlocal, .size = j->size, .now_ns = gw_now_ns(), .call_name = boot_call_name});
    free(ranks);
    return text;
}

void verdict_jobs_free(struct running_jobs *jobs)
{
    for (int i = 0; i < jobs->n; i++) {
        free(jobs->at[i].command);
        free(jobs->at[i].ranks);
    }
    free(jobs->at);
    *jobs = (struct running_jobs){0};
}
