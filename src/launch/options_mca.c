/* options_mca.c -- parameters of Open MPI (--mca NAME VALUE): all go to the ranks as OMPI_MCA_NAME, where settings and programs of Open
 * MPI read them; some are for the launcher; one note names those that nobody here knows.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "launch/options_private.h"
#include "base/settings.h"

static bool is_yes(const char *value)
{
    return *value && strcmp(value, "0") != 0 && strcasecmp(value, "false") != 0 && strcasecmp(value, "no") != 0;
}

/* Parameters of the launcher; -2: it is none of these. */
static int of_launcher(struct launch_options *o, const char *name, const char *value)
{
    if (strncmp(name, "orte_", 5) == 0 || strncmp(name, "prte_", 5) == 0) name += 5;
    if (strcmp(name, "rmaps_base_oversubscribe") == 0)
        o->oversubscribe = is_yes(value);
    else if (strcmp(name, "rmaps_base_no_oversubscribe") == 0)
        launch_no_oversubscribe(o, "--mca rmaps_base_no_oversubscribe", is_yes(value));
    else if (strcmp(name, "rmaps_base_mapping_policy") == 0 || strcmp(name, "rmaps_default_mapping_policy") == 0)
        return launch_set_map(o, "--mca rmaps_base_mapping_policy", value);
    else if (strcmp(name, "hwloc_base_binding_policy") == 0 || strcmp(name, "hwloc_default_binding_policy") == 0)
        return launch_set_bind(o, "--mca hwloc_base_binding_policy", value);
    else if (strcmp(name, "tag_output") == 0)
        o->output.label = is_yes(value);
    else if (strcmp(name, "timestamp_output") == 0)
        o->output.timestamp = is_yes(value);
    else
        return -2;
    return -1;
}

static bool is_setting(const char *variable)
{
    size_t len = strlen(variable);
    for (int i = 0; i < gw_settings_count(); i++) {
        struct gw_setting_info s;
        const char *origin;
        char value[512];
        gw_settings_get(i, &s, value, sizeof value, &origin);
        for (const char *p = s.aliases; *p; p += strspn(p, " ")) {
            size_t n = strcspn(p, " ");
            if (n == len && strncmp(p, variable, n) == 0) return true;
            p += n;
        }
    }
    return false;
}

/* The note names them, so the ranks do not (base/foreign.c). */
static void told_set(struct launch_options *o)
{
    char *names = NULL;
    for (int i = 0; i < o->mca_unknown.n; i++) {
        char *more = gw_xasprintf("%s%sOMPI_MCA_%s", names ? names : "", names ? "," : "", o->mca_unknown.at[i]);
        free(names);
        names = more;
    }
    if (names) launch_add_pair(&o->env, "GODWIT_MCA_TOLD", names);
    free(names);
}

int launch_set_mca(struct launch_options *o, const char *option, char **v)
{
    const char *name = v[0], *value = v[1];
    if (!*name || strchr(name, '=')) return launch_usage_error("%s wants a name and a value as two words, not '%s'", option, name);
    char *variable = gw_xasprintf("OMPI_MCA_%s", name);
    int rc = of_launcher(o, name, value);
    if (rc == -2 && !is_setting(variable) &&
        !gw_foreign_why(variable)) { /* if the ranks know the variable, they report why it has no effect */
        bool known = false;
        for (int i = 0; i < o->mca_unknown.n; i++) known |= strcmp(o->mca_unknown.at[i], name) == 0;
        if (!known) words_add(&o->mca_unknown, name);
        told_set(o);
    }
    launch_add_pair(&o->env, variable, value);
    free(variable);
    return rc >= 0 ? rc : -1;
}

/* Names the parameters that nothing here reads.  (Programs of Open MPI read all of them.) */
void launch_mca_note(const struct launch_options *o)
{
    char names[512] = "";
    if (!o->mca_unknown.n || o->quiet) return;
    for (int i = 0; i < o->n_apps; i++) {
        enum program_mpi is = program_mpi(o->apps[i].argv[0], o->apps[i].wdir);
        if (is == PROGRAM_PMIX || is == PROGRAM_OMPI) return;
    }
    for (int i = 0; i < o->mca_unknown.n; i++) gw_text_add(names, sizeof names, "%s%s", i ? ", " : "", o->mca_unknown.at[i]);
    say_line("of no effect here: %s (parameters of Open MPI; `godwit-info --settings` lists what can be set)", names);
}
