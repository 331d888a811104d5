/* doctor_devices.c -- mpiexec doctor: networks, accelerators and security modules.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "doctor/doctor.h"
#include "net/iface.h"
#include "job/words.h"

/* ---- network: on one machine Godwit needs none of it ------------------------------------------------------------------------ */
void doctor_check_interfaces(const struct machine *m, struct answer *a)
{
    char state[32];
    struct words names;
    int up = 0;
    doctor_root_list(m, "/sys/class/net", &names);
    for (int i = 0; i < names.n; i++) {
        if (!doctor_root_read(m, state, sizeof state, "/sys/class/net/%s/operstate", names.at[i])) continue;
        bool loop = strcmp(names.at[i], "lo") == 0;
        if (!loop && strcmp(state, "down") != 0) up++;
        doctor_answer_add(a, "%s%s %s", *a->value ? ", " : "", names.at[i], loop ? "up" : state);
        int64_t mtu = doctor_root_number(m, "/sys/class/net/%s/mtu", names.at[i]);
        if (mtu > 0 && !loop) doctor_answer_add(a, " mtu %lld", (long long)mtu);
    }
    if (!names.n) doctor_answer_add(a, "none");
    words_free(&names);
    doctor_answer_add(a, "; addresses: %s", *m->addresses ? m->addresses : "none");
    if (!strstr(m->addresses, "127."))
        doctor_answer_raise(a, FINDING_NOTE,
                            "Godwit does without; PMIx and other MPI libraries want a loopback address: ip link set lo up");
    else if (!up)
        doctor_answer_raise(a, FINDING_NOTE, "ranks on this machine do not need one; other machines cannot be reached");
}

void doctor_check_network(const struct machine *m, struct answer *a)
{
    if (!m->network) return;
    doctor_answer_add(a, "%s", m->network);
    if (!m->has_network)
        doctor_answer_raise(a, FINDING_NOTE,
                            "ranks on this machine do not need one; those on several nodes do: see `godwit-info --network`");
}

void doctor_check_host(const struct machine *m, struct answer *a)
{
    enum { SLOW_MS = 500 };
    static const char advice[] =
        "Godwit does not look names up; other MPI libraries do at each start: add a line \"127.0.1.1 %s\" to "
        "/etc/hosts";
    doctor_answer_add(a, "%s", m->host);
    if (m->resolve_ms == NOT_TRIED) {
        doctor_answer_add(a, "; was not looked up");
        return;
    }
    if (m->resolve_error) {
        doctor_answer_add(a, " does not resolve%s", m->resolve_error == ETIMEDOUT ? " within 3 s" : "");
        doctor_answer_raise(a, FINDING_NOTE, advice, m->host);
        return;
    }
    doctor_answer_add(a, " resolves in %d ms", m->resolve_ms);
    if (m->resolve_ms > SLOW_MS) doctor_answer_raise(a, FINDING_NOTE, advice, m->host);
}

/* "4: ACTIVE" -> "ACTIVE" */
static const char *behind_colon(const char *text)
{
    const char *p = strchr(text, ':');
    return p ? p + 1 + strspn(p + 1, " ") : text;
}

void doctor_check_rdma(const struct machine *m, struct answer *a)
{
    struct words devices, ports;
    char state[64], link[64], folder[256];
    bool active = false;
    doctor_root_list(m, "/sys/class/infiniband", &devices);
    for (int i = 0; i < devices.n; i++) {
        snprintf(folder, sizeof folder, "/sys/class/infiniband/%s/ports", devices.at[i]);
        doctor_root_list(m, folder, &ports);
        for (int k = 0; k < ports.n; k++) {
            doctor_root_read(m, state, sizeof state, "%s/%s/state", folder, ports.at[k]);
            doctor_root_read(m, link, sizeof link, "%s/%s/rate", folder, ports.at[k]);
            doctor_answer_add(a, "%s%s port %s %s %s", *a->value ? ", " : "", devices.at[i], ports.at[k], behind_colon(state),
                              link);
            active |= strstr(state, "ACTIVE") != NULL;
        }
        words_free(&ports);
    }
    if (!devices.n) doctor_answer_add(a, "none");
    if (devices.n && !active)
        doctor_answer_raise(a, FINDING_NOTE, "no port is active: ibstat, and the subnet manager or the cable");
    else if (devices.n && !doctor_root_there(m, "/dev/infiniband"))
        doctor_answer_raise(a, FINDING_NOTE,
                            "programs cannot reach the devices: docker run --device /dev/infiniband, or load ib_uverbs");
    words_free(&devices);
}

void doctor_check_slingshot(const struct machine *m, struct answer *a)
{
    struct words devices;
    doctor_root_list(m, "/sys/class/cxi", &devices);
    for (int i = 0; i < devices.n; i++) {
        doctor_answer_add(a, "%s%s", i ? ", " : "", devices.at[i]);
        if (!doctor_root_there(m, "/dev/%s", devices.at[i]))
            doctor_answer_raise(a, FINDING_NOTE, "programs cannot reach the device: give /dev/%s to the container", devices.at[i]);
    }
    if (!devices.n) doctor_answer_add(a, "none");
    words_free(&devices);
}

