/* boot_segment.c -- the node's segment: made or found, checked against the machine's memory, mapped.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/hash.h"
#include "base/os.h"
#include "base/settings.h"
#include "base/time.h"
#include "boot/kvs.h"
#include "boot/order.h"
#include "boot/port.h"
#include "boot/world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static struct {
    struct boot_head *head; /* the mapped segment; NULL before boot_map_segment() and after boot_segment_close() */
    uint64_t mapped_bytes;  /* its length */
    int64_t available;      /* memory, before anybody used the segment; what limits it */
    const char *available_limit;
    const int32_t *node_of;    /* [size], in the segment; NULL: there is one node */
    const int32_t *process_of; /* [size], in the segment; NULL: ranks are not reordered */
    bool may_be_huge;          /* boot_may_be_huge() */
    int home_fd;               /* of a segment that this process made: other worlds open it through /proc; else -1 */
} segment = {.home_fd = -1};

const struct boot_head *boot_head_mapped(void) { return segment.head; }
static struct boot_rank unmapped_slot; /* used before the segment is mapped, and after it was unmapped */
struct boot_rank *boot_slot = &unmapped_slot;
_Atomic(const char *) boot_call_as;

struct boot_rank *boot_my_rank_slot(void) { return boot_slot; }

/* ---- is there enough? ----
 * A memfd lives in the kernel's own tmpfs, which has no size: running out means the OOM killer, not SIGBUS.  So what
 * can be known is asked before, and the answer is a sentence. */
static const char *mib(uint64_t bytes, char out[32])
{
    snprintf(out, 32, "%.1f MiB", (double)bytes / (1 << 20));
    return out;
}

void boot_memory_check(uint64_t bytes)
{
    char need[32], have[32];
    assert(segment.available_limit);
    if ((uint64_t)segment.available < bytes)
        gw_die("the shared memory of the ranks on this node (%d) may grow to %s, but %s leaves %s. Start fewer ranks "
               "here, "
               "raise the limit, or make the segment smaller (godwit-info --settings).",
               gw_boot.nlocal, mib(bytes, need), segment.available_limit, mib((uint64_t)segment.available, have));
}

bool boot_may_be_huge(void) { return segment.head && segment.may_be_huge; }

bool boot_pages_tell(bool is_large, bool *is_more_out)
{
    if (!segment.head) return false;
    uint32_t bit = is_large ? 2 : 1, told = atomic_fetch_or_explicit(&segment.head->pages_told, bit, memory_order_relaxed);
    *is_more_out = told != 0;
    return is_large ? !told : !(told & bit);
}

uint64_t boot_mapped_bytes(void) { return segment.mapped_bytes; }

static void check_rlimits(uint64_t bytes)
{
    char need[32], have[32];
    struct rlimit r;
    /* Growing a file beyond this limit fails, and raises SIGXFSZ. */
    if (getrlimit(RLIMIT_FSIZE, &r) == 0 && r.rlim_cur != RLIM_INFINITY && r.rlim_cur < bytes)
        gw_die("the shared memory of this node needs %s, but the file size limit (ulimit -f) is %s", mib(bytes, need),
               mib(r.rlim_cur, have));
    if (getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY && r.rlim_cur < bytes)
        gw_die("the shared memory of this node needs %s, but the address space limit (ulimit -v) is %s", mib(bytes, need),
               mib(r.rlim_cur, have));
}

/* Gives the file its final size.  Every rank asks for the same size, so the order of ranks does not matter.  first: the size that it was
 * made with. */
static void file_grow(int fd, uint64_t first, uint64_t bytes)
{
    char need[32], have[32];
    struct stat st;
    if (fstat(fd, &st) != 0 || (uint64_t)st.st_size < bytes) {
        check_rlimits(bytes);
        bool is_fixed =
            st.st_size > (off_t)first && boot_file_is_unsealed(fd); /* the file has its final size and cannot be sealed */
        int why = is_fixed ? EPERM : boot_file_size(fd, bytes) == 0 ? 0 : errno;
        if (why == EPERM)
            gw_die("the shared memory of this node has %s, and this rank wants %s: do the ranks have different settings?",
                   mib((uint64_t)st.st_size, have), mib(bytes, need));
        if (why == ENOSPC)
            gw_die(
                "the shared memory of this node (%s) does not fit into /dev/shm nor $TMPDIR; memfd_create, which needs neither, is "
                "refused here: allow it in the seccomp profile of the container, or make /dev/shm larger",
                mib(bytes, need));
        if (why) gw_die("the shared memory of this node (%s) cannot be made: %s", mib(bytes, need), strerror(why));
    }
    if (boot_file_seal(fd, false) != 0) /* no process can truncate it */
        gw_die("the shared memory of this node cannot be sealed (F_ADD_SEALS): %s", strerror(errno));
}

