/* std_env.c -- bodies of entry points: start, the ABI's own inquiries, statuses.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "facade/std.h"
#include "base/lock.h"

#include <stdio.h>
#include <stdlib.h>

int std_init_thread(int *argc, char ***argv, int required, int *provided_out)
{
    (void)argc; /* the launcher passes nothing in the arguments */
    (void)argv;
    std_callbacks_install();
    return mpi_init(required, provided_out);
}

GW_ONCE int std_init(int *argc, char ***argv)
{
    int provided;
    return std_init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

int std_session_begin(struct gw_info *info, struct gw_errhandler *eh, struct mpi_session **session_out)
{
    std_callbacks_install();
    return mpi_session_init(info, eh, session_out);
}

double std_wtick(void) { return 1e-9; /* gw_wtime() reads a clock of nanoseconds */ }

int std_pcontrol(int level)
{
    (void)level; /* for profilers, which put their own MPI_Pcontrol in front of this one */
    return GW_OK;
}

/* ---- chapter 20 ---- */
int std_abi_get_version(int *major_out, int *minor_out)
{
    *major_out = MPI_ABI_VERSION;
    *minor_out = MPI_ABI_SUBVERSION;
    return GW_OK;
}

int std_abi_get_info(MPI_Info *info_out)
{
    static const struct {
        const char *key;
        size_t size;
    } sizes[] = {
        {"mpi_aint_size", sizeof(MPI_Aint)}, {"mpi_count_size", sizeof(MPI_Count)}, {"mpi_offset_size", sizeof(MPI_Offset)}};
    struct gw_info *info;
    int rc = gw_info_create(&info);
    if (rc != GW_OK) return rc;
    for (size_t i = 0; i < GW_ARRAY_LEN(sizes); i++) {
        char text[8];
        snprintf(text, sizeof text, "%zu", sizes[i].size);
        rc = gw_info_set(info, sizes[i].key, text);
        if (rc != GW_OK) {
            gw_info_free(&info);
            return rc;
        }
    }
    *info_out = std_info_handle(info);
    return GW_OK;
}

/* What a Fortran layer says about its types.  The first who says it wins; the info object is remembered by its handle, as
 * finalize frees it. */
static struct {
    struct gw_lock lock;
    bool info_set, booleans_set;
    MPI_Info info;
    int logical_size;
    char values[2][16];
} fortran;

int std_abi_get_fortran_info(MPI_Info *info_out)
{
    gw_lock(&fortran.lock);
    struct gw_info *mine = fortran.info_set ? std_info(fortran.info) : NULL, *copy = NULL;
    int rc = mine ? gw_info_dup(mine, &copy) : GW_OK;
    gw_unlock(&fortran.lock);
    if (rc == GW_OK) *info_out = std_info_handle(copy);
    return rc;
}

/* Types that are not said to be of another size have the usual one. */
static int fortran_sizes(const struct gw_info *info)
{
    static const char *const keys[] = {"mpi_logical_size", "mpi_integer_size", "mpi_real_size", "mpi_double_precision_size"};
    int sizes[] = {4, 4, 4, 8};
    _Static_assert(GW_ARRAY_LEN(keys) == GW_ARRAY_LEN(sizes), "one of each key");
    for (size_t i = 0; i < GW_ARRAY_LEN(keys); i++) {
        const char *text = gw_info_find(info, keys[i]);
        char *end;
        if (!text) continue;
        long v = strtol(text, &end, 10);
        if (end == text || *end || v < 1 || v > 16)
            return gw_fail(GW_EARG, "%s is \"%.32s\", which is no size of a type", keys[i], text);
        sizes[i] = (int)v;
    }
    return type_fortran_sizes(&(struct type_fortran){sizes[0], sizes[1], sizes[2], sizes[3]});
}

/* Keys such as mpi_integer16_supported: what the compiler does not have is not there; what it has is, where the library has it. */
static void fortran_optional(const struct gw_info *info)
{
    static const char end[] = "_supported";
    char key[MPI_MAX_INFO_KEY + 1];
    int n = 0;
    gw_info_get_nkeys(info, &n);
    for (int i = 0; i < n; i++) {
        if (gw_info_get_nthkey(info, i, key) != GW_OK) continue;
        size_t len = strlen(key);
        if (strncmp(key, "mpi_", 4) != 0 || len < sizeof end || strcmp(key + len - (sizeof end - 1), end) != 0) continue;
        const char *value = gw_info_find(info, key);
        key[len - (sizeof end - 1)] = 0;
        bool is_optional = strpbrk(key, "0123456789") || strcmp(key, "mpi_double_complex") == 0;
        if (is_optional && value && strcmp(value, "false") == 0) type_fortran_lacks(key);
    }
}

int std_abi_set_fortran_info(MPI_Info h)
{
    struct gw_info *info = std_info(h), *copy = NULL;
    gw_lock(&fortran.lock);
    int rc = fortran.info_set ? gw_fail(GW_EABI, "the Fortran types were described before") : fortran_sizes(info);
    if (rc == GW_OK) rc = gw_info_dup(info, &copy);
    if (rc == GW_OK) {
        fortran_optional(info);
        fortran.info_set = true;
        fortran.info = std_info_handle(copy);
    }
    gw_unlock(&fortran.lock);
    return rc;
}

static int check_logical_size(int size)
{
    if (size == 1 || size == 2 || size == 4 || size == 8 || size == 16) return GW_OK;
    return gw_fail(GW_EARG, "logical_size is %d; LOGICAL has 1, 2, 4, 8 or 16 bytes", size);
}

int std_abi_get_fortran_booleans(int logical_size, void *true_out, void *false_out, int *is_set_out)
{
    int rc = check_logical_size(logical_size);
    if (rc != GW_OK) return rc;
    if (!true_out || !false_out) return gw_fail(GW_EARG, "%s is NULL", true_out ? "logical_false" : "logical_true");
    gw_lock(&fortran.lock);
    bool is_known = fortran.booleans_set && fortran.logical_size == logical_size;
    if (is_known) {
        memcpy(true_out, fortran.values[1], (size_t)logical_size);
        memcpy(false_out, fortran.values[0], (size_t)logical_size);
    }
    gw_unlock(&fortran.lock);
    *is_set_out = is_known;
    return GW_OK;
}

int std_abi_set_fortran_booleans(int logical_size, void *logical_true, void *logical_false)
{
    int rc = check_logical_size(logical_size);
    if (rc != GW_OK) return rc;
    if (!logical_true || !logical_false) return gw_fail(GW_EARG, "%s is NULL", logical_true ? "logical_false" : "logical_true");
    gw_lock(&fortran.lock);
    if (fortran.booleans_set) {
        rc = gw_fail(GW_EABI, "the Fortran logical values were set before");
    } else {
        fortran.booleans_set = true;
        fortran.logical_size = logical_size;
        memcpy(fortran.values[1], logical_true, (size_t)logical_size);
        memcpy(fortran.values[0], logical_false, (size_t)logical_size);
        op_logicals(logical_size, logical_true, logical_false);
    }
    gw_unlock(&fortran.lock);
    return rc;
}

/* ---- statuses ---- */
#define FIELD(name, field, set_name, get_name)                                                                                     \
    int get_name(const MPI_Status *s, int *name##_out)                                                                             \
    {                                                                                                                              \
        *name##_out = s->field;                                                                                                    \
        return GW_OK;                                                                                                              \
    }                                                                                                                              \
    int set_name(MPI_Status *s, int name)                                                                                          \
    {                                                                                                                              \
        s->field = name;                                                                                                           \
        return GW_OK;                                                                                                              \
    }
FIELD(source, MPI_SOURCE, std_status_set_source, std_status_get_source)
FIELD(tag, MPI_TAG, std_status_set_tag, std_status_get_tag)
FIELD(err, MPI_ERROR, std_status_set_error, std_status_get_error)
#undef FIELD

int std_status_set_cancelled(MPI_Status *s, int flag)
{
    std_status(s)->cancelled = flag != 0;
    return GW_OK;
}

/* All forms of a status are the same eight integers. */
_Static_assert(sizeof(MPI_F08_status) == sizeof(MPI_Status), "a status passes as it is");
_Static_assert(MPI_F_STATUS_SIZE * sizeof(MPI_Fint) == sizeof(MPI_Status), "a status passes as it is");

#define CONVERT(name, From, To)                                                                                                    \
    int std_status_##name(const From *from, To *to)                                                                                \
    {                                                                                                                              \
        memmove(to, from, sizeof(MPI_Status));                                                                                     \
        return GW_OK;                                                                                                              \
    }
CONVERT(c2f, MPI_Status, MPI_Fint)
CONVERT(f2c, MPI_Fint, MPI_Status)
CONVERT(c2f08, MPI_Status, MPI_F08_status)
CONVERT(f082c, MPI_F08_status, MPI_Status)
CONVERT(f2f08, MPI_Fint, MPI_F08_status)
CONVERT(f082f, MPI_F08_status, MPI_Fint)
#undef CONVERT
