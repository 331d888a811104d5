/* card.c -- a libfabric.so.1 in front of the system's: its provider tcp;ofi_rxm says that it is a card, which reads and writes memory that was
 * registered for it, and the others are not there.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

static void *real(const char *name)
{
    static void *so;
    if (!so) so = dlopen(REAL, RTLD_NOW | RTLD_LOCAL);
    void *at = so ? dlsym(so, name) : NULL;
    if (!at) {
        fprintf(stderr, "card: no %s in " REAL "\n", name);
        abort();
    }
    return at;
}

#define FORWARD(type, name, params, args)                                                                                          \
    type name params { return ((type(*) params)real(#name))args; }
FORWARD(struct fi_info *, fi_dupinfo, (const struct fi_info *i), (i))
FORWARD(int, fi_fabric, (struct fi_fabric_attr * a, struct fid_fabric **f, void *c), (a, f, c))
FORWARD(const char *, fi_strerror, (int e), (e))
FORWARD(uint32_t, fi_version, (void), ())
void fi_freeinfo(struct fi_info *i) { ((void (*)(struct fi_info *))real("fi_freeinfo"))(i); }

int fi_getinfo(uint32_t v, const char *n, const char *s, uint64_t flags, const struct fi_info *hints, struct fi_info **list)
{
    int rc = ((int (*)(uint32_t, const char *, const char *, uint64_t, const struct fi_info *, struct fi_info **))real(
        "fi_getinfo"))(v, n, s, flags, hints, list);
    for (struct fi_info **at = list, *i; rc == 0 && (i = *at);) {
        if (strcmp(i->fabric_attr->prov_name, "tcp;ofi_rxm") == 0) {
            i->domain_attr->mr_mode |= FI_MR_ALLOCATED; /* memory has to be there when it is registered, as cards want it */
            at = &i->next;
        } else {
            *at = i->next;
            i->next = NULL;
            fi_freeinfo(i);
        }
    }
    return rc == 0 && !*list ? -FI_ENODATA : rc;
}
