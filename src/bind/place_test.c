/* place_test.c -- which cores ranks get, on machines that are not here.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "bind/place.h"
#include "base/base.h"
#include "job/job.h"
#include "unit.h"

enum { MOST = 64 };

/* `n` cores, equally many to a package, a NUMA node, an L3 and an L2 cache. */
static struct cores machine(int n, int per_package, int per_numa, int per_l3, int per_l2)
{
    struct cores c = {gw_xcalloc((size_t)n, sizeof *c.at), n};
    for (int i = 0; i < n; i++)
        c.at[i] = (struct core){{[UNIT_CORE] = i,
                                 [UNIT_L2] = i / per_l2,
                                 [UNIT_L3] = i / per_l3,
                                 [UNIT_NUMA] = i / per_numa,
                                 [UNIT_PACKAGE] = i / per_package},
                                i / per_numa,
                                NULL};
    return c;
}

/* "0,1/2,3": the cores of each rank; "-": there is no room. */
static void want(const struct cores *c, struct place_wanted w, int ranks, const char *text)
{
    struct core_list l[MOST];
    char got[512] = "";
    if (bind_place_make(c, &w, ranks, l) != PLACE_OK) {
        CHECK_STR("-", text);
        return;
    }
    for (int r = 0; r < ranks; r++) {
        for (int i = 0; i < l[r].n; i++) gw_text_add(got, sizeof got, "%s%d", i ? "," : r ? "/" : "", l[r].at[i]);
        free(l[r].at);
    }
    CHECK_STR(got, text);
}
#define WANTED(...) ((struct place_wanted){__VA_ARGS__})

/* The last cores, with the hardware threads of each, are kept free of ranks: those get the others. */
static void reserved(void)
{
    enum { CORES = 8 };
    struct cores c = machine(CORES, 4, 4, 2, 1);
    for (int i = 0; i < CORES; i++) {
        c.at[i].cpus = CPU_ALLOC(PLACE_CPUS);
        CPU_ZERO_S(PLACE_SET_BYTES, c.at[i].cpus);
        CPU_SET_S((size_t)i, PLACE_SET_BYTES, c.at[i].cpus);
        CPU_SET_S((size_t)(i + CORES), PLACE_SET_BYTES, c.at[i].cpus);
    }
    char *text = bind_cores_reserve(&c, 1);
    CHECK_STR(text, "7,15");
    free(text);
    want(&c, WANTED(.bind = BIND_CORE), 7, "0/1/2/3/4/5/6");
    want(&c, WANTED(.bind = BIND_CORE), 8, "-");
    text = bind_cores_reserve(&c, 3);
    CHECK_STR(text, "6,14,5,13,4,12");
    free(text);
    want(&c, WANTED(.map = UNIT_CORE), 2, "0,1/2,3");
    CHECK_EQ(bind_cores_units(&c, UNIT_PACKAGE), 1);
    bind_cores_free(&c);
}

