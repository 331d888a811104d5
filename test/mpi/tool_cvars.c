/* tool_cvars.c -- MPI_T: begin and end, control variables, enumerations, categories (MPI 4.1 section 15.3).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "p2p_check.h"

/* Makes a handle of the variable `name`; returns its count. */
static int handle_of(const char *name, MPI_T_cvar_handle *h)
{
    int i = -1, count = -1;
    CHECK_EQ(MPI_T_cvar_get_index(name, &i), MPI_SUCCESS);
    CHECK_EQ(MPI_T_cvar_handle_alloc(i, NULL, h, &count), MPI_SUCCESS);
    return count;
}

static int read_int(const char *name)
{
    MPI_T_cvar_handle h;
    int v = -77;
    CHECK_EQ(handle_of(name, &h), 1);
    CHECK_EQ(MPI_T_cvar_read(h, &v), MPI_SUCCESS);
    CHECK_EQ(MPI_T_cvar_handle_free(&h), MPI_SUCCESS);
    CHECK(h == MPI_T_CVAR_HANDLE_NULL);
    return v;
}
static MPI_Count read_count(const char *name)
{
    MPI_T_cvar_handle h;
    MPI_Count v = -77;
    CHECK_EQ(handle_of(name, &h), 1);
    CHECK_EQ(MPI_T_cvar_read(h, &v), MPI_SUCCESS);
    MPI_T_cvar_handle_free(&h);
    return v;
}
static int write_it(const char *name, const void *v)
{
    MPI_T_cvar_handle h;
    handle_of(name, &h);
    int rc = MPI_T_cvar_write(h, v);
    MPI_T_cvar_handle_free(&h);
    return rc;
}