/* skew: where node's part begins; the pool's pages fit there. */
static struct boot_head *file_map(int fd, uint64_t bytes, uint64_t skew)
{
    char need[32];
    bool is_pooled = gw_set.huge_pages == GW_SET_HUGE_PAGES_POOL;
    int flags = MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0);
    segment.may_be_huge = !gw_huge_is_wanted() && gw_huge_is_granted(fd, bytes);
    void *place = gw_huge_is_wanted() || segment.may_be_huge ? gw_place(bytes, gw_pool_step(bytes), is_pooled ? skew : 0) : NULL,
         *p = mmap(place, bytes, PROT_READ | PROT_WRITE, flags | (place ? MAP_FIXED : 0), fd, 0);
    if (p == MAP_FAILED) gw_die("the shared memory of this node (%s) cannot be mapped: %s", mib(bytes, need), strerror(errno));
    return p;
}

/* ---- the ranks of this node, and the nodes of the others ---- */
/* Under our mpiexec the slot is in mpiexec's segment, where mpiexec reads it; the segment of a faked node has unused slots, too. */
static struct boot_rank *slot_of_world(int world_rank)
{
    struct boot_head *job = boot_board_head(), *h = job ? job : segment.head;
    int index = job ? world_rank - job->first_rank : boot_local_rank(world_rank);
    assert(h && index >= 0 && index < h->nlocal);
    return (struct boot_rank *)((char *)h + h->ranks_offset) + index;
}

struct boot_rank *boot_slot_of(int local_rank) { return slot_of_world(gw_boot.local_to_world[local_rank]); }

int boot_app_of(int world_rank) { return slot_of_world(world_rank)->app; }

int boot_apps(void)
{
    int most = -1;
    bool all = boot_board_head() != NULL;
    for (int i = 0; gw_boot.how == BOOT_GODWIT && i < (all ? gw_boot.size : gw_boot.nlocal); i++) {
        int app = boot_app_of(all ? i : gw_boot.local_to_world[i]);
        if (app > most) most = app;
    }
    return most + 1;
}

int boot_node_of(int world_rank)
{
    assert(gw_boot.nnodes > 0 && world_rank >= 0 && world_rank < gw_boot.size);
    return segment.node_of ? segment.node_of[world_rank] : 0;
}

const int32_t *boot_map_processes(void) { return segment.process_of ? segment.process_of : boot_processes; }

/* The map in the segment: the node of each rank and, if ranks were reordered, the process of each.  The first rank of a node writes it. */
static uint64_t table_bytes(void) { return ((uint64_t)gw_boot.size * sizeof(int32_t) + 63) & ~(uint64_t)63; }

static uint64_t map_bytes(void)
{
    return gw_boot.nlocal < gw_boot.size || boot_processes ? table_bytes() * (boot_processes ? 2 : 1) : 0;
}

/* Turns the nodes of processes into the nodes of ranks, and stores the process of each rank. */
static void map_reorder(int32_t *node, int32_t *process)
{
    int32_t *old = gw_xmalloc(sizeof *old * (size_t)gw_boot.size);
    memcpy(old, node, sizeof *old * (size_t)gw_boot.size);
    memcpy(process, boot_processes, sizeof *old * (size_t)gw_boot.size);
    for (int r = 0; r < gw_boot.size; r++) node[r] = old[process[r]];
    free(old);
    boot_map_nodes("", node, gw_boot.size);
}

static void map_fill(struct boot_head *h, uint64_t bytes)
{
    if (!map_bytes()) return;
    h->map_offset = bytes - map_bytes();
    int32_t *node = (int32_t *)((char *)h + h->map_offset);
    if (boot_hosts(node) != GW_OK) gw_die("%s", gw_fail_text());
    h->nnodes = boot_map_nodes(boot_vnodes(), node, gw_boot.size);
    if (boot_processes) map_reorder(node, (int32_t *)((char *)node + table_bytes()));
    h->node = node[gw_boot.rank];
    for (int i = 0; i < gw_boot.nlocal; i++)
        if (node[gw_boot.local_to_world[i]] != h->node)
            gw_die("the launcher says that ranks %d and %d share a node, and that they do not", gw_boot.rank,
                   gw_boot.local_to_world[i]);
}

