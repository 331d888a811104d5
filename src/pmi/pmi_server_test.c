/* pmi_server_test.c -- the servers of PMI-1 and PMI-2, spoken to over its own sockets: every request, barriers, what is no PMI, and lines cut anywhere.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "boot/segment.h"
#include "job/job.h"
#include "pmi/foreign.h"
#include "pmi/pmi.h"
#include "unit.h"

enum { MOST = 16 };
static struct job job;
static struct launch_app apps[MOST]; /* one for each rank */
static int ends[MOST];

static void begin(int n)
{
    job = (struct job){.n = n, .pmi = -1, .o = {.apps = apps, .n_apps = n, .usize = 40}};
    job.ranks = gw_xcalloc((size_t)n, sizeof *job.ranks);
    job.head = aligned_alloc(128, BOOT_RANKS_OFFSET + (size_t)n * sizeof(struct boot_rank));
    memset(job.head, 0, BOOT_RANKS_OFFSET + (size_t)n * sizeof(struct boot_rank));
    job.head->ranks_offset = BOOT_RANKS_OFFSET;
    CHECK(pmi_start(&job) == 0 && job.pmi >= 0);
    for (int i = 0; i < n; i++) {
        job.ranks[i].app = i;
        apps[i] = (struct launch_app){.n = 1};
        ends[i] = pmi_offer(&job, i);
        CHECK(ends[i] > 2);
    }
}

static void end(void)
{
    for (int i = 0; i < job.n; i++) close(ends[i]);
    pmi_stop(&job);
    CHECK(job.pmi == -1);
    free(job.ranks);
    free(job.head);
}

static void serve(void)
{
    struct pollfd f = {.fd = job.pmi, .events = POLLIN};
    while (poll(&f, 1, 0) == 1) pmi_serve(&job);
}

static void tell(int rank, const char *text) { CHECK(send(ends[rank], text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text)); }

/* What has come for it; "": nothing, "closed": its connection is. */
static const char *heard(int rank)
{
    static char text[4096];
    ssize_t n = recv(ends[rank], text, sizeof text - 1, MSG_DONTWAIT);
    text[n > 0 ? n : 0] = 0;
    return n == 0 ? "closed" : text;
}

static bool answers(int rank, const char *request, const char *want)
{
    tell(rank, request);
    serve();
    return strcmp(heard(rank), want) == 0;
}

static uint32_t phase(int rank) { return atomic_load(&job_slot(&job, rank)->phase); }

static void requests(void)
{
    char line[1200], want[1200], value[1100], name[64];
    begin(3);
    CHECK(phase(1) == BOOT_NEW);
    CHECK(answers(1, "cmd=init pmi_version=1 pmi_subversion=1\n", "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n"));
    CHECK(phase(1) == BOOT_RUNNING && phase(0) == BOOT_NEW);
    CHECK(answers(1, "cmd=get_maxes\n", "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024\n"));
    CHECK(answers(2, "cmd=get_appnum\n", "cmd=appnum rc=0 appnum=2\n"));
    CHECK(answers(1, "cmd=get_universe_size\n", "cmd=universe_size rc=0 size=40\n"));
    tell(0, "cmd=get_my_kvsname\n");
    serve();
    CHECK(sscanf(heard(0), "cmd=my_kvsname rc=0 kvsname=%63s", name) == 1);
    snprintf(line, sizeof line, "cmd=get kvsname=%s key=PMI_process_mapping\n", name);
    CHECK(answers(0, line, "cmd=get_result rc=0 msg=success value=(vector,(0,1,3))\n"));
    snprintf(line, sizeof line, "cmd=get kvsname=%s key=a\n", name);
    CHECK(answers(0, line, "cmd=get_result rc=-1 msg=no_such_key value=unknown\n"));
    snprintf(line, sizeof line, "cmd=put kvsname=%s key=a value=b=c key=d\n", name); /* a value goes to the end of its line */
    CHECK(answers(2, line, "cmd=put_result rc=0 msg=success\n"));
    snprintf(line, sizeof line, "cmd=get kvsname=%s key=a\n", name);
    CHECK(answers(0, line, "cmd=get_result rc=0 msg=success value=b=c key=d\n"));
    for (int n = 1023; n <= 1024; n++) { /* the longest, and one that is too long; a second put replaces the first */
        memset(value, 'x', sizeof value);
        value[n] = 0;
        snprintf(line, sizeof line, "cmd=put kvsname=%s key=a value=%s\n", name, value);
        CHECK(answers(0, line,
                      n < 1024 ? "cmd=put_result rc=0 msg=success\n" : "cmd=put_result rc=-1 msg=wrong_kvsname_key_or_value\n"));
    }
    snprintf(line, sizeof line, "cmd=get kvsname=%s key=a\n", name);
    snprintf(want, sizeof want, "cmd=get_result rc=0 msg=success value=%.1023s\n", value);
    CHECK(answers(1, line, want));
    CHECK(answers(1, "cmd=put kvsname=other key=a value=b\n", "cmd=put_result rc=-1 msg=wrong_kvsname_key_or_value\n"));
    CHECK(answers(1, "cmd=get kvsname=other key=a\n", "cmd=get_result rc=-1 msg=no_such_key value=unknown\n"));
    CHECK(answers(1, "cmd=publish_name service=s port=p\n", "cmd=publish_result rc=-1 msg=not_supported\n"));
    CHECK(answers(1, "cmd=finalize\n", "cmd=finalize_ack rc=0\n"));
    CHECK(phase(1) == BOOT_FINALIZED);
    CHECK(answers(1, "cmd=init pmi_version=1 pmi_subversion=1\n", "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n"));
    CHECK(phase(1) == BOOT_RUNNING); /* the next program of its script */
    end();
}

