/* in_force.c -- what a setting comes to in this job, where its value alone does not say it: `auto`, and what another setting raises.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/mpi_private.h"
#include "base/file.h"
#include "base/os.h"
#include "base/processor.h"
#include "base/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/uio.h>
#include <unistd.h>

static const struct {
    const char *env, *text;
} fixed[] = {{"GODWIT_SCATTERV_SHORT_MSG", "2048-8192"},
             {"GODWIT_BCAST_INTERNODE_RADIX", "2-4"},
             {"GODWIT_BCAST_INTRANODE_RADIX", "2-4"},
             {"GODWIT_NIC_COUNTER_REPORT", "1"},
             {"GODWIT_WAIT", "spin, then yield, then sleep"},
             {"GODWIT_PROTO", "by size"},
             {"GODWIT_ALLTOALL_SHORT_MSG", "64-512"},
             {"GODWIT_ALLGATHER_VSHORT_MSG", "by the table (godwit-choices allgather)"},
             {"GODWIT_REDUCE_SCATTER_LONG_MSG", "by the table (godwit-choices reduce_scatter)"},
             {"GODWIT_COPY", "the quickest, by size, as timed (GODWIT_EXPLAIN=wire tells)"},
             {"GODWIT_DOORS", "put before programs of MPICH and Open MPI by mpiexec"},
             {"GODWIT_MATCH_ENTRIES", "as many as the provider has"},
             {"GODWIT_RMA_THREAD", "starts with the first window that needs it"}};

/* Settings of what is between nodes, and what they come to there. */
static const struct {
    const char *env, *text;
} between_nodes[] = {{"GODWIT_NET_RENDEZVOUS", "enabled by a card, disabled over TCP"},
                     {"GODWIT_REG_CACHE", "enabled by a card, disabled over TCP"},
                     {"GODWIT_OFI_TAG_MODE", "ofi_tag_full where the provider can, else ofi_tag_1"}};

static void number(int64_t n, char *out, size_t cap) { snprintf(out, cap, "%lld", (long long)n); }

static void rank_order(char *out, size_t cap)
{
    snprintf(out, cap, gw_boot.how == BOOT_GODWIT || gw_boot.how == BOOT_SINGLETON ? "1" : "as the launcher has it");
}

static void lanes(char *out, size_t cap) { number(gw_nlanes, out, cap); }

static void heap(char *out, size_t cap) { number(life_heap_bytes(), out, cap); }

static void net_short(char *out, size_t cap) { number(proto_far_short_default(gw_boot.size), out, cap); }

static void net_eager(char *out, size_t cap)
{
    snprintf(out, cap, "%lld-%lld", (long long)proto_far_eager(false), (long long)proto_far_eager(true));
}

/* GODWIT_RMA_HELP, GODWIT_COLL_ONCE */
static void not_shared(char *out, size_t cap) { snprintf(out, cap, "%s", gw_node.oversubscribed ? "off" : "on"); }

static void pmi(char *out, size_t cap)
{
    snprintf(out, cap, "%s", gw_boot.how == BOOT_PMI1 ? "1" : gw_boot.how == BOOT_PMI2 ? "2" : "not used");
}

static void huge_pages(char *out, size_t cap)
{
    snprintf(out, cap, gw_huge_is_offered() ? "moved onto when copied again" : "off (this machine offers none)");
}

static void processor(char *out, size_t cap)
{
    struct gw_processor p;
    gw_processor_here(&p);
    gw_processor_text(&p, true, out, cap);
}

static void port_reach(char *out, size_t cap) { snprintf(out, cap, "%s", world_port_is_for_hosts() ? "hosts" : "host"); }

static void wait_spin(char *out, size_t cap)
{
    int64_t spin, yield_us;
    node_wait_budget(&spin, &yield_us);
    number(spin, out, cap);
}

static void wait_yield(char *out, size_t cap)
{
    int64_t spin, yield_us;
    node_wait_budget(&spin, &yield_us);
    number(yield_us, out, cap);
}

static void unexpected(char *out, size_t cap)
{
    const char *limit;
    number(proto_unexpected_room(&limit), out, cap);
}

static void net_filter(char *out, size_t cap) { snprintf(out, cap, "%s", gw_set.net_open == GW_SET_NET_OPEN_LATE ? "on" : "off"); }

static void monitor(char *out, size_t cap) { snprintf(out, cap, "%s", gw_uffd_may() == GW_OK ? "userfaultfd" : "disabled"); }

/* Of this process itself: the others may not be there yet.  Containers refuse the call, whoever is read; where only an administrator may trace
 * (Yama, 2 and 3), that of others remains to be seen. */
static void cma(char *out, size_t cap)
{
    uint64_t there = 1, here = 0;
    struct iovec to = {&here, sizeof here}, from = {&there, sizeof there};
    char *yama = NULL;
    bool works = gw_cma_read(getpid(), &to, 1, &from, 1) == sizeof there && here == there;
    gw_file_read("/proc/sys/kernel/yama/ptrace_scope", 64, false, &yama);
    snprintf(out, cap, "%s", !works ? "NONE" : yama && yama[0] > '1' ? "CMA where the kernel allows it, else NONE" : "CMA");
    free(yama);
}

static const struct {
    const char *env;
    void (*tell)(char *out, size_t cap);
} asked[] = {{"GODWIT_RANK_ORDER", rank_order},
             {"GODWIT_LANES", lanes},
             {"GODWIT_HEAP", heap},
             {"GODWIT_NET_SHORT_MAX", net_short},
             {"GODWIT_NET_EAGER_MAX", net_eager},
             {"GODWIT_RMA_HELP", not_shared},
             {"GODWIT_COLL_ONCE", not_shared},
             {"GODWIT_PMI", pmi},
             {"GODWIT_HUGE_PAGES", huge_pages},
             {"GODWIT_PROCESSOR", processor},
             {"GODWIT_PORT_REACH", port_reach},
             {"GODWIT_WAIT_SPIN", wait_spin},
             {"GODWIT_WAIT_YIELD", wait_yield},
             {"GODWIT_UNEXPECTED_MAX", unexpected},
             {"GODWIT_NET_FILTER", net_filter},
             {"GODWIT_REG_CACHE_MONITOR", monitor},
             {"GODWIT_CMA", cma}};

/* MPI_Alloc_mem's pages, which two settings ask for. */
static bool pages_in_force(char *out, size_t cap)
{
    uint64_t bytes = rma_pages_wanted();
    if (bytes <= (uint64_t)gw_set.alloc_mem_pg_sz) return false;
    snprintf(out, cap, "%lluM", (unsigned long long)(bytes >> 20));
    return true;
}

bool mpi_in_force(const char *env, const char *value, char *out, size_t cap)
{
    if (strcmp(env, "GODWIT_ALLOC_MEM_PG_SZ") == 0) return pages_in_force(out, cap);
    if (strcasecmp(value, "auto") != 0) return false;
    for (size_t i = 0; i < GW_ARRAY_LEN(asked); i++)
        if (strcmp(env, asked[i].env) == 0) return asked[i].tell(out, cap), true;
    for (size_t i = 0; i < GW_ARRAY_LEN(fixed); i++)
        if (strcmp(env, fixed[i].env) == 0) return snprintf(out, cap, "%s", fixed[i].text), true;
    for (size_t i = 0; i < GW_ARRAY_LEN(between_nodes); i++)
        if (strcmp(env, between_nodes[i].env) == 0)
            return snprintf(out, cap, "%s", gw_boot.nlocal == gw_boot.size ? "not used on one node" : between_nodes[i].text), true;
    return false;
}
