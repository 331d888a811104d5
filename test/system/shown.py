#!/usr/bin/env python3
# run.py: timeout=300
"""What others have named acts on no terminal and forges no line: names of programs, files, hosts, options, settings, communicators, windows,
types, with an escape sequence, a terminal's CSI in one byte, and the end of a line in them, in each place that prints them."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unicodedata

BUILD = os.path.abspath(sys.argv[1])
PREFIX = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 and sys.argv[2] else None
MPIEXEC = os.path.join(BUILD, "mpiexec")
FORGED = b"mpiexec: forged"
EVIL = b"p\033[2J\r\n" + FORGED + b"\x9b1m\033]0;x\007\x7f\xc3\xbc"
LINE = b"p\033[2J\x9b1mforged"  # what a line of a file can hold
PROGRAM = rb"""
#include <mpi.h>
#include <string.h>
#include <stdlib.h>
static const char evil[] = EVIL;
int main(int n, char **a)
{
    MPI_Comm c, other;
    MPI_Win w;
    MPI_Datatype t;
    MPI_File f;
    MPI_Info info;
    char *port = malloc(MPI_MAX_PORT_NAME);
    int code, *memory;
    const char *what = n > 1 ? a[1] : "";
    MPI_Init(&n, &a);
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_name(c, evil);
    MPI_Win_allocate(4, 1, MPI_INFO_NULL, c, &memory, &w);
    MPI_Win_set_name(w, evil);
    MPI_Type_dup(MPI_INT, &t);
    MPI_Type_set_name(t, evil);
    if (strcmp(what, "comm") == 0) MPI_Send(NULL, 0, MPI_INT, 99, 0, c);
    if (strcmp(what, "win") == 0) MPI_Put(&n, 1, MPI_INT, 99, 0, 1, MPI_INT, w);
    if (strcmp(what, "type") == 0) MPI_Send(&n, -1, t, 0, 0, c);
    if (strcmp(what, "file") == 0) {
        MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
        MPI_File_open(c, evil, MPI_MODE_RDONLY, MPI_INFO_NULL, &f);
    }
    if (strcmp(what, "io") == 0) {
        MPI_File_open(c, evil, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
        MPI_File_write_all(f, &n, 1, MPI_INT, MPI_STATUS_IGNORE);
        MPI_File_close(&f);
    }
    if (strcmp(what, "info") == 0) {
        MPI_Info_create(&info);
        MPI_Info_delete(info, evil);
    }
    if (strcmp(what, "port") == 0) MPI_Comm_connect(evil, MPI_INFO_NULL, 0, c, &other);
    if (strcmp(what, "service") == 0) MPI_Lookup_name(evil, MPI_INFO_NULL, port);
    if (strcmp(what, "spawn") == 0) MPI_Comm_spawn(evil, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, c, &other, MPI_ERRCODES_IGNORE);
    if (strcmp(what, "text") == 0) {
        MPI_Add_error_class(&code);
        MPI_Add_error_string(code, evil);
        MPI_Comm_call_errhandler(c, code);
    }
    if (strcmp(what, "hang") == 0) MPI_Recv(NULL, 0, MPI_INT, 0, 0, c, MPI_STATUS_IGNORE);
    if (strcmp(what, "left") == 0) return MPI_Isend(&n, 1, MPI_INT, 0, 7, c, (MPI_Request[1]){MPI_REQUEST_NULL}), MPI_Finalize();
    MPI_Type_free(&t);
    MPI_Win_free(&w);
    MPI_Comm_free(&c);
    return MPI_Finalize();
}
"""
failures = []


def fail(what, why, out):
    failures.append(what)
    print("shown: %s: %s\n    %r" % (what, why, out[:1500]))


def judge(what, out, must=True):
    """All is text, no control character but ends of lines and tabs, and no line is the forged one."""
    try:
        text = out.decode()
    except UnicodeDecodeError as e:
        return fail(what, "no UTF-8: %s" % e, out)
    acts = sorted({c for c in text if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf")})
    if acts:
        fail(what, "%r acts on the terminal" % acts, out)
    if any(line.startswith(FORGED.decode()) for line in text.split("\n")):
        fail(what, "a forged line", out)
    if must and "forged" not in text and "ampiexec" not in text:
        fail(what, "does not print the name", out)


def run(what, words, env=None, must=True, **more):
    all_env = {os.fsencode(k): os.fsencode(v) for k, v in os.environ.items()}
    all_env.update(env or {})
    r = subprocess.run(words, env=all_env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, **more)
    judge(what, r.stdout, must)


def write(name, data):
    with open(name, "wb") as f:
        f.write(data)


def options(sleep):
    """Words of mpiexec."""
    for words in ([b"-n", EVIL, b"true"], [b"-n", b"1", b"no" + EVIL], [b"--" + EVIL, b"true"], [b"--host", EVIL, b"true"],
                  [b"--hostfile", EVIL, b"true"], [b"--configfile", EVIL], [b"-wdir", EVIL, b"true"], [b"--bind-to", EVIL, b"true"],
                  [b"--map-by", EVIL, b"true"], [b"--bind-to", b"user:" + EVIL, b"true"], [b"--timeout", EVIL, b"true"],
                  [b"--vnodes", EVIL, b"true"], [b"--nodes", EVIL, b"true"], [b"--cpu-bind", b"map_cpu:" + EVIL, b"true"],
                  [b"--display", EVIL, b"true"], [b"--runtime-options", EVIL, b"true"], [b"--rankfile", EVIL, b"true"],
                  [b"-x", EVIL, b"true"], [b"--mca", EVIL, b"1", b"true"], [b"--stdin", EVIL, b"true"],
                  [b"--reorder=" + EVIL, b"true"], [b"--preload=" + EVIL, b"true"],
                  [b"doctor", b"-" + EVIL], [b"doctor", b"./" + EVIL], [b"--stack", EVIL], [b"--stack", b"-" + EVIL],
                  [b"--display-map", b"-n", b"1", sleep, b"0"]):
        run("mpiexec %r" % words, [MPIEXEC] + words)
    run("mpiexec -v", [MPIEXEC, b"-v", b"-n", b"1", sleep, b"0"], must=False)
    write("config", b"-n 1 true\n-n " + LINE + b" true\n")
    run("a word of a configfile", [MPIEXEC, "--configfile", "config"])
    write("config", b"--" + LINE + b" true\n")
    run("an option in a configfile", [MPIEXEC, "--configfile", "config"])
    write("hosts", b"n1 slots=" + LINE + b"\n")
    run("a word of a host file", [MPIEXEC, "--hostfile", "hosts", "true"])
    write("hosts", LINE + b"\n")
    run("a host", [MPIEXEC, "--hostfile", "hosts", "true"])
    write(EVIL, b"n1 slots=x\n")
    run("a host file's name", [MPIEXEC, "--hostfile", EVIL, "true"], must=False)
    os.unlink(EVIL)
    write("notexec", b"#!/bin/sh\n")
    os.mkdir(b"d" + EVIL)
    run("a folder as a program", [MPIEXEC, b"./d" + EVIL])
    os.rename("notexec", b"n" + EVIL)
    run("a program that may not run", [MPIEXEC, b"./n" + EVIL])
    write(b"i" + EVIL, b"#!/no/such/" + LINE + b"\n")
    os.chmod(b"i" + EVIL, 0o755)
    run("a script without its interpreter", [MPIEXEC, b"./i" + EVIL])
    for death in (b"exit 3", b"kill -9 $$", b"kill -11 $$"):
        write(b"e" + EVIL, b"#!/bin/sh\n" + death + b"\n")
        os.chmod(b"e" + EVIL, 0o755)
        run("a program that ends by %r" % death, [MPIEXEC, b"./e" + EVIL], must=False)


def settings():
    """Values and names of variables, by mpiexec, a rank, and godwit-info."""
    rank = os.path.join(BUILD, "mpi_world_size")
    info = os.path.join(BUILD, "godwit-info")
    for name in (b"GODWIT_EXPLAIN", b"GODWIT_WIRES", b"GODWIT_HANG_WARN", b"GODWIT_CHECK", b"GODWIT_COLL", b"GODWIT_TUNE",
                 b"MPICH_RANK_REORDER_METHOD", b"MPICH_OFI_DEFAULT_TCLASS", b"GODWIT_LANES", b"SHMEM_SYMMETRIC_SIZE"):
        env = {name: EVIL}
        run("%r in a rank" % name, [MPIEXEC, "-n", "1", rank], env, must=False)
        run("%r alone" % name, [rank], env, must=False)
        run("godwit-info of %r" % name, [info], env, must=False)
    run("a setting that is none", [MPIEXEC, "-n", "1", rank], {b"GODWIT_EXPLAI" + EVIL: b"1"}, must=False)
    run("MPICH's that is none", [MPIEXEC, "-n", "1", rank], {b"MPICH_SMP_" + EVIL: b"1"}, must=False)
    run("a file of ranks", [MPIEXEC, "-n", "1", rank], {b"MPICH_RANK_REORDER_METHOD": b"3", b"MPICH_RANK_REORDER_FILE": EVIL})
    write("order", LINE + b"\n")
    run("a line of a file of ranks", [MPIEXEC, "-n", "1", rank], {b"MPICH_RANK_REORDER_METHOD": b"3", b"MPICH_RANK_REORDER_FILE": b"order"},
        must=False)
    write("tune", LINE + b"\n" + b"bcast | " + LINE + b" | 1 | - | -\nGODWIT_LANES=" + LINE + b"\n")
    run("a line of a tuning file", [MPIEXEC, "-n", "1", rank], {b"GODWIT_TUNE": b"tune"}, must=False)
    run("settings on display", [MPIEXEC, "-n", "1", rank], {b"MPICH_ENV_DISPLAY": b"1", b"GODWIT_NET_IFACE": EVIL})
    run("godwit-info --settings", [info, "--settings"], {b"GODWIT_NET_IFACE": EVIL})
    run("godwit-info --list", [info, "--list"], {b"GODWIT_NET_IFACE": EVIL})
    run("godwit-info --network", [info, "--network"], {b"GODWIT_NET_IFACE": EVIL}, must=False)
    for word in (EVIL, b"--" + EVIL, b"./" + EVIL, b"MPICH_" + EVIL, b"MPIR_CVAR_" + EVIL):
        run("godwit-info %r" % word, [info, word])


def tools():
    """Words of the other commands."""
    for words in ([b"godwit-tune", EVIL], [b"godwit-tune", b"--" + EVIL], [b"godwit-tune", b"-n", EVIL],
                  [b"godwit-tune", b"-o", b"no/" + EVIL + b"/x"], [b"godwit-choices", EVIL], [b"godwit-choices", b"-n", EVIL],
                  [b"godwit-choices", b"-n", b"4", EVIL], [b"grid_order", b"-R", b"-g", EVIL], [b"grid_order", b"-C", b"-g", b"2,2", EVIL],
                  [b"rankplan", b"-g", EVIL, b"-N", b"2"], [b"rankplan", b"-t", EVIL, b"-N", b"2"], [b"rankplan", EVIL],
                  [b"rankplan", b"-m", EVIL], [b"cray_mpiio_summary", EVIL], [b"cray_mpiio_summary", EVIL + b".csv"]):
        run("%r" % words, [os.path.join(os.fsencode(BUILD), words[0])] + words[1:])
    for words in ([b"grid_order", b"--" + EVIL], [b"rankplan", b"--" + EVIL], [b"grid_order", b"-\033"], [b"rankplan", b"-\033"]):
        run("%r" % words, [os.path.join(os.fsencode(BUILD), words[0])] + words[1:], must=False)
    write("stats.0.csv", b"file,start_ms,writes,bytes_written,reads,bytes_read\n\"" + LINE + b"\",0,1,1,1,1\n")
    run("a file in a table", [os.path.join(BUILD, "cray_mpiio_summary"), "stats.0.csv"])
    if not PREFIX:
        return
    for words in ([b"mpixlate", b"-" + EVIL], [b"mpixlate", b"-s", EVIL, b"-t", b"godwit", b"x"],
                  [b"mpixlate", b"-s", b"ompi.40", b"-t", EVIL, b"x"], [b"pat_build", EVIL], [b"pat_build", b"-" + EVIL],
                  [b"pat_build", b"-g", EVIL, b"x"], [b"pat_build", b"-o", b"stats.0.csv" + EVIL, b"./e" + EVIL], [b"pat_report", EVIL],
                  [b"pat_report", b"-" + EVIL], [b"mpicc", b"--showme:" + EVIL], [b"mpifort", b"--showme:" + EVIL],
                  [b"mpicc", b"-cc=" + EVIL, b"x.c"], [b"mpifort", b"-fc=" + EVIL, b"x.f90"]):
        tool = os.path.join(os.fsencode(PREFIX), b"bin", words[0])
        if os.path.exists(tool):
            run("%r" % words, [tool] + words[1:], must=words[1] != b"-o")


def program():
    """Names of a program's objects, and the program's own."""
    c_text = PROGRAM.replace(b"EVIL", b'"' + b"".join(b'""\\x%02x""' % c for c in EVIL) + b'"')
    write("p.c", c_text)
    subprocess.run([os.path.join(PREFIX, "bin", "mpicc"), "-w", "-o", "p", "p.c"], check=True)
    os.rename("p", b"x" + EVIL)
    p, mpiexec = b"./x" + EVIL, os.path.join(PREFIX, "bin", "mpiexec")
    for what in (b"comm", b"win", b"file", b"port", b"service", b"spawn", b"text"):
        run("%r in an error" % what, [mpiexec, "-n", "1", p, what])
    run("a type in an error", [mpiexec, "-n", "1", p, "type"], must=False)
    run("a key in an error", [mpiexec, "-n", "1", p, "info"], must=False)
    run("a file in reports", [mpiexec, "-n", "2", p, "io"],
        {b"MPICH_MPIIO_HINTS_DISPLAY": b"1", b"MPICH_MPIIO_STATS": b"1", b"MPICH_MPIIO_TIMERS": b"1", b"MPICH_MPIIO_AGGREGATOR_PLACEMENT_DISPLAY": b"1"})
    for what in (b"left", b"type", b"comm"):
        run("GODWIT_CHECK, %r" % what, [mpiexec, "-n", "1", p, what], {b"GODWIT_CHECK": b"1"})
    run("explanations", [mpiexec, "-n", "2", p], {b"GODWIT_EXPLAIN": b"wire,proto,coll,boot,topo,wait"}, must=False)
    run("--profile", [mpiexec, "--profile", "-n", "2", p])
    run("--profile=FILE", [mpiexec, b"--profile=" + EVIL + b"/x", b"-n", b"2", p])
    run("--record", [mpiexec, b"--record=no/" + EVIL, b"-n", b"2", p])
    run("--replay", [mpiexec, b"--replay=no/" + EVIL, b"-n", b"2", p])
    run("--record, a folder", [mpiexec, b"--record=r" + EVIL, b"-n", b"2", p])
    run("--replay, a folder", [mpiexec, b"--replay=r" + EVIL, b"-n", b"2", p])
    with open("said", "wb") as said:
        job = subprocess.Popen([mpiexec, "-n", "1", p, "hang"], stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                               env=dict(os.environ, GODWIT_HANG_WARN="1"))
    end = time.monotonic() + 60
    while time.monotonic() < end and b"verdict" not in open("said", "rb").read():
        time.sleep(0.1)
    judge("a verdict", open("said", "rb").read())
    run("--stack of that job", [mpiexec, "--stack", str(job.pid)])
    run("--stack of none", [mpiexec, "--stack", "no-such-job"])
    job.terminate()
    job.wait()


def main():
    folder = tempfile.mkdtemp()
    try:
        os.chdir(folder)
        sleep = b"./s" + EVIL
        os.symlink(os.fsencode(shutil.which("sleep")), sleep)
        options(sleep)
        settings()
        tools()
        if PREFIX and os.path.exists(os.path.join(PREFIX, "bin", "mpicc")):
            program()
    finally:
        os.chdir("/")
        shutil.rmtree(os.fsencode(folder))
    print("%d places fail" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