/* ---- PMI-2 ---- */
/* The message behind its length, as a client sends it. */
static const char *framed(const char *text)
{
    static char out[8192];
    snprintf(out, sizeof out, "%6d%s", (int)strlen(text), text);
    return out;
}

static bool two(int rank, const char *request, const char *want)
{
    char *expected = gw_xasprintf("%s", *want ? framed(want) : "");
    bool is_so = answers(rank, framed(request), expected);
    free(expected);
    return is_so;
}

static void two_begin(int n)
{
    begin(n);
    for (int i = 0; i < n; i++)
        CHECK(
            answers(i, "cmd=init pmi_version=2 pmi_subversion=0\n", "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n"));
}

static void two_requests(void)
{
    char name[64], text[2600], want[2600], value[1100];
    two_begin(3);
    CHECK(two(1, "cmd=fullinit;pmijobid=x;pmirank=1;threaded=FALSE;",
              "cmd=fullinit-response;pmi-version=2;pmi-subversion=0;rank=1;size=3;appnum=1;debugged=FALSE;pmiverbose=FALSE;rc=0;"));
    CHECK(phase(1) == BOOT_RUNNING);
    tell(0, framed("cmd=job-getid;"));
    serve();
    CHECK(sscanf(heard(0) + 6, "cmd=job-getid-response;jobid=%63[^;];rc=0;", name) == 1);
    CHECK(two(0, "cmd=info-getjobattr;key=PMI_process_mapping;",
              "cmd=info-getjobattr-response;found=TRUE;value=(vector,(0,1,3));rc=0;"));
    CHECK(two(0, "cmd=info-getjobattr;key=universeSize;", "cmd=info-getjobattr-response;found=TRUE;value=40;rc=0;"));
    CHECK(two(0, "cmd=info-getjobattr;key=other;", "cmd=info-getjobattr-response;found=FALSE;rc=0;"));
    CHECK(two(2, "cmd=kvs-put;key=a;value=b;;c=d;thrid=0x7;", "cmd=kvs-put-response;rc=0;thrid=0x7;")); /* a semicolon is doubled */
    snprintf(text, sizeof text, "cmd=kvs-get;jobid=%s;srcid=2;key=a;", name);
    CHECK(two(1, text, "cmd=kvs-get-response;found=TRUE;value=b;;c=d;rc=0;"));
    CHECK(two(1, "cmd=kvs-get;jobid=other;srcid=-1;key=a;", "cmd=kvs-get-response;found=FALSE;rc=0;"));
    CHECK(two(1, "cmd=kvs-get;jobid=;srcid=-1;key=none;", "cmd=kvs-get-response;found=FALSE;rc=0;"));
    memset(value, ';', 1023); /* the longest, each byte doubled */
    value[1023] = 0;
    snprintf(text, sizeof text, "cmd=kvs-put;key=long;value=%s%s;", value, value);
    CHECK(two(0, text, "cmd=kvs-put-response;rc=0;"));
    snprintf(want, sizeof want, "cmd=kvs-get-response;found=TRUE;value=%s%s;rc=0;", value, value);
    CHECK(two(1, "cmd=kvs-get;key=long;", want));
    snprintf(text, sizeof text, "cmd=kvs-put;key=long;value=%s%s;;x;", value, value);
    CHECK(two(0, text, "cmd=kvs-put-response;rc=1;errmsg=wrong_key_or_value;"));
    CHECK(two(0, "cmd=kvs-put;key=a;", "cmd=kvs-put-response;rc=1;errmsg=wrong_key_or_value;"));
    CHECK(two(0, "cmd=name-lookup;name=s;", "cmd=name-lookup-response;rc=1;errmsg=not_supported;"));
    CHECK(two(0, "cmd=spawn;ncmds=1;", "cmd=spawn-response;rc=1;errmsg=not_supported;"));
    end();
}

