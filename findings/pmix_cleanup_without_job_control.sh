#!/bin/sh
# PMIx 4.2.2 (Debian 12: libpmix2 4.2.2-1+deb12u1): a client asks by PMIx_Job_control() with PMIX_REGISTER_CLEANUP that a file be removed after it.
# Removing it is libpmix's own work: its server notes the path, and PMIx_server_finalize() at the latest removes the file, also of a client that
# has ended without PMIx_Finalize().  But where the server's module has no function job_control, the registration is refused with PMIX_ERR_NOT_SUPPORTED and the
# file stays.  With such a function, one that does nothing but refuse whatever it is asked, the registration succeeds and the file goes: the
# function is not called at all.
#
# Behaviour: so a server that has no job control to offer leaves its clients' files behind (Open MPI 4.1's segments in /dev/shm, of ranks that end
# without MPI_Finalize), until it installs a function that says that it has none.
# Output of this script:
#   no job_control: registered NOT-SUPPORTED, asked 0 times, the file stays
#   a job_control that refuses: registered SUCCESS, asked 0 times, the file is removed
# Exit status: 0 if it is still so, 1 if the behaviour has changed, 2 if the trial itself fails, 77 where the packages cannot be had.
# SPDX-FileCopyrightText: 2026 The authors
# SPDX-License-Identifier: BSD-3-Clause
set -eu
version=4.2.2-1+deb12u1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 2' HUP INT TERM
cd "$folder"
apt-get download "libpmix2=$version" "libpmix-dev=$version" libmunge2=0.5.15-2+deb12u1 libhwloc15=2.9.0-1 \
    libevent-core-2.1-7=2.1.12-stable-8+deb12u1 libevent-pthreads-2.1-7=2.1.12-stable-8+deb12u1 >/dev/null 2>&1 ||
    { echo "skipped: no packages of PMIx $version"; exit 77; }
for p in ./*.deb; do dpkg -x "$p" .; done
lib=$(dirname "$(find "$folder" -name 'libmunge.so.2')")
cat >try.c <<'C'
#include <pmix.h>
#include <pmix_server.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void must(const char *what, pmix_status_t s)
{
    if (s == PMIX_SUCCESS || s == PMIX_OPERATION_SUCCEEDED) return;
    fprintf(stderr, "%s: %s\n", what, PMIx_Error_string(s));
    exit(2);
}

/* Leaves a file behind, and its connection. */
static int client(const char *path)
{
    pmix_proc_t me;
    pmix_info_t wish, *results = NULL;
    size_t n = 0;
    must("PMIx_Init", PMIx_Init(&me, NULL, 0));
    if (close(open(path, O_CREAT | O_WRONLY, 0600)) != 0) return 2;
    PMIX_INFO_LOAD(&wish, PMIX_REGISTER_CLEANUP, path, PMIX_STRING);
    pmix_status_t s = PMIx_Job_control(NULL, 0, &wish, 1, &results, &n);
    printf("registered %s", s == PMIX_OPERATION_SUCCEEDED ? PMIx_Error_string(PMIX_SUCCESS) : PMIx_Error_string(s));
    fflush(stdout);
    _exit(0);
}

static atomic_int answered, asked;
static pmix_status_t answer;
static void on_answer(pmix_status_t s, void *data)
{
    answer = s;
    atomic_store(&answered, 1);
}
static void finish(const char *what, pmix_status_t s) /* of a call that answers later */
{
    must(what, s);
    if (s == PMIX_OPERATION_SUCCEEDED) return;
    while (!atomic_exchange(&answered, 0)) usleep(1000);
    must(what, answer);
}

static pmix_status_t refuse(const pmix_proc_t *who, const pmix_proc_t of[], size_t n, const pmix_info_t wanted[], size_t n_wanted,
                            pmix_info_cbfunc_t done, void *data)
{
    atomic_fetch_add(&asked, 1);
    return PMIX_ERR_NOT_SUPPORTED;
}

int main(int argc, char **argv)
{
    if (argc == 2) return client(argv[1]);
    static pmix_server_module_t module;
    static pmix_nspace_t space = "space";
    static char host[] = "here";
    pmix_info_t own[3], fact[4];
    uint32_t one = 1;
    char *nodes, *map, **env = NULL;
    pmix_proc_t who;
    int status = 0;
    if (strcmp(argv[2], "refuses") == 0) module.job_control = refuse;
    PMIX_INFO_LOAD(&own[0], PMIX_SERVER_TMPDIR, getenv("TMPDIR"), PMIX_STRING);
    PMIX_INFO_LOAD(&own[1], PMIX_SYSTEM_TMPDIR, getenv("TMPDIR"), PMIX_STRING);
    PMIX_INFO_LOAD(&own[2], PMIX_HOSTNAME, host, PMIX_STRING);
    must("PMIx_server_init", PMIx_server_init(&module, own, 3));
    must("PMIx_generate_regex", PMIx_generate_regex(host, &nodes));
    must("PMIx_generate_ppn", PMIx_generate_ppn("0", &map));
    PMIX_INFO_LOAD(&fact[0], PMIX_JOB_SIZE, &one, PMIX_UINT32);
    PMIX_INFO_LOAD(&fact[1], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIX_INFO_LOAD(&fact[2], PMIX_PROC_MAP, map, PMIX_REGEX);
    PMIX_INFO_LOAD(&fact[3], PMIX_LOCAL_SIZE, &one, PMIX_UINT32);
    finish("PMIx_server_register_nspace", PMIx_server_register_nspace(space, 1, fact, 4, on_answer, NULL));
    PMIX_LOAD_PROCID(&who, space, 0);
    finish("PMIx_server_register_client", PMIx_server_register_client(&who, geteuid(), getegid(), NULL, on_answer, NULL));
    must("PMIx_server_setup_fork", PMIx_server_setup_fork(&who, &env));
    printf("%s: ", module.job_control ? "a job_control that refuses" : "no job_control");
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        for (char **e = env; *e; e++) putenv(*e);
        execl("/proc/self/exe", argv[0], argv[1], (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status) return 2;
    must("PMIx_server_finalize", PMIx_server_finalize());
    printf(", asked %d times, the file %s\n", atomic_load(&asked), access(argv[1], F_OK) == 0 ? "stays" : "is removed");
    return 0;
}
C
cc -w -o try try.c -I"$lib/pmix2/include" -L"$lib" -Wl,-rpath-link,"$lib" -l:libpmix.so.2 || exit 2
mkdir tmp
for how in none refuses; do # without our caller's settings, and without plugins that are installed
    env -i PATH="$PATH" HOME="$folder" TMPDIR="$folder/tmp" LD_LIBRARY_PATH="$lib" PMIX_PKGLIBDIR="$lib/pmix2/lib/pmix" \
        HWLOC_PLUGINS_PATH="$folder/tmp" timeout -k 5 20 ./try "$folder/left" $how >>out || { cat out; echo "the trial with $how failed"; exit 2; }
    rm -f left
done
cat out
printf '%s\n' "no job_control: registered NOT-SUPPORTED, asked 0 times, the file stays" \
    "a job_control that refuses: registered SUCCESS, asked 0 times, the file is removed" >expected
cmp -s out expected
