/* verdict.c -- which ranks can never go on, and why.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "launch/verdict.h"

#include <stdlib.h>

char *verdict_text(const struct verdict_job *j)
{
    struct text t = {0};
    text_places(&t, j);
    return t.at;
}