static void two_waits(void)
{
    two_begin(3);
    /* A fence, each answered with its own thread, and a rank that speaks PMI-1 among them. */
    CHECK(two(0, "cmd=kvs-fence;thrid=1;", ""));
    CHECK(two(2, "cmd=kvs-fence;", ""));
    CHECK(two(1, "cmd=finalize;", "cmd=finalize-response;rc=0;"));
    CHECK(phase(1) == BOOT_FINALIZED);
    CHECK(answers(1, "cmd=init pmi_version=1 pmi_subversion=1\n", "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n"));
    CHECK(answers(1, "cmd=barrier_in\n", "cmd=barrier_out rc=0\n"));
    CHECK_STR(heard(0), framed("cmd=kvs-fence-response;rc=0;thrid=1;"));
    CHECK_STR(heard(2), framed("cmd=kvs-fence-response;rc=0;"));
    /* An attribute of the node: who asks before it is there waits if it says so. */
    CHECK(two(0, "cmd=info-getnodeattr;key=k;wait=FALSE;", "cmd=info-getnodeattr-response;found=FALSE;rc=0;"));
    CHECK(two(0, "cmd=info-getnodeattr;key=k;wait=TRUE;thrid=9;", ""));
    CHECK(two(2, "cmd=info-putnodeattr;key=k;value=v;", "cmd=info-putnodeattr-response;rc=0;"));
    CHECK_STR(heard(0), framed("cmd=info-getnodeattr-response;found=TRUE;value=v;rc=0;thrid=9;"));
    CHECK(two(2, "cmd=info-getnodeattr;key=k;wait=TRUE;", "cmd=info-getnodeattr-response;found=TRUE;value=v;rc=0;"));
    CHECK(two(2, "cmd=kvs-get;key=k;", "cmd=kvs-get-response;found=FALSE;rc=0;")); /* these are no keys of the job */
    end();
}

/* What is no PMI-2 costs the connection, and a message may come byte by byte. */
static void two_nonsense(void)
{
    static const char *const bad[] = {"abcdefcmd=job-getid;", "     0", "    -5cmd=j;", "  4091", "999999", "    12cmd=unknown;"};
    for (size_t i = 0; i < GW_ARRAY_LEN(bad); i++) {
        two_begin(2);
        tell(0, bad[i]);
        serve();
        CHECK_STR(heard(0), "closed");
        CHECK(two(1, "cmd=finalize;", "cmd=finalize-response;rc=0;"));
        end();
    }
    two_begin(1);
    for (const char *p = framed("cmd=kvs-fence;"); *p; p++) {
        CHECK_STR(heard(0), "");
        tell(0, (char[]){*p, 0});
        serve();
    }
    CHECK_STR(heard(0), framed("cmd=kvs-fence-response;rc=0;"));
    end();
}

static void barriers(void)
{
    static const int sizes[] = {1, 2, 5, MOST};
    for (size_t s = 0; s < GW_ARRAY_LEN(sizes); s++) {
        int n = sizes[s];
        begin(n);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < n - 1; i++) CHECK(answers((i + round) % n, "cmd=barrier_in\n", ""));
            tell((n - 1 + round) % n, "cmd=barrier_in\n");
            serve();
            for (int i = 0; i < n; i++) CHECK(strcmp(heard(i), "cmd=barrier_out rc=0\n") == 0);
        }
        end();
    }
}

static void spawn(void)
{
    static const char block[] =
        "mcmd=spawn\nnprocs=1\nexecname=./a b\ntotspawns=2\nspawnssofar=1\nargcnt=0\npreput_num=0\ninfo_num=0\nendcmd\n";
    begin(2);
    CHECK(answers(0, block, ""));
    CHECK(answers(0, block, "cmd=spawn_result rc=-1 msg=not_supported\n"));
    CHECK(answers(0, "cmd=get_appnum\n", "cmd=appnum rc=0 appnum=0\n"));
    end();
}

