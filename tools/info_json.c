/* info_json.c -- `godwit-info --json`: share/godwit/schema/info.json says what stands where.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "info.h"
#include "base/foreign.h"
#include "base/os.h"
#include "base/processor.h"
#include "build_info.h"
#include "job/program.h"
#include "obj/consts_gen.h"
#include "sym/sym.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void version_json(struct gw_json *j, const char *name, int major, int minor)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d", major, minor);
    gw_json_text(j, name, text);
}

static void versions_json(struct gw_json *j)
{
    gw_json_object(j, "versions");
    gw_json_text(j, "godwit", GODWIT_VERSION);
    version_json(j, "mpi", GW_VERSION, GW_SUBVERSION);
    version_json(j, "abi", GW_ABI_VERSION, GW_ABI_SUBVERSION);
    version_json(j, "openshmem", SYM_MAJOR, SYM_MINOR);
    gw_json_text(j, "library", "libmpi_abi.so.1");
    gw_json_close(j);
}

static void compiler_json(struct gw_json *j, const char *name, const char *command, const char *family, const char *version)
{
    gw_json_row(j, name);
    gw_json_text(j, "command", *command ? command : NULL);
    gw_json_text(j, "family", *command ? family : NULL);
    gw_json_text(j, "version", *command ? version : NULL);
    gw_json_close(j);
}

static void build_json(struct gw_json *j)
{
    gw_json_object(j, "build");
    gw_json_text(j, "type", BUILD_TYPE);
    gw_json_text(j, "options", BUILD_OPTIONS);
    gw_json_text(j, "machine", BUILD_MACHINE);
    gw_json_text(j, "prefix", BUILD_PREFIX);
    gw_json_text(j, "library_folder", BUILD_LIBDIR);
    gw_json_object(j, "compilers");
    compiler_json(j, "c", BUILD_CC, BUILD_CC_FAMILY, BUILD_CC_VERSION);
    compiler_json(j, "cxx", BUILD_CXX, BUILD_CXX_FAMILY, BUILD_CXX_VERSION);
    compiler_json(j, "fortran", BUILD_FC, "gcc", BUILD_FC_VERSION);
    gw_json_close(j);
    gw_json_close(j);
}

static void words_json(struct gw_json *j, const char *name, const char *const *words, int n)
{
    gw_json_array(j, name);
    for (int i = 0; i < n; i++) gw_json_text(j, NULL, words[i]);
    gw_json_close(j);
}

/* The doors that lie beside this program. */
static void doors_json(struct gw_json *j)
{
    static const char *const libraries[] = {"libmpich.so.12", "libmpichfort.so.12", "libmpi.so.40", "libmpi_mpifh.so.40",
                                            "libmpi_cxx.so.40"};
    char *own = gw_own_folder();
    gw_json_array(j, "doors");
    for (size_t i = 0; own && i < GW_ARRAY_LEN(libraries); i++)
        for (int k = 0; program_doors[k]; k++) {
            char *file = gw_xasprintf("%s/%s/%s", own, program_doors[k], libraries[i]);
            bool is = access(file, R_OK) == 0;
            free(file);
            if (!is) continue;
            gw_json_text(j, NULL, libraries[i]);
            break;
        }
    gw_json_close(j);
    free(own);
}

static void features_json(struct gw_json *j)
{
    static const char *const wires[] = {"shm", "tcp", "libfabric"},
                             *const launchers[] = {"mpiexec", "pmix", "pmi1", "pmi2", "none"},
                             *const levels[] = {"single", "funneled", "serialized", "multiple"};
    gw_json_object(j, "features");
    words_json(j, "wires", wires, GW_ARRAY_LEN(wires));
    words_json(j, "launchers", launchers, GW_ARRAY_LEN(launchers));
    words_json(j, "thread_levels", levels, GW_ARRAY_LEN(levels));
    doors_json(j);
    gw_json_bool(j, "fortran", *BUILD_FC);
    gw_json_bool(j, "cuda", false); /* no memory of GPUs: CONTRIBUTING.md, "What is covered" */
    gw_json_bool(j, "rocm", false);
    gw_json_close(j);
}

