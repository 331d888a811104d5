/* engine_test.c -- the command lines that engines get, word by word; lists of hosts and where their ranks go; which engine says what
 * of itself.
 *
 * SPDX-FileCopyrightText: 2026 The Godwit authors
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/engine.h"
#include "base/base.h"
#include "job/hosts.h"
#include "job/job.h"
#include "job/words.h"
#include "launch/launch.h"
#include "unit.h"

static char line[4096], set[1024];
static const char *const here[] = {"GODWIT_LOG=1", "PATH=/bin",          "PWD=/x", "SLURM_JOB_ID=5", "OMPI_MCA_x=1",
                                   "A=inherited",  "BASH_FUNC_x%%=() {", NULL};

static void join(char *out, size_t cap, const struct words *w)
{
    out[0] = 0;
    for (int i = 0; i < w->n; i++) snprintf(out + strlen(out), cap - strlen(out), "%s%s", i ? " " : "", w->at[i]);
}

/* The words for `e`, of our command line in one string; "|" within a word stands for a blank. */
static const char *words_of(struct engine e, const char *command)
{
    char *copy = strdup(command), *argv[64] = {"mpiexec"}, *save = NULL;
    struct launch_options o;
    struct words w = {0}, env = {0};
    int argc = 1, counts[16] = {0};
    for (char *p = strtok_r(copy, " ", &save); p && argc < 63; p = strtok_r(NULL, " ", &save)) {
        for (char *q = p; *q; q++)
            if (*q == '|') *q = ' ';
        argv[argc++] = p;
    }
    CHECK_EQ(launch_options_parse(argc, argv, &o), -1);
    if (o.n_apps == 1 && !o.apps[0].n_given) o.apps[0].n = o.n_ranks = o.hosts.n ? hosts_slots(&o.hosts, o.ppn) : 0;
    hosts_place(&o.hosts, o.n_ranks, o.ppn, counts);
    engine_words(&e, &o, counts, (char **)here, &w, &env);
    join(line, sizeof line, &w);
    join(set, sizeof set, &env);
    words_free(&w);
    words_free(&env);
    launch_options_free(&o);
    free(copy);
    return line;
}

static void slurm(void)
{
    struct engine e = {.kind = ENGINE_SRUN, .has_pmix = true, .nodes = 3, .cpus = 12};
    static const char common[] = "--mpi=pmix --kill-on-bad-exit=1 --quit-on-interrupt --export=ALL ";
    char want[1024];
#define SRUN(rest) (snprintf(want, sizeof want, "%s%s", common, rest), want)
    CHECK_STR(words_of(e, "./a b"), SRUN("--input=0 ./a b"));
    CHECK_STR(words_of(e, "-n 12 -l ./a"), SRUN("--ntasks=12 --nodes=3 --label --input=0 ./a"));
    CHECK_STR(words_of(e, "-n 2 ./a"), SRUN("--ntasks=2 --nodes=2 --input=0 ./a"));
    CHECK_STR(words_of(e, "-n 2 --nodes 1-2 ./a"), SRUN("--ntasks=2 --nodes=1-2 --input=0 ./a"));
    CHECK_STR(words_of(e, "-n 4 --nodes=1 -w n[1-2] ./a"),
              SRUN("--ntasks=4 --nodes=1 --ntasks-per-node=4 --distribution=block --nodelist=n1 --input=0 ./a"));
    CHECK_STR(words_of(e, "-n 13 -stdin all ./a"), SRUN("--ntasks=13 --nodes=3 --overcommit --input=all ./a"));
    CHECK_STR(words_of(e, "-n 6 -ppn 2 -stdin none ./a"), SRUN("--ntasks=6 --nodes=3 --ntasks-per-node=2 ./a"));
    CHECK_STR(words_of(e, "-n 4 -host n1,n2 --bind-to core -r 1 -wdir /w ./a"),
              SRUN("--ntasks=4 --nodes=2 --ntasks-per-node=2 --distribution=block --nodelist=n1,n2 --cpu-bind=cores "
                   "--core-spec=1 --input=0"
                   " --chdir /w ./a"));
    CHECK_STR(words_of(e, "-n 3 -host n1:2,n2 -env A 1 -genv B 2 ./a"),
              SRUN("--ntasks=3 --nodes=2 --distribution=arbitrary --nodelist=n1,n1,n2 --input=0 ./a"));
    CHECK_STR(set, "B=2 A=1");
    CHECK_STR(words_of(e, "-n 1 -env A it's ./a : -n 2 -wdir /w ./b c|d : -n 1 ./e"),
              SRUN("--ntasks=4 --nodes=3 --input=0 sh -c if [ $SLURM_PROCID -lt 1 ]; then exec env 'A=it'\\''s' './a'; "
                   "elif [ $SLURM_PROCID -lt 3 ];"
                   " then cd '/w' && exec env './b' 'c d'; else exec env './e'; fi"));
    e.has_pmix = false;
    e.in_step = true;
    CHECK_STR(words_of(e, "-n 1 ./a"),
              "--mpi=pmi2 --kill-on-bad-exit=1 --quit-on-interrupt --export=ALL --ntasks=1 "
              "--nodes=1 --overlap --input=0 ./a");
}

