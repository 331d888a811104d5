/* info.c -- info objects (MPI 4.1 chapter 10): order, limits, lengths, copies, what the program was started with; also before
 * MPI_Init and after MPI_Finalize.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <unistd.h>

#include "p2p_check.h"

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}
static int has(MPI_Info info, const char *key, const char *want)
{
    char value[MPI_MAX_INFO_VAL + 1];
    int flag = -1, length = sizeof value, plain = -1, plain_flag = -1;
    CHECK_EQ(MPI_Info_get_string(info, key, &length, value, &flag), MPI_SUCCESS);
    CHECK_EQ(MPI_Info_get_valuelen(info, key, &plain, &plain_flag), MPI_SUCCESS);
    CHECK_EQ(flag, plain_flag);
    if (!flag) return !want && length == (int)sizeof value && plain == -1; /* nothing else is touched */
    CHECK_EQ(length, (int)strlen(value) + 1);
    CHECK_EQ(plain, (int)strlen(value));
    return want && strcmp(value, want) == 0;
}
static int keys_of(MPI_Info info)
{
    int n = -1;
    CHECK_EQ(MPI_Info_get_nkeys(info, &n), MPI_SUCCESS);
    return n;
}

/* The keys in order; each is there once. */
static void order_is(MPI_Info info, const char *const *want, int n)
{
    char key[MPI_MAX_INFO_KEY + 1];
    CHECK_EQ(keys_of(info), n);
    for (int i = 0; i < n; i++) {
        CHECK_EQ(MPI_Info_get_nthkey(info, i, key), MPI_SUCCESS);
        CHECK(strcmp(key, want[i]) == 0);
    }
}

static void lists(void)
{
    static const char *const one[] = {"b", "a", "c", " d ", "a ", "A"};
    static const char *const two[] = {"b", "c", " d ", "a ", "A", "a"};
    MPI_Info info, copy;
    CHECK_EQ(MPI_Info_create(&info), MPI_SUCCESS);
    CHECK(info != MPI_INFO_NULL);
    CHECK_EQ(keys_of(info), 0);
    CHECK(has(info, "a", NULL));
    for (int i = 0; i < 6; i++) CHECK_EQ(MPI_Info_set(info, one[i], "x"), MPI_SUCCESS);
    order_is(info, one, 6);
    MPI_Info_set(info, "c", "other, longer value"); /* in its place */
    MPI_Info_set(info, "A", "");
    order_is(info, one, 6);
    CHECK(has(info, "c", "other, longer value") && has(info, "A", "") && has(info, "a", "x") && has(info, "a ", "x"));
    CHECK_EQ(MPI_Info_dup(info, &copy), MPI_SUCCESS);
    CHECK(copy != info);
    order_is(copy, one, 6);
    CHECK_EQ(MPI_Info_delete(info, "a"), MPI_SUCCESS);
    CHECK(has(info, "a", NULL));
    MPI_Info_set(info, "a", "back");
    order_is(info, two, 6);
    order_is(copy, one, 6); /* a copy is one */
    CHECK(has(copy, "a", "x"));
    MPI_Info_free(&info);
    CHECK(info == MPI_INFO_NULL);
    CHECK(has(copy, "c", "other, longer value"));
    while (keys_of(copy) > 0) {
        char key[MPI_MAX_INFO_KEY + 1];
        MPI_Info_get_nthkey(copy, 0, key);
        MPI_Info_delete(copy, key);
    }
    MPI_Info_free(&copy);
}