static void map_look(void)
{
    assert(segment.head);
    if (!map_bytes()) return;
    segment.node_of = (const int32_t *)((const char *)segment.head + segment.head->map_offset);
    gw_boot.node = segment.head->node;
    gw_boot.nnodes = segment.head->nnodes;
    if (boot_processes) segment.process_of = (const int32_t *)((const char *)segment.node_of + table_bytes());
    free(boot_processes);
    boot_processes = NULL;
    GW_EXPLAIN(GW_LOG_BOOT, "node %d of %d, with %d ranks of %d on this host", gw_boot.node, gw_boot.nnodes, gw_boot.nlocal,
               boot_host_nlocal);
}

/* ---- without our mpiexec: the first rank of the node makes the segment ---- */
/* The same number on all nodes, from the launcher's name of the job. */
static uint64_t uid_of_job(void)
{
    uint64_t h = gw_hash_text(gw_boot.jobid);
    return h ? h : 1;
}

static void head_fill(struct boot_head *h, uint64_t bytes, uint64_t nonce)
{
    assert(bytes > 0 && gw_boot.nlocal > 0 && boot_host_nlocal >= gw_boot.nlocal);
    h->version = GODWIT_SHM_VERSION;
    h->nlocal = gw_boot.nlocal;
    h->size = gw_boot.size;
    h->first_rank = gw_boot.local_to_world[0];
    h->bytes = bytes;
    h->ranks_offset = BOOT_RANKS_OFFSET;
    h->shm_offset = boot_shm_offset(gw_boot.nlocal);
    /* This rank may be bound to some cores.  The launcher's daemon, its parent, is not: its cores are what the ranks of the host share. */
    int own = gw_cores_allowed(), all = boot_host_nlocal > 1 ? gw_cores_of(getppid()) : own;
    const struct boot_head *job = boot_board_head();
    int host_cores = job ? job->cores : own > all ? own : all;
    int share = (int)((int64_t)host_cores * gw_boot.nlocal / boot_host_nlocal); /* of the cores, for this faked node */
    h->cores = share > 0 ? share : 1;
    memcpy(h->jobid, gw_boot.jobid, sizeof h->jobid - 1);
    memcpy(h->host, gw_boot.host, sizeof h->host - 1);
    h->nonce = nonce;
    h->uid = job ? job->uid : gw_boot.nlocal < gw_boot.size ? uid_of_job() : boot_random();
    if (job) h->control = job->control;
    h->launcher_pid = job ? job->launcher_pid : 0;
    h->home_pid = (int32_t)getpid();
    h->home_fd = segment.home_fd;
    h->magic = BOOT_MAGIC;
}

/* Passes the descriptor to each rank that asks, until every rank of the node has mapped the segment, or the launcher is gone. */
static void rendezvous_serve(struct boot_gate *g, int fd, struct boot_head *h)
{
    uint32_t seen;
    uint64_t look_ns = gw_now_ns();
    while ((seen = atomic_load_explicit(&h->attached, memory_order_acquire)) < (uint32_t)gw_boot.nlocal) {
        int peer = g ? boot_gate_accept(g) : -1;
        if (peer < 0) {
            if (g && g->is_stuck)
                gw_die("the other ranks of this node cannot get its shared memory (accept4: %s)%s", strerror(errno),
                       gw_error_advice(errno));
            gw_futex_wait(&h->attached, seen, 1000000);
            if (gw_now_ns() - look_ns < 1000000000) continue;
            boot_launcher_look();
            look_ns = gw_now_ns();
            continue;
        }
        boot_fd_send(peer, fd);
        close(peer);
    }
}

static int segment_tell(void) { return boot_backend_is_direct() ? boot_commit() : boot_fence(); }

/* Publishes where the segment is.  The nonce also stands in the file; at the port this rank passes the descriptor on. */
static void segment_put(int fd, uint64_t nonce, const struct boot_port *port)
{
    char where[128], text[BOOT_PORT_TEXT] = "";
    if (port->name) boot_port_text(port, text);
    snprintf(where, sizeof where, "%d:%d:%016llx:%s", (int)getpid(), fd, (unsigned long long)nonce, text);
    if (boot_put("gw.segment", where) != GW_OK) gw_die("%s", gw_fail_text());
}

