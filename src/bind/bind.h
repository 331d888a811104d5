/* bind.h -- binding of ranks to the cores of this machine.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_BIND_BIND_H
#define GW_BIND_BIND_H

#include "job/job.h"

int bind_numa(struct launch_options *o);  /* -sl, -sn: their cores become those that are used; as bind_check() */
int bind_check(struct launch_options *o); /* names cores that are not here: the exit status, after an explanation; else -1 */
void bind_make(const struct launch_options *o, struct bind_map *m_out);
void bind_free(struct bind_map *m, int n_ranks);
void bind_print(const struct bind_map *m, int n_ranks);
void bind_show(const struct launch_options *o, const struct bind_map *m, const char *host); /* on standard output: --display-map */
int bind_memory(const struct bind_map *m, int rank); /* this process's memory policy; 0 or errno */
/* cores (not hardware threads) that may be used, at most what a CPU quota leaves; NULL: no option limits them */
int bind_cores(const struct launch_options *o);
int bind_units(const struct launch_options *o, enum unit unit); /* so many of them there are */

#endif
