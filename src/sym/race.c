/* race.c -- GODWIT_CHECK: two PEs that write different values to one word while nothing orders them, and flags set without a fence.
 *
 * The last writer of each word is noted in a table that the PEs of the node share (of words that fall on one place of it, the later
 * one).  When another PE writes there, the two are unordered for certain if nothing that this PE has seen since can have come from
 * the first:
 *
 *     - both have left as many synchronisations of all PEs (barrier_all, sync_all, malloc, ...);
 *     - since then this PE has read nothing of others, ended no other collective, taken no lock (race.acquired_ns), called no MPI;
 *     - no other PE has written to this PE's memory since then (written_ns), so that no wait, test or load of it can have told.
 *
 * All else counts as ordered: also where memory of other PEs is loaded and stored by pointers (shmem_ptr), and where PEs are on
 * other nodes.  Equal values are no race that anybody could see, and atomics and signals are meant for several writers.
 *
 * A flag that a PE sets by a store (p, put) comes after what it has put to the same PE only if a fence or quiet of that context
 * stands between.  Each PE keeps its last puts, and whether a fence has followed.  Who has waited for the flag takes the others for unsure
 * until it synchronises in any other way; when one of its own puts reads there, that is told.  Its loads nobody sees.
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
enum { LATEST = 16, UNSURE = 4 }; /* puts of a PE that are kept; that a waiter looks at */
struct latest {
    _Atomic uint64_t at_ns, fenced_ns; /* 0: there is none; no fence has followed */
    int32_t pe, region;
    uint64_t offset, bytes;
    sym_ctx_id ctx;
    char call[CALL_TEXT];
};
struct table {
    struct cell cells[CELLS];
    _Atomic uint32_t is_off; /* a PE has a pointer to memory of another */
    struct of_pe {
        _Atomic uint64_t written_ns; /* when another PE was last about to write there */
        struct latest latest[LATEST];
    } of[]; /* [PEs] */
};

static const struct share_words words = {"godwit-races", "GODWIT_CHECK's notes", "GODWIT_CHECK's notes of all PEs of this node",
                                         ""};
static struct {
    struct sym_file file;
    struct table *table; /* NULL: nothing is looked for */
    _Atomic uint64_t acquired_ns, meets;
    _Atomic bool has_read;     /* since the last write */
    _Atomic uint32_t n_puts;   /* in its own `latest` */
    _Atomic uint32_t n_unsure; /* puts to this PE that what it has waited for says nothing of */
    struct unsure {
        int writer, region;
        uint64_t offset, bytes, flag;
        int flag_region;
        char call[CALL_TEXT];
    } unsure[UNSURE];
} race = {.file.fd = -1};

int sym_race_open(struct gw_comm *here)
{
    struct gw_comm *world = sym_memory.world;
    if (!sym_memory.checks || !world->one_node || world->size < 2) return GW_OK;
    uint64_t bytes = sizeof(struct table) + sizeof(struct of_pe) * (uint64_t)world->size;
    struct sym_file_want want = {.words = &words, .bytes = bytes, .page = gw_page_bytes(), .file = &race.file};
    int rc = sym_files_make(here, &want, 1);
    rc = sym_agree(world, rc == GW_OK ? want.rc : rc);
    sym_file_hide(&race.file);
    if (rc != GW_OK) return rc;
    race.table = (struct table *)(void *)(race.file.whole + race.file.file.head);
    atomic_store_explicit(&race.acquired_ns, gw_now_ns(), memory_order_relaxed);
    atomic_store_explicit(&race.meets, 0, memory_order_relaxed);
    atomic_store_explicit(&race.n_unsure, 0, memory_order_relaxed);
    return GW_OK;
}

void sym_race_close(void)
{
    race.table = NULL;
    sym_file_end(&race.file);
}

/* ---- what may order ---- */
static void acquired(uint64_t now)
{
    atomic_store_explicit(&race.acquired_ns, now, memory_order_relaxed);
    atomic_store_explicit(&race.n_unsure, 0, memory_order_relaxed);
}
void sym_race_acquire(void)
{
    if (unlikely(race.table != NULL)) acquired(gw_now_ns());
}
void sym_race_meet(void)
{
    if (likely(race.table == NULL)) return;
    atomic_fetch_add_explicit(&race.meets, 1, memory_order_relaxed);
    atomic_store_explicit(&race.n_unsure, 0, memory_order_relaxed);
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
    if (has_read || !boot_call_is_shmem(call)) acquired(now);
}

