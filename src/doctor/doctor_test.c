/* doctor_test.c -- the checks of `mpiexec doctor` on machines that are not there: trees of /proc, /sys and /dev, invented here.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include "doctor/doctor.h"
#include "unit.h"

static char root[] = "/tmp/gw-doctor-XXXXXX";
static struct machine m;

/* A tree without files and a machine without limits. */
static void fresh(void)
{
    if (*m.root) {
        char *rm = gw_xasprintf("rm -rf %s", root);
        CHECK(system(rm) == 0);
        free(rm);
        CHECK(mkdir(root, 0700) == 0);
    }
    m = (struct machine){.root = root,
                         .ranks = 4,
                         .path = "",
                         .library_path = "",
                         .preload = "",
                         .tmpdir = "/tmp",
                         .home = "/home/me",
                         .is_known = true,
                         .own_bin = "/opt/godwit/bin",
                         .host = "node1",
                         .uid = getuid(),
                         .shm_total = 1ull << 34,
                         .shm_free = 1ull << 34,
                         .memlock = UINT64_MAX,
                         .files = 1 << 20,
                         .processes = UINT64_MAX,
                         .file_size = UINT64_MAX,
                         .address_space = UINT64_MAX,
                         .memory = 1ll << 34,
                         .memory_limit = "free",
                         .cpus_allowed = 8,
                         .addresses = "lo 127.0.0.1"};
}

/* text NULL: it is not there any more */
static void file(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    if (!text) {
        CHECK(unlink(full) == 0);
        return;
    }
    for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
        *p = 0;
        mkdir(full, 0700);
        *p = '/';
    }
    FILE *f = fopen(full, "w");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
    chmod(full, 0700);
}

/* What the check finds, with these words in its value and advice. */
static bool finds(check_fn *fn, enum finding is, const char *value, const char *todo)
{
    struct answer a = {FINDING_OK, "", ""};
    fn(&m, &a);
    bool ok =
        a.is == is && strstr(a.value, value) && strstr(a.todo, todo) && (is == FINDING_OK) == !*a.todo && !strchr(a.value, '\n');
    if (!ok) fprintf(stderr, "finding %d, value '%s', todo '%s'\n", (int)a.is, a.value, a.todo);
    return ok;
}

static void quota(void)
{
    fresh();
    CHECK(finds(doctor_check_quota, FINDING_OK, "none", ""));
    file("/proc/self/cgroup", "0::/job/step\n");
    file("/sys/fs/cgroup/job/step/cpu.max", "max 100000\n");
    CHECK(finds(doctor_check_quota, FINDING_OK, "none", ""));
    file("/sys/fs/cgroup/job/cpu.max", "250000 100000\n"); /* a limit above ours holds too */
    CHECK(finds(doctor_check_quota, FINDING_NOTE, "2.5 cores (/sys/fs/cgroup/job)", "at most 2"));
    file("/sys/fs/cgroup/cpu.max", "50000 100000\n");
    CHECK(finds(doctor_check_quota, FINDING_PROBLEM, "0.5 cores (/sys/fs/cgroup)", "at most 1"));
    file("/sys/fs/cgroup/cpu.max", "1000000 100000\n");
    file("/sys/fs/cgroup/job/cpu.max", "800000 100000\n"); /* as many as there are cores */
    CHECK(finds(doctor_check_quota, FINDING_OK, "8 cores", ""));

    fresh(); /* version 1; the group is not mounted here, its root is */
    file("/proc/self/cgroup", "4:cpuset:/\n3:cpu,cpuacct:/docker/abc\n");
    file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000\n");
    file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    CHECK(finds(doctor_check_quota, FINDING_NOTE, "3 cores (/sys/fs/cgroup/cpu)", "at most 3"));
    file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    CHECK(finds(doctor_check_quota, FINDING_OK, "none", ""));
}

