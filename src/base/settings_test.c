/* settings_test.c -- the environment becomes settings; what is wrong is named and falls back to the default.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/settings_table.h"
#include "base/base_private.h"
#include "base/settings.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../test/unit.h"

/* Output of the next complaints. */
static int capture_fd, stderr_fd;

static void capture_begin(void)
{
    capture_fd = memfd_create("stderr", 0);
    stderr_fd = dup(2);
    dup2(capture_fd, 2);
}

static const char *capture_end(void)
{
    static char text[4096];
    dup2(stderr_fd, 2);
    close(stderr_fd);
    ssize_t n = pread(capture_fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    close(capture_fd);
    return text;
}

static void load_with(const char *name, const char *value)
{
    gw_settings_free();
    if (name) setenv(name, value, 1);
    gw_settings_load();
    if (name) unsetenv(name);
}

static const char *value_of(const char *name, const char **origin_out)
{
    static char value[256];
    struct gw_setting_info info;
    for (int i = 0; i < gw_settings_count(); i++) {
        gw_settings_get(i, &info, value, sizeof value, origin_out);
        if (strcmp(info.name, name) == 0) return value;
    }
    return "no such setting";
}

static void expect(const char *env, const char *text, const char *name, const char *value, bool complains)
{
    const char *origin;
    capture_begin();
    load_with(env, text);
    const char *said = capture_end();
    CHECK_STR(value_of(name, &origin), value);
    CHECK_STR(origin, complains ? "default" : env);
    CHECK_EQ(said[0] != 0, complains);
    if (complains) {
        CHECK(strstr(said, env) != NULL);
        CHECK(strstr(said, text) != NULL);
    }
}

static void test_values(void)
{
    const char *origin;
    load_with(NULL, NULL);
    CHECK_STR(value_of("check_args", &origin), "true");
    CHECK_STR(origin, "default");
    CHECK_STR(value_of("explain", &origin), "");
    CHECK_EQ(gw_log_mask, 0);
    expect("GODWIT_CHECK_ARGS", "off", "check_args", "false", false);
    CHECK(!gw_set.check_args);
    expect("GODWIT_CHECK_ARGS", "maybe", "check_args", "true", true);
    expect("GODWIT_EXPLAIN", "coll,wire", "explain", "coll,wire", false);
    CHECK_EQ(gw_log_mask, GW_LOG_WIRE | GW_LOG_COLL);
    expect("GODWIT_EXPLAIN", "coll,wires", "explain", "", true);
    CHECK_EQ(gw_log_mask, 0);
}

static void test_unknown(void)
{
    const char *said;
    capture_begin();
    load_with("GODWIT_CHEK_ARGS", "1");
    CHECK(strstr(capture_end(), "GODWIT_CHEK_ARGS is not a setting; did you mean GODWIT_CHECK_ARGS?") != NULL);
    capture_begin();
    load_with("GODWIT_BAR", "1"); /* no three letters are near three others */
    said = capture_end();
    CHECK(strstr(said, "GODWIT_BAR is not a setting") && !strstr(said, "did you mean"));
    capture_begin();
    load_with("GODWIT_EAGER", "1"); /* what the name goes on to */
    CHECK(strstr(capture_end(), "GODWIT_EAGER is not a setting; did you mean GODWIT_EAGER_MAX?") != NULL);
    capture_begin();
    load_with("GODWIT_NET_EAGER", "1");
    CHECK(strstr(capture_end(), "GODWIT_NET_EAGER is not a setting; did you mean GODWIT_NET_EAGER_MAX?") != NULL);
    capture_begin();
    load_with("GODWIT_PRO", "1");
    said = capture_end();
    CHECK(strstr(said, "GODWIT_PRO is not a setting; did you mean GODWIT_PRO") && strstr(said, " or another of "));
    capture_begin();
    load_with("GODWIT_QQQQQQQQQQQQQQQQ", "1");
    CHECK(strstr(capture_end(), "GODWIT_QQQQQQQQQQQQQQQQ is not a setting") != NULL);
    capture_begin();
    load_with("GODWIT_BOOT", "fd=3,local=1");
    CHECK_STR(capture_end(), "");
}

/* Variables of HPE's MPI: of no effect, nearly spelled like one that has, and none of ours. */
static void test_foreign(void)
{
    const char *said;
    capture_begin();
    load_with("MPICH_GPU_SUPPORT_ENABLED", "1");
    said = capture_end();
    CHECK(strstr(said, "MPICH_GPU_SUPPORT_ENABLED=1 is of no effect: memory of GPUs is not supported") != NULL);
    capture_begin();
    load_with("MPICH_GPU_SUPPORT_ENABLED", "0");
    CHECK_STR(capture_end(), "");
    static const char GNI_IN_SIM[] =
        "between nodes everything goes by libfabric or TCP, not by GNI; the simulator has it (doc/simulator.md of the sources)";
    static const struct {
        const char *name, *value, *why;
    } idle[] = {
        {"MPICH_GNI_RDMA_THRESHOLD", "2048", GNI_IN_SIM},
        {"MPICH_GNI_VC_MSG_PROTOCOL", "MSGQ", GNI_IN_SIM},
        {"MPICH_GNI_MBOXES_PER_BLOCK", "64", GNI_IN_SIM},
        {"MPICH_USE_DMAPP_COLL", "1", "there is no DMAPP; the simulator has it (doc/simulator.md of the sources)"},
        {"MPICH_GPU_ALLREDUCE_USE_KERNEL", "1", "memory of GPUs is not supported"},
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(idle); i++) {
        char words[256];
        snprintf(words, sizeof words, "%s=%s is of no effect: %s", idle[i].name, idle[i].value, idle[i].why);
        capture_begin();
        load_with(idle[i].name, idle[i].value);
        CHECK(strstr(capture_end(), words) != NULL);
    }
    capture_begin();
    load_with("MPICH_USE_DMAPP_COLL", "0");
    CHECK_STR(capture_end(), "");
    capture_begin();
    load_with("MPICH_ALLOC_MEM_POLICY", "preferred");
    CHECK_STR(capture_end(), "");
    capture_begin();
    load_with("MPICH_GPU_ALLREDUCE_US_KERNEL", "0");
    said = capture_end();
    CHECK(strstr(said,
                 "MPICH_GPU_ALLREDUCE_US_KERNEL is not a variable that is read; did you mean MPICH_GPU_ALLREDUCE_USE_KERNEL?") !=
          NULL);
    capture_begin();
    load_with("MPICH_GATHERV_SHORT_MSGS", "1");
    CHECK(strstr(capture_end(), "did you mean MPICH_GATHERV_SHORT_MSG?") != NULL);
    capture_begin();
    load_with("MPICH_GATHERV_SHORT", "1"); /* what the name goes on to */
    CHECK(strstr(capture_end(), "did you mean MPICH_GATHERV_SHORT_MSG?") != NULL);
    capture_begin();
    load_with("MPICH_CC", "gcc"); /* of the compilers' wrappers */
    CHECK_STR(capture_end(), "");
    static const struct {
        const char *name, *near;
    } misspelt[] = {
        {"FI_CXI_RX_MATCHMODE", "FI_CXI_RX_MATCH_MODE"},
        {"FI_CXI_RDZV_TRESHOLD", "FI_CXI_RDZV_THRESHOLD"},
        {"CXI_FORKSAFE", "CXI_FORK_SAFE"},
        {"SHMEM_SYMETRIC_SIZE", "SHMEM_SYMMETRIC_SIZE"},
        {"SHMEM_VERSON", "SHMEM_VERSION"},
        {"SMA_DEBUGG", "SMA_DEBUG"},
        {"OMPI_MCA_mtl_ofi_tagmode", "OMPI_MCA_mtl_ofi_tag_mode"},
        {"OMPI_MCA_mpi_add_proc_cutoff", "OMPI_MCA_mpi_add_procs_cutoff"},
        {"mtl_ofi_progress_event_count", "mtl_ofi_progress_event_cnt"},
        {"MPI_GNI_MAX_NDREGSIZE", "MPI_GNI_MAX_NDREG_SIZE"},
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(misspelt); i++) {
        char words[160];
        snprintf(words, sizeof words, "%s is not a variable that is read; did you mean %s?", misspelt[i].name, misspelt[i].near);
        capture_begin();
        load_with(misspelt[i].name, "1");
        said = capture_end();
        if (!strstr(said, words)) fprintf(stderr, "%s: said \"%s\"\n", misspelt[i].name, said);
        CHECK(strstr(said, words) != NULL);
    }
    capture_begin();
    load_with("MPI_GNI_MAX_NDREG_SIZE", "256K");
    CHECK(strstr(capture_end(), "MPI_GNI_MAX_NDREG_SIZE=256K is taken as the chunk of R1 (GODWIT_NET_CHUNK)") != NULL);
    static const char *const quiet[] = {
        "FI_CXI_RDZV_THRESHOLD", "FI_LOG_LEVEL",         "CXI_FORK_SAFE",     "OMPI_MCA_btl_x", "FI_CXI_SOMETHING_NEW",
        "OMPI_MCA_pml_x",        "OMPI_MCA_orte_tmpdir", "FI_OPX_HFI_SELECT", "SHMEM_X",        "MTL"};
    for (size_t i = 0; i < GW_ARRAY_LEN(quiet); i++) {
        capture_begin();
        load_with(quiet[i], "1");
        CHECK_STR(capture_end(), "");
    }
    static const struct {
        const char *name, *said;
    } elsewhere[] = {
        {"OMPI_MCA_coll_tuned_bcast_algorithm", "is of no effect: GODWIT_COLL chooses"},
        {"OMPI_MCA_btl_tcp_if_exclude", "is of no effect: GODWIT_NET_IFACE names"},
        {"PRTE_MCA_oob_tcp_if_include", "is of no effect: GODWIT_NET_IFACE names"},
        {"OMPI_MCA_ompio_x", "OMPI_MCA_ompio_x of Open MPI is of no effect here"},
        {"PRTE_MCA_state_x", "PRTE_MCA_state_x of Open MPI's launcher is of no effect here"},
        {"MPIR_CVAR_BCAST_INTRA_ALGORITHM", "is of no effect: GODWIT_COLL chooses"},
        {"MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE", "is of no effect: GODWIT_EAGER_MAX says"},
        {"MPIR_CVAR_ASYNC_PROGRESS", "MPIR_CVAR_ASYNC_PROGRESS=5 is not a switch"},
        {"MPIR_CVAR_ASYNC_PROGRES", "did you mean MPIR_CVAR_ASYNC_PROGRESS?"},
        {"MPIR_CVAR_GPU_IPC_CACHE_MAX_SIZE", "MPIR_CVAR_GPU_IPC_CACHE_MAX_SIZE=5 is of no effect: memory of GPUs"},
        {"OMPI_MCA_pml", "is of no effect: which ways there are is found out; GODWIT_WIRES"},
        {"OMPI_MCA_btl", "is of no effect: which ways there are is found out; GODWIT_WIRES"},
        {"OMPI_MCA_mtl", "is of no effect: which ways there are is found out; GODWIT_WIRES"},
        {"OMPI_MCA_osc", "is of no effect: which ways there are is found out; GODWIT_WIRES"},
        {"MPIR_CVAR_NOLOCAL", "MPIR_CVAR_NOLOCAL of MPICH is of no effect here"},
        {"MPIR_CVAR_CH4_NUM_VCI", "did you mean MPIR_CVAR_CH4_NUM_VCIS?"},
        {"I_MPI_ADJUST_ALLREDUCE", "is of no effect: GODWIT_COLL chooses"},
        {"I_MPI_PIN_DOMAIN", "is of no effect: mpiexec --bind-to"},
        {"I_MPI_THREAD_SPLIT", "I_MPI_THREAD_SPLIT of Intel MPI is of no effect here"},
    };
    for (size_t i = 0; i < GW_ARRAY_LEN(elsewhere); i++) {
        capture_begin();
        load_with(elsewhere[i].name, "5");
        said = capture_end();
        if (!strstr(said, elsewhere[i].said)) fprintf(stderr, "%s: said \"%s\"\n", elsewhere[i].name, said);
        CHECK(strstr(said, elsewhere[i].said) && strstr(said, elsewhere[i].name));
        CHECK(strchr(said, '\n') && !strchr(said, '\n')[1]);
    }
    /* Each name that begins with MPICH_ is one that begins with MPIR_CVAR_, too, which counts after it. */
    for (int i = 0; i < gw_setting_name_count; i++) {
        char twin[128];
        const char *name = setting_text(gw_setting_names[i].name);
        if (strncmp(name, "MPICH_", 6) != 0) continue;
        snprintf(twin, sizeof twin, "MPIR_CVAR_%s", name + 6);
        int at = gw_setting_name_find(twin, strlen(twin));
        CHECK(at >= 0 && (gw_setting_names[i].row < 0 || gw_setting_names[at].row >= 0));
    }
    capture_begin();
    load_with("MPIR_CVAR_ASYNC_PROGRESS", "1");
    CHECK_STR(capture_end(), "");
    CHECK(gw_set.progress_thread);
    setenv("MPICH_ASYNC_PROGRESS", "0", 1);
    capture_begin();
    load_with("MPIR_CVAR_ASYNC_PROGRESS", "1");
    CHECK(strstr(capture_end(),
                 "MPIR_CVAR_ASYNC_PROGRESS=1 does not count for GODWIT_PROGRESS_THREAD: MPICH_ASYNC_PROGRESS=0 does") != NULL);
    CHECK(!gw_set.progress_thread);
    unsetenv("MPICH_ASYNC_PROGRESS");
    /* What systems, containers and launchers set, and what asks for what is so in any case. */
    static const char *const usual[][2] = {{"OMPI_MCA_plm_rsh_agent", "ssh : rsh"},
                                           {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                           {"OMPI_MCA_btl_vader_single_copy_mechanism", "none"},
                                           {"OMPI_MCA_btl_base_warn_component_unused", "0"},
                                           {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                           {"OMPI_MCA_mpi_yield_when_idle", "1"},
                                           {"OMPI_MCA_osc", "ucx"},
                                           {"OMPI_MCA_btl", "^openib"},
                                           {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
                                           {"MPIR_CVAR_ASYNC_PROGRESS", "0"},
                                           {"MPIR_CVAR_PMI_VERSION", "1"},
                                           {"MPIR_CVAR_NOLOCAL", ""},
                                           {"I_MPI_ROOT", "/opt/intel"},
                                           {"I_MPI_HYDRA_BOOTSTRAP", "ssh"},
                                           {"I_MPI_FABRICS", "shm:ofi"}};
    for (size_t i = 0; i < GW_ARRAY_LEN(usual); i++) {
        capture_begin();
        load_with(usual[i][0], usual[i][1]);
        CHECK_STR(capture_end(), "");
    }
    /* One line for all of a library; none where its launcher has set them. */
    setenv("OMPI_MCA_ompio_y", "1", 1);
    setenv("OMPI_MCA_mpool_z", "1", 1);
    capture_begin();
    load_with("OMPI_MCA_ompio_x", "1");
    said = capture_end();
    CHECK(strstr(said, " and 2 more of Open MPI are of no effect here") != NULL);
    static const char *const theirs[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE", "OMPI_UNIVERSE_SIZE"};
    for (size_t i = 0; i < GW_ARRAY_LEN(theirs); i++) {
        setenv(theirs[i], "2", 1);
        if (i > 0) setenv("GODWIT_BOOT", "fd=3,local=0", 1); /* below an mpiexec of ours */
        capture_begin();
        load_with("OMPI_MCA_ompio_x", "1");
        CHECK_STR(capture_end(), "");
        unsetenv(theirs[i]);
        unsetenv("GODWIT_BOOT");
    }
    unsetenv("OMPI_MCA_ompio_y");
    unsetenv("OMPI_MCA_mpool_z");
    static const char *const without[] = {"mtl_ofi_disable_hmem", "OMPI_MCA_mtl_ofi_enable_sep", "SHMEM_MAX_CTX",
                                          "MPICH_PTL_UNEX_EVENTS", "PMI_UNIVERSE_SIZE"};
    for (size_t i = 0; i < GW_ARRAY_LEN(without); i++) {
        capture_begin();
        load_with(without[i], "17");
        said = capture_end();
        CHECK(strstr(said, "=17 is of no effect: ") != NULL && strstr(said, gw_foreign_why(without[i])) != NULL);
    }
    static const char *const others[] = {"MPICH_CC",   "MPICH_DIR",     "MPICH_ROOT",
                                         "MPICH_HOME", "MPICH_VERSION", "MPICH_INTERFACE_HOSTNAME"};
    for (size_t i = 0; i < GW_ARRAY_LEN(others); i++) {
        capture_begin();
        load_with(others[i], "x");
        CHECK_STR(capture_end(), "");
    }
    CHECK_STR(gw_foreign_why("MPICH_ENABLE_HCOLL"), "there is no HCOLL");
    for (int i = 0; i < gw_setting_row_count; i++) { /* what is read is not said to be without effect */
        char names[512], *save, *name = NULL;
        snprintf(names, sizeof names, "%s", setting_text(gw_setting_rows[i].aliases));
        for (name = strtok_r(names, " ", &save); name; name = strtok_r(NULL, " ", &save)) CHECK(!gw_foreign_why(name));
    }
}

/* Every number and word that any room defines: its default, its limits, and what lies just outside them. */
static void test_all_rows(void)
{
    for (int i = 0; i < gw_setting_row_count; i++) {
        const struct setting_row *row = &gw_setting_rows[i];
        const char *dots = strstr(setting_text(row->range), ".."), *origin;
        char lo[32], value[64];
        struct gw_setting_info info;
        load_with(NULL, NULL);
        gw_settings_get(i, &info, value, sizeof value, &origin);
        CHECK_STR(origin, "default");
        if (row->kind == SETTING_ENUM) {
            const char *comma = strrchr(setting_text(row->choices), ',');
            expect(setting_text(row->env), comma ? comma + 1 : setting_text(row->choices), setting_text(row->name),
                   comma ? comma + 1 : setting_text(row->choices), false);
            if (strcmp(setting_text(row->name), "net_auth") == 0) { /* a protection: nothing starts without it */
                load_with(setting_text(row->env), "nonsense");
                CHECK(gw_settings_refused() && strstr(gw_settings_refused(), "GODWIT_NET_AUTH=nonsense"));
            } else {
                expect(setting_text(row->env), "nonsense", setting_text(row->name), setting_text(row->default_text), true);
            }
        }
        if (row->kind != SETTING_INT && row->kind != SETTING_SIZE) continue;
        char plain[64];
        snprintf(plain, sizeof plain, "%s", value);
        expect(setting_text(row->env), "12x3", setting_text(row->name), plain, true);
        expect(setting_text(row->env), "99999999999999999999", setting_text(row->name), plain, true);
        if (dots && dots > setting_text(row->range)) {
            snprintf(lo, sizeof lo, "%.*s", (int)(dots - setting_text(row->range)), setting_text(row->range));
            expect(setting_text(row->env), lo, setting_text(row->name),
                   strcmp(lo, "-1") == 0 && strcmp(setting_text(row->default_text), "auto") == 0 ? "auto" : lo, false);
        }
        if (dots && dots[2]) expect(setting_text(row->env), dots + 2, setting_text(row->name), dots + 2, false);
        if (dots && dots > setting_text(row->range))
            expect(setting_text(row->env), "-77777777", setting_text(row->name), plain, true);
    }
}

/* Rank 0 speaks for all. */
static void test_only_rank_0(void)
{
    capture_begin();
    gw_log_identity(1, 2);
    load_with("GODWIT_CHECK_ARGS", "maybe");
    CHECK_STR(capture_end(), "");
    gw_log_identity(0, 1);
}

/* A site's file comes before the program's environment only where it says so. */
static void test_site(void)
{
    char path[32];
    const char *origin, *said;
    int fd = memfd_create("site", 0);
    CHECK(fd >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK(
        dprintf(
            fd,
            "# all jobs\n\n  GODWIT_LANES=3 \nGODWIT_WAIT:force=sleep\nGODWIT_HEAP=1M\nMPICH_ENV_DISPLAY=1\nnonsense\n=x\nA B=1\n:force=1\n"
            "GODWIT_EAGER_MAX=junk\nGODWIT_NO_SUCH_ONE=1\n") > 0);
    setenv("GODWIT_SITE", path, 1);
    setenv("GODWIT_WAIT", "spin", 1);
    setenv("GODWIT_HEAP", "2M", 1);
    capture_begin();
    load_with(NULL, NULL);
    said = capture_end();
    CHECK_STR(value_of("lanes", &origin), "3");
    CHECK_STR(origin, "GODWIT_LANES");
    CHECK_STR(value_of("wait", &origin), "sleep");
    CHECK_STR(value_of("heap", &origin), "2M");
    CHECK(gw_set.env_display);
    for (int line = 7; line <= 10; line++) {
        char want[64];
        snprintf(want, sizeof want, "%s, line %d is neither", path, line);
        CHECK(strstr(said, want) != NULL);
    }
    CHECK(strstr(said, "line 6") == NULL);
    CHECK(strstr(said, ", line 11: GODWIT_EAGER_MAX=junk is not a size") &&
          strstr(said, ", line 12: GODWIT_NO_SUCH_ONE is not a setting"));
    unsetenv("GODWIT_EAGER_MAX");
    unsetenv("GODWIT_NO_SUCH_ONE");
    close(fd);
    /* By several names of one setting: forced, the user's, the site's; who has set one that does not count is told, unless the site has. */
    fd = memfd_create("site", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK(dprintf(fd, "GODWIT_OFI_PROVIDER=net\nMPIR_CVAR_CH4_NUM_VCIS:force=3\nGODWIT_PROGRESS_THREAD=0\n") > 0);
    setenv("GODWIT_SITE", path, 1);
    setenv("MPICH_OFI_USE_PROVIDER", "tcp", 1);
    setenv("FI_PROVIDER", "TCP", 1);
    setenv("GODWIT_LANES", "2", 1);
    capture_begin();
    load_with("MPICH_ASYNC_PROGRESS", "1");
    CHECK_STR(capture_end(), "godwit: warning: GODWIT_LANES=2 does not count for GODWIT_LANES: MPIR_CVAR_CH4_NUM_VCIS=3 does\n");
    CHECK_STR(value_of("ofi_provider", &origin), "tcp");
    CHECK_STR(value_of("lanes", &origin), "3");
    CHECK(gw_set.progress_thread);
    static const char *const these[] = {"MPICH_OFI_USE_PROVIDER", "FI_PROVIDER",           "GODWIT_LANES", "GODWIT_OFI_PROVIDER",
                                        "MPIR_CVAR_CH4_NUM_VCIS", "GODWIT_PROGRESS_THREAD"};
    for (size_t i = 0; i < GW_ARRAY_LEN(these); i++) unsetenv(these[i]);
    close(fd);
    setenv("GODWIT_SITE", "", 1);
    setenv("MPICH_ALLOC_MEM_PG_SZ", "2M", 1);
    capture_begin();
    load_with("MPICH_ALLOC_MEM_HUGEPG_SZ", "4M");
    CHECK_STR(
        capture_end(),
        "godwit: warning: MPICH_ALLOC_MEM_HUGEPG_SZ=4M does not count for GODWIT_ALLOC_MEM_PG_SZ: MPICH_ALLOC_MEM_PG_SZ=2M does\n");
    unsetenv("MPICH_ALLOC_MEM_PG_SZ");
    /* What is no variable of MPI's comes too late; what is one of a library that MPI opens does not. */
    static const char *const late[] = {"PATH", "LD_PRELOAD", "gw_foo", "GODWIT_PREFIX"};
    fd = memfd_create("site", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK(dprintf(fd, "PATH=/nowhere\nLD_PRELOAD=\ngw_foo:force=1\nGODWIT_PREFIX=/x\nFI_GW=1\nPSM3_GW=1\nMPICH_DIR=/x\n") > 0);
    setenv("GODWIT_SITE", path, 1);
    capture_begin();
    load_with(NULL, NULL);
    said = capture_end();
    for (int i = 0; i < (int)GW_ARRAY_LEN(late); i++) {
        char want[80];
        snprintf(want, sizeof want, "%s, line %d: %s is no ", path, i + 1, late[i]);
        if (!strstr(said, want)) fprintf(stderr, "%s: said \"%s\"\n", want, said);
        CHECK(strstr(said, want) != NULL);
        if (i > 0) unsetenv(late[i]);
    }
    CHECK(!strstr(said, "line 5") && !strstr(said, "line 6") && !strstr(said, "line 7"));
    CHECK(!strstr(getenv("PATH"), "nowhere"));
    unsetenv("FI_GW"), unsetenv("PSM3_GW"), unsetenv("MPICH_DIR");
    close(fd);
    setenv("GODWIT_SITE", "/nosuch", 1);
    capture_begin();
    load_with(NULL, NULL); /* no such file: no defaults; who named it is told */
    CHECK_STR(capture_end(),
              "godwit: warning: /nosuch cannot be read (No such file or directory): the defaults of this site are not set\n");
    setenv("GODWIT_SITE", "", 1);
    capture_begin();
    load_with(NULL, NULL);
    CHECK_STR(capture_end(), "");
    setenv("GODWIT_SITE", "/dev/zero", 1);
    capture_begin();
    load_with(NULL, NULL);
    CHECK_STR(capture_end(), "godwit: warning: /dev/zero cannot be read (it is no file): the defaults of this site are not set\n");
    fd = memfd_create("site", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK(fd >= 0 && ftruncate(fd, 1 << 30) == 0);
    setenv("GODWIT_SITE", path, 1);
    capture_begin();
    load_with(NULL, NULL);
    CHECK(strstr(capture_end(), " cannot be read (it is too long to be one)") != NULL);
    close(fd);
    setenv("GODWIT_SITE", "/proc/self/mem/x", 1);
    capture_begin();
    load_with(NULL, NULL);
    CHECK(strstr(capture_end(), "/proc/self/mem/x cannot be read") != NULL);
    unsetenv("GODWIT_SITE");
    unsetenv("GODWIT_WAIT");
    unsetenv("GODWIT_LANES");
    unsetenv("GODWIT_HEAP");
    unsetenv("MPICH_ENV_DISPLAY");
    load_with(NULL, NULL);
}

/* Where no file is named: a site's own, and behind it the one of HPE's library.  In a child, whose /etc is empty, where the system allows
 * that. */
static bool put(const char *path, const char *text)
{
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    bool is_written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0) close(fd);
    return is_written;
}

static bool empty_etc(void)
{
    char users[32], groups[32];
    snprintf(users, sizeof users, "0 %u 1", getuid());
    snprintf(groups, sizeof groups, "0 %u 1", getgid());
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && put("/proc/self/setgroups", "deny") && put("/proc/self/gid_map", groups) &&
        put("/proc/self/uid_map", users) && mount("none", "/etc", "tmpfs", 0, NULL) == 0;
}

static void test_usual_sites(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        unit_failures = 0;
        if (!empty_etc()) _exit(77);
        CHECK(put("/etc/cray-mpich.conf", "# all jobs\n\nGODWIT_LANES=5\nMPICH_ENV_DISPLAY=1\n"));
        load_with(NULL, NULL);
        CHECK(gw_set.lanes == 5 && gw_set.env_display);
        unsetenv("GODWIT_LANES");
        CHECK(put("/etc/godwit.conf", "GODWIT_LANES=3\n"));
        load_with(NULL, NULL);
        CHECK_EQ(gw_set.lanes, 3);
        gw_settings_free();
        _exit(unit_failures != 0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        fprintf(stderr, "note: this system lets no process have an /etc of its own\n");
    else
        CHECK_EQ(WEXITSTATUS(status), 0);
}

/* The file of GODWIT_TUNE: what a comment says sets nothing, and is nothing wrong. */
static void test_tuned(void)
{
    char path[32];
    const char *origin, *said;
    int fd = memfd_create("tune", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK(
        fd >= 0 &&
        dprintf(fd,
                "# a=1\n  # GODWIT_CMA_MIN=1K\nbcast 4 1024 binomial # rounds=2\n GODWIT_EAGER_MAX=8K # was=4K\nGODWIT_LANES=2\n") >
            0);
    capture_begin();
    load_with("GODWIT_TUNE", path);
    said = capture_end();
    CHECK_STR(value_of("eager_max", &origin), "8K");
    CHECK(strstr(said, "line 5: 'GODWIT_LANES' is nothing") != NULL);
    CHECK(strchr(said, '\n') && !strchr(said, '\n')[1]);
    close(fd);
    load_with(NULL, NULL);
}

/* What is wrong in it is told with its line, takes no part, and is not counted; nor is what a variable sets. */
static void test_tuned_wrong(void)
{
    static const char *const lines[] = {"GODWIT_EAGER_MAX=-5", "GODWIT_CMA_MIN=hello", "GODWIT_CMA_SURE=99999999999999999999T",
                                        "GODWIT_HELP_MIN=64K", "GODWIT_HELP_MIN=32K",  "GODWIT_FOO=3",
                                        "GODWIT_NET_GET_MAX="};
    char path[32], text[1024], line[32];
    const char *origin, *said;
    int fd = memfd_create("tune", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (size_t i = 0; i < GW_ARRAY_LEN(lines); i++) CHECK(dprintf(fd, "%s\n", lines[i]) > 0);
    gw_settings_free();
    gw_settings_load();
    int64_t usual[] = {gw_set.eager_max, gw_set.cma_min, gw_set.cma_sure, gw_set.net_get_max};
    capture_begin();
    load_with("GODWIT_TUNE", path);
    said = capture_end();
    for (size_t i = 0; i < GW_ARRAY_LEN(lines); i++) {
        snprintf(line, sizeof line, ", line %zu: ", i + 1);
        CHECK_EQ(strstr(said, line) != NULL, i != 3);
    }
    CHECK(strstr(said, "line 1: GODWIT_EAGER_MAX=-5 is not a size (with K, M or G) in 0..1M; the line is left out") != NULL);
    CHECK(strstr(said, "line 5: line 4 sets GODWIT_HELP_MIN already") != NULL);
    CHECK(gw_set.eager_max == usual[0] && gw_set.cma_min == usual[1] && gw_set.cma_sure == usual[2] &&
          gw_set.net_get_max == usual[3]);
    CHECK_STR(value_of("help_min", &origin), "64K");
    CHECK_STR(origin, "GODWIT_TUNE");
    setenv("GODWIT_TUNE", path, 1);
    CHECK(gw_tuned_text(text, sizeof text) &&
          strstr(text, ", 1 threshold of messages; 6 lines that are wrong (the first: line 1)"));
    setenv("GODWIT_HELP_MIN", "1M", 1);
    CHECK(gw_tuned_text(text, sizeof text) && strstr(text, ", 0 thresholds of messages;"));
    unsetenv("GODWIT_HELP_MIN");
    unsetenv("GODWIT_TUNE");
    close(fd);
    load_with(NULL, NULL);
}

/* Rows of which jobs take none are not counted as rows. */
static void test_tuned_rows(void)
{
    static const char *const good[] = {"allreduce | 2..2 | 64 | leaf | -", "intel/6/207 | bcast | 4.. | 1..2 | - | chain | 16K",
                                       "gather|9..|2..|1M|tree|0 # 9 % quicker, spread 1 %"},
                             *const bad[] = {"allreduce | 2 | 64 | leaf | -", "allreduce | 2..2 | many | leaf | -",
                                             "allreduce | 2..2 | 64 | leaf | x", "allreduce | 2..2 | 0..1 | 64 | leaf | -",
                                             "allreduce | 2..2 | 64 | leaf"};
    char path[32], text[1024];
    int fd = memfd_create("rows", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (size_t i = 0; i < GW_ARRAY_LEN(good); i++) CHECK(dprintf(fd, "%s\n", good[i]) > 0);
    for (size_t i = 0; i < GW_ARRAY_LEN(bad); i++) CHECK(dprintf(fd, "%s\n", bad[i]) > 0);
    setenv("GODWIT_TUNE", path, 1);
    setenv("GODWIT_PROCESSOR", "intel/6/207", 1);
    CHECK(gw_tuned_text(text, sizeof text) &&
          strstr(text,
                 ": 3 rows for collectives, 0 thresholds of messages; 5 lines that are wrong (the first: line 4) are left out"));
    unsetenv("GODWIT_PROCESSOR");
    unsetenv("GODWIT_TUNE");
    close(fd);
}

/* Which line of which file has set a variable; of one that the environment had, none. */
static void test_sources(void)
{
    char path[32], want[64];
    struct gw_setting_info info;
    char value[64];
    const char *origin;
    int fd = memfd_create("site", 0), found = 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK(dprintf(fd, "# ours\nGODWIT_WAIT=sleep\nMPICH_OFI_EAGER_MAX=8K\nGODWIT_LANES=3\n") > 0);
    setenv("GODWIT_LANES", "2", 1);
    load_with("GODWIT_SITE", path);
    for (int i = 0; i < gw_settings_count(); i++) {
        gw_settings_get(i, &info, value, sizeof value, &origin);
        int line = strcmp(info.name, "wait") == 0 ? 2 : strcmp(info.name, "eager_max") == 0 ? 3 : 0;
        snprintf(want, sizeof want, "%s, line %d", path, line);
        if (line) CHECK_STR(info.source, want);
        if (!line) CHECK(info.source == NULL);
        if (line == 3) CHECK_STR(origin, "MPICH_OFI_EAGER_MAX");
        found += line != 0;
    }
    CHECK_EQ(found, 2);
    CHECK_EQ(gw_set.lanes, 2);
    close(fd);
    unsetenv("GODWIT_LANES");
    unsetenv("GODWIT_WAIT");
    unsetenv("MPICH_OFI_EAGER_MAX");
    load_with(NULL, NULL);
}

int main(void)
{
    gw_log_identity(0, 1);
    test_values();
    test_all_rows();
    test_unknown();
    test_foreign();
    test_site();
    test_usual_sites();
    test_tuned();
    test_tuned_wrong();
    test_tuned_rows();
    test_sources();
    test_only_rank_0();
    gw_settings_free();
    return unit_end();
}