static void every_one(void)
{
    int n = 0;
    CHECK_EQ(MPI_T_cvar_get_num(&n), MPI_SUCCESS);
    CHECK_EQ(MPI_T_cvar_get_num(NULL), MPI_T_ERR_INVALID);
    CHECK(n > 20);
    for (int i = 0; i < n; i++) {
        char name[256], desc[2000], cut[4] = "###";
        int name_len = sizeof name, desc_len = sizeof desc, verbosity, bind, scope, back = -1, cut_len = 3, count = 0, null_len = 0;
        MPI_Datatype type;
        MPI_T_enum words;
        MPI_T_cvar_handle h;
        CHECK_EQ(MPI_T_cvar_get_info(i, name, &name_len, &verbosity, &type, &words, desc, &desc_len, &bind, &scope), MPI_SUCCESS);
        CHECK_EQ(name_len, (int)strlen(name) + 1);
        CHECK_EQ(desc_len, (int)strlen(desc) + 1);
        CHECK(name_len > 1 && desc_len > 10);
        CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
        CHECK(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ && bind == MPI_T_BIND_NO_OBJECT);
        CHECK(type == MPI_INT || type == MPI_COUNT || type == MPI_CHAR);
        CHECK(words == MPI_T_ENUM_NULL || type == MPI_INT);
        CHECK_EQ(MPI_T_cvar_get_index(name, &back), MPI_SUCCESS);
        CHECK_EQ(back, i);
        CHECK_EQ(MPI_T_cvar_get_info(i, cut, &cut_len, NULL, NULL, NULL, NULL, &null_len, NULL, NULL), MPI_SUCCESS);
        CHECK(cut_len == name_len && null_len == desc_len && strncmp(cut, name, 2) == 0 && cut[2] == 0);
        CHECK_EQ(MPI_T_cvar_handle_alloc(i, NULL, &h, &count), MPI_SUCCESS);
        CHECK(count == 1 || (type == MPI_CHAR && count > 1));
        char *value = malloc(count > 1 ? (size_t)count : sizeof(MPI_Count));
        CHECK_EQ(MPI_T_cvar_read(h, value), MPI_SUCCESS);
        if (words != MPI_T_ENUM_NULL) {
            int items = 0, v = -1, is = *(int *)value, found = 0;
            CHECK_EQ(MPI_T_enum_get_info(words, &items, NULL, NULL), MPI_SUCCESS);
            for (int k = 0; k < items; k++) {
                char word[64];
                int len = sizeof word;
                CHECK_EQ(MPI_T_enum_get_item(words, k, &v, word, &len), MPI_SUCCESS);
                CHECK(len > 1);
                found |= v == is;
            }
            CHECK(found);
            CHECK_EQ(MPI_T_enum_get_item(words, items, &v, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
        }
        free(value);
        CHECK_EQ(MPI_T_cvar_handle_free(&h), MPI_SUCCESS);
    }
}

/* Before MPI has started a setting counts as if it came from the environment. */
static void before_init(void)
{
    MPI_Count unexpected = 100000, eager = 2048, bad = -5;
    int errhandler = -1;
    char word[64];
    CHECK_EQ(write_it("unexpected_max", &unexpected), MPI_SUCCESS);
    CHECK_EQ(read_count("unexpected_max"), 100000);
    CHECK_EQ(write_it("eager_max", &eager), MPI_SUCCESS);
    CHECK_EQ(read_count("eager_max"), 2048);
    CHECK_EQ(write_it("lanes", &bad), MPI_T_ERR_INVALID);
    /* The handler of errors, by its word. */
    int i = -1;
    MPI_T_enum words;
    MPI_T_cvar_get_index("initial_errhandler", &i);
    MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, &words, NULL, NULL, NULL, NULL);
    for (int k = 0; k < 3; k++) {
        int len = sizeof word, v;
        MPI_T_enum_get_item(words, k, &v, word, &len);
        if (strcmp(word, "mpi_errors_return") == 0) errhandler = v;
    }
    CHECK(errhandler >= 0);
    CHECK_EQ(write_it("initial_errhandler", &errhandler), MPI_SUCCESS);
    errhandler = 99;
    CHECK_EQ(write_it("initial_errhandler", &errhandler), MPI_T_ERR_INVALID);
}

static void after_init(void)
{
    MPI_Count eager = 4096, chunk = 1000;
    int off = 0, on = 1;
    char text[512] = "coll";
    MPI_Errhandler eh;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &eh);
    CHECK(eh == MPI_ERRORS_RETURN);
    CHECK_EQ(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    CHECK_EQ(write_it("eager_max", &eager), MPI_T_ERR_CVAR_SET_NOT_NOW);
    CHECK_EQ(read_count("eager_max"), 2048);
    CHECK_EQ(write_it("coll_chunk", &chunk), MPI_SUCCESS);
    CHECK_EQ(read_count("coll_chunk"), 1000);
    long in[1000], sum[1000];
    for (int i = 0; i < 1000; i++) in[i] = rank + i;
    MPI_Allreduce(in, sum, 1000, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 1000; i++) CHECK_EQ(sum[i], (long)size * i + (long)size * (size - 1) / 2);
    CHECK_EQ(read_int("check_args"), 1);
    CHECK_EQ(write_it("check_args", &off), MPI_SUCCESS);
    CHECK_EQ(read_int("check_args"), 0);
    CHECK_EQ(write_it("check_args", &on), MPI_SUCCESS);
    CHECK_EQ(MPI_Send(NULL, 0, MPI_INT, size, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    (void)text;
    MPI_T_cvar_handle h;
    handle_of("explain", &h);
    CHECK_EQ(MPI_T_cvar_write(h, "nonsense"), MPI_T_ERR_INVALID);
    CHECK_EQ(MPI_T_cvar_write(h, "coll,proto"), MPI_SUCCESS);
    CHECK_EQ(MPI_T_cvar_read(h, text), MPI_SUCCESS);
    CHECK(strcmp(text, "coll,proto") == 0);
    CHECK_EQ(MPI_T_cvar_write(h, ""), MPI_SUCCESS);
    MPI_T_cvar_handle_free(&h);
}

static void categories(void)
{
    int n = 0, n_cvars = 0, n_pvars = 0, n_events = 0, sums[3] = {0, 0, 0}, root = -1, subs = 0, stamp[2] = {-1, -2}, index;
    MPI_T_cvar_get_num(&n_cvars);
    MPI_T_pvar_get_num(&n_pvars);
    MPI_T_event_get_num(&n_events);
    CHECK_EQ(MPI_T_category_get_num(&n), MPI_SUCCESS);
    int *seen = calloc((size_t)n_cvars, sizeof *seen), *list = malloc(sizeof *list * 1000),
        *children = calloc((size_t)n, sizeof *children);
    for (int c = 0; c < n; c++) {
        char name[100], desc[300];
        int name_len = sizeof name, desc_len = sizeof desc, cv, pv, cats, ev;
        CHECK_EQ(MPI_T_category_get_info(c, name, &name_len, desc, &desc_len, &cv, &pv, &cats), MPI_SUCCESS);
        CHECK_EQ(MPI_T_category_get_num_events(c, &ev), MPI_SUCCESS);
        CHECK_EQ(MPI_T_category_get_index(name, &index), MPI_SUCCESS);
        CHECK_EQ(index, c);
        sums[0] += cv, sums[1] += pv, sums[2] += ev;
        CHECK_EQ(MPI_T_category_get_cvars(c, cv, list), MPI_SUCCESS);
        for (int i = 0; i < cv; i++) seen[list[i]]++;
        CHECK_EQ(MPI_T_category_get_pvars(c, pv, list), MPI_SUCCESS);
        for (int i = 0; i < pv; i++) CHECK(list[i] >= 0 && list[i] < n_pvars);
        CHECK_EQ(MPI_T_category_get_events(c, ev, list), MPI_SUCCESS);
        for (int i = 0; i < ev; i++) CHECK(list[i] >= 0 && list[i] < n_events);
        CHECK_EQ(MPI_T_category_get_categories(c, cats, list), MPI_SUCCESS);
        for (int i = 0; i < cats; i++) children[list[i]]++;
        if (cats) root = c, subs = cats;
    }
    CHECK_EQ(sums[0], n_cvars);
    CHECK_EQ(sums[1], n_pvars);
    CHECK_EQ(sums[2], n_events);
    for (int i = 0; i < n_cvars; i++) CHECK_EQ(seen[i], 1);
    CHECK_EQ(subs, n - 1);
    for (int c = 0; c < n; c++) CHECK_EQ(children[c], c != root);
    CHECK_EQ(MPI_T_category_changed(&stamp[0]), MPI_SUCCESS);
    CHECK_EQ(MPI_T_category_changed(&stamp[1]), MPI_SUCCESS);
    CHECK_EQ(stamp[0], stamp[1]);
    CHECK_EQ(MPI_T_category_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_category_get_index("no such", &index), MPI_T_ERR_INVALID_NAME);
    CHECK_EQ(MPI_T_category_get_cvars(-1, 0, NULL), MPI_T_ERR_INVALID_INDEX);
    free(seen), free(list), free(children);
}

static void codes(void)
{
    char text[MPI_MAX_ERROR_STRING];
    for (int code = MPI_T_ERR_CANNOT_INIT; code <= MPI_T_ERR_PVAR_NO_ATOMIC; code++) {
        int class = -1, len = 0;
        CHECK_EQ(MPI_Error_class(code, &class), MPI_SUCCESS);
        CHECK_EQ(class, code);
        CHECK_EQ(MPI_Error_string(code, text, &len), MPI_SUCCESS);
        CHECK(len > 0 && strncmp(text, "MPI_T_ERR_", 10) == 0);
    }
}

static void wrong_ones(void)
{
    int n, i, count;
    MPI_T_cvar_handle h = (MPI_T_cvar_handle)&n, gone;
    MPI_T_cvar_get_num(&n);
    CHECK_EQ(MPI_T_cvar_get_index("no such variable", &i), MPI_T_ERR_INVALID_NAME);
    CHECK_EQ(MPI_T_cvar_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_cvar_handle_alloc(-1, NULL, &h, &count), MPI_T_ERR_INVALID_INDEX);
    CHECK_EQ(MPI_T_cvar_read(h, &i), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_cvar_handle_free(&h), MPI_T_ERR_INVALID_HANDLE);
    handle_of("check_args", &h);
    gone = h;
    MPI_T_cvar_handle_free(&h);
    CHECK_EQ(MPI_T_cvar_read(gone, &i), MPI_T_ERR_INVALID_HANDLE);
    CHECK_EQ(MPI_T_cvar_write(MPI_T_CVAR_HANDLE_NULL, &i), MPI_T_ERR_INVALID_HANDLE);
}

/* Settings of files count from the next one that is opened on; those of mpiexec are only looked at. */
static void files(void)
{
    MPI_T_cvar_handle h;
    MPI_File f;
    MPI_Info info;
    MPI_Count seconds = 5;
    char name[64], value[32] = "";
    int flag = 0, len = sizeof value, category, n, verbosity, scope, i;
    snprintf(name, sizeof name, "tool_cvars.%d.tmp", size);
    handle_of("mpiio_hints", &h);
    CHECK_EQ(MPI_T_cvar_write(h, "*tool_cvars*:ind_wr_buffer_size=123456"), MPI_SUCCESS);
    if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f)) abort();
    CHECK_EQ(MPI_T_cvar_write(h, ""), MPI_SUCCESS);
    MPI_T_cvar_handle_free(&h);
    MPI_File_get_info(f, &info);
    MPI_Info_get_string(info, "ind_wr_buffer_size", &len, value, &flag);
    CHECK(flag && strcmp(value, "123456") == 0);
    MPI_Info_free(&info);
    MPI_File_close(&f);
    CHECK_EQ(write_it("hang_warn", &seconds), MPI_T_ERR_CVAR_SET_NEVER);
    CHECK_EQ(MPI_T_cvar_get_index("hang_warn", &i), MPI_SUCCESS);
    MPI_T_cvar_get_info(i, NULL, NULL, &verbosity, NULL, NULL, NULL, NULL, NULL, &scope);
    CHECK(scope == MPI_T_SCOPE_CONSTANT && verbosity == MPI_T_VERBOSITY_USER_DETAIL);
    CHECK_EQ(MPI_T_category_get_index("files", &category), MPI_SUCCESS);
    CHECK_EQ(MPI_T_category_get_info(category, NULL, NULL, NULL, NULL, &n, NULL, NULL), MPI_SUCCESS);
    int list[64];
    CHECK(n >= 11 && n < 64);
    CHECK_EQ(MPI_T_category_get_cvars(category, n, list), MPI_SUCCESS);
    CHECK_EQ(MPI_T_cvar_get_index("cb_shared", &i), MPI_SUCCESS);
    int found = 0;
    for (int k = 0; k < n; k++) found += list[k] == i;
    CHECK_EQ(found, 1);
}

int main(int argc, char **argv)
{
    int provided = -1, n = -1;
    CHECK_EQ(MPI_T_cvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_EQ(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    every_one();
    wrong_ones();
    codes();
    categories();
    before_init();
    CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
    CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
    MPI_Init(&argc, &argv);
    test_begin();
    every_one();
    after_init();
    files();
    int rc = test_end();
    every_one();
    CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
    CHECK_EQ(MPI_T_cvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    return rc || failures;
}