static void direct_copies(void)
{
    fresh();
    CHECK(finds(doctor_check_cma, FINDING_OK, "works", ""));
    file("/proc/sys/kernel/yama/ptrace_scope", "1\n");
    CHECK(finds(doctor_check_cma, FINDING_OK, "works", "")); /* what works is not looked into */
    m.cma_error = EPERM;
    CHECK(finds(doctor_check_cma, FINDING_NOTE, "ptrace_scope is 1", "sysctl kernel.yama.ptrace_scope=0"));
    file("/proc/sys/kernel/yama/ptrace_scope", "3\n");
    CHECK(finds(doctor_check_cma, FINDING_NOTE, "ptrace_scope is 3", "next start"));
    file("/proc/sys/kernel/yama/ptrace_scope", "0\n");
    file("/proc/self/status", "Name:\tx\nSeccomp:\t2\n");
    CHECK(finds(doctor_check_cma, FINDING_NOTE, "Operation not permitted", "--cap-add SYS_PTRACE"));
    file("/sys/fs/selinux/booleans/deny_ptrace", "1 1\n");
    CHECK(finds(doctor_check_cma, FINDING_NOTE, "refused", "setsebool"));
    m.cma_error = NOT_TRIED;
    CHECK(finds(doctor_check_cma, FINDING_OK, "could not be tried", ""));
    m.uid = 1000;
    file("/proc/sys/kernel/yama/ptrace_scope", "1\n");
    CHECK(finds(doctor_check_security, FINDING_NOTE, "seccomp filters system calls, ptrace_scope 1", "--stack"));
}

