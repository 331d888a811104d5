/* svg.h -- curves in a picture: both axes logarithmic, a legend, nothing from outside.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef GW_SIM_SVG_H
#define GW_SIM_SVG_H

#include <stdbool.h>

struct svg_curve {
    const char *name;
    int n;
    const double *x, *y; /* all > 0 */
};
struct svg_chart {
    const char *title, *x_name, *y_name;
    int n;
    const struct svg_curve *curves;
};

bool svg_write(const char *path, const struct svg_chart *c); /* false: errno says why */

#endif