static void flux(void)
{
    struct engine e = {.kind = ENGINE_FLUX};
    CHECK_STR(words_of(e, "-n 4 -ppn 2 -l ./a b"), "run --nodes=2 --ntasks=4 --label-io --input=0 ./a b");
    CHECK_STR(words_of(e, "-n 4 -host n1,n2 -x A=1 -wdir /w --bind-to none ./a"),
              "run --nodes=2 --requires=hosts:n1,n2 --ntasks=4 -o cpu-affinity=off --input=0 --cwd=/w ./a");
    CHECK_STR(set, "A=1");
    CHECK_STR(words_of(e, "-n 1 ./a : -n 1 ./b"),
              "run --ntasks=2 --input=0 sh -c if [ $FLUX_TASK_RANK -lt 1 ]; then exec env './a'; else exec env './b'; fi");
}

static void openmpi(void)
{
    struct engine e = {.kind = ENGINE_OPENMPI};
    CHECK_STR(words_of(e, "-n 5 -host n1,n2,n3 -x A=1 -wdir /w ./a b"),
              "--host n1:2,n2:2,n3:1 --oversubscribe --map-by slot --mca odls_base_cutoff 100000"
              " -n 5 -x GODWIT_LOG -x PATH -x A=1 --wdir /w ./a b");
    CHECK_STR(
        words_of(e, "-host n1:2,n2:4 -l -genv A 2 --bind-to numa ./a"),
        "--host n1:2,n2:4 --bind-to numa:overload-allowed --oversubscribe --map-by slot --mca odls_base_cutoff 100000 --tag-output"
        " -n 6 -x GODWIT_LOG -x PATH -x A=2 ./a");
    /* Its own host would come first. */
    CHECK_STR(words_of(e, "-host n1,localhost:2,n2 -n 1 ./a : -n 3 ./b"),
              "--oversubscribe --map-by seq --mca odls_base_cutoff 100000 --host n1 -n 1 -x GODWIT_LOG -x PATH -x A ./a"
              " : --host localhost,localhost,n2 -n 3 -x GODWIT_LOG -x PATH -x A ./b");
    CHECK_STR(
        words_of(e, "-n 2 -host localhost,n2 ./a"),
        "--host localhost:1,n2:1 --oversubscribe --map-by slot --mca odls_base_cutoff 100000 -n 2 -x GODWIT_LOG -x PATH -x A ./a");
    e.is_root = true;
    CHECK_STR(words_of(e, "-n 1 -host n1 -stdin 2 ./a : -n 2 -env A 3 ./b"),
              "--allow-run-as-root --host n1:3 --stdin 2 --oversubscribe --map-by slot --mca odls_base_cutoff 100000"
              " -n 1 -x GODWIT_LOG -x PATH -x A ./a : -n 2 -x GODWIT_LOG -x PATH -x A=3 ./b");
    e = (struct engine){.kind = ENGINE_PRTE};
    CHECK_STR(words_of(e, "-n 4 -ppn 2 -host n1,n2 -l -stdin all ./a"),
              "--host n1:2,n2:2 --stdin all --map-by slot --output tag -n 4 -x GODWIT_LOG -x PATH -x A ./a");
    CHECK_STR(words_of(e, "-host n1:5 -map-by numa ./a"),
              "--host n1:5 --map-by numa --bind-to numa:overload-allowed -n 5 -x GODWIT_LOG -x PATH -x A ./a");
    CHECK_STR(words_of(e, "-host n1:5 -bind-to core -map-by numa ./a"),
              "--host n1:5 --bind-to core:overload-allowed --map-by numa -n 5 -x GODWIT_LOG -x PATH -x A ./a");
}

