/* split_type.c -- communicators by hardware: ranks bind themselves to two cpus, and which ranks belong together is known from that and from
 * what the kernel writes about these cpus.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>

#include "inter_check.h"
#include "nodes_check.h"

static int two[2];     /* the cpus; equal where there is one only */
static int lowest[64]; /* of each rank: on its node */

/* Everybody may use the same cpus: one machine. */
static void cpus_find(void)
{
    int n = 0;
    for (int c = 0; c < CPU_SETSIZE && n < 2; c++) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(c, &set);
        if (sched_setaffinity(0, sizeof set, &set) == 0) two[n++] = c;
    }
    if (n == 1) two[1] = two[0];
    CHECK(n > 0);
}

/* Even ranks on the first, odd ones on the second; the last of more than two on both. */
static int place_of(int r) { return size > 2 && r == size - 1 ? 2 : r % 2; }
static void bind_me(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int i = 0; i < 2; i++)
        if (place_of(rank) == i || place_of(rank) == 2) CPU_SET(two[i], &set);
    CHECK_EQ(sched_setaffinity(0, sizeof set, &set), 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Are both cpus in one resource, as /sys/devices/system/cpu/cpuN/... says?  -1: it does not say. */
static int are_together(const char *file)
{
    char text[2][4096] = {"", ""};
    for (int i = 0; i < 2; i++) {
        char path[200];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", two[i], file);
        FILE *f = fopen(path, "r");
        if (!f || !fgets(text[i], sizeof text[i], f)) text[i][0] = 0;
        if (f) fclose(f);
    }
    return text[0][0] ? !strcmp(text[0], text[1]) : -1;
}

/* The members of my part: together, all of them; else those with my place, if I have one. */
static int part_want(int together, const int *from, int n, int *want)
{
    int m = 0;
    for (int i = 0; i < n; i++)
        if (lowest[from[i]] == lowest[rank] && (together || (place_of(rank) < 2 && place_of(from[i]) == place_of(rank))))
            want[m++] = from[i];
    return m;
}

static void part_check(MPI_Comm c, const int *want, int n, const char *what)
{
    int before = failures, sum = 0, all = 0;
    if (n == 0) {
        CHECK(c == MPI_COMM_NULL);
    } else {
        MPI_Group g;
        CHECK(c != MPI_COMM_NULL);
        if (c == MPI_COMM_NULL) return;
        MPI_Comm_group(c, &g);
        CHECK(group_is(g, want, n));
        MPI_Group_free(&g);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c);
        for (int i = 0; i < n; i++) all += want[i];
        CHECK_EQ(sum, all);
        MPI_Comm_free(&c);
    }
    if (failures != before) fprintf(stderr, "rank %d: that was %s\n", rank, what);
}

static MPI_Comm split_by(MPI_Comm c, int type, const char *key, const char *value)
{
    MPI_Comm part = MPI_COMM_WORLD;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, value);
    CHECK_EQ(MPI_Comm_split_type(c, type, 0, info, &part), MPI_SUCCESS);
    MPI_Info_free(&info);
    return part;
}

