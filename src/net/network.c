/* network.c -- see network.h: this machine's networks as they would be used, for tools.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "net/net_private.h"

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

static int version_print(FILE *to)
{
    int rc = ofi_lib_open(true);
    if (rc == GW_OK)
        fprintf(to, "libfabric %u.%u\n", FI_MAJOR(ofi_lib.version()), FI_MINOR(ofi_lib.version()));
    else
        fprintf(to, "libfabric: %s\n", gw_fail_text());
    return rc;
}

int network_print(FILE *to, network_more_fn more)
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
        more(to, &m.offers[m.verdicts[0].offer]);
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
    int rc = ofi_lib_open(true);
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
