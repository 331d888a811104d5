/* spawn_soft.c -- the reserved info keys of MPI_Comm_spawn (MPI 4.1 section 11.8.4): soft, arch, host, wdir, path, file.
 *
 *   spawn_soft            what each key says
 *   spawn_soft room       more processes than this launcher may have descriptors for (test/system/soft.sh)
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <sys/utsname.h>
#include <unistd.h>

#include "spawn_check.h"

static MPI_Comm world; /* a copy that returns errors */
static char *self;

/* Keys and values, up to NULL. */
static MPI_Info info_of(const char *const *pairs)
{
    MPI_Info info;
    MPI_Info_create(&info);
    for (; *pairs; pairs += 2) MPI_Info_set(info, pairs[0], pairs[1]);
    return info;
}
#define KEYS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The children say in which folder they are and what GWTEST is. */
static void spawn(int most, int want, const char *const *pairs, const char *folder, const char *env)
{
    enum { MOST = 8 };
    MPI_Comm inter = MPI_COMM_WORLD;
    MPI_Info info = info_of(pairs);
    int codes[MOST], n = -1, bad = -1, zero = 0;
    char maxprocs[16], *soft = NULL;
    snprintf(maxprocs, sizeof maxprocs, "%d", most);
    for (const char *const *p = pairs; *p; p += 2)
        if (strcmp(p[0], "soft") == 0) soft = (char *)p[1];
    char *argv[] = {"child", (char *)(folder ? folder : ""), (char *)(env ? env : ""), maxprocs, soft, NULL};
    for (int i = 0; i < MOST; i++) codes[i] = -1;
    int root = size - 1;
    CHECK_EQ(MPI_Comm_spawn(self, argv, rank == root ? most : 1, rank == root ? info : MPI_INFO_NULL, root, world, &inter, codes),
             MPI_SUCCESS);
    for (int i = 0; i < MOST; i++) CHECK_EQ(codes[i], i < want ? MPI_SUCCESS : i < most ? MPI_ERR_SPAWN : -1);
    if (want == 0) {
        CHECK(inter == MPI_COMM_NULL);
    } else {
        MPI_Comm_remote_size(inter, &n);
        CHECK_EQ(n, want);
        MPI_Allreduce(&zero, &bad, 1, MPI_INT, MPI_SUM, inter);
        CHECK_EQ(bad, 0); /* the children's failures */
        MPI_Comm_disconnect(&inter);
    }
    MPI_Info_free(&info);
}

static void must_fail(int most, const char *const *pairs, int class)
{
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Info info = info_of(pairs);
    int codes[3] = {-1, -1, -1}, got;
    MPI_Error_class(MPI_Comm_spawn(self, MPI_ARGV_NULL, most, info, 0, world, &inter, codes), &got);
    CHECK_EQ(got, class);
    CHECK(inter == MPI_COMM_NULL);
    for (int i = 0; i < most; i++) CHECK_EQ(codes[i], MPI_ERR_SPAWN);
    MPI_Info_free(&info);
    CHECK_EQ(MPI_Barrier(world), MPI_SUCCESS);
}

static void soft(void)
{
    spawn(3, 2, KEYS("soft", "1:2"), NULL, NULL);
    spawn(3, 2, KEYS("soft", "2:10000:2"), NULL, NULL);
    spawn(4, 4, KEYS("soft", "0:100"), NULL, NULL);
    spawn(3, 1, KEYS("soft", "7,1,5:4:-1,-3"), NULL, NULL);
    spawn(2, 0, KEYS("soft", "0"), NULL, NULL);
    must_fail(3, KEYS("soft", "4:9"), MPI_ERR_SPAWN);
    must_fail(3, KEYS("soft", "-2"), MPI_ERR_SPAWN);
    must_fail(2, KEYS("soft", "some"), MPI_ERR_INFO_VALUE);
    must_fail(2, KEYS("soft", "1:2:0"), MPI_ERR_INFO_VALUE);
    must_fail(2, KEYS("soft", "1,"), MPI_ERR_INFO_VALUE);
}

/* The first program's set counts for it alone, and the second's number stays 1. */
static void several(void)
{
    char *commands[] = {self, self, self};
    char *child[] = {"child", "", "", NULL}, **argvs[] = {child, child, child};
    int n[] = {3, 1, 2}, codes[6], bad = -1, zero = 0, there = -1;
    MPI_Info infos[] = {info_of(KEYS("soft", "2")), MPI_INFO_NULL, info_of(KEYS("soft", "1"))};
    MPI_Comm inter;
    CHECK_EQ(MPI_Comm_spawn_multiple(3, commands, argvs, n, infos, 0, world, &inter, codes), MPI_SUCCESS);
    for (int i = 0; i < 6; i++) CHECK_EQ(codes[i], i == 2 || i == 5 ? MPI_ERR_SPAWN : MPI_SUCCESS);
    MPI_Comm_remote_size(inter, &there);
    CHECK_EQ(there, 4);
    MPI_Allreduce(&zero, &bad, 1, MPI_INT, MPI_SUM, inter);
    CHECK_EQ(bad, 0);
    MPI_Comm_disconnect(&inter);
    MPI_Info_free(&infos[0]), MPI_Info_free(&infos[2]);
}

