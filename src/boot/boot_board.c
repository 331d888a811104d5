/* boot_board.c -- how the ranks of our mpiexec exchange keys where they are split into faked nodes: each has a page on a board behind
 * its slot in mpiexec's segment, which it alone writes.
 *
 *     boot_head | boot_rank[n] | struct board | struct page[n]
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "boot/boot_private.h"
#include "base/file.h"
#include "base/os.h"
#include "boot/world.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE_BYTES = 64 << 10, LOOK_NS = 100000000 }; /* untouched pages of the file take no memory */
struct board {
    _Atomic uint32_t arrived, turn; /* the fence: ranks that have come; fences completed (futex word) */
} GW_ALIGNED(4096);
struct page {
    _Atomic uint32_t committed;               /* bytes of `text` that other ranks may read; futex word */
    char text[PAGE_BYTES - sizeof(uint32_t)]; /* key, 0, value, 0, ...; of equal keys the last counts */
};

static struct {
    struct boot_head *job; /* the mapped segment of mpiexec; NULL: there is no board */
    uint64_t job_bytes;    /* mapped */
    struct board *board;   /* in the segment, as `pages` */
    struct page *pages;
    uint32_t used; /* bytes of text in this rank's page */
} state;

struct boot_head *boot_board_head(void) { return state.job; }

int boot_board_open(int fd, const struct boot_head *h)
{
    assert(!state.job && h->nlocal > 0);
    struct stat st;
    uint64_t bytes = h->shm_offset + sizeof *state.board + (uint64_t)h->nlocal * sizeof *state.pages;
    if (fstat(fd, &st) != 0 || ((uint64_t)st.st_size < bytes && boot_file_size(fd, bytes) != 0) || boot_file_seal(fd, false) != 0) {
        if (errno == EFBIG) gw_die("the board of %d ranks on faked nodes cannot be made: %s", h->nlocal, gw_file_why(errno));
        return gw_fail(GW_EUNSUPPORTED, "the board of %d ranks on faked nodes cannot be made: %s", h->nlocal, strerror(errno));
    }
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED) return gw_fail(GW_EUNSUPPORTED, "the board of faked nodes cannot be mapped: %s", strerror(errno));
    gw_memory_note(GW_MEMORY_MAPPED, (int64_t)bytes);
    state.job = p;
    state.job_bytes = bytes;
    state.board = (struct board *)((char *)p + h->shm_offset);
    state.pages = (struct page *)(state.board + 1);
    state.used = 0;
    return GW_OK;
}

void boot_board_close(void)
{
    if (state.job) munmap(state.job, state.job_bytes);
    state.job = NULL;
}

static struct page *page_of(int rank)
{
    assert(state.job && rank >= state.job->first_rank && rank < state.job->first_rank + state.job->nlocal);
    return &state.pages[rank - state.job->first_rank];
}

int boot_board_put(const char *key, const char *value)
{
    struct page *mine = page_of(gw_boot.rank);
    size_t nk = strlen(key) + 1, nv = strlen(value) + 1;
    if (nk + nv > sizeof mine->text - state.used)
        return gw_fail(GW_EOTHER, "the board of faked nodes has no room left for \"%s\" (%zu bytes)", key, nv);
    memcpy(mine->text + state.used, key, nk);
    memcpy(mine->text + state.used + nk, value, nv);
    state.used += (uint32_t)(nk + nv);
    assert(state.used <= sizeof mine->text);
    return GW_OK;
}

int boot_board_commit(void)
{
    struct page *mine = page_of(gw_boot.rank);
    /* [B1] pairs with the acquire in boot_board_get(): what was put is there before its length. */
    atomic_store_explicit(&mine->committed, state.used, memory_order_release);
    gw_futex_wake(&mine->committed, INT32_MAX);
    return GW_OK;
}

int boot_board_fence(void)
{
    assert(state.job);
    boot_board_commit();
    uint32_t turn = atomic_load_explicit(&state.board->turn, memory_order_acquire);
    if (atomic_fetch_add_explicit(&state.board->arrived, 1, memory_order_acq_rel) + 1 < (uint32_t)state.job->nlocal) {
        while (atomic_load_explicit(&state.board->turn, memory_order_acquire) == turn) gw_futex_wait(&state.board->turn, turn, -1);
        return GW_OK;
    }
    atomic_store_explicit(&state.board->arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&state.board->turn, turn + 1, memory_order_release);
    gw_futex_wake(&state.board->turn, INT32_MAX);
    return GW_OK;
}

/* The value of the last entry with that key; NULL: there is none. */
static const char *find(const struct page *page, uint32_t bytes, const char *key)
{
    const char *found = NULL, *end = page->text + (bytes < sizeof page->text ? bytes : sizeof page->text);
    for (const char *p = page->text; p < end;) {
        const char *value = memchr(p, 0, (size_t)(end - p)),
                   *value_end = value ? memchr(value + 1, 0, (size_t)(end - value - 1)) : NULL;
        if (!value_end) break;
        if (strcmp(p, key) == 0) found = value + 1;
        p = value_end + 1;
    }
    return found;
}

static bool is_gone(int rank)
{
    const struct boot_rank *slot =
        (const struct boot_rank *)((const char *)state.job + state.job->ranks_offset) + (rank - state.job->first_rank);
    pid_t pid = atomic_load_explicit(&slot->pid, memory_order_relaxed);
    return pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

int boot_board_get(int rank, const char *key, char *value_out, size_t cap)
{
    assert(cap > 0);
    struct page *page = page_of(rank);
    for (;;) {
        bool gone = is_gone(rank); /* asked before the last look, or a value written in between would be missed */
        uint32_t bytes = atomic_load_explicit(&page->committed, memory_order_acquire); /* [B1] */
        const char *value = find(page, bytes, key);
        if (value && strlen(value) >= cap)
            return gw_fail(GW_EOTHER, "the value of \"%s\" of rank %d is longer than %zu bytes", key, rank, cap - 1);
        if (value) {
            strcpy(value_out, value);
            return GW_OK;
        }
        if (gone) return gw_fail(GW_EOTHER, "rank %d ended before it had told its \"%s\"", rank, key);
        gw_futex_wait(&page->committed, bytes, LOOK_NS);
    }
}