/* ---- accelerators ----------------------------------------------------------------------------------------------------------- */
void doctor_check_nvidia(const struct machine *m, struct answer *a)
{
    struct words gpus;
    char text[4096], name[96] = "";
    if (!doctor_root_there(m, "/proc/driver/nvidia")) {
        doctor_answer_add(a, "none");
        return;
    }
    doctor_root_list(m, "/proc/driver/nvidia/gpus", &gpus);
    if (gpus.n && doctor_root_read(m, text, sizeof text, "/proc/driver/nvidia/gpus/%s/information", gpus.at[0])) {
        const char *model = strstr(text, "Model:");
        if (model) snprintf(name, sizeof name, "%.*s", (int)strcspn(model + 6, "\n"), model + 6);
    }
    doctor_answer_add(a, "%d%s%s", gpus.n, *name ? ", " : "", name + strspn(name, " \t"));
    if (doctor_root_read(m, text, sizeof text, "/proc/driver/nvidia/version")) {
        const char *module = strstr(text, "Kernel Module");
        const char *version = module ? module + strcspn(module, "0123456789") : "";
        if (*version) doctor_answer_add(a, ", driver %.*s", (int)strspn(version, "0123456789."), version);
    }
    if (gpus.n && !doctor_root_there(m, "/dev/nvidiactl"))
        doctor_answer_raise(a, FINDING_NOTE, "programs cannot reach the GPUs: docker run --gpus all, apptainer --nv");
    words_free(&gpus);
}

void doctor_check_amd(const struct machine *m, struct answer *a)
{
    char path[256];
    snprintf(path, sizeof path, "%s/dev/kfd", m->root);
    if (!doctor_root_there(m, "/dev/kfd")) {
        bool driver = doctor_root_there(m, "/sys/module/amdgpu");
        doctor_answer_add(a, "%s", driver ? "the driver is loaded, but there is no /dev/kfd" : "none");
        if (driver) doctor_answer_raise(a, FINDING_NOTE, "in a container: docker run --device /dev/kfd --device /dev/dri");
        return;
    }
    struct words nodes;
    int gpus = 0;
    doctor_root_list(m, "/sys/class/kfd/kfd/topology/nodes", &nodes);
    for (int i = 0; i < nodes.n; i++) gpus += doctor_root_number(m, "/sys/class/kfd/kfd/topology/nodes/%s/gpu_id", nodes.at[i]) > 0;
    words_free(&nodes);
    doctor_answer_add(a, "/dev/kfd, %d GPU%s", gpus, gpus == 1 ? "" : "s");
    if (access(path, R_OK | W_OK) < 0)
        doctor_answer_raise(a, FINDING_NOTE, "this user may not use them: usermod -aG render,video $USER, and log in again");
}

/* ---- guards ----------------------------------------------------------------------------------------------------------------- */
void doctor_check_security(const struct machine *m, struct answer *a)
{
    char text[4096], profile[128];
    int64_t selinux = doctor_root_number(m, "/sys/fs/selinux/enforce");
    if (selinux >= 0) doctor_answer_add(a, "SELinux %s", selinux ? "enforcing" : "permissive");
    if (doctor_root_read(m, profile, sizeof profile, "/proc/self/attr/apparmor/current") && strncmp(profile, "unconfined", 10) != 0)
        doctor_answer_add(a, "%sAppArmor profile %s", *a->value ? ", " : "", profile);
    doctor_root_read(m, text, sizeof text, "/proc/self/status");
    const char *seccomp = strstr(text, "\nSeccomp:");
    if (seccomp && atoi(seccomp + 9) > 0)
        doctor_answer_add(a, "%sseccomp %s", *a->value ? ", " : "",
                          atoi(seccomp + 9) == 2 ? "filters system calls" : "allows the least only");
    int64_t scope = doctor_root_number(m, "/proc/sys/kernel/yama/ptrace_scope");
    if (scope >= 0) doctor_answer_add(a, "%sptrace_scope %d", *a->value ? ", " : "", (int)scope);
    if (!*a->value) doctor_answer_add(a, "nothing that forbids calls");
    if (scope > 0 && m->uid != 0)
        doctor_answer_raise(a, FINDING_NOTE,
                            "debuggers and mpiexec --stack may not look into running ranks: sysctl kernel.yama.ptrace_scope=0");
}

bool doctor_no_interface(const char *list, char *name_out, char *there, size_t cap)
{
    struct iface *all = NULL;
    int n = iface_read(&all);
    bool is_missing = false;
    for (const char *p = list; n > 0 && *p && !is_missing; p += *p == ',') {
        size_t len = strcspn(p, ",");
        snprintf(name_out, DOCTOR_INTERFACE, "%.*s", (int)len, p);
        p += len;
        if (!*name_out || *name_out == '^' || strpbrk(name_out, "/.:")) continue; /* not to be used; a network */
        is_missing = true;
        for (int i = 0; i < n; i++) is_missing = is_missing && strcmp(all[i].name, name_out) != 0;
    }
    if (is_missing && cap) there[0] = 0;
    for (int i = 0; is_missing && i < n; i++) gw_text_add(there, cap, "%s%s", i ? ", " : "", all[i].name);
    free(all);
    return is_missing;
}