static struct boot_head *segment_make(uint64_t bytes)
{
    assert(gw_boot.local_rank == 0);
    uint64_t nonce = boot_random();
    struct boot_port port;
    struct boot_gate gate;
    if (boot_port_make(&port) != GW_OK) gw_die("%s", gw_fail_text());
    int fd = boot_file_make("godwit", bytes);
    if (fd < 0) gw_die("the shared memory of this node cannot be made (memfd_create): %s", strerror(errno));
    file_grow(fd, 0, bytes);
    struct boot_head *h = file_map(fd, bytes, boot_shm_offset(gw_boot.nlocal));
    segment.home_fd = fd;
    head_fill(h, bytes, nonce);
    map_fill(h, bytes);
    atomic_store_explicit(&h->attached, 1, memory_order_release);
    bool is_open = boot_gate_open(&gate, &port) == 0;
    segment_put(fd, nonce, &port);
    if (segment_tell() != GW_OK) gw_die("%s", gw_fail_text());
    rendezvous_serve(is_open ? &gate : NULL, fd, h);
    if (is_open) boot_gate_close(&gate);
    return h;
}

/* Is it the segment of this node?  Every rank knows the geometry. */
static bool segment_is_it(const struct boot_head *h, uint64_t bytes, uint64_t nonce)
{
    return h->nonce == nonce && h->nlocal == gw_boot.nlocal && h->size == gw_boot.size &&
        h->first_rank == gw_boot.local_to_world[0] && h->bytes == bytes && h->ranks_offset == BOOT_RANKS_OFFSET &&
        h->shm_offset == boot_shm_offset(gw_boot.nlocal) && h->map_offset == (map_bytes() ? bytes - map_bytes() : 0);
}

/* Maps the descriptor if it is the segment with this nonce; closes it either way. */
static struct boot_head *segment_try(int fd, uint64_t bytes, uint64_t nonce, const char **why_out)
{
    struct boot_head *h = NULL, copy;
    uint64_t there = 0;
    if (fd < 0) return NULL;
    const char *why = boot_head_read(fd, &copy, &there);
    if (!why && (there != bytes || !segment_is_it(&copy, bytes, nonce)))
        why = "it is of another job, or the ranks of this node disagree about its settings";
    if (why)
        *why_out = why;
    else
        h = file_map(fd, bytes, boot_shm_offset(gw_boot.nlocal));
    close(fd);
    return h;
}

int boot_segment_fetch(const struct boot_port *port)
{
    enum { PATIENCE_MS = 20000 };
    int s = boot_port_connect(port, PATIENCE_MS), fd = -1;
    struct timeval patience = {PATIENCE_MS / 1000, 0};
    if (s < 0) return -1;
    fcntl(s, F_SETFL, 0);
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    fd = boot_fd_receive(s);
    close(s);
    return fd;
}

static struct boot_head *segment_find(uint64_t bytes)
{
    assert(gw_boot.local_rank > 0);
    char where[128];
    const char *why = "";
    int pid, fd, at = 0;
    unsigned long long nonce;
    struct boot_port port;
    if ((!boot_backend_is_direct() && boot_fence() != GW_OK) ||
        boot_get(gw_boot.local_to_world[0], "gw.segment", where, sizeof where) != GW_OK)
        gw_die("%s", gw_fail_text());
    if (sscanf(where, "%d:%d:%llx:%n", &pid, &fd, &nonce, &at) != 3 || !at || !boot_port_parse(where + at, &port))
        gw_die("the launcher garbled a value: \"%s\"", where);
    struct boot_head *h = segment_try(boot_file_open(pid, fd, &why), bytes, nonce, &why);
    if (!h) {
        /* The rank is in another pid namespace, or /proc is not accessible. */
        GW_EXPLAIN(GW_LOG_BOOT, "/proc/%d/fd/%d cannot be used by this process (%s); asking for the segment over a socket", pid, fd,
                   why);
        h = segment_try(boot_segment_fetch(&port), bytes, nonce, &why);
    }
    if (!h)
        gw_die(
            "the shared memory of rank %d cannot be opened, neither by /proc/%d/fd/%d nor over a unix socket (%s); are the ranks of "
            "this node in different containers or of different users, or do they disagree about its settings?",
            gw_boot.local_to_world[0], pid, fd, why);
    atomic_fetch_add_explicit(&h->attached, 1, memory_order_release);
    gw_futex_wake(&h->attached, 1);
    return h;
}

/* ---- for everybody ---- */
static struct boot_head *segment_inherit(uint64_t node_bytes, uint64_t *bytes_out)
{
    struct boot_head h;
    uint64_t have;
    const char *why = boot_head_read(gw_boot.shm_fd, &h, &have);
    if (why) gw_die("the segment of mpiexec cannot be used: %s", why);
    *bytes_out = h.shm_offset + node_bytes;
    file_grow(gw_boot.shm_fd, h.shm_offset, *bytes_out);
    struct boot_head *mine = file_map(gw_boot.shm_fd, *bytes_out, h.shm_offset);
    close(gw_boot.shm_fd);
    gw_boot.shm_fd = -1;
    return mine;
}

