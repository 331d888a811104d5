#!/usr/bin/env python3
"""Manual pages and completions of the programs, from the tables that the programs themselves are built from.

    launch_docs.py OUTDIR      writes man/man1/mpiexec.1, man/man7/godwit-environment.7 and others, and completions

mpiexec's options come from src/launch/options.def, settings from src/*/cvars.def; what is written by hand stands in doc/*.[17]."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import settings  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SECTIONS = [("PROGRAM", "Of each program"), ("JOB", "Of the job"), ("HOSTS", "Hosts"), ("PLACE", "Where ranks run"), ("OUTPUT", "Output"),
            ("TAKEN", "Taken, and of no effect"), ("REFUSED", "Refused")]


class Option:
    def __init__(self, kind, fields):
        if kind == "X":
            self.id, names, self.argument, self.section, self.where, self.help = fields
        else:
            self.id, self.section, self.where = kind, "TAKEN" if kind == "NOTED" else kind, "ANYWHERE"
            names, self.argument, self.help = fields
        self.names = names.split()

    @property
    def words(self):
        return 0 if not self.argument or self.argument.startswith("[") else len(self.argument.split())

    @property
    def choices(self):
        """Words that may stand behind it, where these are all."""
        words = self.argument.strip("[]=").split("|")
        return [w for w in words if not w.isupper()] if len(words) > 1 else []


def options():
    """Rows of options.def: a macro's name, and strings and words between its brackets."""
    with open(os.path.join(ROOT, "src", "launch", "options.def"), encoding="utf-8") as f:
        text = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    string = r'"((?:[^"\\]|\\.)*)"'
    rows = []
    for m in re.finditer(r'^(X|TAKEN|NOTED|REFUSED)\(((?:\s*(?:%s|\w+)\s*,?)+)\)$' % string.replace("(", "(?:", 1), text, re.M):
        fields = []
        for field in re.finditer(r'((?:\s*%s)+)|\w+' % string.replace("(", "(?:", 1), m.group(2)):
            parts = re.findall(string, field.group(0))
            fields.append("".join(parts).replace('\\"', '"').replace("\\\\", "\\") if '"' in field.group(0) else field.group(0))
        rows.append(Option(m.group(1), fields))
    assert len(rows) == len(re.findall(r"^(?:X|TAKEN|NOTED|REFUSED)\(", text, re.M)), "options.def has a row that cannot be read"
    return rows


def aprun():
    """(names, the name that they are like) of the rows APRUN."""
    with open(os.path.join(ROOT, "src", "launch", "options.def"), encoding="utf-8") as f:
        return re.findall(r'^APRUN\("([^"]*)", "([^"]*)"\)$', f.read(), re.M)


def not_aprun():
    """(names, what to use in their place) of the rows NOT_APRUN."""
    with open(os.path.join(ROOT, "src", "launch", "options.def"), encoding="utf-8") as f:
        return re.findall(r'^NOT_APRUN\("([^"]*)", "([^"]*)"\)$', f.read(), re.M)


# ---- manual pages ----
def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text)


def option_entry(o):
    names = ", ".join("\\fB%s\\fR" % roff(n) for n in o.names)
    blank = "" if not o.argument or o.argument.startswith("[") else " "
    text = o.help if o.section not in ("TAKEN", "REFUSED") else o.help[0].upper() + o.help[1:] + "."
    if o.where == "HERE":
        text += " Only where mpiexec starts the ranks itself."
    return [".TP", "%s%s\\fI%s\\fR" % (names, blank, roff(o.argument)) if o.argument else names] + [roff(s) for s in re.split(r"(?<=\.) ", text)]


def options_text(rows):
    lines = []
    for section, title in SECTIONS:
        lines.append(".SS " + title)
        if section == "TAKEN":
            lines.append("Options of other launchers that ask for what is so in any case, or for what there is not; each with the reason.  \\fB\\-v\\fR names them; "
                         "%s: of these one note says so, which \\fB\\-q\\fR keeps back." % ", ".join(roff(n) for o in rows if o.id == "NOTED" for n in o.names))
        if section == "REFUSED":
            lines.append("Options of other launchers that end mpiexec with status 2 and a sentence, which is the one here.")
        for o in rows:
            if o.section == section:
                lines += option_entry(o)
    lines += [".SS Called as aprun", "Some letters are other options where mpiexec is called by that name, which is a link to it:"]
    for names, like in aprun():
        lines += [".TP", ", ".join("\\fB%s\\fR" % roff(n) for n in names.split()), "As %s." % roff(like)]
    lines += [".PP", "Options of Slurm that aprun has not are refused there:"]
    for names, instead in not_aprun():
        lines += [".TP", ", ".join("\\fB%s\\fR" % roff(n) for n in names.split()), roff(instead[0].upper() + instead[1:] + ".")]
    return lines