static void guided(void)
{
    static const struct {
        const char *name, *file;
    } kinds[] = {{"hwloc://Core", "topology/core_cpus_list"}, {"Package", "topology/package_cpus_list"}, {"hwloc://PU", NULL}};
    int all[64], want[64], node[64], n_node;
    for (int i = 0; i < size; i++) all[i] = i;
    n_node = part_want(1, all, size, node);
    for (int k = 0; k < 3; k++) {
        int together = two[0] == two[1] || (kinds[k].file && are_together(kinds[k].file) == 1);
        if (kinds[k].file && are_together(kinds[k].file) < 0) continue;
        int n = part_want(together, all, size, want);
        for (int type = 0; type < 2; type++)
            part_check(split_by(MPI_COMM_WORLD, type ? MPI_COMM_TYPE_RESOURCE_GUIDED : MPI_COMM_TYPE_HW_GUIDED,
                                "mpi_hw_resource_type", kinds[k].name),
                       want, n, kinds[k].name);
    }
    part_check(split_by(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "mpi_shared_memory"), node, n_node,
               "shared memory");
    part_check(split_by(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://Machine"), node, n_node,
               "the machine");
    part_check(split_by(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD"), all, size, "mpi://WORLD");
    part_check(split_by(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF"), &rank, 1, "mpi://SELF");
    part_check(split_by(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://NOBODY"), NULL, 0, "an unknown set");
    part_check(split_by(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, "mpi_pset_name", "mpi://WORLD"), NULL, 0, "a set by hardware");
    part_check(split_by(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://Toaster"), NULL, 0,
               "an unknown kind");
    part_check(split_by(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, "color", "blue"), NULL, 0, "no kind");
    MPI_Comm part = MPI_COMM_WORLD;
    CHECK_EQ(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &part), MPI_SUCCESS);
    CHECK(part == MPI_COMM_NULL);
    /* Members that ask for different things, and by their keys. */
    int want_type = rank % 3 == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, n = 0;
    CHECK_EQ(MPI_Comm_split_type(MPI_COMM_WORLD, want_type, -rank, MPI_INFO_NULL, &part), MPI_SUCCESS);
    for (int i = size - 1; i >= 0; i--)
        if (i % 3 && lowest[i] == lowest[rank]) want[n++] = i;
    part_check(part, want, rank % 3 ? n : 0, "some undefined");
}

/* Down the levels, as long as there is one: each part is smaller than the last, and is what a guided split gives for its kind. */
static void unguided(void)
{
    MPI_Comm c;
    int levels = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    while (c != MPI_COMM_NULL) {
        char kind[64] = "", known[64] = "";
        int n, m = 0, flag = 0, result = MPI_IDENT;
        MPI_Comm part = MPI_COMM_WORLD, again;
        MPI_Info info;
        MPI_Info_create(&info);
        CHECK_EQ(MPI_Comm_split_type(c, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &part), MPI_SUCCESS);
        MPI_Info_get_string(info, "mpi_hw_resource_type", &(int){sizeof kind}, kind, &flag);
        MPI_Info_free(&info);
        CHECK_EQ(flag, part != MPI_COMM_NULL);
        MPI_Comm_size(c, &n);
        if (part != MPI_COMM_NULL) MPI_Comm_size(part, &m);
        CHECK(m < n);
        MPI_Allreduce(kind, known, sizeof kind, MPI_SIGNED_CHAR, MPI_MAX, c);
        if (part != MPI_COMM_NULL) CHECK(!strcmp(kind, known) && !strncmp(kind, "hwloc://", 8));
        if (known[0]) {
            again = split_by(c, MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", known);
            CHECK_EQ(again == MPI_COMM_NULL, part == MPI_COMM_NULL);
            if (again != MPI_COMM_NULL && part != MPI_COMM_NULL) MPI_Comm_compare(part, again, &result);
            CHECK_EQ(result, part == MPI_COMM_NULL ? MPI_IDENT : MPI_CONGRUENT);
            if (again != MPI_COMM_NULL) MPI_Comm_free(&again);
            levels++;
        }
        MPI_Comm_free(&c);
        c = part;
    }
    /* Two cpus are told apart at some level, so that those on one of them end among themselves. */
    int mine = 0;
    for (int i = 0; i < size; i++) mine += lowest[i] == lowest[rank];
    if ((mine > 2 && two[0] != two[1]) || mine < size) CHECK(levels > 0);
    if (mine == size && size == 2 && two[0] != two[1]) CHECK(levels > 0);
    if (size == 1) CHECK_EQ(levels, 0);
}

static void info(void)
{
    MPI_Info info;
    int keys = 0, flag = 0, one = place_of(rank) < 2 || two[0] == two[1];
    char value[16] = "", key[MPI_MAX_INFO_KEY];
    CHECK_EQ(MPI_Get_hw_resource_info(&info), MPI_SUCCESS);
    MPI_Info_get_string(info, "hwloc://Machine", &(int){sizeof value}, value, &flag);
    CHECK(flag && !strcmp(value, "true"));
    MPI_Info_get_string(info, "hwloc://PU", &(int){sizeof value}, value, &flag);
    CHECK(flag && !strcmp(value, one ? "true" : "false"));
    int together = are_together("topology/core_cpus_list");
    MPI_Info_get_string(info, "hwloc://Core", &(int){sizeof value}, value, &flag);
    CHECK_EQ(flag, together >= 0);
    if (flag) CHECK(!strcmp(value, one || together ? "true" : "false"));
    MPI_Info_get_nkeys(info, &keys);
    for (int i = 0; i < keys; i++) {
        MPI_Info_get_nthkey(info, i, key);
        CHECK(!strncmp(key, "hwloc://", 8));
        MPI_Info_get_string(info, key, &(int){sizeof value}, value, &flag);
        CHECK(!strcmp(value, "true") || !strcmp(value, "false"));
    }
    MPI_Info_free(&info);
}

static void on_inter(void)
{
    struct sides s;
    MPI_Comm local, c, part;
    int mine[64], theirs[64];
    if (!sides_of(&s, 0)) return;
    c = sides_open(&s, 0, &local);
    CHECK_EQ(MPI_Comm_split_type(c, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part), MPI_SUCCESS);
    int nl = part_want(1, s.mine, s.nl, mine), nr = part_want(1, s.theirs, s.nr, theirs);
    if (nl && nr)
        check_inter(part, mine, nl, theirs, nr, "two groups on one machine");
    else
        CHECK(part == MPI_COMM_NULL);
    if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
    part = split_by(c, MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://PU");
    int together = two[0] == two[1];
    nl = part_want(together, s.mine, s.nl, mine);
    nr = part_want(together, s.theirs, s.nr, theirs);
    if (nl && nr)
        check_inter(part, mine, nl, theirs, nr, "two groups by cpu");
    else
        CHECK(part == MPI_COMM_NULL);
    if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
    MPI_Comm_free(&local);
    MPI_Comm_free(&c);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    test_begin();
    nodes_find(lowest);
    cpus_find();
    bind_me();
    guided();
    unguided();
    info();
    on_inter();
    return test_end();
}