/* The only rank of its node: a file, which other jobs can map; anonymous memory where a limit forbids the file. */
static struct boot_head *segment_alone(uint64_t bytes)
{
    struct rlimit r;
    bool allowed = getrlimit(RLIMIT_FSIZE, &r) != 0 || r.rlim_cur == RLIM_INFINITY || r.rlim_cur >= bytes;
    segment.home_fd = allowed ? boot_file_make("godwit-alone", bytes) : -1;
    if (segment.home_fd >= 0 && (boot_file_size(segment.home_fd, bytes) != 0 || boot_file_seal(segment.home_fd, false) != 0)) {
        close(segment.home_fd);
        segment.home_fd = -1;
    }
    struct boot_head *h = file_map(segment.home_fd, bytes, boot_shm_offset(gw_boot.nlocal));
    head_fill(h, bytes, 0);
    map_fill(h, bytes);
    /* Published, because ranks of other faked nodes tell other jobs where this segment is. */
    if (boot_host_nlocal > 1) segment_put(segment.home_fd, 0, &(struct boot_port){0});
    if (boot_host_nlocal > 1 && boot_backend_is_direct() && boot_commit() != GW_OK) gw_die("%s", gw_fail_text());
    return h;
}

static void slot_take(void)
{
    assert(boot_slot == &unmapped_slot);
    int32_t nobody = 0;
    boot_slot = slot_of_world(gw_boot.rank);
    if (!atomic_compare_exchange_strong_explicit(&boot_slot->pid, &nobody, (int32_t)getpid(), memory_order_relaxed,
                                                 memory_order_relaxed))
        gw_die("rank %d was taken by process %d before: a rank that mpiexec starts can run one MPI program, once "
               "(GODWIT_SINGLETON=1 runs another one alone)",
               gw_boot.rank, (int)nobody);
    atomic_store_explicit(&boot_slot->phase, BOOT_INIT, memory_order_release);
}

struct boot_head *boot_map_segment(uint64_t node_bytes, uint64_t seldom_bytes)
{
    assert(!segment.head);
    bool is_early = boot_board_head() != NULL;
    if (is_early) slot_take(); /* from here on the slot shows mpiexec that this rank waits, perhaps for a rank that has ended */
    segment.mapped_bytes = boot_shm_offset(gw_boot.nlocal) + ((node_bytes + 63) & ~(uint64_t)63) + map_bytes();
    if (gw_boot.local_rank == 0) {
        uint64_t pooled = boot_pool_bytes(node_bytes); /* boot_pool_take() checks the whole if it is not */
        segment.available = gw_memory_available(&segment.available_limit);
        boot_memory_check(segment.mapped_bytes - (gw_huge_is_wanted() ? pooled : seldom_bytes));
    }
    if (gw_boot.how == BOOT_GODWIT && !boot_board_head())
        segment.head = segment_inherit(node_bytes, &segment.mapped_bytes);
    else if (gw_boot.nlocal == 1)
        segment.head = segment_alone(segment.mapped_bytes);
    else if (gw_boot.local_rank == 0)
        segment.head = segment_make(segment.mapped_bytes);
    else
        segment.head = segment_find(segment.mapped_bytes);
    gw_memory_note(GW_MEMORY_MAPPED, (int64_t)segment.mapped_bytes);
    if (gw_boot.local_rank == 0) gw_memory_note(GW_MEMORY_SHARED, (int64_t)segment.mapped_bytes); /* else mpiexec notes it */
    if (gw_boot.nlocal == 1 && gw_boot.size > 1 && !boot_backend_is_direct())
        boot_fence(); /* the ranks of other nodes call the same fence in segment_make() */
    gw_boot.bound = gw_cores_mask(0) < segment.head->cores;

    if (!is_early) slot_take();
    map_look();
    boot_order_show();
    return segment.head;
}

void boot_segment_close(void)
{
    boot_slot = &unmapped_slot;
    if (segment.head) munmap(segment.head, segment.mapped_bytes);
    if (segment.home_fd >= 0) close(segment.home_fd);
    segment.head = NULL;
    segment.node_of = segment.process_of = NULL;
    boot_board_close();
    boot_pool_close();
    segment.home_fd = -1;
}
