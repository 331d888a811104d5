/* errhandler.c -- error handlers: the predefined ones and those that users make.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "obj/obj_private.h"
#include "base/settings.h"

#include <stdlib.h>

/* Known from the start (slots.c): error handlers may be asked for before MPI_Init. */
struct gw_errhandler gw_errors_are_fatal = {.obj = {GW_H_ERRORS_ARE_FATAL, GW_KIND_ERRHANDLER, true, 1}};
struct gw_errhandler gw_errors_abort = {.obj = {GW_H_ERRORS_ABORT, GW_KIND_ERRHANDLER, true, 1}};
struct gw_errhandler gw_errors_return = {.obj = {GW_H_ERRORS_RETURN, GW_KIND_ERRHANDLER, true, 1}};
struct gw_errhandler gw_errors_throw = {.obj = {GW_H_ERRORS_THROW, GW_KIND_ERRHANDLER, true, 1}};

struct gw_errhandler *gw_errhandler_initial(void)
{
    gw_settings_load();
    return gw_set.initial_errhandler == GW_SET_INITIAL_ERRHANDLER_MPI_ERRORS_RETURN ? &gw_errors_return
        : gw_set.initial_errhandler == GW_SET_INITIAL_ERRHANDLER_MPI_ERRORS_ABORT   ? &gw_errors_abort
                                                                                    : &gw_errors_are_fatal;
}

int gw_errhandler_create(enum gw_kind applies_to, void (*fn)(void), struct gw_errhandler **eh_out)
{
    assert(applies_to == GW_KIND_COMM || applies_to == GW_KIND_WIN || applies_to == GW_KIND_FILE || applies_to == GW_KIND_SESSION);
    if (!fn) return gw_fail(GW_EARG, "the error handler function is NULL");
    struct gw_errhandler *eh = calloc(1, sizeof *eh);
    if (!eh) return gw_fail(GW_ENOMEM, "no memory for an error handler");
    eh->applies_to = (uint8_t)applies_to;
    eh->user.fn = fn;
    int rc = gw_obj_register(&eh->obj, GW_KIND_ERRHANDLER);
    if (rc) {
        free(eh);
        return rc;
    }
    *eh_out = eh;
    return GW_OK;
}

static void errhandler_destroy(struct gw_obj *o)
{
    gw_obj_unregister(o);
    free(container_of(o, struct gw_errhandler, obj));
}

/* The id stays valid while any object uses the handler: MPI_Comm_get_errhandler may ask for it again. */
void gw_errhandler_release(struct gw_errhandler *eh)
{
    if (gw_obj_unref(&eh->obj)) errhandler_destroy(&eh->obj);
}

int gw_errhandler_free(struct gw_errhandler **eh)
{
    gw_errhandler_release(*eh);
    *eh = NULL;
    return GW_OK;
}