def setting_entry(s):
    allowed = {"bool": "1 or 0", "enum": ", ".join(s.choices)}.get(s.type, s.range.replace(",", ", "))
    kind = {"bool": "switch", "int": "number", "size": "size (K, M, G)", "string": "text", "list": "list", "enum": "word"}[s.type]
    facts = "%s%s; default %s." % (kind, ": " + allowed if allowed else "", s.default or "none")
    lines = [".TP", ".B GODWIT_" + roff(s.name.upper())] + [roff(t) for t in re.split(r"(?<=\.) ", s.help)] + [".br", roff(facts[0].upper() + facts[1:])]
    if s.aliases:
        lines += [".br", "Also read from " + roff(", ".join(s.aliases)) + "."]
    return lines


def settings_text():
    titles = {"base": "In general", "boot": "Start of a job", "check": "Looking for misuse", "coll": "Collectives", "io": "Files", "mpi": "MPI calls",
              "node": "Shared memory of a node", "peer": "Connections", "proto": "Messages", "req": "Waiting and progress", "rma": "Windows", "sym": "OpenSHMEM",
              "topo": "Topologies", "wire_ofi": "libfabric", "net": "The network", "wire_shm": "Messages on a node"}
    lines, room = [], None
    for s in settings.load(os.path.join(ROOT, "src")):
        if s.room != room:
            room = s.room
            lines.append(".SS " + titles.get(room, room))
        lines += setting_entry(s)
    return lines


def foreign_text():
    """The rows of src/base/foreign.def by their first word: (names and reasons)."""
    rows = settings.load_foreign(os.path.join(ROOT, "src"))
    families = [("MPICH_GPU_", "Cray MPICH: GPUs"), ("MPICH_GNI_", "Cray MPICH: GNI"), ("MPICH_PTL_", "Cray MPICH: Portals"), ("MPICH_MPIIO_", "Cray MPICH: files"),
                ("MPICH_", "Cray MPICH"), ("SHMEM_", "OpenSHMEM"), ("FI_CXI_", "Slingshot's provider"), ("CXI_", "Slingshot"), ("FI_", "libfabric"), ("MPIR_CVAR_", "MPICH"), ("OMPI_MCA_", "Open MPI"), ("I_MPI_", "Intel MPI"), ("", "Others")]
    lines = []
    for begin, title in families:
        mine = [r for r in rows if next(b for b, _ in families if r.name.startswith(b)) == begin]
        lines += [".SS " + title] if mine else []
        for row in mine:
            word = {"X": "Of no effect: ", "MCA": "Of no effect, with OMPI_MCA_ before it or without: ", "OTHERS": "No setting: ", "NOTED": "Read, and "}[row.kind]
            lines += [".TP", ".B " + roff(row.name), roff(word + row.why + ".")]
    for kind, title, word in (("BEGIN", "Names that begin so", "Of no effect: "), ("QUIET", "Names that begin so, of which nothing is said", "Of no effect: ")):
        lines.append(".SS " + title)
        why = {}
        for _, begin, reason in (row for row in settings.load_begins(os.path.join(ROOT, "src")) if row[0] == kind):
            why.setdefault(reason, []).append(begin)
        for reason, begins in why.items():
            lines += [".TP", ".B " + roff(", ".join(begins)), roff(word + reason + ".")]
    return lines


def version():
    """meson.build is the one place where it stands."""
    with open(os.path.join(ROOT, "meson.build"), encoding="utf-8") as f:
        return re.search(r"version: '([^']+)'", f.read()).group(1)


def pages():
    """(path below the folder of manual pages, text)."""
    places = {"@OPTIONS@": options_text(options()), "@SETTINGS@": settings_text(), "@FOREIGN@": foreign_text()}
    for path in sorted(glob.glob(os.path.join(ROOT, "doc", "*.[17]"))):
        with open(path, encoding="utf-8") as f:
            lines = []
            for line in f.read().split("\n"):
                line = line.replace('"Godwit"', '"Godwit %s"' % version()) if line.startswith(".TH") else line
                lines += places.get(line.replace('.\\" ', "", 1), [line])
        yield "man%s/%s" % (path[-1], os.path.basename(path)), "\n".join(lines)
    for name in ("man3/intro_mpi.3", "man3/mpi.3"): # under which HPE's library has its variables
        yield name, ".so man7/godwit-environment.7\n"
    yield "man3/intro_shmem.3", ".so man7/godwit.7\n"


