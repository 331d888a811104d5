/* tclass.h -- traffic classes (quality of service): names of settings to libfabric's FI_TC_*.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_NET_TCLASS_H
#define GW_NET_TCLASS_H

#include "base/base.h"

enum tclass_errors { TCLASS_WARN, TCLASS_SILENT, TCLASS_ERROR }; /* the order of the setting ofi_tclass_errors */

/* "TC_LOW_LATENCY", "low_latency" or "low-latency" -> FI_TC_LOW_LATENCY; "" -> FI_TC_UNSPEC.  Unknown names: FI_TC_UNSPEC and, by `errors`, a
 * warning, nothing, or GW_EARG. */
int net_tclass_parse(const char *word, enum tclass_errors errors, uint32_t *tclass_out);
/* The provider does not support the class: by `errors` a warning or nothing (GW_OK: go on without it), or an error. */
int net_tclass_refused(uint32_t tclass, const char *provider, enum tclass_errors errors);
const char *net_tclass_name(uint32_t tclass); /* "TC_LOW_LATENCY" */

#endif