static void hydra(void)
{
    struct engine e = {.kind = ENGINE_HYDRA};
    CHECK_STR(words_of(e, "-n 5 -host n1,n2,n3 -x A=b=c -genv B 1|2 -wdir /w ./a"),
              "-hosts n1:2,n2:2,n3:1 -genv B 1 2 -n 5 -env A b=c -wdir /w ./a");
    CHECK_STR(words_of(e, "-l --bind-to core -map-by numa -n 1 -host n1 ./a : -n 1 ./b"),
              "-hosts n1:2 -bind-to core -map-by numa -prepend-rank -n 1 ./a : -n 1 ./b");
    CHECK_STR(words_of(e, "-n 1 -host n1,n2 -stdin 0 ./a"), "-hosts n1:1 -n 1 ./a");
}

/* The library of --profile comes before those of the environment, of all programs and of one. */
static void wrapper(void)
{
    struct launch_options o;
    struct words w = {0}, env = {0};
    int counts[2] = {1, 1};
    char *argv[] = {"mpiexec", "-host", "n1,n2", "-n", "1", "./a", ":", "-n", "1", "-x", "LD_PRELOAD=/b.so", "./b", NULL};
    CHECK_EQ(launch_options_parse(12, argv, &o), -1);
    engine_words_wrapper(&o);
    CHECK_EQ(o.env.n, 0);
    o.preload = "/w.so";
    words_add(&o.env, "LD_PRELOAD=/all.so");
    engine_words_wrapper(&o);
    engine_words(&(struct engine){.kind = ENGINE_HYDRA}, &o, counts, (char **)here, &w, &env);
    join(line, sizeof line, &w);
    CHECK_STR(line,
              "-hosts n1:1,n2:1 -genv LD_PRELOAD /w.so:/all.so -genv GODWIT_WRAPPER /w.so -n 1 ./a : "
              "-n 1 -env LD_PRELOAD /w.so:/b.so ./b");
    words_free(&w);
    words_free(&env);
    launch_options_free(&o);
}

