/* race.c -- GODWIT_CHECK: two PEs that write different values to one word while nothing orders them.
 *
 * The last writer of each word is noted in a table that the PEs of the node share (of words that fall on one place of it, the later one).  When
 * another PE writes there, the two are unordered for certain if nothing that this PE has seen since can have come from the first:
 *
 *     - both have left as many synchronisations of all PEs (barrier_all, sync_all, malloc, ...);
 *     - since then this PE has read nothing of others, ended no other collective, taken no lock (race.acquired_ns), called no MPI;
 *     - no other PE has written to this PE's memory since then (written_ns), so that no wait, test or load of it can have told.
 *
 * All else counts as ordered: also where memory of other PEs is loaded and stored by pointers (shmem_ptr), and where PEs are on other nodes.
 * Equal values are no race that anybody could see, and atomics and signals are meant for several writers.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "base/hash.h"
#include "base/time.h"
#include "sym/sym_private.h"

enum { CELLS = 1 << 14, CALL_TEXT = 48, WORDS_MOST = 512 }; /* words of one put that are noted */
struct cell {
    _Atomic uint32_t lock;
    int32_t writer;        /* PE + 1; 0: nobody */
    int32_t pe;            /* whose memory */
    uint8_t region, bytes; /* the bytes of the word that were written: bits */
    uint64_t offset, at_ns, meets;
    char is[8], call[CALL_TEXT];
} GW_ALIGNED(64);
_Static_assert(sizeof(struct cell) == 128, "lines");
struct table {
    struct cell cells[CELLS];
    _Atomic uint32_t is_off;       /* a PE has a pointer to memory of another */
    _Atomic uint64_t written_ns[]; /* [PEs] when another PE was last about to write there */
};

static const struct share_words words = {"godwit-races", "GODWIT_CHECK's notes", "GODWIT_CHECK's notes of all PEs of this node",
                                         ""};
static struct {
    struct sym_file file;
    struct table *table; /* NULL: nothing is looked for */
    _Atomic uint64_t acquired_ns, meets;
    _Atomic bool has_read; /* since the last write */
} race = {.file.fd = -1};

int sym_race_open(struct gw_comm *here)
{
    struct gw_comm *world = sym_memory.world;
    if (!sym_memory.checks || !world->one_node || world->size < 2) return GW_OK;
    uint64_t bytes = sizeof(struct table) + sizeof(uint64_t) * (uint64_t)world->size;
    int rc = sym_agree(world, sym_file_make(here, &words, bytes, gw_page_bytes(), &race.file));
    sym_file_hide(&race.file);
    if (rc != GW_OK) return rc;
    race.table = (struct table *)(void *)(race.file.whole + race.file.file.head);
    atomic_store_explicit(&race.acquired_ns, gw_now_ns(), memory_order_relaxed);
    atomic_store_explicit(&race.meets, 0, memory_order_relaxed);
    return GW_OK;
}

void sym_race_close(void)
{
    race.table = NULL;
    sym_file_end(&race.file);
}

/* ---- what may order ---- */
void sym_race_acquire(void)
{
    if (unlikely(race.table != NULL)) atomic_store_explicit(&race.acquired_ns, gw_now_ns(), memory_order_relaxed);
}
void sym_race_meet(void)
{
    if (unlikely(race.table != NULL)) atomic_fetch_add_explicit(&race.meets, 1, memory_order_relaxed);
}
void sym_race_pointer(void)
{
    if (unlikely(race.table != NULL)) atomic_store_explicit(&race.table->is_off, 1, memory_order_relaxed);
}

/* What an access before this one has read is there by now; so is what MPI has told. */
static void read_over(uint64_t now)
{
    uint32_t call = atomic_load_explicit(&boot_slot->call, memory_order_relaxed);
    bool has_read = atomic_exchange_explicit(&race.has_read, false, memory_order_relaxed);
    if (has_read || !boot_call_is_shmem(call)) atomic_store_explicit(&race.acquired_ns, now, memory_order_relaxed);
}

static bool is_unordered(const struct cell *c)
{
    const uint64_t at = c->at_ns, meets = atomic_load_explicit(&race.meets, memory_order_relaxed);
    return c->meets == meets && at > atomic_load_explicit(&race.acquired_ns, memory_order_relaxed) &&
        at > atomic_load_explicit(&race.table->written_ns[sym_memory.me], memory_order_acquire);
}

