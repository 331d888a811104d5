/* fuzz_settings.c -- any text as the value of any setting, under its own name or an alias; what was understood reads back the same.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/base.h"
#include "base/settings.h"

#include "fuzz.h"

static bool load_and_get(int i, char *value, size_t cap)
{
    struct gw_setting_info info;
    const char *origin;
    gw_settings_load();
    gw_settings_get(i, &info, value, cap, &origin);
    return strcmp(origin, "default") != 0;
}

/* Of the setting: its own variable or, by `pick`, one of its aliases. */
static void name_of(const struct gw_setting_info *info, unsigned pick, char *out, size_t cap)
{
    const char *p = info->aliases;
    snprintf(out, cap, "%s", info->env);
    for (unsigned k = 0; *p && k < (pick & 3); k++) {
        size_t n = strcspn(p, " ");
        snprintf(out, cap, "%.*s", (int)n, p);
        p += n + strspn(p + n, " ");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = in_open(data, size);
    struct gw_setting_info info;
    const char *origin;
    static char first[8192], second[8192];
    char name[256];
    int i = in_below(&in, gw_settings_count());
    unsigned pick = in_byte(&in);
    gw_settings_get(i, &info, first, sizeof first, &origin);
    name_of(&info, pick, name, sizeof name);
    char *text = in_text(&in, 4000), *unknown = NULL;
    if (in_more(&in)) { /* and a name that is none, perhaps */
        char *rest = in_text(&in, 300);
        for (char *p = rest; *p; p++)
            if (*p == '=') *p = '_';
        if (asprintf(&unknown, "GODWIT_%s", rest) < 0) abort();
        free(rest);
        setenv(unknown, "1", 1);
    }
    setenv(name, text, 1);
    bool taken = load_and_get(i, first, sizeof first);
    gw_settings_free();
    unsetenv(name);
    if (unknown) unsetenv(unknown);
    free(unknown);
    free(text);
    if (taken) {
        setenv(info.env, first, 1);
        FUZZ_CHECK(load_and_get(i, second, sizeof second));
        FUZZ_CHECK(!strcmp(first, second));
        gw_settings_free();
        unsetenv(info.env);
    }
    return 0;
}