static void place(const char *list, int n, int ppn, const char *want)
{
    struct hosts h = {0};
    int counts[16] = {0};
    char got[256] = "";
    hosts_add(&h, list);
    hosts_place(&h, n, ppn, counts);
    for (int i = 0; i < h.n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s:%d", i ? "," : "", h.at[i].name, counts[i]);
    CHECK_STR(got, want);
    hosts_free(&h);
}

static void lists(void)
{
    place("a,b,c", 5, 0, "a:2,b:2,c:1");
    place("a,b,c", 2, 0, "a:1,b:1,c:0");
    place("a:2,b:4", 3, 0, "a:2,b:1");
    place("a:1,b:3", 9, 0, "a:3,b:6");
    place("a,b", 3, 2, "a:2,b:1");
    place("a,b,a", 3, 0, "a:2,b:1");
    place("a:2,A:1", 1, 0, "a:1");
    place(" a, b ,,c:x", 3, 0, "a:1,b:1,c:1");
    place("::1,b", 2, 0, "::1:1,b:1");
    char path[] = "/tmp/gw-hosts-XXXXXX", foreign[32] = "";
    static const char text[] = "# mine\n n1 slots=4 max-slots=9\nn2:3 # three\n\nn3\r\nn1\nn4 maxslots=7\n";
    struct hosts h = {0};
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, text, sizeof text - 1) == (ssize_t)sizeof text - 1);
    close(fd);
    CHECK(hosts_read(&h, path, true) == NULL && !h.bad);
    unlink(path);
    CHECK_EQ(h.n, 4);
    for (int i = 0; i < h.n && h.n == 4; i++) CHECK_EQ(h.at[i].slots, ((int[]){5, 3, 0, 0})[i]);
    CHECK_EQ(hosts_slots(&h, 0), 10);
    CHECK_EQ(hosts_slots(&h, 2), 8);
    CHECK_STR(hosts_foreign(&h), "n1");
    hosts_free(&h);
    hosts_expand(&h, "n[1-3,07,10],m4,a-b[098-101]");
    CHECK_EQ(h.n, 10);
    static const char *const names[] = {"n1", "n2", "n3", "n07", "n10", "m4", "a-b098", "a-b099", "a-b100", "a-b101"};
    for (int i = 0; i < h.n && h.n == 10; i++) CHECK_STR(h.at[i].name, names[i]);
    hosts_free(&h);
    hosts_expand(&h, "n[x],[,n[3");
    hosts_free(&h);
    const char *why = hosts_read(&h, "/gw/no/such/file", true);
    CHECK_STR(why ? why : "", "No such file or directory");
    why = hosts_read(&h, "/dev/zero", true);
    CHECK_STR(why ? why : "", "it is no file");
    CHECK_EQ(h.n, 0);
    CHECK(hosts_are_here("localhost:4,127.0.0.1,::1", foreign, sizeof foreign));
    CHECK(!hosts_are_here("localhost,gw-other:2", foreign, sizeof foreign));
    CHECK_STR(foreign, "gw-other");
}

/* What engines would read as an option, as two words, or as nothing they know. */
static void names(void)
{
    static const char *const good[] = {"n1", "n-1.cluster.example", "192.0.2.1", "::1", "fe80::1%eth0", "_x", "me@n1", "+n0"};
    static const struct {
        const char *list, *shown;
    } bad[] = {{"-oProxyCommand=x", "-oProxyCommand=x"},
               {"n1,-x", "-x"},
               {"", ""},
               {",", ","},
               {":4", ""},
               {".", "."},
               {"n1;reboot", "n1;reboot"},
               {"$(x)", "$(x)"},
               {"n1\n", "n1\\x0a"},
               {"\x1b[2Jn", "\\x1b[2Jn"},
               {"n\xff", "n\\xff"},
               {"a\\b", "a\\x5cb"},
               {"a\tb", "a\\x09b"},
               {"a/b", "a/b"}};
    char foreign[300], longest[400];
    for (size_t i = 0; i < GW_ARRAY_LEN(good); i++) CHECK(hosts_is_name(good[i], strlen(good[i])));
    for (size_t i = 0; i < GW_ARRAY_LEN(bad); i++) {
        struct hosts h = {0};
        hosts_add(&h, bad[i].list);
        CHECK_STR(h.bad ? h.bad : "(none)", bad[i].shown);
        for (int k = 0; k < h.n; k++) CHECK_STR(h.at[k].name, "n1");
        hosts_free(&h);
        CHECK(!hosts_are_here(bad[i].list, foreign, sizeof foreign));
    }
    memset(longest, 'a', sizeof longest);
    longest[HOST_NAME_MOST + 1] = 0;
    CHECK(hosts_is_name(longest, HOST_NAME_MOST) && !hosts_is_name(longest, HOST_NAME_MOST + 1));
    CHECK(!hosts_are_here("localhost,-x", foreign, sizeof foreign));
    CHECK_STR(foreign, "-x");
}

static void says(const char *text, enum engine_kind is, const char *version)
{
    char got[64] = "";
    CHECK_EQ(engine_of_version(text, got, sizeof got), is);
    if (is != ENGINE_NONE) CHECK_STR(got, version);
}