int main(void)
{
    reserved();
    struct cores c = machine(8, 4, 4, 2, 1);
    want(&c, WANTED(.map = UNIT_CORE), 1, "0,1,2,3,4,5,6,7");
    want(&c, WANTED(.map = UNIT_CORE), 2, "0,1,2,3/4,5,6,7");
    want(&c, WANTED(.map = UNIT_CORE), 3, "0,1/2,3/4,5");
    want(&c, WANTED(.map = UNIT_CORE), 9, "-");
    want(&c, WANTED(.map = UNIT_PACKAGE), 2, "0,1,2,3/4,5,6,7");
    want(&c, WANTED(.map = UNIT_PACKAGE), 4, "0,2/4,6/1,3/5,7");
    want(&c, WANTED(.map = UNIT_MACHINE), 2, "0,1,2,3/4,5,6,7");
    /* cores, one or several each */
    want(&c, WANTED(.bind = BIND_CORE), 3, "0/1/2");
    want(&c, WANTED(.bind = BIND_CORE, .bind_count = 2), 3, "0,1/2,3/4,5");
    want(&c, WANTED(.bind = BIND_CORE, .bind_count = 3), 2, "0,1,2/3,4,5");
    want(&c, WANTED(.bind = BIND_CORE, .bind_count = 3), 3, "-");
    want(&c, WANTED(.bind = BIND_CORE, .map = UNIT_NUMA), 4, "0/4/1/5");
    want(&c, WANTED(.bind = BIND_CORE, .bind_count = 2, .map = UNIT_NUMA), 3, "0,1/4,5/2,3");
    want(&c, WANTED(.bind = BIND_CORE, .bind_count = 3, .map = UNIT_NUMA), 2, "0,1,2/4,5,6");
    want(&c, WANTED(.bind = BIND_CORE, .bind_count = 3, .map = UNIT_NUMA), 3, "-");
    /* units */
    want(&c, WANTED(.bind = BIND_L3), 2, "0,1/4,5");
    want(&c, WANTED(.bind = BIND_L3, .bind_count = 2), 2, "0,1,2,3/4,5,6,7");
    want(&c, WANTED(.bind = BIND_PACKAGE), 3, "0,1,2,3/0,1,2,3/4,5,6,7");
    want(&c, WANTED(.bind = BIND_NUMA, .map = UNIT_NUMA), 3, "0,1,2,3/4,5,6,7/0,1,2,3");
    want(&c, WANTED(.bind = BIND_MACHINE), 2, "0,1,2,3,4,5,6,7/0,1,2,3,4,5,6,7");
    want(&c, WANTED(.bind = BIND_L2), 2, "0/4");
    /* so many to each unit */
    want(&c, WANTED(.map = UNIT_PACKAGE, .ppr = 2), 4, "0,1/2,3/4,5/6,7");
    want(&c, WANTED(.map = UNIT_PACKAGE, .ppr = 1, .bind = BIND_CORE), 2, "0/4");
    want(&c, WANTED(.map = UNIT_PACKAGE, .ppr = 2, .bind = BIND_CORE, .bind_count = 2), 4, "0,1/2,3/4,5/6,7");
    want(&c, WANTED(.map = UNIT_PACKAGE, .ppr = 2, .bind = BIND_CORE, .bind_count = 3), 4, "-");
    want(&c, WANTED(.map = UNIT_L3, .ppr = 1), 4, "0,1/2,3/4,5/6,7");
    want(&c, WANTED(.map = UNIT_L3, .ppr = 1), 5, "-");
    want(&c, WANTED(.map = UNIT_PACKAGE, .ppr = 1, .bind = BIND_PACKAGE), 2, "0,1,2,3/4,5,6,7");
    want(&c, WANTED(.map = UNIT_MACHINE, .ppr = 3), 3, "0,1/2,3/4,5");
    /* numbering: round the packages or one after the other, whichever way they were mapped */
    want(&c, WANTED(.map = UNIT_PACKAGE, .bind = BIND_CORE, .rank_by_given = true), 4, "0/1/4/5");
    want(&c, WANTED(.map = UNIT_PACKAGE, .bind = BIND_CORE, .rank_by_given = true, .rank_by = UNIT_PACKAGE), 4, "0/4/1/5");
    want(&c, WANTED(.map = UNIT_PACKAGE, .ppr = 2, .bind = BIND_CORE, .rank_by_given = true, .rank_by = UNIT_PACKAGE), 4,
         "0/4/1/5");
    want(&c, WANTED(.bind = BIND_CORE, .rank_by_given = true, .rank_by = UNIT_NUMA), 6, "0/4/1/5/2/3");
    CHECK_EQ(bind_cores_units(&c, UNIT_L3), 4);
    CHECK_EQ(bind_cores_units(&c, UNIT_MACHINE), 1);
    /* units of different sizes */
    struct cores odd = machine(5, 3, 3, 3, 1);
    want(&odd, WANTED(.map = UNIT_NUMA, .bind = BIND_CORE), 5, "0/3/1/4/2");
    want(&odd, WANTED(.map = UNIT_NUMA, .bind = BIND_CORE, .bind_count = 2), 2, "0,1/3,4");
    want(&odd, WANTED(.map = UNIT_NUMA, .bind = BIND_CORE, .bind_count = 2), 3, "-");
    want(&odd, WANTED(.map = UNIT_NUMA, .ppr = 3, .bind = BIND_CORE), 6, "-");
    free(odd.at);
    free(c.at);
    return unit_end();
}