static void lengths(void)
{
    MPI_Info info;
    char value[40], key[MPI_MAX_INFO_KEY + 2], text[MPI_MAX_INFO_VAL + 2];
    int flag;
    MPI_Info_create(&info);
    MPI_Info_set(info, "word", "godwit");
    for (int room = 0; room <= 9; room++) { /* counts the end */
        int length = room;
        memset(value, '#', sizeof value);
        CHECK_EQ(MPI_Info_get_string(info, "word", &length, value, &flag), MPI_SUCCESS);
        CHECK(flag && length == 7);
        int fits = room == 0 ? -1 : room < 7 ? room - 1 : 6;
        if (fits >= 0) CHECK(memcmp(value, "godwit", (size_t)fits) == 0 && value[fits] == 0);
        for (int i = fits + 1; i < 40; i++) CHECK(value[i] == '#');
    }
    int needed = 0; /* and no room at all */
    CHECK_EQ(MPI_Info_get_string(info, "word", &needed, NULL, &flag), MPI_SUCCESS);
    CHECK(flag && needed == 7);
    for (int room = 0; room <= 9; room++) { /* the old call does not count it */
        memset(value, '#', sizeof value);
        CHECK_EQ(MPI_Info_get(info, "word", room, value, &flag), MPI_SUCCESS);
        int fits = room < 6 ? room : 6;
        CHECK(flag && memcmp(value, "godwit", (size_t)fits) == 0 && value[fits] == 0);
        for (int i = fits + 1; i < 40; i++) CHECK(value[i] == '#');
    }
    memset(value, '#', sizeof value);
    MPI_Info_get(info, "words", 9, value, &flag);
    CHECK(!flag && value[0] == '#');
    /* The longest, and one more. */
    memset(key, 'k', sizeof key);
    memset(text, 'v', sizeof text);
    key[MPI_MAX_INFO_KEY - 1] = text[MPI_MAX_INFO_VAL - 1] = 0;
    CHECK_EQ(MPI_Info_set(info, key, text), MPI_SUCCESS);
    CHECK(has(info, key, text));
    char back[MPI_MAX_INFO_KEY];
    CHECK_EQ(MPI_Info_get_nthkey(info, 1, back), MPI_SUCCESS);
    CHECK(strcmp(back, key) == 0);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    text[MPI_MAX_INFO_VAL - 1] = 'v';
    text[MPI_MAX_INFO_VAL] = 0;
    CHECK_EQ(class_of(MPI_Info_set(info, "long", text)), MPI_ERR_INFO_VALUE);
    key[MPI_MAX_INFO_KEY - 1] = 'k';
    key[MPI_MAX_INFO_KEY] = 0;
    CHECK_EQ(class_of(MPI_Info_set(info, key, "v")), MPI_ERR_INFO_KEY);
    CHECK_EQ(class_of(MPI_Info_set(info, "", "v")), MPI_ERR_INFO_KEY);
    CHECK_EQ(class_of(MPI_Info_delete(info, "absent")), MPI_ERR_INFO_NOKEY);
    CHECK_EQ(class_of(MPI_Info_get_nthkey(info, 2, back)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Info_get_nthkey(info, -1, back)), MPI_ERR_ARG);
    CHECK_EQ(keys_of(info), 2);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Info_free(&info);
}

static void many(void)
{
    enum { N = 500 };
    MPI_Info info[4];
    char key[20], value[20];
    for (int k = 0; k < 4; k++) MPI_Info_create(&info[k]);
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof key, "key%d", i * 7 % N);
        snprintf(value, sizeof value, "%d", i);
        MPI_Info_set(info[i % 4], key, value);
    }
    for (int i = 0; i < N; i++) {
        snprintf(key, sizeof key, "key%d", i * 7 % N);
        snprintf(value, sizeof value, "%d", i);
        for (int k = 0; k < 4; k++) CHECK(has(info[k], key, k == i % 4 ? value : NULL));
    }
    for (int k = 0; k < 4; k++) {
        CHECK_EQ(keys_of(info[k]), N / 4);
        MPI_Info_free(&info[k]);
    }
}

/* Each key of one with its value in the other, also where the one was made before MPI_Init. */
static void same(MPI_Info one, MPI_Info other)
{
    char key[MPI_MAX_INFO_KEY + 1], value[MPI_MAX_INFO_VAL];
    int n, flag;
    MPI_Info_get_nkeys(one, &n);
    CHECK(n >= 7);
    for (int i = 0; i < n; i++) {
        int length = sizeof value;
        MPI_Info_get_nthkey(one, i, key);
        MPI_Info_get_string(one, key, &length, value, &flag);
        CHECK(flag && has(other, key, value));
    }
}

