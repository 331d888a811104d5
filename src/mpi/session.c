/* session.c -- sessions and their process sets (MPI 4.1 section 11.3).
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/mpi_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

/* ---- begin and end ---- */
/* The thread level that the info object asks for; without it, that of the process. */
static int level_wanted(const struct gw_info *info)
{
    const char *want = gw_info_find(info, "thread_level");
    static const int levels[] = {GW_THREAD_SINGLE, GW_THREAD_FUNNELED, GW_THREAD_SERIALIZED, GW_THREAD_MULTIPLE};
    for (size_t i = 0; want && i < GW_ARRAY_LEN(levels); i++)
        if (strcmp(want, mpi_level_name(levels[i])) == 0) return life_level(levels[i]);
    return life_highest();
}

static int check_handler(const struct gw_errhandler *eh)
{
    if (eh->applies_to == GW_KIND_NONE || eh->applies_to == GW_KIND_SESSION) return GW_OK;
    return gw_fail(GW_EERRHANDLER, "this error handler was not made by MPI_Session_create_errhandler");
}

int mpi_session_init(struct gw_info *info, struct gw_errhandler *eh, struct mpi_session **session_out)
{
    int rc = check_handler(eh);
    if (rc != GW_OK) return rc;
    struct mpi_session *s = calloc(1, sizeof *s);
    struct comm_family *family = calloc(1, sizeof *family);
    rc = s && family ? gw_obj_register(&s->obj, GW_KIND_SESSION) : gw_fail(GW_ENOMEM, "no memory for a session");
    if (rc != GW_OK) {
        free(family);
        free(s);
        return rc;
    }
    s->thread_level = level_wanted(info);
    s->errhandler = gw_errhandler_hold(eh);
    s->family = comm_family_hold(family);
    mpi_instance_begin(s->thread_level, false);
    *session_out = s;
    return GW_OK;
}

/* Objects that were derived from the session and not freed stay usable while any instance exists. */
int mpi_session_finalize(struct mpi_session **session)
{
    struct mpi_session *s = *session;
    assert(s->family && s->errhandler);
    gw_obj_unregister(&s->obj); /* if two threads finalize the same session, the second gets an invalid handle */
    p2p_family_buffer_end(s->family);
    mpi_instance_end();
    comm_family_release(s->family);
    gw_errhandler_release(s->errhandler);
    free(s);
    *session = NULL;
    return GW_OK;
}

int mpi_session_get_info(struct mpi_session *s, struct gw_info **info_out)
{
    struct gw_info *info;
    int rc = gw_info_create(&info);
    if (rc != GW_OK) return rc;
    rc = gw_info_set(info, "thread_level", mpi_level_name(s->thread_level));
    if (rc == GW_OK) rc = gw_info_set(info, "mpi_memory_alloc_kinds", GW_MEMORY_KINDS);
    if (rc == GW_OK)
        *info_out = info;
    else
        gw_info_free(&info);
    return rc;
}

int mpi_session_set_errhandler(struct mpi_session *s, struct gw_errhandler *eh)
{
    int rc = check_handler(eh);
    assert(s->errhandler);
    if (rc != GW_OK) return rc;
    struct gw_errhandler *old = s->errhandler;
    s->errhandler = gw_errhandler_hold(eh);
    gw_errhandler_release(old);
    return GW_OK;
}

int mpi_session_get_errhandler(struct mpi_session *s, struct gw_errhandler **eh_out)
{
    *eh_out = gw_errhandler_hold(s->errhandler);
    return GW_OK;
}

/* ---- process sets ---- */
enum { PSET_WORLD, PSET_SELF, PSET_APPS /* the first application; the others follow */, PSET_NAME_ROOM = 48 };

static int n_psets(void) { return PSET_APPS + boot_apps(); }

static void pset_name(int n, char name_out[PSET_NAME_ROOM])
{
    if (n >= PSET_APPS)
        snprintf(name_out, PSET_NAME_ROOM, "mpiexec://app/%d", n - PSET_APPS);
    else
        strcpy(name_out, n == PSET_WORLD ? "mpi://WORLD" : "mpi://SELF");
}

/* Names of process sets are compared without case. */
static int pset_find(const char *name, int *n_out)
{
    char known[PSET_NAME_ROOM];
    for (int n = 0; n < n_psets(); n++) {
        pset_name(n, known);
        if (strcasecmp(name, known) != 0) continue;
        *n_out = n;
        return GW_OK;
    }
    return gw_fail(GW_EARG,
                   "there is no process set \"%.200s\"; there are mpi://WORLD, mpi://SELF and others that "
                   "MPI_Session_get_nth_pset tells",
                   name);
}

/* The members of a process set as world ranks; the caller frees *ranks_out. */
static int pset_members(int n, int32_t **ranks_out, int *size_out)
{
    int32_t *ranks = malloc(sizeof *ranks * (size_t)gw_boot.size);
    int size = 0;
    if (!ranks) return gw_fail(GW_ENOMEM, "no memory for a process set of %d", gw_boot.size);
    for (int i = 0; i < gw_boot.size; i++)
        if (n == PSET_WORLD || (n == PSET_SELF && i == gw_boot.rank) || (n >= PSET_APPS && boot_app_of(i) == n - PSET_APPS))
            ranks[size++] = i;
    *ranks_out = ranks;
    *size_out = size;
    return GW_OK;
}

int mpi_session_get_num_psets(struct mpi_session *s, struct gw_info *info, int *n_out)
{
    (void)s, (void)info; /* no info key is defined for it */
    *n_out = n_psets();
    return GW_OK;
}

int mpi_session_get_nth_pset(struct mpi_session *s, struct gw_info *info, int n, int *len, char *name_out)
{
    char name[PSET_NAME_ROOM];
    (void)s, (void)info;
    if (n < 0 || n >= n_psets()) return gw_fail(GW_EARG, "n is %d; there are the process sets 0 to %d", n, n_psets() - 1);
    if (*len < 0) return gw_fail(GW_EARG, "pset_len is %d; it must not be negative", *len);
    pset_name(n, name);
    if (*len > 0) snprintf(name_out, (size_t)*len, "%s", name);
    *len = (int)strlen(name) + 1;
    return GW_OK;
}

int mpi_session_get_pset_info(struct mpi_session *s, const char *name, struct gw_info **info_out)
{
    char text[16];
    int32_t *ranks;
    struct gw_info *info;
    int n, size, rc = pset_find(name, &n);
    (void)s;
    if (rc == GW_OK) rc = pset_members(n, &ranks, &size);
    if (rc != GW_OK) return rc;
    free(ranks);
    snprintf(text, sizeof text, "%d", size);
    rc = gw_info_create(&info);
    if (rc == GW_OK && (rc = gw_info_set(info, "mpi_size", text)) != GW_OK) gw_info_free(&info);
    if (rc == GW_OK) *info_out = info;
    return rc;
}

int mpi_session_group(struct mpi_session *s, const char *pset, struct gw_group **group_out)
{
    int32_t *ranks;
    int n, size, rc = pset_find(pset, &n);
    if (rc == GW_OK) rc = pset_members(n, &ranks, &size);
    if (rc != GW_OK) return rc;
    rc = group_from_map(size, ranks, group_out);
    if (rc == GW_OK) group_join(*group_out, s->family);
    free(ranks);
    return rc;
}