/* An abort ends the rank, which waits for that, and the code is kept for watch.c. */
static void aborts(void)
{
    begin(2);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        pause();
        _exit(0);
    }
    setpgid(pid, pid);
    job.ranks[1].pid = pid;
    CHECK(answers(1, "cmd=abort exitcode=7 message=it went wrong\n", ""));
    int status = 0;
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
    CHECK(phase(1) == BOOT_ABORTED && atomic_load(&job_slot(&job, 1)->abort_code) == 7 && job.ranks[1].is_ended);
    CHECK(strcmp(job_slot(&job, 1)->what, "it went wrong") == 0);
    job.ranks[1].pid = 0;
    end();
}

static void no_pmi(void)
{
    char flood[5000];
    begin(2);
    CHECK(answers(0, "GET / HTTP/1.1\n", "closed"));
    CHECK(answers(1, "cmd=get_appnum\n", "cmd=appnum rc=0 appnum=1\n")); /* the others' go on */
    end();
    begin(2);
    memset(flood, 'a', sizeof flood);
    CHECK(send(ends[0], flood, sizeof flood, MSG_NOSIGNAL) == (ssize_t)sizeof flood);
    serve();
    recv(ends[0], flood, sizeof flood, MSG_DONTWAIT);
    CHECK(recv(ends[0], flood, 1, MSG_DONTWAIT) <= 0);
    end();
    begin(1); /* many questions without reading: it loses its connection, and nobody waits */
    for (int i = 0; i < 100000; i++)
        if (send(ends[0], "cmd=get_maxes\n", 14, MSG_NOSIGNAL | MSG_DONTWAIT) != 14) serve();
    serve();
    end();
    begin(1); /* one byte at a time */
    for (const char *p = "cmd=get_appnum\n"; *p; p++) {
        CHECK(send(ends[0], p, 1, MSG_NOSIGNAL) == 1);
        serve();
    }
    CHECK(strcmp(heard(0), "cmd=appnum rc=0 appnum=0\n") == 0);
    CHECK(answers(0, "cmd=get_appnum\ncmd=get_appnum\n", "cmd=appnum rc=0 appnum=0\ncmd=appnum rc=0 appnum=0\n"));
    end();
}

/* What the test says of libhwloc: it may be hidden. */
static bool is_hidden;
void *dlopen(const char *name, int flags)
{
    static void *(*real)(const char *, int);
    if (name && is_hidden && strstr(name, "hwloc")) return NULL;
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    return real(name, flags);
}

/* hwloc's description of the machine, where there is a hwloc: by either protocol, a file that can be read until the end; else it is not found. */
static void topology(void)
{
    char path[64] = "", line[128], name[64] = "", text[4096];
    void *hwloc = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
    begin(2);
    tell(0, "cmd=get_my_kvsname\n");
    serve();
    CHECK(sscanf(heard(0), "cmd=my_kvsname rc=0 kvsname=%63s", name) == 1);
    snprintf(line, sizeof line, "cmd=get kvsname=%s key=PMI_hwloc_xmlfile\n", name);
    is_hidden = true;
    CHECK(answers(0, line, "cmd=get_result rc=-1 msg=no_such_key value=unknown\n"));
    CHECK(answers(0, line, "cmd=get_result rc=-1 msg=no_such_key value=unknown\n"));
    is_hidden = false;
    end();
    begin(2);
    tell(0, line);
    serve();
    const char *said = heard(0);
    CHECK_EQ(sscanf(said, "cmd=get_result rc=0 msg=success value=%63s", path) == 1, hwloc != NULL);
    if (!hwloc) fprintf(stderr, "note: there is no hwloc here\n");
    FILE *f = hwloc ? fopen(path, "r") : NULL;
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = 0;
    CHECK(!hwloc || (f && strstr(text, "<topology version=\"2") && strstr(text, "<object type=\"Machine\"")));
    if (f) fclose(f);
    CHECK(!getenv("HWLOC_COMPONENTS"));
    snprintf(text, sizeof text, "cmd=get_result rc=0 msg=success value=%s\n", path);
    if (hwloc) CHECK(answers(1, line, text)); /* the same file for all */
    end();
    CHECK(!hwloc || access(path, F_OK) != 0);
    if (hwloc) dlclose(hwloc);
}

/* Ranks that came by different ways; true before it is said, too. */
static bool differs(void)
{
    int wait;
    return foreign_differs(&job, &wait) || wait >= 0;
}

