/* doctor_cpu.c -- mpiexec doctor: cores, their limits and clock, and the kind of machine.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "doctor/doctor.h"
#include "base/time.h"
#include "job/say.h"
#include "job/words.h"

/* How many cores (not hardware threads) the machine has: cpus that come first among their siblings. */
static int cores_of(const struct machine *m, int cpus)
{
    assert(cpus >= 0);
    char list[256];
    int cores = 0;
    for (int cpu = 0, seen = 0; seen < cpus && cpu < 65536; cpu++) {
        if (!doctor_root_read(m, list, sizeof list, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu)) {
            if (!doctor_root_there(m, "/sys/devices/system/cpu/cpu%d", cpu) && cpu > 4 * cpus) break;
            continue;
        }
        seen++;
        if (atoi(list) == cpu) cores++;
    }
    return cores;
}

void doctor_check_cores(const struct machine *m, struct answer *a)
{
    char list[4096];
    int online =
        doctor_root_read(m, list, sizeof list, "/sys/devices/system/cpu/online") ? doctor_list_count(list) : m->cpus_allowed;
    int cores = cores_of(m, online);
    doctor_answer_add(a, "%d of %d hardware threads", m->cpus_allowed, online);
    if (cores && cores < online) doctor_answer_add(a, " (%d cores)", cores);
    if (m->cpus_allowed < online) {
        doctor_answer_add(a, "; the cpuset leaves out the others");
        doctor_answer_raise(a, FINDING_NOTE,
                            "if that is not what you asked for: ask the batch system or container for more cores "
                            "(srun --cpus-per-task, docker --cpuset-cpus), or look at taskset -p $$");
    }
    if (m->ranks > m->cpus_allowed) {
        doctor_answer_add(a, "; %d ranks share them", m->ranks);
        doctor_answer_raise(a, FINDING_NOTE, "ranks that share a core wait for each other; start at most %d", m->cpus_allowed);
    }
}

/* ---- quota ------------------------------------------------------------------------------------------------------------------ */
struct quota {
    double cores;
    char folder[256];
};

static void quota_least(struct quota *q, const char *folder, double quota, double period)
{
    if (quota <= 0 || period <= 0 || quota / period >= q->cores) return;
    q->cores = quota / period;
    snprintf(q->folder, sizeof q->folder, "%s", folder);
}

static void quota_v2(const struct machine *m, const char *folder, void *arg)
{
    char text[64];
    double quota, period;
    if (doctor_root_read(m, text, sizeof text, "%s/cpu.max", folder) && sscanf(text, "%lf %lf", &quota, &period) == 2)
        quota_least(arg, folder, quota, period);
}

static void quota_v1(const struct machine *m, const char *folder, void *arg)
{
    quota_least(arg, folder, (double)doctor_root_number(m, "%s/cpu.cfs_quota_us", folder),
                (double)doctor_root_number(m, "%s/cpu.cfs_period_us", folder));
}

void doctor_check_quota(const struct machine *m, struct answer *a)
{
    enum { NONE = 1 << 30 };
    struct quota q = {NONE, ""};
    doctor_cgroup_each(m, "", quota_v2, &q);
    doctor_cgroup_each(m, "cpu", quota_v1, &q);
    if (q.cores >= NONE) {
        doctor_answer_add(a, "none");
        return;
    }
    doctor_answer_add(a, "%.4g cores (%s)", q.cores, q.folder);
    if (q.cores >= m->cpus_allowed) return;
    doctor_answer_add(a, ", fewer than the %d that may be used", m->cpus_allowed);
    doctor_answer_raise(
        a, q.cores < 1 ? FINDING_PROBLEM : FINDING_NOTE,
        "the kernel stops all ranks together when the quota is used up: start at most %d, or raise the quota (docker --cpus, "
        "Kubernetes limits.cpu, systemd CPUQuota)",
        q.cores < 1 ? 1 : (int)q.cores);
}

/* ---- memory and clock of the cores ------------------------------------------------------------------------------------------ */
void doctor_check_numa(const struct machine *m, struct answer *a)
{
    char list[4096], memory[4096], size[32];
    struct words names;
    int nodes = 0;
    doctor_root_list(m, "/sys/devices/system/node", &names);
    for (int i = 0; i < names.n; i++) {
        const char *number = names.at[i] + 4;
        if (strncmp(names.at[i], "node", 4) != 0 || *number < '0' || *number > '9') continue;
        doctor_root_read(m, list, sizeof list, "/sys/devices/system/node/%s/cpulist", names.at[i]);
        doctor_answer_add(a, "%snode %s: cpus %.60s", nodes++ ? "; " : "", number, *list ? list : "none");
        doctor_root_read(m, memory, sizeof memory, "/sys/devices/system/node/%s/meminfo", names.at[i]);
        const char *total = strstr(memory, "MemTotal:");
        if (total) doctor_answer_add(a, ", %s", doctor_bytes_text(strtoull(total + 9, NULL, 10) * 1024, size));
    }
    if (!nodes) doctor_answer_add(a, "the kernel does not say: taken as one node");
    words_free(&names);
    if (nodes > 1 && doctor_root_number(m, "/proc/sys/kernel/numa_balancing") > 0) {
        doctor_answer_add(a, "; the kernel moves pages between nodes");
        doctor_answer_raise(a, FINDING_NOTE,
                            "bound ranks have their pages in the right place already: sysctl kernel.numa_balancing=0");
    }
}

