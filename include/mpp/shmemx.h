/* mpp/shmemx.h -- the name that programs of OpenSHMEM 1.0 and before include.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <shmemx.h>
