/* nic_here_test.c -- where NICs, GPUs and NUMA nodes are, on a machine written down as files.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "net/net_private.h"

#include <limits.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/settings.h"
#include "boot/boot.h"

#include "../../test/unit.h"

static char root[PATH_MAX];

static void path_make(char path[PATH_MAX], const char *below)
{
    snprintf(path, PATH_MAX, "%.200s%s", root, below);
    for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
        *p = 0;
        mkdir(path, 0700);
        *p = '/';
    }
}

static void put(const char *below, const char *text)
{
    char path[PATH_MAX];
    path_make(path, below);
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    if (!f) return;
    fprintf(f, "%s\n", text);
    fclose(f);
}

static void link_to(const char *below, const char *target)
{
    char path[PATH_MAX], to[PATH_MAX];
    path_make(path, below);
    snprintf(to, sizeof to, "%.200s%s", root, target);
    CHECK_EQ(symlink(to, path), 0);
}

/* A PCI device as /sys shows it. */
static void device(const char *path, const char *busid, const char *class, const char *vendor, const char *numa)
{
    char text[256];
    snprintf(text, sizeof text, "/sys/devices/%s/%s/class", path, busid);
    put(text, class);
    snprintf(text, sizeof text, "/sys/devices/%s/%s/vendor", path, busid);
    put(text, vendor);
    snprintf(text, sizeof text, "/sys/devices/%s/%s/numa_node", path, busid);
    put(text, numa);
    char name[128], target[256];
    snprintf(name, sizeof name, "/sys/bus/pci/devices/%s", busid);
    snprintf(target, sizeof target, "/sys/devices/%s/%s", path, busid);
    link_to(name, target);
}

static struct nic_node node;

static void devices(void)
{
    struct net_offer o = {.has_bus = true, .pci_bus = 0x41};
    struct nic_device d;
    strcpy(o.domain, "mlx5_0");
    strcpy(o.address, "0x01");
    device("pci0000:40/0000:40:03.1", "0000:41:00.0", "0x020700", "0x15b3", "1");
    device("pci0000:40/0000:40:03.1", "0000:42:00.0", "0x030200", "0x10de", "1");
    device("pci0000:80/0000:80:01.1", "0000:81:00.0", "0x038000", "0x1002", "-1");
    device("pci0000:00", "0000:00:02.0", "0x030000", "0x1234", "0"); /* the screen of a server */
    device("pci0000:00", "0000:00:03.0", "0x020000", "0x8086", "0"); /* its Ethernet */
    nic_locate(root, &o, &d);
    CHECK_STR(d.name, "mlx5_0");
    CHECK_STR(d.address, "0x01");
    CHECK_EQ(d.numa, 1);
    CHECK_STR(d.path, "pci0000:40/0000:40:03.1/0000:41:00.0");
    o.pci_bus = 0x99; /* not there */
    nic_locate(root, &o, &d);
    CHECK_EQ(d.numa, NIC_UNKNOWN);
    CHECK_STR(d.path, "");
    o.has_bus = false; /* by its interface */
    strcpy(o.domain, "eth7");
    link_to("/sys/class/net/eth7/device", "/sys/devices/pci0000:00/0000:00:03.0");
    nic_locate(root, &o, &d);
    CHECK_EQ(d.numa, 0);
    CHECK_STR(d.path, "pci0000:00/0000:00:03.0");
    nic_gpus(root, &node);
    CHECK_EQ(node.n_gpus, 2);
    CHECK_STR(node.gpus[0].name, "0000:42:00.0");
    CHECK_EQ(node.gpus[0].numa, 1);
    CHECK_STR(node.gpus[1].name, "0000:81:00.0");
    CHECK_EQ(node.gpus[1].numa, NIC_UNKNOWN);
    CHECK_STR(node.gpus[1].path, "pci0000:80/0000:80:01.1/0000:81:00.0");
}

/* NUMA nodes 0, 2 and 5; we are on those of them that have our first or also our last cpu. */
static void numa_nodes(void)
{
    char text[64];
    cpu_set_t before, one;
    CHECK_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    int first = 0, last = CPU_SETSIZE - 1;
    while (first < CPU_SETSIZE && !CPU_ISSET(first, &before)) first++;
    while (last > 0 && !CPU_ISSET(last, &before)) last--;
    CHECK_EQ(nic_numa_of_process(root, 0), NIC_UNKNOWN);
    put("/sys/devices/system/node/online", "0,2,5");
    snprintf(text, sizeof text, "0-%d", first);
    put("/sys/devices/system/node/node2/cpulist", text);
    snprintf(text, sizeof text, "%d-%d", first + 1, first + 2000);
    put("/sys/devices/system/node/node5/cpulist", text);
    put("/sys/devices/system/node/node0/cpulist", ""); /* memory alone */
    put("/sys/devices/system/node/node0/distance", "10 21 31");
    put("/sys/devices/system/node/node2/distance", "21 10 12");
    put("/sys/devices/system/node/node5/distance", "31 12 10");
    nic_distances(root, &node);
    CHECK_EQ(node.distance[0][2], 21);
    CHECK_EQ(node.distance[5][2], 12);
    CHECK_EQ(node.distance[5][5], 10);
    CHECK_EQ(node.distance[1][2], 0);
    CHECK_EQ(nic_numa_of_process(root, 0), last > first ? NIC_SEVERAL : 2);
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    pid_t child = fork(); /* another process, as the ranks beside us are */
    if (child == 0) {
        pause();
        _exit(0);
    }
    CHECK_EQ(sched_setaffinity(child, sizeof one, &one), 0);
    CHECK_EQ(nic_numa_of_process(root, child), 2);
    if (last > first) {
        CPU_ZERO(&one);
        CPU_SET(last, &one);
        CHECK_EQ(sched_setaffinity(child, sizeof one, &one), 0);
        CHECK_EQ(nic_numa_of_process(root, child), 5);
    }
    kill(child, SIGKILL);
    CHECK_EQ(waitpid(child, NULL, 0), child);
    CHECK_EQ(nic_numa_of_process(root, child), NIC_UNKNOWN); /* gone */
}

/* The number that the user's variable has, where it is one of the GPUs that there are; else by turns. */
static void own_gpu(void)
{
    static const struct {
        const char *text;
        int gpu;
    } rows[] = {{NULL, 0}, {"", 0}, {"1", 1}, {"0", 0}, {"2", 0}, {"0,1", 0}, {"GPU-5a", 0}};
    struct nic_place place;
    const char *was = gw_set.nic_gpu;
    gw_boot = (struct boot_info){.size = 1, .nlocal = 1, .nnodes = 1};
    for (size_t i = 0; i < GW_ARRAY_LEN(rows); i++) {
        gw_set.nic_gpu = rows[i].text;
        nic_places(&node, &place);
        CHECK_EQ(place.gpu, rows[i].gpu);
    }
    gw_set.nic_gpu = was;
}

int main(void)
{
    char made[] = "/tmp/gw-nics-XXXXXX", command[PATH_MAX + 16];
    CHECK(mkdtemp(made) != NULL && realpath(made, root) != NULL);
    devices();
    numa_nodes();
    own_gpu();
    snprintf(command, sizeof command, "rm -r '%s'", root);
    CHECK_EQ(system(command), 0);
    return unit_end();
}
