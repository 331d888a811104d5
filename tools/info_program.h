/* info_program.h -- the part of godwit-info that looks at programs.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_TOOLS_INFO_PROGRAM_H
#define GW_TOOLS_INFO_PROGRAM_H

int info_program(const char *path); /* prints; 0, or 1: it cannot run */

#endif
