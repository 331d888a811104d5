/* nic_here.c -- finds where NICs, GPUs and ranks are on this machine, from the kernel's files under /sys.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/os.h"
#include "base/settings.h"
#include "base/time.h"
#include "boot/boot.h"
#include "boot/segment.h"
#include "net/net_private.h"

enum { CPUS = 4096 };
struct cpus {
    uint64_t bits[CPUS / 64];
};

/* "0-3,8" */
static void list_parse(const char *text, struct cpus *set)
{
    char *end;
    memset(set, 0, sizeof *set);
    for (const char *p = text; *p >= '0' && *p <= '9'; p = *end == ',' ? end + 1 : end) {
        long a = strtol(p, &end, 10), b = *end == '-' ? strtol(end + 1, &end, 10) : a;
        for (long c = a; c <= b && c < CPUS; c++) set->bits[c / 64] |= 1ull << c % 64;
    }
}

/* ---- devices ------------------------------------------------------------------------------------ */
static void locate(const char *root, const char *device, struct nic_device *d)
{
    char link[512], real[PATH_MAX], text[64], sys[256];
    d->numa = NIC_UNKNOWN;
    snprintf(link, sizeof link, "%s%s", root, device);
    if (gw_line_read(text, sizeof text, "%s/numa_node", link)) d->numa = atoi(text); /* -1: unknown to the firmware */
    if (d->numa < 0) d->numa = NIC_UNKNOWN;
    if (!realpath(link, real)) return;
    int n = snprintf(sys, sizeof sys, "%s/sys/devices/", root);
    if (strncmp(real, sys, (size_t)n) == 0) snprintf(d->path, sizeof d->path, "%s", real + n);
}

void nic_locate(const char *root, const struct net_offer *o, struct nic_device *d)
{
    char device[128];
    memset(d, 0, sizeof *d);
    snprintf(d->name, sizeof d->name, "%s", o->domain);
    snprintf(d->address, sizeof d->address, "%s", o->address);
    if (o->has_bus)
        snprintf(device, sizeof device, "/sys/bus/pci/devices/%04x:%02x:%02x.%x", o->pci_domain, o->pci_bus, o->pci_device,
                 o->pci_function);
    else
        snprintf(device, sizeof device, "/sys/class/net/%s/device", o->domain);
    locate(root, device, d);
}

/* Is a PCI device a display controller or accelerator of NVIDIA, AMD or Intel? */
static bool is_gpu(const char *root, const char *busid)
{
    char text[32];
    if (!gw_line_read(text, sizeof text, "%s/sys/bus/pci/devices/%s/class", root, busid)) return false;
    unsigned long class = strtoul(text, NULL, 16) >> 8;
    if (class != 0x0300 && class != 0x0302 && class != 0x0380 && class != 0x1200) return false;
    if (!gw_line_read(text, sizeof text, "%s/sys/bus/pci/devices/%s/vendor", root, busid)) return false;
    unsigned long vendor = strtoul(text, NULL, 16);
    return vendor == 0x10de || vendor == 0x1002 || vendor == 0x8086;
}

static int by_name(const void *a, const void *b)
{
    return strverscmp(((const struct nic_device *)a)->name, ((const struct nic_device *)b)->name);
}

void nic_gpus(const char *root, struct nic_node *node)
{
    char path[256];
    snprintf(path, sizeof path, "%s/sys/bus/pci/devices", root);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d)) && node->n_gpus < NIC_MOST;) {
        if (e->d_name[0] == '.' || strlen(e->d_name) >= NIC_TEXT || !is_gpu(root, e->d_name)) continue;
        struct nic_device *gpu = &node->gpus[node->n_gpus++];
        memset(gpu, 0, sizeof *gpu);
        snprintf(gpu->name, sizeof gpu->name, "%.63s", e->d_name);
        snprintf(path, sizeof path, "/sys/bus/pci/devices/%s", gpu->name);
        locate(root, path, gpu);
    }
    if (d) closedir(d);
    qsort(node->gpus, (size_t)node->n_gpus, sizeof *node->gpus, by_name);
}

void nic_distances(const char *root, struct nic_node *node)
{
    char text[2048];
    struct cpus online;
    int numbers[NIC_NUMA_MOST], n = 0;
    if (!gw_line_read(text, sizeof text, "%s/sys/devices/system/node/online", root)) return;
    list_parse(text, &online);
    for (int i = 0; i < NIC_NUMA_MOST; i++)
        if (online.bits[0] >> i & 1) numbers[n++] = i;
    for (int i = 0; i < n; i++) {
        if (!gw_line_read(text, sizeof text, "%s/sys/devices/system/node/node%d/distance", root, numbers[i])) continue;
        char *p = text;
        for (int k = 0; k < n; k++) node->distance[numbers[i]][numbers[k]] = (uint8_t)strtol(p, &p, 10);
    }
}

/* ---- ranks -------------------------------------------------------------------------------------- */
int nic_numa_of_process(const char *root, pid_t pid)
{
    char text[8192];
    struct cpus mask = {0}, online, node;
    int found = NIC_UNKNOWN;
    if (sched_getaffinity(pid, sizeof mask, (cpu_set_t *)(void *)&mask) < 0) return NIC_UNKNOWN;
    if (!gw_line_read(text, sizeof text, "%s/sys/devices/system/node/online", root)) return NIC_UNKNOWN;
    list_parse(text, &online);
    for (int i = 0; i < NIC_NUMA_MOST; i++) {
        if (!(online.bits[i / 64] >> i % 64 & 1)) continue;
        if (!gw_line_read(text, sizeof text, "%s/sys/devices/system/node/node%d/cpulist", root, i)) continue;
        list_parse(text, &node);
        bool is_here = false;
        for (int w = 0; w < CPUS / 64; w++) is_here |= (mask.bits[w] & node.bits[w]) != 0;
        if (is_here) found = found == NIC_UNKNOWN ? i : NIC_SEVERAL;
    }
    return found;
}

/* The GPU of a rank: the one that the setting nic_gpu names, else by turns by the rank's number on the node. */
static int own_gpu(const struct nic_node *node, int local_rank)
{
    char *end;
    if (!node->n_gpus) return NIC_UNKNOWN;
    const char *text = gw_set.nic_gpu ? gw_set.nic_gpu : "";
    long first = strtol(text, &end, 10);
    return end != text && !*end && first >= 0 && first < node->n_gpus ? (int)first : local_rank % node->n_gpus;
}

void nic_places(const struct nic_node *node, struct nic_place *places_out)
{
    static const uint64_t patience_ns = 2000000000;
    uint64_t begin = gw_now_ns();
    int own = nic_numa_of_process("", 0);
    for (int r = 0; r < gw_boot.nlocal; r++) {
        int32_t pid = 0;
        while (r != gw_boot.local_rank && !(pid = atomic_load_explicit(&boot_slot_of(r)->pid, memory_order_relaxed)) &&
               gw_now_ns() - begin < patience_ns)
            gw_yield();
        places_out[r] = (struct nic_place){.numa = pid ? nic_numa_of_process("", pid) : own, .gpu = own_gpu(node, r)};
    }
}
