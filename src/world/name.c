/* name.c -- published names (MPI 4.1 section 11.9.4): seen by all jobs of the same user on this machine, or in a folder.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "world/world_private.h"
#include "base/base.h"
#include "base/lock.h"
#include "boot/name.h"

struct name {
    struct gw_list link;
    int fds[2];
    char *service, *port;
};
/* What this process has published. */
static struct {
    struct gw_lock lock;
    struct gw_list list;
} names = {.list = {&names.list, &names.list}};

static void name_free(struct name *n)
{
    if (n->fds[0] >= 0) {
        close(n->fds[0]);
        close(n->fds[1]);
    } else {
        world_name_file_remove(n->service, n->port);
    }
    free(n->service);
    free(n->port);
    free(n);
}

int world_publish_name(const char *service, const char *port)
{
    if (!boot_name_fits(port)) return gw_fail(GW_EPORT, "port_name is \"%.64s\": it is none that MPI_Open_port gave", port);
    struct name *n = gw_xcalloc(1, sizeof *n);
    n->fds[0] = n->fds[1] = -1;
    int rc = world_name_file_wanted() ? world_name_file_publish(service, port) : GW_OK;
    if (rc != GW_OK) {
        free(n);
        return rc;
    }
    if (!world_name_file_wanted() && boot_name_publish(service, port, n->fds) < 0) {
        int why = errno;
        free(n);
        if (why == EADDRINUSE) return gw_fail(GW_ESERVICE, "service_name is \"%.64s\": it is published already", service);
        return gw_fail(GW_ESERVICE, "service_name is \"%.64s\": it cannot be published: %s", service, strerror(why));
    }
    n->service = gw_xasprintf("%s", service);
    n->port = gw_xasprintf("%s", port);
    gw_lock(&names.lock);
    gw_list_push(&names.list, &n->link);
    gw_unlock(&names.lock);
    return GW_OK;
}

int world_unpublish_name(const char *service, const char *port)
{
    struct name *found = NULL;
    gw_lock(&names.lock);
    for (struct gw_list *l = names.list.next; l != &names.list && !found; l = l->next) {
        struct name *n = container_of(l, struct name, link);
        if (strcmp(n->service, service) == 0 && strcmp(n->port, port) == 0) found = n;
    }
    if (found) gw_list_del(&found->link);
    gw_unlock(&names.lock);
    if (!found) return gw_fail(GW_ESERVICE, "service_name is \"%.64s\": this process has not published it with this port", service);
    name_free(found);
    return GW_OK;
}

int world_lookup_name(const char *service, char *port_out)
{
    if (world_name_file_wanted()) return world_name_file_lookup(service, port_out);
    if (boot_name_lookup(service, port_out, GW_MAX_PORT_NAME)) return GW_OK;
    return gw_fail(
        GW_ENAME,
        "service_name is \"%.64s\": no job of this user on this machine (and in this container) has published it; names of "
        "other hosts are seen where both jobs have GODWIT_NAMES_DIR=FOLDER, one that both hosts see",
        service);
}

GW_ONCE void world_published_finalize(void)
{
    for (struct gw_list *l = names.list.next, *next; l != &names.list; l = next) {
        next = l->next;
        gw_list_del(l);
        name_free(container_of(l, struct name, link));
    }
}
