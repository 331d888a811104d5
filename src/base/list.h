/* list.h -- intrusive doubly linked lists.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BASE_LIST_H
#define GW_BASE_LIST_H

#include <stdbool.h>

/* ---- intrusive doubly linked list ---------------------------------------------------------------- */
struct gw_list {
    struct gw_list *next, *prev;
};
static inline void gw_list_init(struct gw_list *l) { l->next = l->prev = l; }
static inline bool gw_list_empty(const struct gw_list *l) { return l->next == l; }
static inline void gw_list_push(struct gw_list *l, struct gw_list *e) /* at the tail */
{
    e->prev = l->prev;
    e->next = l;
    l->prev->next = e;
    l->prev = e;
}
static inline void gw_list_del(struct gw_list *e)
{
    e->prev->next = e->next;
    e->next->prev = e->prev;
}

#endif
