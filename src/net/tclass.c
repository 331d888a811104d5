/* tclass.c -- see tclass.h.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "net/tclass.h"
#include "base/settings.h"

#include <ctype.h>
#include <rdma/fabric.h>
#include <stdio.h>

static const struct {
    const char *name;
    uint32_t tclass;
} classes[] = {
    {"TC_BEST_EFFORT", FI_TC_BEST_EFFORT}, {"TC_LOW_LATENCY", FI_TC_LOW_LATENCY}, {"TC_DEDICATED_ACCESS", FI_TC_DEDICATED_ACCESS},
    {"TC_BULK_DATA", FI_TC_BULK_DATA},     {"TC_SCAVENGER", FI_TC_SCAVENGER},     {"TC_NETWORK_CTRL", FI_TC_NETWORK_CTRL},
    {"TC_UNSPEC", FI_TC_UNSPEC},
};

static bool same(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (toupper((unsigned char)*a) != toupper((unsigned char)*b) && !(*a == '-' && *b == '_')) return false;
    return *a == *b;
}

static int complain(enum tclass_errors errors, int code, const char *fmt, ...) GW_PRINTF(3, 4);
static int complain(enum tclass_errors errors, int code, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (errors == TCLASS_ERROR) return gw_fail(code, "%s", text);
    if (errors == TCLASS_WARN) gw_warn("%s; going on without a traffic class", text);
    return GW_OK;
}

int net_tclass_parse(const char *word, enum tclass_errors errors, uint32_t *tclass_out)
{
    *tclass_out = FI_TC_UNSPEC;
    if (!word || !*word) return GW_OK;
    for (size_t i = 0; i < GW_ARRAY_LEN(classes); i++) {
        if (!same(word, classes[i].name) && !same(word, classes[i].name + strlen("TC_"))) continue;
        *tclass_out = classes[i].tclass;
        return GW_OK;
    }
    const char *names[GW_ARRAY_LEN(classes)];
    for (size_t i = 0; i < GW_ARRAY_LEN(classes); i++) names[i] = classes[i].name;
    const char *near = gw_nearest(word, names, GW_ARRAY_LEN(classes));
    return complain(errors, GW_EARG,
                    "%s=%s is no traffic class%s%s%s; there are TC_BEST_EFFORT, TC_LOW_LATENCY, "
                    "TC_DEDICATED_ACCESS, TC_BULK_DATA and TC_SCAVENGER",
                    gw_setting_said("GODWIT_OFI_TCLASS"), word, near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
}

const char *net_tclass_name(uint32_t tclass)
{
    for (size_t i = 0; i < GW_ARRAY_LEN(classes); i++)
        if (classes[i].tclass == tclass) return classes[i].name;
    return "a class of its own";
}

int net_tclass_refused(uint32_t tclass, const char *provider, enum tclass_errors errors)
{
    return complain(
        errors, GW_EUNSUPPORTED,
        "%s: libfabric's %s does not offer the traffic class %s here (some need leave of the batch system): choose another",
        gw_setting_said("GODWIT_OFI_TCLASS"), provider, net_tclass_name(tclass));
}