# ---- completions ----
BASH = r"""# Completion of mpiexec for bash, generated from its table of options.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
_godwit_mpiexec()
{
    local cur=${COMP_WORDS[COMP_CWORD]} i=1 last="" left=0 word
    COMPREPLY=()
    # What stands before the cursor: an option whose words are not all there, a program, or neither.
    while [ $i -lt $COMP_CWORD ]; do
        word=${COMP_WORDS[i]}
        if [ $left -gt 0 ]; then left=$((left - 1)); else
            case $word in
            :) ;;
@TAKES@
            -*) ;;
            *) # a program: up to the next colon its words are its own
                local program=$i
                while [ $i -lt $COMP_CWORD ] && [ "${COMP_WORDS[i]}" != : ]; do i=$((i + 1)); done
                if [ $i -ge $COMP_CWORD ]; then
                    if declare -F _command_offset >/dev/null; then _command_offset $program; else COMPREPLY=($(compgen -f -- "$cur")); fi
                    return
                fi ;;
            esac
            last=$word
        fi
        i=$((i + 1))
    done
    if [ $left -gt 0 ]; then
        case $last in
@VALUES@
        esac
        return
    fi
    case $cur in
    -*) COMPREPLY=($(compgen -W "@NAMES@" -- "$cur")) ;;
    *) COMPREPLY=($(compgen -c -- "$cur") $(compgen -f -- "$cur")) ;;
    esac
}
complete -o filenames -F _godwit_mpiexec mpiexec mpirun aprun
"""
ZSH = """#compdef mpiexec mpirun aprun
# Completion of mpiexec for zsh, generated from its table of options.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
_arguments -S -A '-*' \\
@ROWS@
  '(-)1:program:_command_names -e' \\
  '*::arguments:_normal'
"""
INFO_BASH = """# Completion of godwit-info for bash.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
_godwit_info()
{
    COMPREPLY=($(compgen -W "--settings --list --tuning --network --json --version --help @SETTINGS@" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _godwit_info godwit-info
"""
# The options of the tools in tools/order, which have letters alone.
ORDER_BASH = """# Completion of @TOOL@ for bash.
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
_godwit_@TOOL@()
{
    COMPREPLY=($(compgen -W "@LETTERS@ --help --version" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _godwit_@TOOL@ @TOOL@
"""
ORDER_TOOLS = ("grid_order", "rankplan")


def letters(tool):
    """As its manual page has them."""
    with open(os.path.join(ROOT, "doc", tool + ".1"), encoding="utf-8") as f:
        entries = re.findall(r"^\.TP\n(\.B.*)", f.read(), re.M)
    return [w.replace("\\", "") for line in entries for w in re.findall(r"\\-\w(?=[\s,\"]|$)", line)]


def spellings(o):
    """With one dash and with two, but for letters, and what is shown first."""
    out = []
    for name in o.names:
        bare = name.lstrip("-")
        out += [name] if len(bare) == 1 else [name] + [d + bare for d in ("-", "--") if d + bare != name]
    return out


def bash_values(o):
    what = {"DIR": "-d", "FILE": "-f", "LIST": "-A hostname", "RANKS": "-W all"}.get(o.argument)
    if o.choices:
        what = '-W "%s"' % " ".join(o.choices)
    if o.id == "BIND":
        what = '-W "core numa none hwthread l2cache l3cache socket machine user:"'
    if o.id in ("MAP", "RANK_BY"):
        what = '-W "core slot numa socket l3cache node%s"' % (" ppr:" if o.id == "MAP" else " fill")
    if o.argument == "NAME VALUE" or o.argument.startswith("NAME[") or o.argument == "NAMES":
        what = "-e"
    return what


def bash_completion(rows):
    takes, values = [], []
    for words in (1, 2):
        names = [s for o in rows if o.words == words for s in spellings(o)]
        takes.append("            %s) left=%d ;;" % ("|".join(names), words))
    for o in rows:
        what = bash_values(o) if o.words else None
        if what:
            values.append("        %s) COMPREPLY=($(compgen %s -- \"$cur\")) ;;" % ("|".join(spellings(o)), what))
    offered = [n for o in rows if o.section not in ("TAKEN", "REFUSED") for n in o.names]
    return BASH.replace("@TAKES@", "\n".join(takes)).replace("@VALUES@", "\n".join(values)).replace("@NAMES@", " ".join(offered))


def zsh_completion(rows):
    lines = []
    for o in rows:
        if o.section in ("TAKEN", "REFUSED"):
            continue
        summary = re.split(r"(?<=\.) ", o.help)[0].rstrip(".")
        summary = re.sub(r"([\[\]:\\])", r"\\\1", summary).replace("'", "'\\''")
        action = {"DIR": "_directories", "FILE": "_files", "LIST": "_hosts"}.get(o.argument, "(%s)" % " ".join(o.choices) if o.choices else " ")
        value = "".join(":%s:%s" % (w.lower().replace(":", "\\:"), action) for w in (o.argument.split() if o.words else []))
        lines += ["  '*%s[%s]%s' \\" % (n, summary, value) for n in o.names]
    return ZSH.replace("@ROWS@", "\n".join(lines))


def completions():
    """(path below the folder of data, text)."""
    rows = options()
    names = " ".join("GODWIT_" + s.name.upper() for s in settings.load(os.path.join(ROOT, "src")))
    for name in ("mpiexec", "mpirun", "aprun"):
        yield "bash-completion/completions/" + name, bash_completion(rows)
    yield "bash-completion/completions/godwit-info", INFO_BASH.replace("@SETTINGS@", names)
    for tool in ORDER_TOOLS:
        yield "bash-completion/completions/" + tool, ORDER_BASH.replace("@TOOL@", tool).replace("@LETTERS@", " ".join(letters(tool)))
    yield "zsh/site-functions/_mpiexec", zsh_completion(rows)


def main(out):
    for path, text in [("man/" + p, t) for p, t in pages()] + list(completions()):
        path = os.path.join(out, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


if __name__ == "__main__":
    main(sys.argv[1])