void doctor_check_clock(const struct machine *m, struct answer *a)
{
    static const char *const quick[] = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase"};
    char clock[64], all[256], costs[128];
    if (!doctor_root_read(m, clock, sizeof clock, "/sys/devices/system/clocksource/clocksource0/current_clocksource")) {
        doctor_answer_add(a, "the kernel does not say");
        return;
    }
    doctor_answer_add(a, "%s: %s", clock, gw_costs_text(costs, sizeof costs));
    for (size_t i = 0; i < GW_ARRAY_LEN(quick); i++)
        if (strcmp(clock, quick[i]) == 0) return;
    bool has = doctor_root_read(m, all, sizeof all, "/sys/devices/system/clocksource/clocksource0/available_clocksource") &&
        strstr(all, "tsc");
    doctor_answer_raise(a, FINDING_NOTE, "%s",
                        has ? "each look at the clock is a slow system call: echo tsc > "
                              "/sys/devices/system/clocksource/clocksource0/current_clocksource"
                            : "each look at the clock is a slow system call; "
                              "the kernel gave up the quick clock (tsc): see dmesg | grep -i tsc");
}

void doctor_check_governor(const struct machine *m, struct answer *a)
{
    char governor[64], driver[64];
    if (!doctor_root_read(m, governor, sizeof governor, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")) {
        doctor_answer_add(a, "not to be set here");
        return;
    }
    doctor_answer_add(a, "%s", governor);
    /* With these drivers the processor chooses its clock, and `powersave` is not slow. */
    doctor_root_read(m, driver, sizeof driver, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver");
    if (strncmp(driver, "intel_pstate", 12) == 0 || strncmp(driver, "amd-pstate", 10) == 0) return;
    if (strcmp(governor, "powersave") == 0 || strcmp(governor, "conservative") == 0)
        doctor_answer_raise(a, FINDING_NOTE, "clocks rise late; for measurements: cpupower frequency-set -g performance");
}

void doctor_check_load(const struct machine *m, struct answer *a)
{
    char text[128];
    double load = 0;
    if (!doctor_root_read(m, text, sizeof text, "/proc/loadavg") || sscanf(text, "%lf", &load) != 1) {
        doctor_answer_add(a, "the kernel does not say");
        return;
    }
    doctor_answer_add(a, "%.2f in the last minute", load);
    if (load > m->cpus_allowed) doctor_answer_raise(a, FINDING_NOTE, "others compute here already (see top): times will vary");
}

/* ---- what kind of machine --------------------------------------------------------------------------------------------------- */
static const char *env_of(const struct machine *m, const char *name)
{
    size_t n = strlen(name);
    for (char **e = m->env; e && *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=') return *e + n + 1;
    return NULL;
}

void doctor_check_container(const struct machine *m, struct answer *a)
{
    char text[8192];
    const char *is = NULL;
    if (doctor_root_there(m, "/run/.containerenv"))
        is = "Podman";
    else if (doctor_root_there(m, "/.dockerenv"))
        is = "Docker";
    else if (env_of(m, "APPTAINER_CONTAINER") || doctor_root_there(m, "/.singularity.d"))
        is = "Apptainer";
    if (env_of(m, "KUBERNETES_SERVICE_HOST")) is = "Kubernetes";
    if (!is && doctor_root_read(m, text, sizeof text, "/proc/1/cgroup"))
        is = strstr(text, "kubepods") ? "Kubernetes" : strstr(text, "docker") ? "Docker" : strstr(text, "/lxc") ? "LXC" : NULL;
    if (!is && doctor_root_there(m, "/proc/vz") && !doctor_root_there(m, "/proc/bc")) is = "OpenVZ";
    doctor_answer_add(a, "%s", is ? is : "none that is known");
}

void doctor_check_virtual(const struct machine *m, struct answer *a)
{
    char text[8192], vendor[128], product[128];
    doctor_root_read(m, text, sizeof text, "/proc/version");
    bool wsl = strstr(text, "icrosoft") != NULL;
    doctor_root_read(m, vendor, sizeof vendor, "/sys/class/dmi/id/sys_vendor");
    doctor_root_read(m, product, sizeof product, "/sys/class/dmi/id/product_name");
    bool guest = doctor_root_read(m, text, sizeof text, "/proc/cpuinfo") && strstr(text, " hypervisor");
    if (wsl)
        doctor_answer_add(a, "WSL");
    else
        doctor_answer_add(a, "%s", guest ? "a virtual machine" : "none that is known");
    if (*vendor || *product) doctor_answer_add(a, " (%s%s%s)", vendor, *vendor && *product ? " " : "", product);
}

void doctor_check_batch(const struct machine *m, struct answer *a)
{
    static const struct {
        const char *name, *job, *nodes, *instead;
    } known[] = {
        {"Slurm", "SLURM_JOB_ID", "SLURM_JOB_NUM_NODES", "srun"}, {"Flux", "FLUX_JOB_ID", "FLUX_JOB_NNODES", "flux run"},
        {"PBS", "PBS_JOBID", "PBS_NUM_NODES", "prterun"},         {"LSF", "LSB_JOBID", NULL, "prterun"},
        {"Grid Engine", "PE_HOSTFILE", "NHOSTS", "prterun"},
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(known); i++) {
        const char *job = env_of(m, known[i].job), *nodes = known[i].nodes ? env_of(m, known[i].nodes) : NULL;
        if (!job) continue;
        doctor_answer_add(a, "%s, job %s", known[i].name, job);
        if (nodes) doctor_answer_add(a, ", %s node%s", nodes, strcmp(nodes, "1") == 0 ? "" : "s");
        if (nodes && atoi(nodes) > 1)
            doctor_answer_raise(a, FINDING_NOTE, "mpiexec starts ranks on this node alone; for all nodes start the program with %s",
                                known[i].instead);
        return;
    }
    doctor_answer_add(a, "none");
}