/* ---- one word ---- */
struct word {
    int pe, region;
    uint64_t offset; /* of its first byte */
    uint8_t bytes;   /* that are written: bits */
    char is[8];
};

static bool differ(const struct word *w, const struct cell *c)
{
    unsigned both = w->bytes & c->bytes;
    for (int i = 0; i < 8; i++)
        if (both >> i & 1 && w->is[i] != c->is[i]) return true;
    return false;
}

/* False: another PE notes the word just now, for too long. */
static bool cell_lock(struct cell *c)
{
    enum { TRIES = 10000 };
    for (int i = 0; i < TRIES; i++) {
        if (atomic_exchange_explicit(&c->lock, 1, memory_order_acquire) == 0) return true; /* [S1] pairs with cell_unlock() */
        gw_cpu_relax();
    }
    return false;
}
static void cell_unlock(struct cell *c) { atomic_store_explicit(&c->lock, 0, memory_order_release); } /* [S1] */

static void note(const char *call, const struct word *w, uint64_t now)
{
    const uint64_t key[3] = {(uint64_t)w->pe, (uint64_t)w->region, w->offset};
    struct cell *c = &race.table->cells[gw_hash(GW_HASH_SEED, key, sizeof key) % CELLS];
    if (!cell_lock(c)) return;
    bool is_same = c->writer && c->pe == w->pe && c->region == w->region && c->offset == w->offset,
         mine = c->writer == sym_memory.me + 1;
    int other = c->writer - 1;
    char called[CALL_TEXT];
    memcpy(called, c->call, sizeof called);
    bool is_race = is_same && !mine && is_unordered(c) && differ(w, c);
    for (int i = 0; i < 8; i++)
        if (w->bytes >> i & 1) c->is[i] = w->is[i];
    c->bytes = is_same && mine ? c->bytes | w->bytes : w->bytes;
    c->writer = sym_memory.me + 1;
    c->pe = w->pe;
    c->region = (uint8_t)w->region;
    c->offset = w->offset;
    c->at_ns = now;
    c->meets = atomic_load_explicit(&race.meets, memory_order_relaxed);
    snprintf(c->call, sizeof c->call, "%s", call);
    cell_unlock(c);
    if (!is_race) return;
    char place[SYM_PLACE_TEXT];
    sym_refuse(
        call,
        "PE %d and PE %d write different values to one word, %s of PE %d, and nothing orders them: PE %d called %s there, and "
        "there was no barrier, wait, lock or read of PE %d between; order them, or use an atomic",
        other, sym_memory.me, sym_place_text(sym_memory.region[w->region].base + w->offset, place), w->pe, other, called,
        sym_memory.me);
}

/* The later one stays. */
static void written(_Atomic uint64_t *at, uint64_t now)
{
    uint64_t before = atomic_load_explicit(at, memory_order_relaxed);
    while (before < now && !atomic_compare_exchange_weak_explicit(at, &before, now, memory_order_release, memory_order_relaxed)) {}
}

void sym_race_access(const char *call, const struct sym_access *a, int pe)
{
    struct table *t = race.table;
    int region = sym_region_of(a->addr, a->bytes);
    if (!t || region < 0 || region == SYM_BROUGHT || atomic_load_explicit(&t->is_off, memory_order_relaxed)) return;
    uint64_t now = gw_now_ns();
    if (a->kind == SYM_WRITES) read_over(now);
    if (a->kind <= SYM_FETCHES) atomic_store_explicit(&race.has_read, true, memory_order_relaxed);
    /* Before the access, so that who sees what it stores finds this, too. */
    if (pe != sym_memory.me && a->kind != SYM_READS) written(&t->written_ns[pe], now);
    if (a->kind != SYM_WRITES) return;
    const char *from = a->source;
    uint64_t begin = (uint64_t)((uintptr_t)a->addr - (uintptr_t)sym_memory.region[region].base), end = begin + a->bytes;
    if (pe == sym_memory.me) return; /* its own memory is written by stores, too, which nobody sees */
    if (end - begin > 8 * WORDS_MOST) end = begin + 8 * WORDS_MOST;
    for (uint64_t at = begin & ~UINT64_C(7); at < end; at += 8) {
        struct word w = {.pe = pe, .region = region, .offset = at};
        for (uint64_t i = 0; i < 8; i++) {
            if (at + i < begin || at + i >= end) continue;
            w.bytes |= (uint8_t)(1u << i);
            w.is[i] = from[at + i - begin];
        }
        note(call, &w, now);
    }
}
