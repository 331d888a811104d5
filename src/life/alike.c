/* alike.c -- settings that the ranks of a job must have alike: by them each rank chooses algorithms of collectives.  Where they differ a job
 * would hang, so MPI_Init compares them among the ranks of a node.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "life/life.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/processor.h"
#include "base/settings.h"
#include "boot/boot.h"
#include "boot/segment.h"
#include "coll/coll.h"
#include "node/node.h"

/* Others of the coll room concern one rank: how much it has under way, or what only a root asks for. */
static bool must_be_alike(const struct gw_setting_info *s)
{
    static const char *const alone[] = {"gatherv_sync_freq",  "igatherv_sync_freq",   "scatterv_sync_freq",
                                        "alltoallv_throttle", "iallgatherv_throttle", "scatterv_synchronous",
                                        "alltoall_sync_freq", "gatherv_short_msg",    "gatherv_max_tmp_size",
                                        "scatterv_short_msg", "scatterv_max_tmp_size"};
    bool is_alike = strcmp(s->room, "coll") == 0;
    for (size_t i = 0; i < GW_ARRAY_LEN(alone); i++) is_alike = is_alike && strcmp(s->name, alone[i]) != 0;
    return is_alike;
}

/* Settings that list collectives: what they say as one text, whatever the words. */
static void kinds_as_one(const struct gw_setting_info *s, char *value, size_t cap)
{
    static const char *const lists[] = {"coll_leaf", "coll_sync", "coll_opt_off"};
    char text[1024], usual[1024];
    for (size_t i = 0; i < GW_ARRAY_LEN(lists); i++) {
        if (strcmp(s->name, lists[i]) != 0) continue;
        coll_kinds_text(s->name, value, text, sizeof text);
        coll_kinds_text(s->name, s->default_text, usual, sizeof usual);
        snprintf(value, cap, "%s", strcmp(text, usual) == 0 ? s->default_text : text);
    }
}

/* Files of different names may say the same; coll_tuned_take() compares what they say. */
static bool is_file(const char *line) { return strncmp(line, "GODWIT_TUNE=", 12) == 0; }

/* The processor whose rows of tables count, whether somebody has set it or not: the ranks of a node have the same, unless something hides it
 * from one of them.  Those of other nodes may have another: such rows choose only where all members are on one node. */
static void processor_note(struct boot_rank *mine)
{
    struct gw_processor p;
    _Static_assert(sizeof mine->processor == GW_PROCESSOR_TEXT, "it fits");
    mine->processor[0] = '\0';
    if (gw_processor_of(gw_set.processor, &p)) gw_processor_text(&p, true, mine->processor, sizeof mine->processor);
}

/* The library that mpiexec puts before a program (--profile, --record, --replay) has collectives of its own: in some ranks alone, they wait
 * for ever.  "": it is not loaded. */
#define TOOL "the library of mpiexec's option (--profile, --record)"
static void tool_line(char *line, size_t cap)
{
    const char *wanted = getenv("GODWIT_WRAPPER"), *slash = wanted ? strrchr(wanted, '/') : NULL;
    void *it = wanted ? dlopen(wanted, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    line[0] = '\0';
    if (!it) return;
    snprintf(line, cap, TOOL "=%.60s\n", slash ? slash + 1 : wanted);
    dlclose(it);
}

void life_alike_note(void)
{
    struct boot_rank *mine = boot_slot;
    size_t at = 0;
    bool fits = true;
    char tool[128];
    mine->alike_hash = 0;
    mine->alike[0] = '\0';
    tool_line(tool, sizeof tool);
    if (tool[0]) {
        mine->alike_hash = gw_hash(GW_HASH_SEED, tool, strlen(tool));
        at = (size_t)snprintf(mine->alike, sizeof mine->alike, "%s", tool);
    }
    for (int i = gw_settings_next_set(0); i < gw_settings_count(); i = gw_settings_next_set(i + 1)) {
        struct gw_setting_info s;
        char value[1024], line[1200];
        const char *origin;
        gw_settings_get(i, &s, value, sizeof value, &origin);
        if (!must_be_alike(&s)) continue;
        kinds_as_one(&s, value, sizeof value);
        if (strcmp(value, s.default_text) == 0) continue;
        snprintf(line, sizeof line, "%s=%s\n", s.env, value);
        mine->alike_hash = gw_hash(mine->alike_hash ? mine->alike_hash : GW_HASH_SEED, line, is_file(line) ? 12 : strlen(line));
        if (fits) at += (size_t)snprintf(mine->alike + at, sizeof mine->alike - at, "%s", line);
        fits = fits && at < sizeof mine->alike;
    }
    if (!fits) mine->alike[0] = '\0';
    processor_note(mine);
}

/* The line of `text` for the same setting as `line`, or NULL. */
static const char *line_like(const char *line, const char *text)
{
    size_t n = strcspn(line, "=") + 1;
    while (*text && strncmp(text, line, n) != 0) text += strcspn(text, "\n") + (strchr(text, '\n') != NULL);
    return *text ? text : NULL;
}
static bool says_the_same(const char *a, const char *b)
{
    size_t n = strcspn(a, "\n");
    return is_file(a) || (strcspn(b, "\n") == n && memcmp(a, b, n) == 0);
}

/* "SETTING is X on rank 0 and Y on rank 3", for the first line of a's that b has otherwise; false: there is none. */
static bool differs(const char *a, int rank_a, const char *b, int rank_b, char *out, size_t cap)
{
    for (; *a; a += strcspn(a, "\n") + (strchr(a, '\n') != NULL)) {
        const char *other = line_like(a, b), *value = a + strcspn(a, "=") + 1;
        if (other && says_the_same(a, other)) continue;
        int name = (int)strcspn(a, "="), n = (int)strcspn(value, "\n");
        if (other) other += name + 1;
        const char *without = strncmp(a, TOOL "=", sizeof TOOL) == 0 ? "not loaded" : "its default";
        snprintf(out, cap, "%.*s is %.*s on rank %d and %.*s on rank %d", name, a, n, value, rank_a,
                 other ? (int)strcspn(other, "\n") : (int)strlen(without), other ? other : without, rank_b);
        return true;
    }
    return false;
}

static const char *processor_text(const struct boot_rank *r) { return r->processor[0] ? r->processor : "none"; }

void life_alike_compare(void)
{
    const struct boot_rank *mine = boot_slot;
    char what[700];
    if (gw_boot.local_rank != 0 || !gw_node.base) return; /* one speaks for all */
    for (int i = 1; i < gw_node.nlocal; i++) {
        const struct boot_rank *r = boot_slot_of(i);
        int rank = gw_boot.local_to_world[i];
        if (unlikely(strcmp(r->processor, mine->processor) != 0))
            gw_die(
                "MPI_Init: GODWIT_PROCESSOR is %s on rank %d and %s on rank %d, on one node; set it alike for all ranks of the job",
                processor_text(mine), gw_boot.rank, processor_text(r), rank);
        if (likely(r->alike_hash == mine->alike_hash)) continue;
        bool are_told = (mine->alike[0] || !mine->alike_hash) && (r->alike[0] || !r->alike_hash);
        if (!are_told ||
            (!differs(mine->alike, gw_boot.rank, r->alike, rank, what, sizeof what) &&
             !differs(r->alike, rank, mine->alike, gw_boot.rank, what, sizeof what)))
            snprintf(what, sizeof what, "the settings of collectives on rank %d are not those on rank %d", gw_boot.rank, rank);
        gw_die("MPI_Init: %s; set it alike for all ranks of the job", what);
    }
}
