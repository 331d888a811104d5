/* env.c -- environmental inquiry: names, versions, memory, the meaning of error codes.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/mpi_private.h"

#include <stdio.h>
#include <stdlib.h>

#include "node/node.h"

static int answer(const char *text, char *out, size_t cap, int *len_out)
{
    size_t n = (size_t)gw_min64((int64_t)strlen(text), (int64_t)cap - 1);
    memcpy(out, text, n);
    out[n] = 0;
    *len_out = (int)n;
    return GW_OK;
}

int mpi_get_processor_name(char *name_out, int *len_out) { return answer(gw_boot.host, name_out, GW_MAX_PROCESSOR_NAME, len_out); }

int mpi_get_version(int *version_out, int *subversion_out)
{
    *version_out = GW_VERSION;
    *subversion_out = GW_SUBVERSION;
    return GW_OK;
}

int mpi_get_library_version(char *version_out, int *len_out)
{
    char text[256];
    snprintf(text, sizeof text, "Godwit %s, MPI %d.%d, standard ABI %d.%d, shared memory and libfabric, compiled with %s",
             GODWIT_VERSION, GW_VERSION, GW_SUBVERSION, GW_ABI_VERSION, GW_ABI_SUBVERSION, GW_COMPILER);
    return answer(text, version_out, GW_MAX_LIBRARY_VERSION_STRING, len_out);
}

/* Lists the kinds of hardware resources of this machine. */
int mpi_get_hw_resource_info(struct gw_info **info_out)
{
    int32_t instance[NODE_HW_KINDS];
    struct gw_info *info;
    int rc = gw_info_create(&info);
    if (rc != GW_OK) return rc;
    node_hw_of_process(instance);
    for (int k = 0; k < NODE_HW_KINDS && rc == GW_OK; k++)
        if (instance[k] != NODE_HW_UNKNOWN) rc = gw_info_set(info, node_hw_names[k], instance[k] >= 0 ? "true" : "false");
    if (rc != GW_OK)
        gw_info_free(&info);
    else
        *info_out = info;
    return rc;
}

/* ---- error codes: a code is its class, unless the user made it ---- */
static const struct {
    const char *name, *text;
} classes[] = {
#define C(name, text) [GW_##name] = {"MPI_" #name, text},
#include "mpi/classes.def"
#undef C
};

const char *mpi_class_name(int class) { return class >= 0 && class < (int)GW_ARRAY_LEN(classes) ? classes[class].name : NULL; }

int mpi_error_class(int code, int *class_out)
{
    if (mpi_class_name(code))
        *class_out = code;
    else if (!gw_errcode_find(code, class_out))
        return gw_fail(GW_EARG, "errorcode %d is no error code", code);
    return GW_OK;
}

int mpi_error_string(int code, char *string_out, int *len_out)
{
    char text[GW_MAX_ERROR_STRING] = "";
    int class;
    if (mpi_class_name(code)) {
        const char *reason = mpi_last_reason(code);
        snprintf(text, sizeof text, "%s: %s%s%s%s", classes[code].name, classes[code].text, reason ? " (the last: " : "",
                 reason ? reason : "", reason ? ")" : "");
    } else if (!gw_errcode_find(code, &class))
        return gw_fail(GW_EARG, "errorcode %d is no error code", code);
    else
        gw_errstring_find(code, text); /* an added code without a text has the empty text */
    return answer(text, string_out, GW_MAX_ERROR_STRING, len_out);
}
