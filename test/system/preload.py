#!/usr/bin/env python3
# run.py: timeout=300
"""A tool library in front of the library by LD_PRELOAD: it wraps every MPI function that the header declares, counts the calls, asks
MPI_T for a counter, and goes on to PMPI_.  A program whose calls are known must be seen call by call, and tests must not notice."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
PROGRAM = r"""
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, size, x = 1, y, i;
    MPI_Comm dup;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (i = 0; i < 3; i++)
        MPI_Sendrecv(&x, 1, MPI_INT, (rank + 1) % size, i, &y, 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    for (i = 0; i < 5; i++) MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, dup);
    MPI_Comm_free(&dup);
    MPI_Finalize();
    return y != size;
}
"""
WANTED = {"MPI_Init": 1, "MPI_Comm_rank": 1, "MPI_Comm_size": 1, "MPI_Sendrecv": 3, "MPI_Comm_dup": 1, "MPI_Allreduce": 5,
          "MPI_Comm_free": 1, "MPI_Finalize": 1}
# What the tool does besides counting.
EXTRAS = {
    "MPI_Init": ("", "begin_counting();"),
    "MPI_Finalize": ("end_counting();", ""),
}
TOOL_HEAD = r"""
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static MPI_T_pvar_session session;
static MPI_T_pvar_handle messages;
static void begin_counting(void)
{
    int provided, i, count;
    if (!getenv("TOOL_REPORT")) return;
    if (PMPI_T_init_thread(MPI_THREAD_SINGLE, &provided) || PMPI_T_pvar_session_create(&session) ||
        PMPI_T_pvar_get_index("sent_messages_e0", MPI_T_PVAR_CLASS_COUNTER, &i) ||
        PMPI_T_pvar_handle_alloc(session, i, NULL, &messages, &count) || PMPI_T_pvar_start(session, messages))
        fprintf(stderr, "MPI_T failed\n");
}
static void report(void);
static void end_counting(void)
{
    unsigned long long n = 0;
    if (!getenv("TOOL_REPORT")) return;
    if (PMPI_T_pvar_read(session, messages, &n) || n < 3) fprintf(stderr, "MPI_T counted %llu messages\n", n);
    report();
}
"""


def fail(text):
    print("preload: " + text)
    sys.exit(1)


def prototypes():
    with open(os.path.join(BUILD, "include", "mpi.h"), encoding="utf-8") as f:
        text = f.read()
    found = re.findall(r"^(int|double|MPI_\w+) (MPI_\w+)\(([^;{]*?)\)[^;{]*;", text, re.M)
    return [(ret, name, args) for ret, name, args in found]


def names_of(args):
    if args.strip() == "void":
        return []
    depth, parts, at = 0, [], ""
    for c in args:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(at)
            at = ""
        else:
            at += c
    return [re.match(r".*?(\w+)\s*((\[\d*\])*)$", p.strip(), re.S).group(1) for p in parts + [at]]


def tool_source(functions):
    lines = [TOOL_HEAD, "static int counts[%d];" % (len(functions) + 1)]
    for i, (ret, name, args) in enumerate(functions):
        before, after = EXTRAS.get(name, ("", ""))
        if "..." in args:  # MPI_Pcontrol, which is for tools
            lines.append("int %s(%s) { counts[%d]++; return 0; }" % (name, args, i))
            continue
        lines.append("%s %s(%s) { counts[%d]++; %s %s tool_result = P%s(%s); %s return tool_result; }" %
                     (ret, name, args, i, before, ret, name, ", ".join(names_of(args)), after))
    lines.append("static const char *const names[] = {%s};" % ", ".join('"%s"' % name for _, name, _ in functions))
    lines.append(r"""static void report(void)
{
    int rank;
    char line[4096] = "";
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (counts[i]) snprintf(line + strlen(line), sizeof line - strlen(line), " %s=%d", names[i], counts[i]);
    printf("tool rank=%d%s\n", rank, line);
    fflush(stdout);
}""")
    return "\n".join(lines)


def exported():
    out = subprocess.run(["nm", "-D", "--defined-only", os.path.join(BUILD, "libmpi_abi.so.1")], capture_output=True, text=True, check=True).stdout
    kinds = {}
    for line in out.splitlines():
        words = line.split()
        kinds[words[2].split("@")[0]] = (words[1], words[0])
    return kinds


def check_names(functions):
    kinds = exported()
    mpi = {n for n in kinds if n.startswith("MPI_")}
    for name in sorted(mpi):
        if "P" + name not in kinds:
            fail("%s has no P%s" % (name, name))
        if kinds["P" + name][1] != kinds[name][1]:
            fail("%s is not another name of P%s" % (name, name))
        if kinds[name][0] != "W":
            fail("%s is no weak symbol: a tool that is linked could not define it" % name)
    for name in sorted(n for n in kinds if n.startswith("PMPI_")):
        if name[1:] not in kinds:
            fail("%s has no %s" % (name, name[1:]))
    return [f for f in functions if f[1] in mpi]


def run(args, env, what):
    p = subprocess.run(args, env=dict(os.environ, **env), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if p.returncode != 0:
        fail("%s: exit status %d\n%s" % (what, p.returncode, p.stdout[:2000]))
    return p.stdout


def main():
    compiler = shutil.which("cc")
    if not compiler:
        print("no cc")
        sys.exit(77)
    folder = tempfile.mkdtemp(prefix="godwit-preload-")
    try:
        functions = check_names(prototypes())
        if len(functions) < 500:
            fail("only %d functions found in mpi.h" % len(functions))
        for name, text in (("tool.c", tool_source(functions)), ("program.c", PROGRAM)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        flags = ["-I" + os.path.join(BUILD, "include"), "-w", "-O1"]
        library = os.path.join(BUILD, "libmpi_abi.so.1")
        tool, program = os.path.join(folder, "tool.so"), os.path.join(folder, "program")
        run([compiler, "-shared", "-fPIC", "-o", tool, os.path.join(folder, "tool.c"), library] + flags, {}, "the tool")
        run([compiler, "-o", program, os.path.join(folder, "program.c"), library, "-Wl,-rpath," + BUILD] + flags, {}, "the program")
        mpiexec = os.path.join(BUILD, "mpiexec")
        out = run([mpiexec, "-n", "3", "env", "LD_PRELOAD=" + tool, program], {"TOOL_REPORT": "1"}, "a program under the tool")
        want = " ".join("%s=%d" % kv for kv in sorted(WANTED.items()))
        for rank in range(3):
            line = next((l for l in out.splitlines() if "tool rank=%d " % rank in l), None)
            got = " ".join(sorted(line.split("tool rank=%d " % rank)[1].split())) if line else "nothing"
            if got != want:
                fail("rank %d: the tool saw %s, not %s\n%s" % (rank, got, want, out[:1000]))
        if "MPI_T" in out:
            fail(out[:1000])
        for n, test in (("2", "p2p_modes"), ("3", "coll_basic"), ("3", "session_life"), ("2", "tool_pvars"), ("4", "rma_fence")):
            path = os.path.join(BUILD, "mpi_" + test)
            if os.path.exists(path):
                run([mpiexec, "-n", n, "env", "LD_PRELOAD=" + tool, path], {}, test + " under the tool")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()
