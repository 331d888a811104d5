/* json_test.c -- documents are JSON whatever texts, numbers and locale are.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/json.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../test/unit.h"

static char *at;
static size_t bytes;
static struct gw_json j;

static void begin(void)
{
    free(at);
    FILE *to = open_memstream(&at, &bytes);
    if (!to) abort();
    gw_json_begin(&j, to);
}

static const char *end(void)
{
    CHECK(gw_json_end(&j));
    CHECK_EQ(fclose(j.to), 0);
    return at;
}

/* What a text becomes. */
static const char *text(const char *in)
{
    static char out[256];
    begin();
    gw_json_row(&j, "a");
    gw_json_text(&j, "t", in);
    gw_json_close(&j);
    const char *value = strstr(end(), "\"t\": ");
    snprintf(out, sizeof out, "%s", value ? value + 5 : "(none)");
    out[strcspn(out, "}")] = 0;
    return out;
}

static const char *real(double x)
{
    static char out[64];
    begin();
    gw_json_real(&j, "x", x);
    snprintf(out, sizeof out, "%s", strchr(end(), ':') + 2);
    out[strcspn(out, "\n")] = 0;
    return out;
}

static void texts(void)
{
    CHECK_STR(text(""), "\"\"");
    CHECK_STR(text(NULL), "null");
    CHECK_STR(text("plain ~"), "\"plain ~\"");
    CHECK_STR(text("\"a\\b/c\""), "\"\\\"a\\\\b/c\\\"\"");
    CHECK_STR(text("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\"");
    CHECK_STR(text("\001\037\177\033[31m"), "\"\\u0001\\u001f\\u007f\\u001b[31m\"");
    CHECK_STR(text("\xc3\xbc\xe2\x82\xac"), "\"\\u00fc\\u20ac\"");
    CHECK_STR(text("\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf"), "\"\\ud83d\\ude00\\udbff\\udfff\"");
    CHECK_STR(text("\xe2\x80\xa8\xe2\x80\xae"), "\"\\u2028\\u202e\""); /* ends of lines of JavaScript, what turns the direction */
    /* No UTF-8: alone, too short, too long a form, half of a pair, beyond the last, cut at the end. */
    CHECK_STR(text("a\xff z"), "\"a\\ufffd z\"");
    CHECK_STR(text("\x80\xbf"), "\"\\ufffd\\ufffd\"");
    CHECK_STR(text("\xc3("), "\"\\ufffd(\"");
    CHECK_STR(text("\xc0\xaf"), "\"\\ufffd\\ufffd\"");
    CHECK_STR(text("\xe0\x80\xaf"), "\"\\ufffd\\ufffd\\ufffd\"");
    CHECK_STR(text("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"");
    CHECK_STR(text("\xf4\x90\x80\x80"), "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
    CHECK_STR(text("\xe2\x82"), "\"\\ufffd\\ufffd\"");
    begin();
    gw_json_text_n(&j, "n", "a\0\xe2\x82\xac", 3); /* a zero byte, and a character that is cut */
    CHECK_STR(end(), "{\n  \"n\": \"a\\u0000\\ufffd\"\n}\n");
}

static void numbers(void)
{
    CHECK_STR(real(0), "0");
    CHECK_STR(real(-1.5), "-1.5");
    CHECK_STR(real(.1), "0.1");
    CHECK_STR(real(1e300), "1e+300");
    CHECK_STR(real(123456789), "123456789");
    CHECK_STR(real(-291216720), "-291216720");
    CHECK_STR(real(1e15), "1e+15");
    CHECK_STR(real(NAN), "null");
    CHECK_STR(real(INFINITY), "null");
    CHECK(strtod(real(1.0 / 3), NULL) == 1.0 / 3);
    CHECK(strtod(real(5e-324), NULL) == 5e-324);
    begin();
    gw_json_thousandths(&j, "a", 1234007);
    gw_json_thousandths(&j, "b", 0);
    gw_json_thousandths(&j, "c", UINT64_MAX);
    CHECK_STR(end(), "{\n  \"a\": 1234.007,\n  \"b\": 0.000,\n  \"c\": 18446744073709551.615\n}\n");
    begin();
    gw_json_int(&j, "least", INT64_MIN);
    gw_json_int(&j, "most", INT64_MAX);
    gw_json_bool(&j, "yes", true);
    gw_json_bool(&j, "no", false);
    CHECK_STR(end(),
              "{\n  \"least\": -9223372036854775808,\n  \"most\": 9223372036854775807,\n  \"yes\": true,\n  \"no\": false\n}\n");
}

/* Decimal commas do not come through. */
static void locales(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!setlocale(LC_ALL, names[i])) continue; /* not on this machine */
        CHECK_STR(real(1234.25), "1234.25");
        CHECK_STR(real(1.0 / 3), "0.3333333333333333");
    }
    setlocale(LC_ALL, "C");
}

static void shapes(void)
{
    begin();
    CHECK_STR(end(), "{}\n");
    begin();
    gw_json_array(&j, "none");
    gw_json_close(&j);
    gw_json_object(&j, "o\"");
    gw_json_int(&j, "a", 1);
    gw_json_close(&j);
    gw_json_array(&j, "rows");
    for (int i = 0; i < 2; i++) {
        gw_json_row(&j, NULL);
        gw_json_int(&j, "i", i);
        gw_json_array(&j, "in");
        gw_json_int(&j, NULL, 7);
        gw_json_int(&j, NULL, 8);
        gw_json_close(&j);
        gw_json_row(&j, "row");
        gw_json_close(&j);
        gw_json_close(&j);
    }
    gw_json_close(&j);
    gw_json_bool(&j, "last", true);
    CHECK_STR(
        end(),
        "{\n  \"none\": [],\n  \"o\\\"\": {\n    \"a\": 1\n  },\n  \"rows\": [\n"
        "    {\"i\": 0, \"in\": [7, 8], \"row\": {}},\n    {\"i\": 1, \"in\": [7, 8], \"row\": {}}\n  ],\n  \"last\": true\n}\n");
}

static void broken_stream(void)
{
    FILE *full = fopen("/dev/full", "w");
    if (!full) return;
    gw_json_begin(&j, full);
    gw_json_int(&j, "a", 1);
    CHECK(!gw_json_end(&j));
    fclose(full);
}

int main(void)
{
    texts();
    numbers();
    locales();
    shapes();
    broken_stream();
    free(at);
    return unit_end();
}
