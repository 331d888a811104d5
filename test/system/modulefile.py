#!/usr/bin/env python3
"""The modulefile that is installed: what `module load` would make of it, and that the programs, pages and libraries are found by that alone; those
under the names of HPE's, and the recipe that the documents have for them, from `module load perftools` to a run with the new order."""
# run.py: timeout=60 tags=quick
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import glob
import os
import re
import subprocess
import sys
import tempfile

PREFIX = os.path.realpath(sys.argv[2])
with open(PREFIX + "/lib/pkgconfig/godwit.pc", encoding="utf-8") as pc: # beside it, an earlier version's may have stayed
    VERSION = re.search(r"(?m)^Version: (\S+)$", pc.read())[1]
FILES = glob.glob(PREFIX + "/share/modulefiles/godwit/" + VERSION)
CRAY = {name: glob.glob(PREFIX + "/share/modulefiles/%s/%s" % (name, VERSION)) for name in ("cray-mpich", "perftools")}


def path_of(text, path):
    """The one expression that such a file may have: so many folders above itself."""
    inner = text.replace("[file dirname ", "").rstrip("]")
    ups = text.count("[file dirname ")
    assert inner == "$ModulesCurrentModulefile" and text.count("]") == ups, text
    for _ in range(ups):
        path = os.path.dirname(path)
    return path


def load(path):
    """(environment, names that it is in conflict with); a line that is no command of modulefiles fails."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    assert text.startswith("#%Module"), text[:40]
    text = re.sub(r"(?ms)^proc ModulesHelp \{ \} \{\n.*?^\}\n", "", text)
    variables, env, conflicts, told = {}, {}, [], 0
    for line in text.split("\n"):
        if not line or line.startswith("#"):
            continue
        command, rest = line.split(" ", 1)
        value = rest.split(" ", 1)[-1]
        value = re.sub(r"^\$(\w+)", lambda m: variables.get(m.group(1), m.group(0)), value)
        if command == "set":
            variables[rest.split()[0]] = path_of(value, path)
        elif command in ("setenv", "prepend-path"):
            env[rest.split()[0]] = value
        elif command == "conflict":
            conflicts.append(rest)
        else:
            assert command == "module-whatis" and "Godwit" in rest, line
            told += 1
    assert told == 1
    return env, conflicts


# As the documents have it; `module` itself need not be here, and their program is any.
RECIPE = """
module load cray-mpich
module load perftools
mpicc -O2 a.c -o a.out
pat_build -g mpi a.out
aprun -n 16 -N 4 ./a.out+pat
pat_report a.out+pat+*.ap2 > report
rm -f MPICH_RANK_ORDER
cp MPICH_RANK_ORDER.Grid MPICH_RANK_ORDER
export MPICH_RANK_REORDER_METHOD=3
aprun -n 16 -N 4 ./a.out
"""
# A grid of 4 x 4 without its diagonal neighbours: squares of 2 x 2 keep more on nodes than rows of 4.
PROGRAM = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    static char out[1000], in[4][1000];
    int rank, size, steps = 200;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int x = rank % 4, y = rank / 4;
    int to[4] = {x > 0 ? rank - 1 : MPI_PROC_NULL, x < 3 ? rank + 1 : MPI_PROC_NULL, y > 0 ? rank - 4 : MPI_PROC_NULL, y < 3 ? rank + 4 : MPI_PROC_NULL};
    for (int s = 0; s < steps; s++) {
        MPI_Request r[8];
        for (int k = 0; k < 4; k++) MPI_Irecv(in[k], 1000, MPI_CHAR, to[k], 0, MPI_COMM_WORLD, &r[k]);
        for (int k = 0; k < 4; k++) MPI_Isend(out, 1000, MPI_CHAR, to[k], 0, MPI_COMM_WORLD, &r[4 + k]);
        MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
    }
    if (rank == 0) printf("%d ranks\\n", size);
    return MPI_Finalize();
}
"""


def damaged(name):
    """A report of which a byte is another, or the end is gone, is named as that, and nothing of it shown."""
    with open(name, "rb") as f:
        whole = f.read()
    places = [0, 3, len(whole) // 3, len(whole) // 2, len(whole) - 2]
    for data in [whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1:] for i in places] + [whole[:i] for i in places[1:]]:
        with open(name, "wb") as f:
            f.write(data)
        p = subprocess.run([PREFIX + "/bin/pat_report", name], capture_output=True, text=True, timeout=30, check=False)
        assert p.returncode == 2 and p.stdout == "" and name in p.stderr and re.search("damaged|no file of a program", p.stderr), (data[:80], p)