static void places(void)
{
    struct utsname here;
    char host[256] = "";
    uname(&here);
    gethostname(host, sizeof host - 1);
    spawn(1, 1, KEYS("arch", here.machine), NULL, NULL);
    must_fail(1, KEYS("arch", "pdp11"), MPI_ERR_SPAWN);
    spawn(1, 1, KEYS("host", "localhost"), NULL, NULL);
    spawn(2, 2, KEYS("host", host), NULL, NULL);
    must_fail(1, KEYS("host", "another.machine.example"), MPI_ERR_SPAWN);
    spawn(1, 1, KEYS("wdir", "/usr"), "/usr", NULL);
    must_fail(1, KEYS("wdir", "/no/such/folder"), MPI_ERR_SPAWN);
}

/* Found in the folders of the path alone. */
static void by_path(void)
{
    char list[4200], *name = strrchr(self, '/'), *whole = self;
    if (!name) return;
    snprintf(list, sizeof list, "/no/such/folder:%.*s", (int)(name - self), self);
    self = name + 1;
    spawn(1, 1, KEYS("path", list), NULL, NULL);
    must_fail(1, KEYS("path", "/no/such/folder:/usr"), MPI_ERR_SPAWN);
    self = whole;
}

/* Keys from a file; those of the info object come first. */
static void by_file(void)
{
    char name[64];
    FILE *f;
    snprintf(name, sizeof name, "spawn_soft.%d.tmp", size);
    if (rank == size - 1) {
        if (!(f = fopen(name, "w"))) abort();
        fprintf(
            f,
            "# what to start\n\n  soft = 1 , 2\nwdir=/usr\nenv = GWTEST_SOFT=from a file\nenv = GWTEST_MORE=x\nanother key = 3\n");
        fclose(f);
    }
    MPI_Barrier(world);
    spawn(4, 2, KEYS("file", name), "/usr", "from a file");
    spawn(4, 3, KEYS("file", name, "soft", "3", "wdir", "/"), "/", "from a file");
    MPI_Barrier(world);
    if (rank == size - 1) {
        f = fopen(name, "w");
        fprintf(f, "soft\n");
        fclose(f);
    }
    MPI_Barrier(world);
    must_fail(1, KEYS("file", name), MPI_ERR_INFO_VALUE);
    MPI_Barrier(world);
    if (rank == size - 1) unlink(name);
    must_fail(1, KEYS("file", "/no/such/file"), MPI_ERR_INFO_VALUE);
}

/* Too many for the descriptors that the launcher may have: with a set fewer are started, and without one none. */
static void room(void)
{
    enum { MANY = 200 };
    char *child[] = {"child", "", "", NULL};
    int codes[MANY], n = 0, got, bad = -1, zero = 0;
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Info info = info_of(KEYS("soft", "1:200:3"));
    MPI_Error_class(MPI_Comm_spawn(self, child, MANY, MPI_INFO_NULL, 0, world, &inter, codes), &got);
    CHECK_EQ(got, MPI_ERR_SPAWN);
    CHECK_EQ(MPI_Comm_spawn(self, child, MANY, info, 0, world, &inter, codes), MPI_SUCCESS);
    MPI_Comm_remote_size(inter, &n);
    CHECK(n >= 1 && n < MANY && n % 3 == 1);
    for (int i = 0; i < MANY; i++) CHECK_EQ(codes[i], i < n ? MPI_SUCCESS : MPI_ERR_SPAWN);
    MPI_Allreduce(&zero, &bad, 1, MPI_INT, MPI_SUM, inter);
    CHECK_EQ(bad, 0);
    MPI_Comm_disconnect(&inter);
    MPI_Info_free(&info);
}

static int was_told(const char *key, const char *want)
{
    char value[MPI_MAX_INFO_VAL + 1];
    int flag, length = sizeof value;
    MPI_Info_get_string(MPI_INFO_ENV, key, &length, value, &flag);
    return flag && strcmp(value, want) == 0;
}

static void child(char **argv, MPI_Comm parent)
{
    char here[4096] = "";
    int sum;
    const char *env = getenv("GWTEST_SOFT");
    if (argv[2][0]) CHECK(getcwd(here, sizeof here) && strcmp(here, argv[2]) == 0);
    CHECK(strcmp(env ? env : "", argv[3]) == 0);
    CHECK((env != NULL) == (getenv("GWTEST_MORE") != NULL));
    if (argv[4]) CHECK(was_told("maxprocs", argv[4]));
    if (argv[4] && argv[5]) CHECK(was_told("soft", argv[5]));
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, parent);
    MPI_Comm_disconnect(&parent);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    test_begin();
    MPI_Comm_get_parent(&parent);
    self = argv[0];
    if (parent != MPI_COMM_NULL) {
        child(argv, parent);
        return test_end();
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    if (argc > 1) {
        room();
    } else {
        soft();
        several();
        places();
        by_path();
        by_file();
    }
    MPI_Comm_free(&world);
    return test_end();
}