static bool is_unordered(const struct cell *c)
{
    const uint64_t at = c->at_ns, meets = atomic_load_explicit(&race.meets, memory_order_relaxed);
    return c->meets == meets && at > atomic_load_explicit(&race.acquired_ns, memory_order_relaxed) &&
        at > atomic_load_explicit(&race.table->of[sym_memory.me].written_ns, memory_order_acquire);
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

static struct cell *cell_of(int pe, int region, uint64_t offset)
{
    const uint64_t key[3] = {(uint64_t)pe, (uint64_t)region, offset};
    return &race.table->cells[gw_hash(GW_HASH_SEED, key, sizeof key) % CELLS];
}
static bool cell_is(const struct cell *c, int pe, int region, uint64_t offset)
{
    return c->writer && c->pe == pe && c->region == region && c->offset == offset;
}

static void note(const char *call, const struct word *w, uint64_t now)
{
    struct cell *c = cell_of(w->pe, w->region, w->offset);
    if (!cell_lock(c)) return;
    bool is_same = cell_is(c, w->pe, w->region, w->offset), mine = c->writer == sym_memory.me + 1;
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

/* ---- flags ---- */
static void put_note(const char *call, sym_ctx_id ctx, const struct sym_access *a, int pe, int region, uint64_t now)
{
    struct latest *l =
        &race.table->of[sym_memory.me].latest[atomic_fetch_add_explicit(&race.n_puts, 1, memory_order_relaxed) % LATEST];
    atomic_store_explicit(&l->at_ns, 0, memory_order_release); /* [S2] pairs with sym_race_waited() */
    l->pe = pe;
    l->region = region;
    l->offset = (uint64_t)((uintptr_t)a->addr - (uintptr_t)sym_memory.region[region].base);
    l->bytes = a->bytes;
    l->ctx = ctx;
    snprintf(l->call, sizeof l->call, "%s", call);
    atomic_store_explicit(&l->fenced_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&l->at_ns, now, memory_order_release); /* [S2] */
}

void sym_race_fence(sym_ctx_id ctx)
{
    if (likely(race.table == NULL)) return;
    uint64_t now = gw_now_ns();
    for (int i = 0; i < LATEST; i++) {
        struct latest *l = &race.table->of[sym_memory.me].latest[i];
        bool is_open =
            atomic_load_explicit(&l->at_ns, memory_order_relaxed) && !atomic_load_explicit(&l->fenced_ns, memory_order_relaxed);
        if (is_open && l->ctx == ctx) atomic_store_explicit(&l->fenced_ns, now, memory_order_release);
    }
}

/* Puts of the PE that has stored the flag, before that, and with no fence between. */
void sym_race_waited(const void *word)
{
    int region = sym_region_of(word, 1);
    if (likely(race.table == NULL) || region < 0 || region == SYM_BROUGHT) return;
    uint64_t offset = (uint64_t)((uintptr_t)word - (uintptr_t)sym_memory.region[region].base);
    struct cell *c = cell_of(sym_memory.me, region, offset & ~UINT64_C(7));
    if (!cell_lock(c)) return;
    int writer = cell_is(c, sym_memory.me, region, offset & ~UINT64_C(7)) ? c->writer - 1 : -1;
    uint64_t at = c->at_ns;
    cell_unlock(c);
    uint32_t n = 0;
    for (int i = 0; writer >= 0 && i < LATEST && n < UNSURE; i++) {
        struct latest *l = &race.table->of[writer].latest[i];
        uint64_t put = atomic_load_explicit(&l->at_ns, memory_order_acquire),
                 fenced = atomic_load_explicit(&l->fenced_ns, memory_order_acquire);
        struct unsure u = {writer, l->region, l->offset, l->bytes, offset, region, ""};
        bool is_mine = put && put < at && (fenced == 0 || fenced > at) && l->pe == sym_memory.me;
        memcpy(u.call, l->call, sizeof u.call - 1);
        if (is_mine && atomic_load_explicit(&l->at_ns, memory_order_acquire) == put) race.unsure[n++] = u; /* [S2] */
    }
    atomic_store_explicit(&race.n_unsure, n, memory_order_relaxed);
}

/* The source of a put. */
static void look_unsure(const char *call, const void *source, size_t bytes)
{
    uint32_t n = atomic_load_explicit(&race.n_unsure, memory_order_relaxed);
    int region = n ? sym_region_of(source, bytes) : -1;
    for (uint32_t i = 0; region >= 0 && i < n; i++) {
        const struct unsure *u = &race.unsure[i];
        uint64_t from = (uint64_t)((uintptr_t)source - (uintptr_t)sym_memory.region[region].base);
        if (u->region != region || from >= u->offset + u->bytes || u->offset >= from + bytes) continue;
        char place[SYM_PLACE_TEXT], flag[SYM_PLACE_TEXT];
        sym_refuse(
            call,
            "it reads what PE %d has put here (%s, %llu bytes at %s), which need not be there: PE %d set the flag at %s by a "
            "store, with no shmem_fence or shmem_quiet of that context between; call one, or use shmem_put_signal",
            u->writer, u->call, (unsigned long long)u->bytes, sym_place_text(sym_memory.region[region].base + u->offset, place),
            u->writer, sym_place_text(sym_memory.region[u->flag_region].base + u->flag, flag));
    }
}

/* The later one stays. */
static void written(_Atomic uint64_t *at, uint64_t now)
{
    uint64_t before = atomic_load_explicit(at, memory_order_relaxed);
    while (before < now && !atomic_compare_exchange_weak_explicit(at, &before, now, memory_order_release, memory_order_relaxed)) {}
}

void sym_race_access(const char *call, sym_ctx_id ctx, const struct sym_access *a, int pe)
{
    struct table *t = race.table;
    int region = sym_region_of(a->addr, a->bytes);
    if (!t || region < 0 || region == SYM_BROUGHT || atomic_load_explicit(&t->is_off, memory_order_relaxed)) return;
    uint64_t now = gw_now_ns();
    if (a->kind == SYM_WRITES) read_over(now);
    if (a->kind <= SYM_FETCHES) atomic_store_explicit(&race.has_read, true, memory_order_relaxed);
    /* Before the access, so that who sees what it stores finds this, too. */
    if (pe != sym_memory.me && a->kind != SYM_READS) written(&t->of[pe].written_ns, now);
    if (a->kind != SYM_WRITES) return;
    look_unsure(call, a->source, a->bytes);
    const char *from = a->source;
    uint64_t begin = (uint64_t)((uintptr_t)a->addr - (uintptr_t)sym_memory.region[region].base), end = begin + a->bytes;
    if (pe == sym_memory.me) return; /* its own memory is written by stores, too, which nobody sees */
    if (end - begin > 8 * WORDS_MOST) end = begin + 8 * WORDS_MOST;
    if (!a->is_signaled) put_note(call, ctx, a, pe, region, now);
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
