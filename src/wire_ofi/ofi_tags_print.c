/* ofi_tags_print.c -- for `godwit-info --network`: the tags of a provider that matches.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/ofi.h"

#include <stdio.h>

#include "wire_ofi/ofi_private.h"

/* Queries what the provider supports for tags. */
static void tag_means_get(const struct net_offer *o, struct ofi_tag_means *means_out)
{
    struct fi_info *hints = fabric_hints(FI_MSG | FI_TAGGED | FI_DIRECTED_RECV), *list = NULL;
    *means_out = (struct ofi_tag_means){o->mem_tag_format, o->cq_data_size, false};
    if (hints && fabric_lib.getinfo(FABRIC_API, NULL, NULL, 0, hints, &list) != 0) list = NULL;
    for (const struct fi_info *i = list; i; i = i->next) {
        if (strcmp(i->fabric_attr->prov_name, o->provider) != 0 || strcmp(i->domain_attr->name, o->domain) != 0) continue;
        *means_out = (struct ofi_tag_means){i->ep_attr->mem_tag_format, i->domain_attr->cq_data_size, true};
        break;
    }
    if (hints) fabric_lib.freeinfo(hints);
    if (list) fabric_lib.freeinfo(list);
}

void ofi_tags_print(FILE *to, const struct net_offer *o)
{
    struct ofi_tag_layout l;
    struct ofi_tag_means means;
    tag_means_get(o, &means);
    if (offer_loses_data(o->protocol)) means.cq_data_bytes = 0;
    if (ofi_tag_layout_make((enum ofi_tag_mode)gw_set.ofi_tag_mode, &means, &l) != GW_OK) {
        fprintf(to, "tags\n  %s\n", gw_fail_text());
        return;
    }
    fprintf(to, "tags where the provider matches (GODWIT_MATCH_MODE; else tags to %d)\n", INT32_MAX);
    if (offer_stops_at_unexpected(o->protocol))
        fprintf(to, "  not by %s, which stops a connection at a message that nobody waits for\n", o->provider);
    fprintf(to, "  %s: context ids to %u, tags to %d, ", ofi_tag_mode_names[l.mode], l.cid_max, l.tag_max);
    if (l.src_bits)
        fprintf(to, "%u ranks\n", l.src_max + 1);
    else
        fprintf(to, "any number of ranks\n");
}
