/* svg.c -- writes curves.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "svg.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 760, HEIGHT = 480, LEFT = 74, RIGHT = 180, TOP = 44, BOTTOM = 56 };
static const char *const colours[] = {"#1b6ca8", "#c8553d", "#3a7d44", "#7d4e9e", "#b8860b", "#444444", "#0f8b8d", "#a23b72"};
enum { COLOURS = sizeof colours / sizeof colours[0] };

struct axis {
    double low, high;
}; /* powers of ten */

static void widen(struct axis *a, double v)
{
    if (v < a->low) a->low = v;
    if (v > a->high) a->high = v;
}
static struct axis axis_of(const struct svg_chart *c, bool is_x)
{
    struct axis a = {INFINITY, -INFINITY};
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < c->curves[i].n; k++) widen(&a, log10(is_x ? c->curves[i].x[k] : c->curves[i].y[k]));
    if (!is_x) a.low = floor(a.low), a.high = ceil(a.high);
    if (!(a.high > a.low)) a = (struct axis){isfinite(a.low) ? a.low - 0.5 : 0, isfinite(a.low) ? a.low + 0.5 : 1};
    return a;
}
static double place_x(struct axis a, double v) { return LEFT + (log10(v) - a.low) / (a.high - a.low) * (WIDTH - LEFT - RIGHT); }
static double place_y(struct axis a, double v)
{
    return HEIGHT - BOTTOM - (log10(v) - a.low) / (a.high - a.low) * (HEIGHT - TOP - BOTTOM);
}

static void text(FILE *f, const char *s)
{
    for (; *s; s++) *s == '<' ? fputs("&lt;", f) : *s == '&' ? fputs("&amp;", f) : fputc(*s, f);
}
static void label(FILE *f, double x, double y, const char *anchor, const char *s)
{
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    text(f, s);
    fputs("</text>\n", f);
}
/* 1, 10k, 4M: with the prefix that makes it short. */
static void number(char *out, size_t cap, double v)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    int i = 0;
    while (v >= 1000 && i < 4) v /= 1000, i++;
    snprintf(out, cap, "%.4g%s", v, prefixes[i]);
}

static void grid(FILE *f, const struct svg_chart *c, struct axis x, struct axis y)
{
    char s[32];
    fputs("<g stroke=\"#dddddd\">\n", f);
    for (double p = ceil(x.low); p <= x.high + 1e-9; p++)
        fprintf(f, "<path d=\"M%.1f %d V%d\"/>\n", place_x(x, pow(10, p)), TOP, HEIGHT - BOTTOM);
    for (double p = y.low; p <= y.high + 1e-9; p++)
        fprintf(f, "<path d=\"M%d %.1f H%d\"/>\n", LEFT, place_y(y, pow(10, p)), WIDTH - RIGHT);
    fputs("</g>\n", f);
    for (double p = ceil(x.low); p <= x.high + 1e-9; p++) {
        number(s, sizeof s, pow(10, p));
        label(f, place_x(x, pow(10, p)), HEIGHT - BOTTOM + 18, "middle", s);
    }
    for (double p = y.low; p <= y.high + 1e-9; p++) {
        number(s, sizeof s, pow(10, p));
        label(f, LEFT - 6, place_y(y, pow(10, p)) + 4, "end", s);
    }
    label(f, LEFT + (WIDTH - LEFT - RIGHT) / 2.0, HEIGHT - 14, "middle", c->x_name);
    label(f, LEFT, TOP - 8, "start", c->y_name);
}

static void curve(FILE *f, const struct svg_curve *c, int i, struct axis x, struct axis y)
{
    const char *colour = colours[i % COLOURS];
    fprintf(f, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", colour);
    for (int k = 0; k < c->n; k++) fprintf(f, "%.1f,%.1f ", place_x(x, c->x[k]), place_y(y, c->y[k]));
    fputs("\"/>\n", f);
    for (int k = 0; k < c->n; k++)
        fprintf(f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", place_x(x, c->x[k]), place_y(y, c->y[k]), colour);
    double at = TOP + 10 + 20 * i;
    fprintf(f, "<path d=\"M%d %.1f h22\" stroke=\"%s\" stroke-width=\"2\"/>\n", WIDTH - RIGHT + 14, at, colour);
    label(f, WIDTH - RIGHT + 42, at + 4, "start", c->name);
}

bool svg_write(const char *path, const struct svg_chart *c)
{
    FILE *f = fopen(path, "w");
    if (!f) return false;
    struct axis x = axis_of(c, true), y = axis_of(c, false);
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n",
            WIDTH, HEIGHT);
    fprintf(f, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", WIDTH, HEIGHT);
    fputs("<g font-size=\"14\" font-weight=\"bold\">", f);
    label(f, WIDTH / 2.0, 20, "middle", c->title);
    fputs("</g>\n", f);
    grid(f, c, x, y);
    for (int i = 0; i < c->n; i++) curve(f, &c->curves[i], i, x, y);
    fputs("</svg>\n", f);
    bool ok = !ferror(f);
    return fclose(f) == 0 && ok;
}
