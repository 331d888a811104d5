/* fuzz_launch.c -- what mpiexec reads: its command line, lists and files of hosts, the kernel's lists of cpus, program files.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/os.h"
#include "launch/launch.h"

#include "fuzz.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

/* The words end at zeros. */
static void command_line(struct input *in)
{
    char *argv[64] = {strdup("mpiexec")};
    int argc = 1;
    while (in_more(in) && argc < 63) argv[argc++] = in_text(in, 300);
    struct launch_options o;
    struct bind_map m;
    if (launch_options_parse(argc, argv, &o) < 0) {
        int ranks = 0;
        FUZZ_CHECK(o.n_apps >= 1 && o.n_ranks <= MAX_RANKS && o.stdin_rank < o.n_ranks && o.timeout >= 0);
        for (int i = 0; i < o.n_apps; i++) {
            FUZZ_CHECK(o.apps[i].n >= 1 && o.apps[i].argv[0]);
            ranks += o.apps[i].n;
        }
        FUZZ_CHECK(ranks == o.n_ranks);
        bind_make(&o, &m);
        for (int r = 0; m.set && r < ranks; r++) FUZZ_CHECK(CPU_COUNT_S(m.bytes, (cpu_set_t *)m.set[r]) > 0);
        bind_free(&m, ranks);
    }
    launch_options_free(&o);
    for (int i = 0; i < argc; i++) free(argv[i]);
}

static void hosts(struct input *in)
{
    char foreign[16];
    memset(foreign, 0x7f, sizeof foreign);
    char *list = in_text(in, 4000);
    bool here = hosts_are_here(list, foreign, sizeof foreign);
    FUZZ_CHECK(here || memchr(foreign, 0, sizeof foreign));
    free(list);
}

/* The rest of the input as a file without a name. */
static void as_file(struct input *in, char *path, size_t cap, int *fd_out)
{
    size_t n = (size_t)(in->end - in->at);
    *fd_out = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(*fd_out >= 0 && (n == 0 || write(*fd_out, in->at, n) == (ssize_t)n));
    snprintf(path, cap, "/proc/self/fd/%d", *fd_out);
}

static void hosts_file(struct input *in)
{
    char path[64];
    int fd;
    struct hosts h = {0};
    as_file(in, path, sizeof path, &fd);
    const char *why = hosts_read(&h, path, true); /* bytes of 0 */
    FUZZ_CHECK(!why || h.n == 0);
    for (int i = 0; i < h.n; i++) FUZZ_CHECK(hosts_is_name(h.at[i].name, strlen(h.at[i].name)));
    FUZZ_CHECK(h.n >= 0 && hosts_slots(&h, 0) >= h.n);
    for (int i = 0; i < h.n; i++) FUZZ_CHECK(h.at[i].name[0]);
    hosts_foreign(&h);
    hosts_free(&h);
    close(fd);
}

static void program(struct input *in)
{
    char path[64];
    int fd;
    struct program_file f;
    as_file(in, path, sizeof path, &fd);
    program_mpi(path, NULL);
    program_read(path, &f);
    FUZZ_CHECK(memchr(f.loader, 0, sizeof f.loader));
    program_holds(path, "MPI_Init");
    close(fd);
}

/* Pairs of numbers, first and last, written as the kernel does and read back. */
static void cpus(struct input *in)
{
    enum { MAX = 8192 };
    static bool want[MAX];
    char text[2048] = "";
    size_t n = 0;
    memset(want, 0, sizeof want);
    while (in_more(in) && n < sizeof text - 40) {
        long a = in_below(in, 9000), b = a + in_below(in, 20) - 2;
        n += (size_t)snprintf(text + n, sizeof text - n, b == a ? "%s%ld" : "%s%ld-%ld", n ? "," : "", a, b);
        for (long c = a; c <= b && c < MAX; c++) want[c] = true;
    }
    cpu_set_t *set = CPU_ALLOC(MAX);
    FUZZ_CHECK(set);
    gw_cpus_read(text, set, CPU_ALLOC_SIZE(MAX));
    for (int c = 0; c < MAX; c++) FUZZ_CHECK(!!CPU_ISSET_S((size_t)c, CPU_ALLOC_SIZE(MAX), set) == want[c]);
    CPU_FREE(set);
}

static void cpus_text(struct input *in)
{
    char *text = in_text(in, 4000);
    cpu_set_t *set = CPU_ALLOC(8192);
    FUZZ_CHECK(set);
    gw_cpus_read(text, set, CPU_ALLOC_SIZE(8192));
    CPU_FREE(set);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const parts[])(struct input *) = {command_line, hosts, hosts_file, program, cpus, cpus_text};
    struct input in = in_open(data, size);
    parts[in_below(&in, (int)(sizeof parts / sizeof parts[0]))](&in);
    return 0;
}
