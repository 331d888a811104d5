/* foreign.c -- variables of other MPI libraries that no setting reads: reports why they have no effect, or which name was meant.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/foreign.h"
#include "base/base_private.h"
#include "base/settings.h"
#include "base/settings_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

/* Names that begin so are looked at, and one that is spelled nearly like another of its family is asked about.  `edits`: letters
 * that may differ; of libraries below us not all names are known.  `whose`: the rest of them are told of, in a line for all. */
static const struct family {
    const char *begin;
    int edits;
    const char *whose;
} families[] = {
    {"MPICH_", 4, NULL},        {"MPI_GNI_", 4, NULL},      {"OMPI_MCA_", 4, "Open MPI"}, {"PRTE_MCA_", 4, "Open MPI's launcher"},
    {"MPIR_CVAR_", 4, "MPICH"}, {"I_MPI_", 4, "Intel MPI"}, {"mtl_ofi_", 4, NULL},        {"mpi_add_", 4, NULL},
    {"pmix_base_", 4, NULL},    {"async_mpi_", 3, NULL},    {"SHMEM_", 4, NULL},          {"CXI_", 2, NULL},
    {"FI_", 2, NULL},           {"SMA_", 4, NULL},          {"XT_SYMMETRIC_", 4, NULL},
};

/* Names of libraries that MPI opens when it starts, which are not looked at. */
static const char *const below[] = {"MPI_",   "OMPI_", "PMI_",  "PMIX_", "PRTE_", "PSM2_", "PSM3_",
                                    "RDMAV_", "IBV_",  "MLX4_", "MLX5_", "UCX_",  "HFI_"};

/* Rows BEGIN and QUIET of foreign.def. */
static const struct begin {
    bool is_told;
    char begin[36], why[68];
} begins[] = {
#define X(name, usual, why)
#define MCA(name, usual, why)
#define OTHERS(name, who)
#define NOTED(name, what)
#define BEGIN(begin, why) {true, #begin, why},
#define QUIET(begin, why) {false, #begin, why},
#include "base/foreign.def"
#undef X
#undef MCA
#undef OTHERS
#undef NOTED
#undef BEGIN
#undef QUIET
};

bool gw_foreign_is_mpis(const char *name)
{
    if (gw_setting_name_find(name, strlen(name)) >= 0) return true;
    for (size_t i = 0; i < GW_ARRAY_LEN(families); i++)
        if (strncmp(name, families[i].begin, strlen(families[i].begin)) == 0) return true;
    for (size_t i = 0; i < GW_ARRAY_LEN(below); i++)
        if (strncmp(name, below[i], strlen(below[i])) == 0) return true;
    return false;
}

/* Variables of a family that nothing else is said of. */
struct rest {
    int n;
    char first[128];
};

static const struct begin *begin_of(const char *name)
{
    for (size_t b = 0; b < GW_ARRAY_LEN(begins); b++)
        if (strncmp(name, begins[b].begin, strlen(begins[b].begin)) == 0) return &begins[b];
    return NULL;
}

int gw_foreign_count(void) { return gw_foreign_row_count; }

struct gw_foreign gw_foreign_at(int i)
{
    assert(i >= 0 && i < gw_foreign_row_count);
    const struct foreign_row *r = &gw_foreign_rows[i];
    return (struct gw_foreign){setting_text(r->name), (enum gw_foreign_kind)r->kind, setting_text(r->usual), setting_text(r->why)};
}

/* What is said of the name in this row, which may be another than that in foreign.def. */
static struct gw_foreign foreign_of(int at)
{
    struct gw_foreign f = gw_foreign_at(gw_setting_names[at].foreign);
    f.name = setting_text(gw_setting_names[at].name);
    return f;
}

