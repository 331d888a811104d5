/* share_private.h -- shared by the files of share/.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SHARE_SHARE_PRIVATE_H
#define GW_SHARE_SHARE_PRIVATE_H

#include "share/share.h"

const char *share_fault(const struct share_file *f, int fd, uint64_t bytes); /* why it is not this file; NULL: it is */
int share_refused(const struct share_words *w, const struct share_file *f, int fd, const char *why); /* closes fd; an error */

#endif
