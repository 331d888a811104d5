/* pmi_topology.c -- hwloc's description of this machine, for clients of PMI that ask for it (PMI_hwloc_xmlfile), so that not each rank has to
 * look at the machine itself.
 *
 * It lies in a file without a name that mpiexec holds, and goes with it, whatever ends that; clients open it through /proc.  libhwloc is opened
 * when the first one asks.  What of hwloc opens drivers of GPUs, or moves this process from core to core, stays out.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "pmi/pmi_private.h"

/* What is used of libhwloc 2, whose headers need not be there. */
typedef struct hwloc_topology *hwloc_topology;
struct hwloc {
    int (*init)(hwloc_topology *out);
    int (*set_io_types_filter)(hwloc_topology t, int filter);
    int (*load)(hwloc_topology t);
    int (*export_xmlbuffer)(hwloc_topology t, char **text_out, int *bytes_out, unsigned long flags);
    void (*free_xmlbuffer)(hwloc_topology t, char *text);
    void (*destroy)(hwloc_topology t);
};
enum { KEEP_IMPORTANT = 3 }; /* HWLOC_TYPE_FILTER_KEEP_IMPORTANT: network cards and the like, by which MPI libraries choose */

static struct {
    bool is_asked;
    int fd; /* -1: there is none */
    char path[48];
} file = {.fd = -1};

static bool hwloc_find(void *library, struct hwloc *h)
{
    const struct {
        const char *name;
        void **at;
    } symbols[] = {{"hwloc_topology_init", (void **)&h->init},
                   {"hwloc_topology_set_io_types_filter", (void **)&h->set_io_types_filter},
                   {"hwloc_topology_load", (void **)&h->load},
                   {"hwloc_topology_export_xmlbuffer", (void **)&h->export_xmlbuffer},
                   {"hwloc_free_xmlbuffer", (void **)&h->free_xmlbuffer},
                   {"hwloc_topology_destroy", (void **)&h->destroy}};
    for (size_t i = 0; i < GW_ARRAY_LEN(symbols); i++)
        if (!(*symbols[i].at = dlsym(library, symbols[i].name))) return false;
    return true;
}

static bool text_write(const char *text, size_t n)
{
    file.fd = memfd_create("godwit-topology", MFD_CLOEXEC);
    for (size_t at = 0; file.fd >= 0 && at < n;) {
        ssize_t is = write(file.fd, text + at, n - at);
        if (is <= 0) return false;
        at += (size_t)is;
    }
    return file.fd >= 0;
}

static bool file_make(const struct hwloc *h)
{
    hwloc_topology t;
    char *text = NULL;
    int bytes = 0;
    if (h->init(&t) != 0) return false;
    h->set_io_types_filter(t, KEEP_IMPORTANT);
    bool is_made = h->load(t) == 0 && h->export_xmlbuffer(t, &text, &bytes, 0) == 0;
    while (is_made && bytes > 0 && !text[bytes - 1]) bytes--; /* the end of the text is counted */
    is_made = is_made && bytes > 0 && text_write(text, (size_t)bytes);
    if (text) h->free_xmlbuffer(t, text);
    h->destroy(t);
    return is_made;
}

/* With hwloc's parts that look at the machine alone, unless the user has chosen some. */
static bool file_make_alone(const struct hwloc *h)
{
    static const char name[] = "HWLOC_COMPONENTS";
    bool is_ours = !getenv(name) && setenv(name, "-x86,-opencl,-cuda,-nvml,-rsmi,-levelzero,-gl", 1) == 0, is_made = file_make(h);
    if (is_ours) unsetenv(name);
    return is_made;
}

const char *pmi_topology_path(void)
{
    struct hwloc h;
    if (file.is_asked) return file.fd >= 0 ? file.path : NULL;
    file.is_asked = true;
    if (gw_is_raised() || !gw_has_proc()) return NULL;
    void *library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL);
    if (!library) return NULL;
    bool is_made = hwloc_find(library, &h) && file_make_alone(&h);
    dlclose(library);
    if (!is_made) pmi_topology_drop();
    file.is_asked = true;
    snprintf(file.path, sizeof file.path, "/proc/%d/fd/%d", (int)getpid(), file.fd);
    return is_made ? file.path : NULL;
}

void pmi_topology_drop(void)
{
    if (file.fd >= 0) close(file.fd);
    file.fd = -1;
    file.is_asked = false;
}