bool gw_foreign_find(const char *name, struct gw_foreign *out)
{
    int at = gw_setting_name_find(name, strlen(name));
    const struct begin *b = at < 0 ? begin_of(name) : NULL;
    if (b) *out = (struct gw_foreign){name, b->is_told ? GW_FOREIGN_NOTHING : GW_FOREIGN_OTHERS, "", b->why};
    if (b) return true;
    if (at < 0 || gw_setting_names[at].foreign < 0) return false;
    *out = foreign_of(at);
    return true;
}

const char *gw_foreign_whose(const char *name)
{
    for (size_t i = 0; i < GW_ARRAY_LEN(families); i++)
        if (strncmp(name, families[i].begin, strlen(families[i].begin)) == 0) return families[i].whose;
    return NULL;
}

const char *gw_foreign_why(const char *name)
{
    struct gw_foreign f;
    return gw_foreign_find(name, &f) && f.kind == GW_FOREIGN_NOTHING ? f.why : NULL;
}

/* The name of the same family that is spelled most like it; the program that finds the compilers and the like have MPICH_ names, too,
 * which are near none.  False: none is. */
static bool say_near(const char *name, const struct family *of, void (*complain)(const char *fmt, ...))
{
    enum { WORDS = 512 };
    const char *words[WORDS];
    int n = 0;
    for (int i = 0; i < gw_setting_name_count && n < WORDS; i++)
        if (strncmp(setting_text(gw_setting_names[i].name), of->begin, strlen(of->begin)) == 0)
            words[n++] = setting_text(gw_setting_names[i].name);
    const char *near = gw_nearest(name, words, n);
    /* Where all names are told of, short ones differ by few letters and are other words: OMPI_MCA_btl, OMPI_MCA_pml. */
    int most = of->whose ? (int)strlen(name + strlen(of->begin)) / 4 : of->edits;
    if (near && gw_edits(name, near) <= (most < of->edits ? most : of->edits)) {
        complain("%s is not a variable that is read; did you mean %s?", name, near);
        return true;
    }
    /* All of Cray's names are told of: one of several words that is shorter is none of its library, either (MPICH_DIR is a module's). */
    bool is_crays = strcmp(of->begin, "MPICH_") == 0 && strchr(name + strlen(of->begin), '_');
    int at, longer = is_crays ? gw_longer(name, words, n, &at, 1) : 0;
    if (!longer || words[at][strlen(name)] != '_') return false;
    complain(longer > 1 ? "%s is not a variable that is read; did you mean %s, or another of %d that begin so?"
                        : "%s is not a variable that is read; did you mean %s?",
             name, words[at], longer);
    return true;
}

static void say_nothing(const char *fmt, ...) { (void)fmt; }

/* One that libfabric, or the library of its cards, reads by all that is known of it: not all names of its providers stand in a table. */
static bool is_libfabrics(const char *name)
{
    for (size_t f = 0; f < GW_ARRAY_LEN(families); f++) {
        const char *begin = families[f].begin;
        if ((strcmp(begin, "FI_") == 0 || strcmp(begin, "CXI_") == 0) && strncmp(name, begin, strlen(begin)) == 0)
            return !say_near(name, &families[f], say_nothing); /* who misspelled it has been asked */
    }
    return false;
}

const char *gw_foreign_next_set(int *at, char *name_out, size_t cap)
{
    assert(*at >= 0 && cap > 0);
    for (char **e; environ && *(e = environ + *at);) {
        size_t len = strcspn(*e, "=");
        int row = gw_setting_name_find(*e, len);
        ++*at;
        if (len >= cap || !(*e)[len] || !(*e)[len + 1]) continue;
        *(char *)mempcpy(name_out, *e, len) = 0;
        bool is_foreign = row >= 0 && gw_setting_names[row].row < 0 && gw_setting_names[row].foreign >= 0;
        if (row < 0 ? is_libfabrics(name_out)
                    : is_foreign && gw_foreign_rows[gw_setting_names[row].foreign].kind == GW_FOREIGN_OTHERS)
            return *e + len + 1;
    }
    return NULL;
}