/* A rank is ahead in a script of several libraries' programs: only those of same number are compared. */
static void ways(void)
{
    begin(3);
    for (int i = 0; i < 3; i++) job.ranks[i].pid = getpid();
    CHECK(!differs());
    foreign_came(&job, 0, FOREIGN_PMI);
    foreign_came(&job, 1, FOREIGN_PMI);
    CHECK(!differs()); /* the third one runs no MPI */
    foreign_phase(&job, 0, BOOT_FINALIZED);
    foreign_came(&job, 0, FOREIGN_PMIX); /* its second */
    CHECK(!differs());
    foreign_came(&job, 2, FOREIGN_PMIX); /* its first */
    CHECK(differs());
    foreign_phase(&job, 2, BOOT_FINALIZED);
    CHECK(!differs());
    foreign_phase(&job, 1, BOOT_FINALIZED);
    foreign_came(&job, 1, FOREIGN_PMI); /* its second is another library's than that of rank 0 */
    CHECK(differs());
    job.ranks[0].pid = 0; /* it has ended */
    CHECK(!differs());
    atomic_store(&job_slot(&job, 2)->pid, getpid()); /* ours, after one of theirs: nobody knows which came first */
    atomic_store(&job_slot(&job, 2)->phase, BOOT_RUNNING);
    CHECK(!differs());
    atomic_store(&job.ranks[2].ways, 0);
    CHECK(differs());
    for (int i = 0; i < 100; i++) foreign_came(&job, 1, FOREIGN_PMI); /* more than are kept */
    CHECK(!differs());
    end();
}

/* A program of MPICH shuts its connection down, and the next one has it all the same; not where no finalize came before. */
static void again(void)
{
    begin(2);
    for (int i = 0; i < 2; i++) job.ranks[i].pid = getpid();
    for (int turn = 0; turn < 3; turn++) {
        CHECK(
            answers(0, "cmd=init pmi_version=1 pmi_subversion=1\n", "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n"));
        CHECK(answers(0, "cmd=finalize\n", "cmd=finalize_ack rc=0\n"));
        CHECK_EQ(shutdown(ends[0], SHUT_RDWR), 0);
        serve();
    }
    CHECK(answers(1, "cmd=init pmi_version=1 pmi_subversion=1\n", "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n"));
    CHECK_EQ(shutdown(ends[1], SHUT_RDWR), 0);
    serve();
    CHECK_EQ(send(ends[1], "x", 1, MSG_NOSIGNAL), -1);
    end();
}

/* A process that has a file of this name, as one that has loaded a library. */
static pid_t loads(const char *folder, const char *library)
{
    char *path = gw_xasprintf("%s/%s", folder, library);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), ready[2];
    CHECK(fd >= 0 && ftruncate(fd, 4096) == 0 && pipe2(ready, O_CLOEXEC) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        bool is_mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED;
        if (!is_mapped || write(ready[1], "", 1) != 1) _exit(1);
        for (;;) pause();
    }
    char byte;
    CHECK_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    close(fd);
    unlink(path);
    free(path);
    return pid;
}

/* Ranks that come in the same way, with these libraries; "": none that can be seen. */
static bool differ_by(const char *folder, const char *one, const char *other)
{
    begin(2);
    for (int i = 0; i < 2; i++) {
        job.ranks[i].pid = loads(folder, i ? other : one);
        foreign_came(&job, i, FOREIGN_PMIX);
    }
    bool is_so = differs();
    for (int i = 0; i < 2; i++) {
        kill(job.ranks[i].pid, SIGKILL);
        waitpid(job.ranks[i].pid, NULL, 0);
    }
    end();
    return is_so;
}

static void libraries(void)
{
    char folder[] = "/tmp/godwit-XXXXXX";
    CHECK(mkdtemp(folder));
    CHECK(differ_by(folder, "libmpi.so.40.30.4", "libmpi.so.40.40.0"));
    CHECK(differ_by(folder, "libmpi.so.12.1.8", "libmpich.so.12.1.8"));
    CHECK(!differ_by(folder, "libmpi.so.40.30.4", "libmpi.so.40.30.5"));       /* they are compatible */
    CHECK(!differ_by(folder, "libmpi.so.40.30.4", "libmpi_mpifh.so.40.20.2")); /* who is seen by Fortran's has another for C */
    CHECK(!differ_by(folder, "libmpi.so.40", "none.so"));
    CHECK_EQ(rmdir(folder), 0);
}

int main(void)
{
    ways();
    libraries();
    again();
    topology();
    requests();
    two_requests();
    two_waits();
    two_nonsense();
    barriers();
    spawn();
    aborts();
    no_pmi();
    return unit_end();
}