def recipe():
    path, conflicts = {}, {}
    for name, files in CRAY.items():
        assert len(files) == 1, (name, files)
        path[name], conflicts[name] = load(files[0])
    assert path["cray-mpich"]["MPICH_DIR"] == PREFIX and conflicts["cray-mpich"] == ["godwit", "cray-mpich", "mpi"] and conflicts["perftools"] == ["perftools"]
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/a.c", "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        with open(folder + "/recipe", "w", encoding="utf-8") as f:
            f.write("module() { case $2 in\n")
            for name, variables in path.items():
                f.write("%s)" % name + "".join(" export %s='%s'%s;" % (k, v, ":$PATH" if k == "PATH" else "") for k, v in variables.items()) + " ;;\n")
            f.write("*) return 1 ;;\nesac; }\nset -e\n" + RECIPE)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("GODWIT_", "MPICH_"))}
        # 4 ranks a node: on one machine that is --vnodes, which mpiexec takes from the environment.
        p = subprocess.run(["sh", folder + "/recipe"], cwd=folder, env=dict(env, GODWIT_VNODES="4"), capture_output=True, text=True, timeout=100, check=False)
        assert p.returncode == 0, p.stdout + p.stderr
        with open(folder + "/report", encoding="utf-8") as f:
            report = " ".join(f.read().split())
        assert "grid pattern" in report and "MPICH_RANK_ORDER.Grid" in report and "Time% | Time | Imb. Time" in report and p.stdout.count("16 ranks\n") == 2, report
        assert "grid pattern" not in p.stderr, p.stderr # it is in the report
        with open(folder + "/MPICH_RANK_ORDER", encoding="utf-8") as f:
            assert "0,1,4,5" in f.read()
        shown = subprocess.run(["sh", "-c", "MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_DISPLAY=1 " + PREFIX + "/bin/aprun -n 16 -N 4 ./a.out"], cwd=folder,
                               env=dict(env, GODWIT_VNODES="4"), capture_output=True, text=True, timeout=60, check=True).stderr
        assert "[PE_0]: rank 4 is on node 0," in shown and "[PE_0]: rank 2 is on node 1," in shown, shown
        for words, status, said in ((["pat_build"], 2, "usage"), (["pat_build", "no-such"], 2, "is no program"), (["pat_build", "a.out"], 2, "is there; -f"),
                                    (["pat_build", "-f", "a.out"], 0, ""), (["pat_report", "a.c"], 2, "is no file of a program of pat_build")):
            p = subprocess.run([PREFIX + "/bin/" + words[0]] + words[1:], cwd=folder, capture_output=True, text=True, timeout=30, check=False)
            assert p.returncode == status and said in p.stderr, (words, p)
        for name in ("pat_build", "pat_report"):
            said = subprocess.run([PREFIX + "/bin/" + name, "--version"], capture_output=True, text=True, timeout=30, check=False).stdout
            assert said.startswith(name + " (Godwit) ") and "@" not in said, said
        damaged(glob.glob(folder + "/a.out+pat+*.ap2")[0])


def pages():
    """`man intro_mpi` and `man mpi` are the page of all settings."""
    for name in "intro_mpi", "mpi":
        with open(PREFIX + "/share/man/man3/%s.3" % name, encoding="utf-8") as f:
            assert f.read() == ".so man7/godwit-environment.7\n"
        text = subprocess.run(["man", "-M", PREFIX + "/share/man", name], capture_output=True, text=True, timeout=60, check=False,
                              env=dict(os.environ, MANPAGER="cat", MANWIDTH="200")) if os.path.exists("/usr/bin/man") else None
        assert not text or text.returncode == 16 or "MPICH_GNI_MAX_EAGER_MSG_SIZE" in text.stdout, text # 16: made small, without pages
    with open(PREFIX + "/share/man/man3/intro_shmem.3", encoding="utf-8") as f:
        assert f.read() == ".so man7/godwit.7\n"


def main():
    assert len(FILES) == 1, FILES
    env, conflicts = load(FILES[0])
    assert env["GODWIT_ROOT"] == PREFIX and conflicts == ["godwit", "cray-mpich", "mpi"], (env, conflicts)
    used = {k: v for k, v in os.environ.items() if not k.startswith("GODWIT_")}
    for name, value in env.items():
        used[name] = value + ":" + used[name] if name in ("PATH",) else value
        assert os.path.isdir(value), "%s=%s is no folder" % (name, value)
    def said(*words):
        return subprocess.run(words, env=used, check=True, capture_output=True, text=True).stdout
    version = said("godwit-info", "--version").split()[1]
    assert os.path.basename(FILES[0]) == version, (FILES, version)
    assert said("sh", "-c", "command -v mpicc").strip() == PREFIX + "/bin/mpicc"
    assert os.path.exists(env["LD_LIBRARY_PATH"] + "/libmpi_abi.so.1")
    assert os.path.exists(env["PKG_CONFIG_PATH"] + "/godwit.pc")
    assert glob.glob(env["MANPATH"] + "/man7/godwit-environment.7*")


main()
recipe()
pages()