static void memory(void)
{
    fresh();
    CHECK(finds(doctor_check_memfd, FINDING_OK, "works", ""));
    m.memfd_error = EPERM;
    CHECK(finds(doctor_check_memfd, FINDING_NOTE, "Operation not permitted", "seccomp"));
    CHECK(finds(doctor_check_dev_shm, FINDING_OK, "16.0 GiB", ""));
    m.shm_total = m.shm_free = 64 << 20;
    CHECK(finds(doctor_check_dev_shm, FINDING_NOTE, "64.0 MiB, 64.0 MiB free", "--shm-size"));
    m.shm_total = 1 << 30;
    m.shm_free = 1 << 20;
    CHECK(finds(doctor_check_dev_shm, FINDING_NOTE, "1.0 GiB, 1.0 MiB free", "ls -l /dev/shm"));
    m.shm_total = 0;
    CHECK(finds(doctor_check_dev_shm, FINDING_NOTE, "not there", "mount -t tmpfs"));
    CHECK(finds(doctor_check_memory, FINDING_OK, "16.0 GiB", ""));
    m.memory = 10 << 20;
    CHECK(finds(doctor_check_memory, FINDING_PROBLEM, "4 ranks may grow to 16.0 MiB", "fewer ranks"));
    CHECK(finds(doctor_check_limits, FINDING_OK, "not limited", ""));
    m.address_space = 1 << 20;
    CHECK(finds(doctor_check_limits, FINDING_PROBLEM, "address space 1.0 MiB", "ulimit -v"));
    m.address_space = UINT64_MAX;
    m.file_size = 4096;
    CHECK(finds(doctor_check_limits, FINDING_PROBLEM, "size of files 4.0 KiB", "ulimit -f"));
    m.memlock = 64 << 10;
    CHECK(finds(doctor_check_memlock, FINDING_OK, "64.0 KiB", ""));
    file("/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
    CHECK(finds(doctor_check_memlock, FINDING_NOTE, "64.0 KiB", "ulimit -l"));
}

static void processes(void)
{
    fresh();
    m.uid = 1000;
    CHECK(finds(doctor_check_processes, FINDING_OK, "no limit", ""));
    file("/proc/17/status", "Name:\tx\nUid:\t1000\t1000\nThreads:\t30\n");
    file("/proc/18/status", "Name:\tx\nUid:\t1001\t1001\nThreads:\t500\n");
    m.processes = 64;
    CHECK(finds(doctor_check_processes, FINDING_OK, "at most 64 of this user, 30 are there", ""));
    m.processes = 32;
    CHECK(finds(doctor_check_processes, FINDING_PROBLEM, "4 ranks need", "ulimit -u"));
    m.uid = 0; /* no limit for root */
    CHECK(finds(doctor_check_processes, FINDING_OK, "no limit", ""));
    file("/proc/self/cgroup", "8:pids:/a\n");
    file("/sys/fs/cgroup/pids/a/pids.max", "20\n");
    file("/sys/fs/cgroup/pids/a/pids.current", "15\n");
    CHECK(finds(doctor_check_processes, FINDING_PROBLEM, "at most 20 in the control group, 5 are left", "--pids-limit"));
    file("/sys/fs/cgroup/pids/a/pids.max", "max\n");
    CHECK(finds(doctor_check_processes, FINDING_OK, "no limit", ""));
    m.ranks = 500;
    m.files = 1024;
    CHECK(finds(doctor_check_files, FINDING_PROBLEM, "500 ranks need", "ulimit -Hn 1532"));
    m.ranks = 300;
    CHECK(finds(doctor_check_files, FINDING_OK, "at most 1024", ""));
}

static void machines(void)
{
    fresh();
    m.ranks = 8;
    file("/sys/devices/system/cpu/online", "0-15\n");
    for (int i = 0; i < 16; i++) {
        char path[96], list[16];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", i);
        snprintf(list, sizeof list, "%d,%d\n", i % 8, i % 8 + 8);
        file(path, list);
    }
    CHECK(finds(doctor_check_cores, FINDING_NOTE, "8 of 16 hardware threads (8 cores)", "cpuset"));
    m.cpus_allowed = 16;
    CHECK(finds(doctor_check_cores, FINDING_OK, "16 of 16", ""));
    m.ranks = 17;
    CHECK(finds(doctor_check_cores, FINDING_NOTE, "17 ranks share", "at most 16"));
    file("/sys/devices/system/node/node0/cpulist", "0-7\n");
    file("/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:  4194304 kB\n");
    file("/sys/devices/system/node/node1/cpulist", "8-15\n");
    file("/sys/devices/system/node/online", "0-1\n");
    CHECK(finds(doctor_check_numa, FINDING_OK, "node 0: cpus 0-7, 4.0 GiB; node 1: cpus 8-15", ""));
    file("/proc/sys/kernel/numa_balancing", "1\n");
    CHECK(finds(doctor_check_numa, FINDING_NOTE, "moves pages", "numa_balancing=0"));
    file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    file("/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet\n");
    CHECK(finds(doctor_check_clock, FINDING_NOTE, "hpet", "echo tsc"));
    file("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    CHECK(finds(doctor_check_clock, FINDING_OK, "tsc: a look takes ", ""));
    CHECK(finds(doctor_check_clock, FINDING_OK, " us, a system call ", ""));
    file("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
    CHECK(finds(doctor_check_huge_pages, FINDING_NOTE, "[never]", "echo madvise"));
    CHECK(finds(doctor_check_container, FINDING_OK, "none", ""));
    file("/proc/1/cgroup", "0::/kubepods/x\n");
    CHECK(finds(doctor_check_container, FINDING_OK, "Kubernetes", ""));
    file("/run/.containerenv", "");
    CHECK(finds(doctor_check_container, FINDING_OK, "Podman", ""));
    char *env[] = {"SLURM_JOB_ID=7", "SLURM_JOB_NUM_NODES=3", NULL};
    m.env = env;
    CHECK(finds(doctor_check_batch, FINDING_NOTE, "Slurm, job 7, 3 nodes", "srun"));
    env[1] = "SLURM_JOB_NUM_NODES=1";
    CHECK(finds(doctor_check_batch, FINDING_OK, "1 node", ""));
}

static void devices(void)
{
    fresh();
    CHECK(finds(doctor_check_rdma, FINDING_OK, "none", ""));
    file("/sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
    file("/sys/class/infiniband/mlx5_0/ports/1/rate", "200 Gb/sec\n");
    CHECK(finds(doctor_check_rdma, FINDING_NOTE, "mlx5_0 port 1 DOWN 200 Gb/sec", "no port is active"));
    file("/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
    CHECK(finds(doctor_check_rdma, FINDING_NOTE, "ACTIVE", "--device /dev/infiniband"));
    file("/dev/infiniband/uverbs0", "");
    CHECK(finds(doctor_check_rdma, FINDING_OK, "ACTIVE", ""));
    file("/sys/class/cxi/cxi0/x", "");
    CHECK(finds(doctor_check_slingshot, FINDING_NOTE, "cxi0", "/dev/cxi0"));
    CHECK(finds(doctor_check_nvidia, FINDING_OK, "none", ""));
    file("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.86.10  Wed\n");
    file("/proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t NVIDIA H100\nIRQ: 3\n");
    CHECK(finds(doctor_check_nvidia, FINDING_NOTE, "1, NVIDIA H100, driver 535.86.10", "--gpus all"));
    file("/dev/nvidiactl", "");
    CHECK(finds(doctor_check_nvidia, FINDING_OK, "NVIDIA H100", ""));
    CHECK(finds(doctor_check_amd, FINDING_OK, "none", ""));
    file("/sys/class/kfd/kfd/topology/nodes/0/gpu_id", "0\n");
    file("/sys/class/kfd/kfd/topology/nodes/1/gpu_id", "512\n");
    file("/dev/kfd", "");
    CHECK(finds(doctor_check_amd, FINDING_OK, "1 GPU", ""));
    file("/sys/class/net/eth0/operstate", "up\n");
    file("/sys/class/net/lo/operstate", "unknown\n");
    CHECK(finds(doctor_check_interfaces, FINDING_OK, "eth0 up, lo up; addresses: lo 127.0.0.1", ""));
    m.addresses = "";
    CHECK(finds(doctor_check_interfaces, FINDING_NOTE, "addresses: none", "ip link set lo up"));
    m.network = "libfabric 1.17, net on eth0, 192.0.2.2", m.has_network = true;
    CHECK(finds(doctor_check_network, FINDING_OK, "net on eth0", ""));
    m.network = "TCP on eth0, 192.0.2.2", m.has_network = true;
    CHECK(finds(doctor_check_network, FINDING_OK, "TCP on eth0", ""));
    m.network = "libfabric offers no provider", m.has_network = false;
    CHECK(finds(doctor_check_network, FINDING_NOTE, "no provider", "godwit-info --network"));
    m.network = NULL;
    CHECK(finds(doctor_check_host, FINDING_OK, "node1 resolves", ""));
    m.resolve_error = ETIMEDOUT;
    CHECK(finds(doctor_check_host, FINDING_NOTE, "does not resolve within 3 s", "127.0.1.1 node1"));
}

static void home(void)
{
    fresh();
    CHECK(finds(doctor_check_home, FINDING_OK, "/home/me", ""));
    m.home = NULL;
    m.is_known = false;
    m.uid = 1234;
    CHECK(finds(doctor_check_home, FINDING_NOTE, "HOME is not set; user 1234 is in no passwd", "export HOME="));
    m.is_known = true;
    CHECK(finds(doctor_check_home, FINDING_OK, "HOME is not set", ""));
}

static void stale(void)
{
    char full[128];
    struct utimbuf old = {0, 0};
    fresh();
    file("/dev/shm/mine", "");
    file("/dev/shm/vader_segment.node1.0", "xxxx");
    file("/dev/shm/mpich_shar_tmp1", "xxxx");
    CHECK(finds(doctor_check_stale, FINDING_OK, "none", "")); /* somebody may be about to map them */
    for (int i = 0; i < 2; i++) {
        snprintf(full, sizeof full, "%s/dev/shm/%s", root, i ? "mpich_shar_tmp1" : "vader_segment.node1.0");
        CHECK(utime(full, &old) == 0);
    }
    CHECK(finds(doctor_check_stale, FINDING_NOTE, "2 of yours",
                "others are not known; if none does: rm /dev/shm/mpich_shar_tmp1 /dev/shm/vader_segment.node1.0"));
    m.sees_all = true;
    CHECK(finds(doctor_check_stale, FINDING_NOTE, "2 of yours",
                "no process uses them: rm /dev/shm/mpich_shar_tmp1 /dev/shm/vader_segment.node1.0"));
    file("/dev/shm/mpich_a b", "xxxx"); /* a name that a shell would take for two is counted, and not in the command */
    snprintf(full, sizeof full, "%s/dev/shm/mpich_a b", root);
    CHECK(utime(full, &old) == 0);
    CHECK(finds(doctor_check_stale, FINDING_NOTE, "3 of yours", "vader_segment.node1.0 (and 1 more of yours like them)"));
    file("/dev/shm/mpich_a b", NULL);
    file("/proc/99/maps", "7f0000-7f1000 rw-s 0 00:19 7 /dev/shm/mpich_shar_tmp1\n");
    CHECK(finds(doctor_check_stale, FINDING_NOTE, "1 of yours", "rm /dev/shm/vader_segment.node1.0"));
    /* Names that would act on a terminal or in a command, and a link that somebody has laid to a file of ours. */
    static const char *const names[] = {"mpich_;touch x", "mpich_\033[2J", "mpich_$(id)", "mpich_a b"};
    file("/dev/shm/vader_segment.node1.0", NULL);
    for (size_t i = 0; i < GW_ARRAY_LEN(names); i++) {
        snprintf(full, sizeof full, "/dev/shm/%s", names[i]);
        file(full, "xxxx");
        snprintf(full, sizeof full, "%s/dev/shm/%s", root, names[i]);
        CHECK(utime(full, &old) == 0);
    }
    CHECK(finds(doctor_check_stale, FINDING_NOTE, "4 of yours", "no words for a command"));
    CHECK(!finds(doctor_check_stale, FINDING_NOTE, "\033", "") && !finds(doctor_check_stale, FINDING_NOTE, "", "touch"));
    for (size_t i = 0; i < GW_ARRAY_LEN(names); i++) {
        snprintf(full, sizeof full, "/dev/shm/%s", names[i]);
        file(full, NULL);
    }
    snprintf(full, sizeof full, "%s/dev/shm/mpich_link", root);
    CHECK(symlink("mpich_shar_tmp1", full) == 0);
    CHECK(finds(doctor_check_stale, FINDING_OK, "none", "")); /* the other one is in use */
    CHECK(unlink(full) == 0);
    m.uid++;
    CHECK(finds(doctor_check_stale, FINDING_OK, "none", ""));
}

/* ---- MPI libraries ---------------------------------------------------------------------------------------------------------- */
static const char *judged;
static void judge(const struct machine *mm, struct answer *a) { doctor_program_judge(mm, judged, a); }

static void foreign(void)
{
    fresh();
    file("/opt/ompi/lib/libmpi.so.40", "ELF");
    file("/opt/godwit/bin/mpiexec", "..GODWIT_BOOT..");
    file("/opt/godwit/lib/libmpi_abi.so.1", "..GODWIT_BOOT..");
    file("/opt/other/lib/libmpi_abi.so.1", "..");
    judged = "\tlinux-vdso.so.1 (0x1)\n\tlibc.so.6 => /lib/libc.so.6 (0x2)\n";
    CHECK(finds(judge, FINDING_OK, "names no MPI library", ""));
    judged = "\tlibmpi_abi.so.1 => /opt/godwit/lib/libmpi_abi.so.1 (0x2)\n";
    CHECK(finds(judge, FINDING_OK, "/opt/godwit/lib/libmpi_abi.so.1 (Godwit)", ""));
    file("/opt/old/lib/libmpi_abi.so.1", "..GODWIT_BOOT..");
    judged = "\tlibmpi_abi.so.1 => /opt/old/lib/libmpi_abi.so.1 (0x2)\n";
    CHECK(finds(judge, FINDING_NOTE, "(Godwit), which is not that of this mpiexec", "LD_LIBRARY_PATH=/opt/godwit/bin/../lib"));
    judged = "\tlibmpi_abi.so.1 => /opt/other/lib/libmpi_abi.so.1 (0x2)\n";
    CHECK(finds(judge, FINDING_PROBLEM, "(standard ABI)", "LD_LIBRARY_PATH"));
    judged = "\tlibmpi.so.12 => /opt/mpich/lib/libmpi.so.12 (0x2)\n";
    CHECK(finds(judge, FINDING_NOTE, "(MPICH)", "by PMI-1"));
    judged = "\tlibmpi.so.40 => not found\n\tlibc.so.6 => /lib/libc.so.6 (0x2)\n"; /* and an installation without doors */
    CHECK(finds(judge, FINDING_PROBLEM, "libmpi.so.40 is not found", "/opt/godwit/bin/mpicc"));
    judged = "\tlibmpi.so.12 => /opt/mpich/lib/libmpi.so.12 (0x2)\n";
    CHECK(finds(judge, FINDING_NOTE, "(MPICH)", "with its own library"));
    file("/opt/godwit/" GODWIT_LIBDIR "/godwit/doors/libmpi.so.40", "");
    judged = "\tlibmpi.so.12 => /opt/mpich/lib/libmpi.so.12 (0x2)\n";
    CHECK(finds(judge, FINDING_NOTE, "(MPICH)", "with its own library")); /* there is another door, but not this one */
    file("/opt/godwit/" GODWIT_LIBDIR "/godwit/doors/libmpi.so.12", "");
    CHECK(finds(judge, FINDING_NOTE, "(MPICH)", "by PMI-1"));
    CHECK(finds(judge, FINDING_NOTE, "(MPICH)", "through the door"));
    judged =
        "\tlibmpichcxx.so.12 => /opt/mpich/lib/libmpichcxx.so.12 (0x2)\n\tlibmpich.so.12 => /opt/mpich/lib/libmpich.so.12 (0x3)\n";
    CHECK(!finds(judge, FINDING_NOTE, "(MPICH)", "through the door"));
    file("/opt/godwit/" GODWIT_LIBDIR "/godwit/doors/libmpich.so.12", "");
    CHECK(finds(judge, FINDING_NOTE, "(MPICH)", "through the door"));
    judged = "\tlibmpi.so.40 => /opt/ompi/lib/libmpi.so.40 (0x2)\n\tlibmpi_cxx.so.40 => /opt/ompi/lib/libmpi_cxx.so.40 (0x3)\n";
    CHECK(!finds(judge, FINDING_NOTE, "(Open MPI)", "through the door")); /* built without a compiler of C++ */
    file("/opt/godwit/" GODWIT_LIBDIR "/godwit/doors/libmpi_cxx.so.40", "");
    file("/opt/godwit/" GODWIT_LIBDIR "/godwit/doors/libmpi_mpifh.so.40", "");
    CHECK(finds(judge, FINDING_NOTE, "(Open MPI)", "through the door"));
    judged =
        "\tlibmpi.so.40 => not found\n\tlibmpi_cxx.so.40 => not found\n\tlibc.so.6 => /lib/libc.so.6 (0x2)\n"; /* the doors have them */
    CHECK(finds(judge, FINDING_NOTE, "it loads libmpi.so.40 (Open MPI)", "through the door"));
    judged = "\tlibmpi.so.40 => not found\n\tliboshmem.so.40 => not found\n";
    CHECK(finds(judge, FINDING_PROBLEM, "liboshmem.so.40 is not found", "folder of that library"));
    judged = "\tlibmpi.so.40 => not found\n\tlibc.so.6 => /lib/libc.so.6 (0x2)\n";
    setenv("GODWIT_DOORS", "off", 1);
    CHECK(finds(judge, FINDING_PROBLEM, "libmpi.so.40 is not found", "/opt/godwit/bin/mpicc"));
    unsetenv("GODWIT_DOORS");
    struct words all = {NULL, 0}, own = {NULL, 0};
    words_add(&own, "GODWIT_DOORS=off"); /* of one program: the job has its doors */
    m.set[0] = &all, m.set[1] = &own;
    CHECK(finds(judge, FINDING_NOTE, "(Open MPI)", "through the door"));
    words_add(&all, "GODWIT_DOORS=off");
    CHECK(finds(judge, FINDING_PROBLEM, "libmpi.so.40 is not found", "/opt/godwit/bin/mpicc"));
    words_add(&all, "GODWIT_DOORS=on");
    CHECK(finds(judge, FINDING_NOTE, "(Open MPI)", "through the door"));
    m.set[0] = m.set[1] = NULL;
    words_free(&all), words_free(&own);
    setenv("GODWIT_DOORS", "off", 1);
    judged = "\tlibmpi_abi.so.1 => not found\n";
    CHECK(finds(judge, FINDING_PROBLEM, "libmpi_abi.so.1 is not found", "LD_LIBRARY_PATH=/opt/godwit/bin/../lib,"));
    judged = "Error loading shared library libmpi.so.40: No such file or directory (needed by ./a.out)\n"; /* musl */
    CHECK(finds(judge, FINDING_PROBLEM, "; libmpi.so.40 is not found", "/opt/godwit/bin/mpicc"));
    judged = "./a.out: error while loading shared libraries: libmpi.so.40: cannot open shared object file\n";
    CHECK(finds(judge, FINDING_PROBLEM, "; libmpi.so.40 is not found", "/opt/godwit/bin/mpicc"));
    unsetenv("GODWIT_DOORS");
    judged = "\tlibx.so.1 => not found\n\tlibmpi_abi.so.1 => /opt/godwit/lib/libmpi_abi.so.1 (0x2)\n";
    CHECK(finds(judge, FINDING_PROBLEM, "libx.so.1 is not found", "folder of that library"));
    judged = "\tlibmpi_abi.so.1 => /opt/godwit/lib/libmpi_abi.so.1 (0x2)\n\tlibmpi.so.40 => /opt/ompi/lib/libmpi.so.40 (0x3)\n";
    CHECK(finds(judge, FINDING_PROBLEM, "(Godwit) and /opt/ompi/lib/libmpi.so.40 (Open MPI)", "two MPI libraries"));
    judged = "\tlibmpi.so.40 => /opt/ompi/lib/libmpi.so.40 (0x3)\n\tlibmpi_mpifh.so.40 => /opt/ompi/lib/libmpi_mpifh.so.40 (0x3)\n";
    struct answer a = {FINDING_OK, "", ""};
    judge(&m, &a);
    CHECK(a.is >= FINDING_NOTE && strstr(a.value, "(Open MPI)") && !strstr(a.value, " and "));
    CHECK(finds(judge, FINDING_NOTE, "(Open MPI)", "through the door"));
    const char *fortran = judged;
    judged = "\tlibmpi.so.40 => /opt/ompi/lib/libmpi.so.40 (0x3)\n\tliboshmem.so.40 => /opt/ompi/lib/liboshmem.so.40 (0x3)\n";
    CHECK(!finds(judge, FINDING_NOTE, "(Open MPI)", "through the door")); /* a problem where there is no libpmix */
    judged = fortran;
    for (size_t n = strlen(judged); n; n--) { /* whatever a loader says */
        char *cut = gw_xasprintf("%.*s", (int)n, judged);
        struct answer b = {FINDING_OK, "", ""};
        doctor_program_judge(&m, cut, &b);
        free(cut);
    }

    CHECK(finds(doctor_check_path, FINDING_OK, "no mpiexec; no mpirun; no mpicc", ""));
    file("/opt/openmpi/bin/mpicc", "x");
    m.path = "/nowhere:/opt/openmpi/bin:/opt/godwit/bin";
    CHECK(finds(doctor_check_path, FINDING_NOTE, "mpiexec is this one; no mpirun; mpicc is /opt/openmpi/bin/mpicc (Open MPI)",
                "PATH=/opt/godwit/bin"));
    CHECK(finds(doctor_check_other_hosts, FINDING_NOTE, "by ssh, which is not here", "openssh-client"));
    file("/opt/openmpi/bin/ssh", "x");
    CHECK(finds(doctor_check_other_hosts, FINDING_OK, "starts agents there by /opt/openmpi/bin/ssh", ""));
    char *agents[] = {"GODWIT_LAUNCH_AGENT=/opt/openmpi/bin/mpicc -q", NULL}, *no_agents[] = {"GODWIT_LAUNCH_AGENT=/nosuch", NULL},
         **env = m.env;
    m.env = agents;
    CHECK(finds(doctor_check_other_hosts, FINDING_OK, "by /opt/openmpi/bin/mpicc", ""));
    m.env = no_agents;
    CHECK(finds(doctor_check_other_hosts, FINDING_NOTE, "by /nosuch, which is not here", "GODWIT_LAUNCH_AGENT"));
    m.env = env;
    file("/opt/old/mpiexec", "..GODWIT_BOOT..");
    m.path = "/opt/old:/opt/godwit/bin";
    CHECK(finds(doctor_check_path, FINDING_NOTE, "mpiexec is /opt/old/mpiexec (another Godwit)", "PATH"));
    CHECK(finds(doctor_check_library, FINDING_OK, "/opt/godwit/bin/../lib/libmpi_abi.so.1", ""));
    CHECK(finds(doctor_check_loader_path, FINDING_OK, "names no MPI", ""));
    m.library_path = "/opt/godwit/lib::/nowhere";
    CHECK(finds(doctor_check_loader_path, FINDING_OK, "/opt/godwit/lib (Godwit)", ""));
    m.library_path = "/opt/ompi/lib:/opt/godwit/lib";
    CHECK(finds(doctor_check_loader_path, FINDING_OK, "/opt/ompi/lib (Open MPI); /opt/godwit/lib (Godwit)", ""));
    m.library_path = "/opt/other/lib";
    CHECK(finds(doctor_check_loader_path, FINDING_PROBLEM, "/opt/other/lib (standard ABI)", "take /opt/other/lib out"));
}

static void words(void)
{
    char text[32];
    CHECK_EQ(doctor_list_count("0-3,8,10-11"), 7);
    CHECK_EQ(doctor_list_count(""), 0);
    CHECK_STR(doctor_bytes_text(512, text), "512 bytes");
    CHECK_STR(doctor_bytes_text(1536, text), "1.5 KiB");
    CHECK_STR(doctor_bytes_text(UINT64_MAX, text), "16.0 EiB");
    struct answer a = {FINDING_OK, "", ""};
    doctor_answer_raise(&a, FINDING_NOTE, "first");
    doctor_answer_raise(&a, FINDING_NOTE, "second");
    CHECK_STR(a.todo, "first");
    doctor_answer_raise(&a, FINDING_PROBLEM, "third");
    doctor_answer_raise(&a, FINDING_NOTE, "fourth");
    CHECK_STR(a.todo, "third");
    CHECK_EQ(a.is, FINDING_PROBLEM);
    for (int i = 0; i < 200; i++) doctor_answer_add(&a, "0123456789");
    CHECK_EQ(strlen(a.value), sizeof a.value - 1);
}

int main(void)
{
    m.root = "";
    CHECK(mkdtemp(root) != NULL);
    words();
    quota();
    direct_copies();
    memory();
    processes();
    machines();
    devices();
    home();
    stale();
    foreign();
    fresh();
    CHECK(rmdir(root) == 0);
    return unit_end();
}