static void versions(void)
{
    says("mpirun.openmpi (OpenRTE) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/\n", ENGINE_OPENMPI,
         "Open MPI 4.1.4");
    says("mpirun (Open MPI) 5.0.7\n\nReport bugs to https://www.open-mpi.org/community/help/\n", ENGINE_PRTE, "Open MPI 5.0.7");
    says("prterun (PRRTE) 3.0.8\n", ENGINE_PRTE, "PRRTE 3.0.8");
    says("HYDRA build details:\n    Version:                                 4.0.2\n    Release Date: Thu\n", ENGINE_HYDRA,
         "Hydra 4.0.2");
    says("slurm-wlm 22.05.8\n", ENGINE_SRUN, "Slurm 22.05.8");
    says("commands:    \t\t0.55.0\nlibflux-core:\t\t0.55.0\n", ENGINE_FLUX, "Flux 0.55.0");
    says("mpiexec (Godwit) 0.2.0\n", ENGINE_NONE, "");
    says("", ENGINE_NONE, "");
    CHECK_EQ(engine_status_of_line("srun: error: n2: task 1: Killed\n"), 137);
    CHECK_EQ(engine_status_of_line("srun: error: n[1-2]: tasks 0-1,3: Exited with exit code 7\n"), 7);
    CHECK_EQ(engine_status_of_line("srun: error: n1: task 0: Segmentation fault (core dumped)\n"), 139);
    CHECK_EQ(engine_status_of_line("srun: error: Node failure on n2\n"), 0);
    CHECK_EQ(engine_status_of_line("srun: error: n1: task"), 0);
    CHECK_EQ(engine_status_of_line("n1: task 0: Killed\n"), 0);
}

/* Is an engine asked for? */
static bool needed(const char *hosts, char *why, size_t cap)
{
    struct launch_options o = {0};
    if (hosts) hosts_add(&o.hosts, hosts);
    bool is = engine_is_needed(&o, why, cap);
    hosts_free(&o.hosts);
    return is;
}

static void need(void)
{
    char why[320];
    for (const char *const *v = (const char *const[]){"SLURM_JOB_ID", "SLURM_JOB_NUM_NODES", "SLURM_JOB_NODELIST", "FLUX_URI",
                                                      "PBS_NODEFILE", "LSB_DJOB_HOSTFILE", NULL};
         *v; v++)
        unsetenv(*v);
    CHECK(!needed(NULL, why, sizeof why));
    CHECK(!needed("localhost:9", why, sizeof why));
    CHECK(needed("localhost,gw-n2", why, sizeof why));
    CHECK_STR(why, "gw-n2 is another machine");
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_JOB_NUM_NODES", "1", 1);
    setenv("SLURM_JOB_NODELIST", "localhost", 1);
    CHECK(!needed(NULL, why, sizeof why)); /* its one node is where we are */
    setenv("SLURM_JOB_NODELIST", "gw-n7", 1);
    CHECK(needed(NULL, why, sizeof why));
    setenv("SLURM_JOB_NUM_NODES", "2", 1);
    setenv("SLURM_JOB_NODELIST", "gw-n[7-8]", 1);
    CHECK(needed(NULL, why, sizeof why));
    CHECK_STR(why, "this is an allocation of Slurm");
    CHECK(!needed("localhost", why, sizeof why)); /* the command says where */
    struct launch_options o = {.engine = "none"};
    CHECK(!engine_is_needed(&o, why, sizeof why));
    unsetenv("SLURM_JOB_ID");
    char path[] = "/tmp/gw-hosts-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, "gw-n1\ngw-n1\ngw-n2\n", 18) == 18);
    close(fd);
    setenv("PBS_NODEFILE", path, 1);
    CHECK(needed(NULL, why, sizeof why));
    CHECK_STR(why, "gw-n1 is another machine (PBS_NODEFILE)");
    unlink(path);
    CHECK(!needed(NULL, why, sizeof why));
}

int main(void)
{
    need();
    slurm();
    flux();
    openmpi();
    hydra();
    wrapper();
    lists();
    names();
    versions();
    return unit_end();
}
