/* network.c -- see network.h: this machine's networks as they would be used, for tools.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "wire_ofi/network_private.h"
#include "wire_ofi/ofi_tag.h"
#include "wire_ofi/tclass.h"

static void ifaces_print(FILE *to, const struct ofi_ifaces *f)
{
    char text[256];
    fprintf(to, "interfaces\n");
    for (int i = 0; i < f->n; i++) {
        const struct iface_verdict *v = &f->verdicts[i];
        iface_text(&f->all[v->iface], text, sizeof text);
        fprintf(to, "  %s%s%s\n", v->is_refused ? "refused: " : "", v->is_refused ? v->why : text,
                i == 0 && !v->is_refused ? ": the first choice" : "");
    }
    if (f->n == 0) fprintf(to, "  none that can be seen\n");
}

static void nics_print(FILE *to, const struct ofi_market *m)
{
    int offers[NIC_MOST], n = ofi_market_nics(m, offers);
    struct nic_device d;
    fprintf(to, "NICs (policy %s%s)\n", nic_policy_names[gw_set.nic_policy], n == 1 ? ", of no effect with one" : "");
    for (int i = 0; i < n; i++) {
        nic_locate("", &m->offers[offers[i]], &d);
        fprintf(to, "  index=%d, domain_name=%s, numa_node=%d, address=[%s]\n", i, d.name, d.numa, d.address);
    }
}

/* What the provider can do for tags, where it is asked for that. */
static void tag_means_get(const struct ofi_offer *o, struct ofi_tag_means *means_out)
{
    struct fi_info *hints = ofi_hints(FI_MSG | FI_TAGGED | FI_DIRECTED_RECV), *list = NULL;
    *means_out = (struct ofi_tag_means){o->mem_tag_format, o->cq_data_size, false};
    if (hints && ofi_lib.getinfo(OFI_API, NULL, NULL, 0, hints, &list) != 0) list = NULL;
    for (const struct fi_info *i = list; i; i = i->next) {
        if (strcmp(i->fabric_attr->prov_name, o->provider) != 0 || strcmp(i->domain_attr->name, o->domain) != 0) continue;
        *means_out = (struct ofi_tag_means){i->ep_attr->mem_tag_format, i->domain_attr->cq_data_size, true};
        break;
    }
    if (hints) ofi_lib.freeinfo(hints);
    if (list) ofi_lib.freeinfo(list);
}

static void tags_print(FILE *to, const struct ofi_offer *o)
{
    struct ofi_tag_layout l;
    struct ofi_tag_means means;
    tag_means_get(o, &means);
    if (ofi_tag_layout_make((enum ofi_tag_mode)gw_set.ofi_tag_mode, &means, &l) != GW_OK) {
        fprintf(to, "tags\n  %s\n", gw_fail_text());
        return;
    }
    fprintf(to, "tags where the provider matches (GODWIT_MATCH_MODE; else tags to %d)\n", INT32_MAX);
    if (ofi_stops_at_unexpected(o->protocol))
        fprintf(to, "  not by %s, which stops a connection at a message that nobody waits for\n", o->provider);
    fprintf(to, "  %s: context ids to %u, tags to %d, ", ofi_tag_mode_names[l.mode], l.cid_max, l.tag_max);
    if (l.src_bits)
        fprintf(to, "%u ranks\n", l.src_max + 1);
    else
        fprintf(to, "any number of ranks\n");
}

static int version_print(FILE *to)
{
    int rc = ofi_lib_open();
    if (rc == GW_OK)
        fprintf(to, "libfabric %u.%u\n", FI_MAJOR(ofi_lib.version()), FI_MINOR(ofi_lib.version()));
    else
        fprintf(to, "libfabric: %s\n", gw_fail_text());
    return rc;
}

int network_print(FILE *to)
{
    struct ofi_market m;
    char text[4096];
    int rc = version_print(to);
    if (rc == GW_OK && (rc = ofi_market_open(&m, true)) != GW_OK) fprintf(to, "%s\n", gw_fail_text());
    if (rc != GW_OK) return rc;
    ifaces_print(to, &m.ifaces);
    fprintf(to, "providers\n");
    ofi_offers_text(m.offers, m.verdicts, m.n, text, sizeof text);
    for (char *line = text, *save; (line = strtok_r(line, "\n", &save)); line = NULL) fprintf(to, "  %s\n", line);
    if (m.n_usable > 0) {
        nics_print(to, &m);
        tags_print(to, &m.offers[m.verdicts[0].offer]);
    } else {
        ofi_offers_none_text(m.offers, m.verdicts, m.n, &m.wish, text, sizeof text);
        fprintf(to, "%s\n", text);
        rc = GW_EUNSUPPORTED;
    }
    ofi_market_close(&m);
    return rc;
}

int network_line(char *out, size_t cap)
{
    struct ofi_market m;
    int rc = ofi_lib_open();
    if (rc == GW_OK) rc = ofi_market_open(&m, true);
    if (rc != GW_OK) {
        snprintf(out, cap, "%s", gw_fail_text());
        return rc;
    }
    if (m.n_usable > 0) {
        const struct ofi_offer *o = &m.offers[m.verdicts[0].offer];
        int offers[NIC_MOST], n = ofi_market_nics(&m, offers);
        snprintf(out, cap, "libfabric %u.%u, %s on %s%s%s", FI_MAJOR(ofi_lib.version()), FI_MINOR(ofi_lib.version()), o->provider,
                 o->domain, *o->address ? ", " : "", o->address);
        if (n > 1) snprintf(out + strlen(out), cap - strlen(out), ", %d NICs", n);
    } else {
        ofi_offers_none_text(m.offers, m.verdicts, m.n, &m.wish, out, cap);
        rc = GW_EUNSUPPORTED;
    }
    ofi_market_close(&m);
    return rc;
}
