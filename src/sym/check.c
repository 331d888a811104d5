/* check.c -- what GODWIT_CHECK finds of OpenSHMEM: calls of all PEs that are not alike, and accesses to memory of the heap that nobody has
 * allocated.
 *
 * While it is on, no PE's memory is published (memory.c), so every access comes here before it is made (shmem_face.h); and each call that all PEs
 * of a team make is compared first: one reduction, and where hashes differ all get the words of all.  All then know that it failed; the lowest
 * one tells, and ends the job.
 *
 * A block that was freed stays out of use until FREED others were, or the heap is full, so that an access to it is not taken for one to the block
 * that would be there next.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "sym/sym_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "op/op.h"

/* ---- calls of all ---- */
/* What a PE has called, in words. */
struct words {
    uint64_t hash;
    char text[120];
};

static struct words words_of(const char *call, const struct sym_alike *a)
{
    struct words w = {.hash = gw_hash_text(a->kind)};
    size_t n = (size_t)snprintf(w.text, sizeof w.text, "%.48s", call);
    const char *before = " (";
    for (int i = 0; i < SYM_ALIKE_ARGS; i++) {
        const struct sym_alike_arg *arg = &a->arg[i];
        w.hash = gw_hash(w.hash, &arg->value, sizeof arg->value);
        if (!arg->name || n >= sizeof w.text) continue;
        n += (size_t)snprintf(w.text + n, sizeof w.text - n, "%s%s %lld", before, arg->name, (long long)arg->value);
        before = ", ";
    }
    if (*before == ',' && n + 1 < sizeof w.text) strcpy(w.text + n, ")");
    return w;
}

/* "PEs 0, 2 called A; PE 1 called B" */
static void groups_text(const struct gw_comm *c, const struct words *all, char *out, size_t cap)
{
    enum { GROUPS = 4, PES = 6 };
    for (int i = 0, n_groups = 0; i < c->size; i++) {
        int first = 0, n = 0, same = 0;
        while (all[first].hash != all[i].hash) first++;
        if (first < i) continue; /* told with that one */
        if (n_groups++ == GROUPS) {
            gw_text_add(out, cap, "; others called other things");
            return;
        }
        for (int k = i; k < c->size; k++) same += all[k].hash == all[i].hash;
        gw_text_add(out, cap, "%sPE%s ", n_groups > 1 ? "; " : "", same > 1 ? "s" : "");
        for (int k = i; k < c->size && n < PES; k++)
            if (all[k].hash == all[i].hash) gw_text_add(out, cap, "%s%d", n++ ? ", " : "", group_world(c->group, k));
        gw_text_add(out, cap, "%s called %.*s", same > PES ? " and others" : "", (int)sizeof all[i].text, all[i].text);
    }
}

/* Another PE tells, and ends the job: this one is killed, long before the 30 s that it waits where nobody can. */
static void __attribute__((noreturn)) wait_for_the_end(void)
{
    sleep(30);
    _exit(1);
}

void sym_check_alike(const char *call, struct gw_comm *c, const struct sym_alike *a)
{
    struct words mine = words_of(call, a), *all;
    int64_t least[2] = {(int64_t)(mine.hash >> 1), -(int64_t)(mine.hash >> 1)};
    sym_must(call, coll_allreduce(GW_IN_PLACE, least, 2, gw_type_int64, gw_op_min, c, NULL));
    if (least[0] == -least[1]) return;
    all = gw_xcalloc((size_t)c->size, sizeof *all);
    sym_must(call, coll_allgather(&mine, (int64_t)sizeof mine, gw_type_byte, all, (int64_t)sizeof mine, gw_type_byte, c, NULL));
    if (c->rank != 0) wait_for_the_end();
    char text[1024] = "";
    groups_text(c, all, text, sizeof text);
    free(all);
    sym_refuse(call,
               "the PEs of %s do not call alike: %s; all must make the same calls in the same order, with the same sizes and root",
               c->name[0] ? c->name : "a team", text);
}

/* ---- blocks that were freed ---- */
enum { FREED = 64 };
static struct {
    uint64_t offset[FREED], bytes[FREED];
    int first, n; /* the oldest; how many */
} freed;

void sym_check_freed_forget(void) { freed.n = 0; }

bool sym_check_freed_take(uint64_t *offset_out)
{
    if (freed.n == 0) return false;
    *offset_out = freed.offset[freed.first];
    freed.first = (freed.first + 1) % FREED;
    freed.n--;
    return true;
}

bool sym_check_freed_add(uint64_t offset, uint64_t bytes, uint64_t *oldest_out)
{
    bool is_full = freed.n == FREED && sym_check_freed_take(oldest_out);
    int at = (freed.first + freed.n++) % FREED;
    freed.offset[at] = offset;
    freed.bytes[at] = bytes;
    return is_full;
}

bool sym_check_is_freed(uint64_t offset, uint64_t *begin_out, uint64_t *bytes_out)
{
    for (int i = 0; i < freed.n; i++) {
        int at = (freed.first + i) % FREED;
        if (offset - freed.offset[at] >= freed.bytes[at]) continue;
        *begin_out = freed.offset[at];
        *bytes_out = freed.bytes[at];
        return true;
    }
    return false;
}

/* ---- accesses ---- */
static void check_block(const char *call, const void *addr, size_t bytes, int world)
{
    uint64_t begin, size, offset = (uint64_t)((uintptr_t)addr - (uintptr_t)sym_memory.region[SYM_HEAP].base);
    if (offset >= sym_memory.region[SYM_HEAP].bytes) return; /* static data, or what the call itself refuses */
    enum sym_block_state is = sym_heap_look(offset, &begin, &size);
    const char *base = sym_memory.region[SYM_HEAP].base;
    if (is == SYM_BLOCK_FREED)
        sym_refuse(
            call,
            "the %zu bytes at %p (heap + 0x%llx) of PE %d, which PE %d accesses, lie in a block that was freed: it had %llu bytes "
            "from %p on",
            bytes, addr, (unsigned long long)offset, world, sym_memory.me, (unsigned long long)size, (const void *)(base + begin));
    if (is == SYM_BLOCK_NONE && size)
        sym_refuse(
            call,
            "the %zu bytes at %p (heap + 0x%llx) of PE %d, which PE %d accesses, lie in no block of the symmetric heap: %llu bytes "
            "behind the end of the block of %llu bytes that begins at %p, freed long ago, or never allocated",
            bytes, addr, (unsigned long long)offset, world, sym_memory.me, (unsigned long long)(offset - begin - size),
            (unsigned long long)size, (const void *)(base + begin));
    if (is == SYM_BLOCK_NONE)
        sym_refuse(
            call,
            "the %zu bytes at %p (heap + 0x%llx) of PE %d, which PE %d accesses, lie in no block of the symmetric heap: freed long "
            "ago, or never allocated",
            bytes, addr, (unsigned long long)offset, world, sym_memory.me);
    if (bytes > size - (offset - begin))
        sym_refuse(
            call,
            "the %zu bytes at %p (heap + 0x%llx) of PE %d, which PE %d accesses, do not end in the block of %llu bytes that begins "
            "at %p",
            bytes, addr, (unsigned long long)offset, world, sym_memory.me, (unsigned long long)size, (const void *)(base + begin));
}

void godwit_sym_check_access(const char *call, sym_ctx_id ctx, const struct sym_access *a)
{
    if (a->bytes == 0) return;
    int world = sym_ctx_pe(call, ctx, a->pe);
    check_block(call, a->addr, a->bytes, world);
    sym_race_access(call, ctx, a, world);
}