static void host_json(struct gw_json *j)
{
    struct utsname u;
    struct gw_processor here;
    const char *limit;
    char text[GW_PROCESSOR_TEXT], model[256];
    bool is_named = uname(&u) == 0, is_known = gw_processor_here(&here);
    int64_t memory = gw_memory_available(&limit);
    gw_json_object(j, "host");
    gw_json_text(j, "name", is_named ? u.nodename : NULL);
    gw_json_text(j, "system", is_named ? u.sysname : NULL);
    gw_json_text(j, "release", is_named ? u.release : NULL);
    gw_json_text(j, "machine", is_named ? u.machine : NULL);
    gw_json_text(j, "processor", is_known ? gw_processor_text(&here, true, text, sizeof text) : NULL);
    gw_json_text(j, "model", is_known ? gw_processor_model_name(model, sizeof model) : NULL);
    gw_json_int(j, "cores", gw_cores_allowed());
    gw_json_int(j, "memory_bytes", memory);
    gw_json_text(j, "memory_by", limit);
    gw_json_close(j);
}

static void aliases_json(struct gw_json *j, const char *aliases)
{
    gw_json_array(j, "aliases");
    for (const char *p = aliases; *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");
        gw_json_text_n(j, NULL, p, n);
        p += n;
    }
    gw_json_close(j);
}

/* Who set it: nobody, a line of a file (a site's, or that of GODWIT_TUNE), or the environment. */
static void origin_json(struct gw_json *j, const struct info_row *r)
{
    bool is_default = strcmp(r->origin, "default") == 0;
    gw_json_row(j, "set_by");
    gw_json_text(j, "kind", is_default ? "default" : r->info.source ? "file" : "environment");
    gw_json_text(j, "variable", is_default ? NULL : r->origin);
    gw_json_text(j, "where", r->info.source);
    gw_json_close(j);
}

static void setting_json(struct gw_json *j, const struct info_row *r)
{
    const struct gw_setting_info *s = &r->info;
    gw_json_object(j, NULL);
    gw_json_text(j, "name", s->name);
    gw_json_text(j, "variable", s->env);
    aliases_json(j, s->aliases);
    gw_json_text(j, "room", s->room);
    gw_json_text(j, "type", s->type);
    gw_json_text(j, "allowed", s->range);
    gw_json_text(j, "default", s->default_text);
    gw_json_text(j, "value", r->value);
    origin_json(j, r);
    gw_json_text(j, "meaning", s->help);
    gw_json_close(j);
}

static void foreign_json(struct gw_json *j)
{
    static const char *const kinds[] = {[GW_FOREIGN_NOTHING] = "no effect",
                                        [GW_FOREIGN_OTHERS] = "read by another library",
                                        [GW_FOREIGN_NOTED] = "read with another meaning"};
    gw_json_array(j, "foreign");
    for (int i = 0; i < gw_foreign_count(); i++) {
        struct gw_foreign f = gw_foreign_at(i);
        gw_json_object(j, NULL);
        gw_json_text(j, "variable", f.name);
        gw_json_text(j, "kind", kinds[f.kind]);
        gw_json_text(j, "why", f.why);
        gw_json_close(j);
    }
    gw_json_close(j);
}

static void warnings_json(struct gw_json *j, const char *warnings)
{
    gw_json_array(j, "warnings");
    for (const char *line = warnings; *line;) {
        size_t n = strcspn(line, "\n");
        gw_json_text_n(j, NULL, line, n);
        line += n + (line[n] == '\n');
    }
    gw_json_close(j);
}

bool info_json(const bool *wanted, const char *warnings)
{
    struct gw_json j;
    gw_json_begin(&j, stdout);
    gw_json_text(&j, "schema", "godwit-info-1");
    versions_json(&j);
    build_json(&j);
    features_json(&j);
    host_json(&j);
    gw_json_array(&j, "settings");
    for (int i = 0; i < gw_settings_count(); i++) {
        struct info_row r = info_row_get(i);
        if (!wanted || wanted[i]) setting_json(&j, &r);
    }
    gw_json_close(&j);
    warnings_json(&j, warnings);
    info_tuning_json(&j, "tuning");
    foreign_json(&j);
    return gw_json_end(&j);
}