static void say_foreign(const struct gw_foreign *f, const char *value, void (*complain)(const char *fmt, ...))
{
    if (f->kind == GW_FOREIGN_NOTED && *value)
        complain("%s=%s %s", f->name, value, f->why);
    else if (f->kind == GW_FOREIGN_NOTHING && *value && gw_word_index(f->usual, value, strlen(value)) < 0)
        complain("%s=%s is of no effect: %s", f->name, value, f->why);
}

/* The launcher of the other library has started this process, also below an mpiexec of ours, and set them itself. */
static bool is_launchers(const struct family *f)
{
    bool is_ours = getenv("GODWIT_BOOT") != NULL; /* mpiexec sets OMPI_COMM_WORLD_SIZE, too */
    if (strstr(f->begin, "_MCA_"))
        return getenv("PMIX_NAMESPACE") || getenv("OMPI_UNIVERSE_SIZE") || (!is_ours && getenv("OMPI_COMM_WORLD_SIZE"));
    return strcmp(f->begin, "I_MPI_") == 0 && getenv("I_MPI_MPIRUN");
}

/* A variable that stands in no table: told by how it begins, asked about, or one of the rest. */
static void look_at(const char *name, const char *value, struct rest rest[GW_ARRAY_LEN(families)],
                    void (*complain)(const char *fmt, ...))
{
    size_t f = 0;
    while (f < GW_ARRAY_LEN(families) && strncmp(name, families[f].begin, strlen(families[f].begin)) != 0) f++;
    if (f == GW_ARRAY_LEN(families) || (families[f].whose && (!*value || is_launchers(&families[f])))) return;
    if (say_near(name, &families[f], complain) || !families[f].whose) return;
    const char *told = getenv("GODWIT_MCA_TOLD");
    const struct begin *b = begin_of(name);
    if (b && b->is_told) complain("%s=%s is of no effect: %s", name, value, b->why);
    if (b || (told && gw_set_lists(told, name))) return;
    if (rest[f].n++ == 0) snprintf(rest[f].first, sizeof rest[f].first, "%s", name);
}

static void say_rest(const struct rest rest[GW_ARRAY_LEN(families)], void (*complain)(const char *fmt, ...))
{
    for (size_t f = 0; f < GW_ARRAY_LEN(families); f++) {
        char more[32] = "";
        if (rest[f].n > 1) snprintf(more, sizeof more, " and %d more", rest[f].n - 1);
        if (rest[f].n > 0)
            complain("%s%s of %s %s of no effect here; `godwit-info --settings` lists what is read", rest[f].first, more,
                     families[f].whose, rest[f].n > 1 ? "are" : "is");
    }
}

/* Of two that the documents want together, one: told, as this library does what is asked for all the same. */
static void say_alone(void (*complain)(const char *fmt, ...))
{
    const char *thread = getenv("MPICH_NEMESIS_ASYNC_PROGRESS"), *level = getenv("MPICH_MAX_THREAD_SAFETY");
    if (!thread || strcmp(thread, "1") != 0 || (level && strcasecmp(level, "multiple") == 0)) return;
    complain("MPICH_NEMESIS_ASYNC_PROGRESS=1 without MPICH_MAX_THREAD_SAFETY=multiple: other libraries want both; "
             "here the progress thread works at any thread level");
}

void gw_foreign_check(void (*complain)(const char *fmt, ...))
{
    struct rest rest[GW_ARRAY_LEN(families)] = {{0, ""}};
    say_alone(complain);
    for (char **e = environ; e && *e; e++) {
        size_t len = strcspn(*e, "=");
        const char *value = *e + len + ((*e)[len] == '=');
        int at = gw_setting_name_find(*e, len);
        if (at >= 0 && gw_setting_names[at].foreign >= 0) {
            struct gw_foreign f = foreign_of(at);
            say_foreign(&f, value, complain);
        } else if (at < 0) {
            char name[128];
            if (len >= sizeof name) continue;
            *(char *)mempcpy(name, *e, len) = 0;
            look_at(name, value, rest, complain);
        }
    }
    say_rest(rest, complain);
}