/* What the program was started with. */
static void environment(int argc, char **argv)
{
    char text[MPI_MAX_INFO_VAL], host[MPI_MAX_PROCESSOR_NAME], dir[MPI_MAX_INFO_VAL];
    int flag, length = sizeof text;
    MPI_Info info;
    CHECK(has(MPI_INFO_ENV, "command", argv[0]));
    CHECK(has(MPI_INFO_ENV, "argv", argc > 1 ? argv[1] : NULL));
    CHECK(has(MPI_INFO_ENV, "thread_level", "MPI_THREAD_SINGLE"));
    snprintf(text, sizeof text, "%d", size);
    CHECK(has(MPI_INFO_ENV, "maxprocs", getenv("GW_MAXPROCS") ? getenv("GW_MAXPROCS") : text));
    CHECK(has(MPI_INFO_ENV, "soft", getenv("GW_SOFT")) && has(MPI_INFO_ENV, "file", getenv("GW_FILE")));
    MPI_Get_processor_name(host, &length);
    CHECK(has(MPI_INFO_ENV, "host", host));
    if (getcwd(dir, sizeof dir)) CHECK(has(MPI_INFO_ENV, "wdir", dir));
    length = sizeof text;
    MPI_Info_get_string(MPI_INFO_ENV, "arch", &length, text, &flag);
    CHECK(flag && text[0]);
    CHECK(has(MPI_INFO_ENV, "mpi_memory_alloc_kinds", getenv("GODWIT_MEMORY_ALLOC_KINDS")));
    CHECK(has(MPI_INFO_ENV, "no_such_key", NULL));
    /* It cannot be changed; a copy can. */
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPI_Info_set(MPI_INFO_ENV, "command", "x") != MPI_SUCCESS);
    CHECK(MPI_Info_delete(MPI_INFO_ENV, "command") != MPI_SUCCESS);
    info = MPI_INFO_ENV;
    CHECK(MPI_Info_free(&info) != MPI_SUCCESS && info == MPI_INFO_ENV);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    MPI_Info_dup(MPI_INFO_ENV, &info);
    MPI_Info_set(info, "command", "x");
    CHECK(has(info, "command", "x") && has(MPI_INFO_ENV, "command", argv[0]));
    MPI_Info_free(&info);
    /* Of other arguments. */
    char *words[] = {(char *)"birds", (char *)"fly", (char *)"13000 km", NULL};
    CHECK_EQ(MPI_Info_create_env(3, words, &info), MPI_SUCCESS);
    CHECK(has(info, "command", "birds") && has(info, "argv", "fly 13000 km") && has(info, "host", host));
    MPI_Info_set(info, "mine", "1");
    CHECK(has(info, "mine", "1") && has(MPI_INFO_ENV, "mine", NULL));
    MPI_Info_free(&info);
    CHECK_EQ(MPI_Info_create_env(0, NULL, &info), MPI_SUCCESS);
    CHECK(has(info, "command", argv[0]));
    MPI_Info_free(&info);
}

int main(int argc, char **argv)
{
    MPI_Info early, made, env;
    MPI_Info_create(&early);
    MPI_Info_set(early, "when", "before");
    MPI_Info_create_env(argc, argv, &env); /* before MPI_Init too */
    CHECK(has(env, "command", argv[0]));
    lists();
    MPI_Init(&argc, &argv);
    test_begin();
    same(env, MPI_INFO_ENV);
    same(MPI_INFO_ENV, env);
    CHECK(has(early, "when", "before"));
    lists();
    lengths();
    many();
    environment(argc, argv);
    MPI_Info_create(&made);
    MPI_Info_set(made, "when", "while");
    int rc = test_end();
    /* All of it still works, with what was made before. */
    CHECK(has(early, "when", "before") && has(made, "when", "while") && has(env, "command", argv[0]));
    MPI_Info_set(made, "when", "after");
    CHECK(has(made, "when", "after"));
    lists();
    many();
    MPI_Info_free(&early);
    MPI_Info_free(&made);
    MPI_Info_free(&env);
    return rc || failures != 0;
}
