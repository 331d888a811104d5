"""Writes test/data_*.c: programs that check the data of every typed function of OpenSHMEM against what the specification says of it.

The values differ by PE, index and type; what must arrive is computed from them in plain C, element by element, for each function, with
and without a context, on the heap and in static data.  The same programs run on any number of PEs."""
# SPDX-FileCopyrightText: 2026 The Godwit authors
# SPDX-License-Identifier: BSD-3-Clause
import re

import shmem_test_coll
from shmem_test_c import HEAD, PUTS_AND_GETS, WAITS, SIGNALS, ATOMICS

FORMS = ["", "SHMEM_CTX_DEFAULT", "ctx"] # without a context, with the default one, with one of the program's


class Kind:
    """A type as the tests see it: `word` is what stands in names of functions."""

    def __init__(self, word, c, kind, size):
        self.word, self.c, self.kind, self.bytes = word, c, kind, size
        self.unsigned = "uint%d_t" % (8 * size) if size <= 8 else ""

    def name(self, verb, has_ctx=False):
        """shmem_ctx_int_put, shmem_put32_nbi, shmem_putmem."""
        begin = "shmem_ctx_" if has_ctx else "shmem_"
        if self.kind in ("bits", "bytes"):
            m = re.match("[a-z]+", verb)
            return begin + m.group() + self.word + verb[m.end():]
        return begin + self.word + "_" + verb


def kinds(model, over):
    return [Kind(t.name, t.c, t.kind, t.bytes) for t in model.types[over]]


def sized(model):
    words = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t", 8: "uint64_t", 16: "struct wide"}
    return [Kind(t.name, words[t.bytes], "bits", t.bytes) for t in model.types["size"]] + [Kind("mem", "unsigned char", "bytes", 1)]


def value_functions(k):
    """value_W(pe, i): what PE `pe` has at index i of this type; same_W(a, b)."""
    salt = sum(ord(c) * (i + 3) for i, c in enumerate(k.word + k.c))
    head = "static %s value_%s(int pe, size_t i)" % (k.c, k.word)
    if k.c == "struct wide":
        text = head + " { return (struct wide){{mix(pe, i, %d), mix(pe, i, %d)}}; }\n" % (salt, salt + 1)
        return text + "static inline int same_%s(struct wide a, struct wide b) { return a.w[0] == b.w[0] && a.w[1] == b.w[1]; }\n" % k.word
    body = "(%s)mix(pe, i, %d)" % (k.c, salt) if k.kind != "real" else "(%s)((double)(mix(pe, i, %d) %% 2000003) / 4 - 250000)" % (k.c, salt)
    if k.c == "float":
        body = "(float)(mix(pe, i, %d) %% 2000003) / 4 - 250000" % salt
    return "%s { return %s; }\nstatic inline int same_%s(%s a, %s b) { return a == b; }\n" % (head, body, k.word, k.c, k.c)


def call(k, verb, form, args):
    """The call of `verb` in that form."""
    return "%s(%s%s)" % (k.name(verb, bool(form)), form + ", " if form else "", args)


def in_forms(k, verb, args, indent="        "):
    """A switch over `form`."""
    cases = ["case %d: %s; break;" % (i, call(k, verb, form, args)) for i, form in enumerate(FORMS)]
    return ("\n" + indent).join(["switch (form) {"] + cases + ["}"])


PUTS = [("put", n) for n in (0, 1, 2, 5, 16, 33, 300)] + [("put_nbi", n) for n in (0, 1, 3, 16, 300)]
IPUTS = [(1, 1, 7), (2, 3, 10), (3, 1, 90), (2, 1, 0)]
IBPUTS = [(4, 5, 3, 6), (2, 2, 2, 5), (7, 3, 1, 4), (40, 33, 33, 7)]


def rma_puts(k):
    """[(call, expectation)] of each way to put; an area of `dest` each."""
    area = 0
    for verb, n in PUTS:
        yield in_forms(k, verb, "dest + %d * SPAN, source + %d, %d, next" % (area, area, n)), \
            "for (size_t i = 0; i != %d; i++) expect[%d * SPAN + i] = value_%s(last, %d + i);" % (n, area, k.word, area)
        area += 1
    if k.kind == "bytes":
        return
    for dst, sst, n in IPUTS:
        yield in_forms(k, "iput", "dest + %d * SPAN, source + %d, %d, %d, %d, next" % (area, area, dst, sst, n)), \
            "for (size_t i = 0; i != %d; i++) expect[%d * SPAN + i * %d] = value_%s(last, %d + i * %d);" % (n, area, dst, k.word, area, sst)
        area += 1
    for dst, sst, block, n in IBPUTS:
        yield in_forms(k, "ibput", "dest + %d * SPAN, source + %d, %d, %d, %d, %d, next" % (area, area, dst, sst, block, n)), \
            "for (size_t b = 0; b < %d; b++)\n        for (size_t i = 0; i != %d; i++)\n            expect[%d * SPAN + b * %d + i] = value_%s(last, %d + b * %d + i);" \
            % (n, block, area, dst, k.word, area, sst)
        area += 1
    if k.kind != "bits":
        for i in range(3):
            yield in_forms(k, "p", "dest + %d * SPAN + %d, source[%d], next" % (area, i, i)), \
                "expect[%d * SPAN + %d] = value_%s(last, %d);" % (area, i, k.word, i)


def rma_gets(k):
    """Statements that get from `next`, whose `source` is symmetric here, and check."""
    def checked(verb, args, quiet, check):
        return "memset(got, 0x5a, sizeof got);\n    %s\n    %s%s" % (in_forms(k, verb, args, "    "), "quiet(form);\n    " if quiet else "", check)
    for verb, n in PUTS:
        yield checked(verb.replace("put", "get"), "got, all + %d, %d, next" % (n, n), "nbi" in verb,
                      "for (size_t i = 0; i != %d; i++) CHECK(same_%s(got[i], value_%s(next, %d + i)));" % (n, k.word, k.word, n) +
                      "\n    CHECK(is_filled(got + %d, sizeof got[0], 0x5a));" % n)
    if k.kind == "bytes":
        return
    for dst, sst, n in IPUTS:
        yield checked("iget", "got, all + 3, %d, %d, %d, next" % (dst, sst, n), False,
                      "for (size_t i = 0; i != %d; i++) CHECK(same_%s(got[i * %d], value_%s(next, 3 + i * %d)));" % (n, k.word, dst, k.word, sst))
    for dst, sst, block, n in IBPUTS:
        yield checked("ibget", "got, all + 1, %d, %d, %d, %d, next" % (dst, sst, block, n), False,
                      "for (size_t b = 0; b < %d; b++)\n        for (size_t i = 0; i != %d; i++)\n"
                      "            CHECK(same_%s(got[b * %d + i], value_%s(next, 1 + b * %d + i)));" % (n, block, k.word, dst, k.word, sst))
    if k.kind != "bits":
        for form, context in enumerate(FORMS):
            yield "if (form == %d) CHECK(same_%s(%s, value_%s(next, 7)));" % (form, k.word, call(k, "g", context, "all + 7, next"), k.word)


def rma(model):
    out = [HEAD % "puts and gets of all types and sizes", PUTS_AND_GETS]
    all_kinds = kinds(model, "rma") + sized(model)
    for k in all_kinds:
        puts = list(rma_puts(k))
        out.append(value_functions(k))
        out.append("static void put_%s(%s *dest, int form)\n{\n    static %s source[SOURCE], expect[TOTAL];" % (k.word, k.c, k.c))
        out.append("    for (size_t i = 0; i < SOURCE; i++) source[i] = value_%s(me, i);" % k.word)
        out.append("    memset(dest, 0xa5, sizeof expect);\n    memset(expect, 0xa5, sizeof expect);\n    shmem_barrier_all();")
        out += ["    " + text.replace("\n        ", "\n    ") for text, _ in puts]
        out.append("    quiet(form);\n    shmem_barrier_all();")
        out += ["    " + text for _, text in puts]
        out.append("    for (size_t i = 0; i < TOTAL; i++) CHECK(same_%s(dest[i], expect[i]) || is_filled2(dest + i, expect + i, sizeof *dest));\n}" % k.word)
        out.append("static void get_%s(%s *all, int form)\n{\n    static %s got[SOURCE];" % (k.word, k.c, k.c))
        out.append("    for (size_t i = 0; i < SOURCE; i++) all[i] = value_%s(me, i);\n    shmem_barrier_all();" % k.word)
        out += ["    " + text for text in rma_gets(k)]
        out.append("    shmem_barrier_all();\n}")
    out.append("int main(void)\n{\n    start();\n    for (int form = 0; form < 3; form++) {")
    for k in all_kinds:
        out.append("        put_%s(heap, form), put_%s((void *)data, form), get_%s(heap, form), get_%s((void *)data, form);" % ((k.word,) * 4))
    out.append("    }\n    stop();\n    return 0;\n}")
    return "\n".join(out) + "\n"


# What an atomic does to the word `now`, and the older names.
STEPS = {"fetch": "now", "set": "v", "swap": "v", "compare_swap": "now == cond ? v : now", "inc": "ADD(now, 1)", "fetch_inc": "ADD(now, 1)",
         "add": "ADD(now, v)", "fetch_add": "ADD(now, v)", "and": "now & v", "fetch_and": "now & v", "or": "now | v", "fetch_or": "now | v",
         "xor": "now ^ v", "fetch_xor": "now ^ v"}
OLDER = {"cswap": "compare_swap", "finc": "fetch_inc", "fadd": "fetch_add"}


def atomic_step(f, k, form):
    """Statements: one atomic on the word of `next` that is this PE's alone; what it fetches, and what is there then."""
    verb = re.sub("^atomic_|_nbi$", "", f.verb)
    plain = OLDER.get(verb, verb)
    step = STEPS[plain].replace("ADD(now, 1)", "(%s)((%s)now + 1)" % (k.c, k.unsigned)).replace("ADD(now, v)", "(%s)((%s)now + (%s)v)" % (k.c, k.unsigned, k.unsigned))
    names = [p["name"] for p in f.params]
    args = ", ".join({"dest": "word", "source": "word", "fetch": "&got", "cond": "cond", "value": "v", "pe": "next"}[n] for n in names)
    name = call(k, f.verb, FORMS[form], args)
    lines = []
    for same in ([True, False] if "cond" in names else [None]):
        lines.append("v = value_%s(me, at++);" % k.word)
        if same is not None:
            lines.append("cond = %s;" % ("now" if same else "(%s)~now" % k.c))
        if "fetch" in names:
            lines.append("got = v;\n    %s;\n    quiet(%d);\n    CHECK(got == now);" % (name, form))
        elif f.ret == "void":
            lines.append("%s;\n    quiet(%d);" % (name, form))
        else:
            lines.append("CHECK(%s == now);" % name)
        lines += ["now = %s;" % step] if step != "now" else []
        lines.append("CHECK(shmem_%s_atomic_fetch(word, next) == now);" % k.word)
    return "    " + "\n    ".join(lines)


def amo(model):
    out = [HEAD % "atomics of all types", ATOMICS]
    functions = [f for f in model.functions if f.group == "amo"]
    for k in kinds(model, "amo_ext"):
        mine = [f for f in functions if any(t.name == k.word for t in f.types)]
        out.append(value_functions(k))
        uses_cond = any("cond" in [p["name"] for p in f.params] for f in mine)
        out.append("static void steps_%s(%s *word, int form)\n{\n    %s now = value_%s(next, 1), v, got%s;\n    size_t at = 10;" %
                   (k.word, k.c, k.c, k.word, ", cond" if uses_cond else ""))
        out.append("    shmem_%s_atomic_set(word, now, next), shmem_quiet();" % k.word)
        for form in range(3):
            out.append("    if (form == %d) {" % form)
            out += [atomic_step(f, k, form) for f in mine if form == 0 or f.ctx_name]
            out.append("    }")
        out.append("    CHECK(shmem_%s_g(word, next) == now);\n    shmem_barrier_all();\n}" % k.word)
    for k in kinds(model, "amo_std"):
        out.append("CONTEND(%s, %s, %s)" % (k.c, k.word, k.unsigned))
    for k in kinds(model, "amo_bit"):
        out.append("BITS(%s, %s, %d)" % (k.c, k.word, 8 * k.bytes))
    out.append("int main(void)\n{\n    start();\n    for (int form = 0; form < 3; form++) {")
    out += ["        steps_%s((%s *)heap + me, form), steps_%s((%s *)data + me, form);" % (k.word, k.c, k.word, k.c) for k in kinds(model, "amo_ext")]
    out.append("    }\n    for (int place = 0; place < 2; place++) {")
    out += ["        contend_%s(place ? heap : (void *)data);" % k.word for k in kinds(model, "amo_std")]
    out += ["        bits_%s(place ? heap : (void *)data);" % k.word for k in kinds(model, "amo_bit")]
    out.append("    }\n    stop();\n    return 0;\n}")
    return "\n".join(out) + "\n"


def signal(model):
    out = [HEAD % "puts with signals, and signals alone", SIGNALS]
    all_kinds = kinds(model, "rma") + sized(model)
    for k in all_kinds:
        out.append(value_functions(k))
        out.append("static void signal_%s(%s *dest, int form)\n{\n    static %s source[COUNT];\n    int turn = 0;" % (k.word, k.c, k.c))
        for verb in ("put_signal", "put_signal_nbi"):
            for n in (0, 1, 5, 300):
                args = "dest, source, %d, flag, amount, op, next" % n
                out.append("    for (int op = 0; op < 2; op++) {\n        uint64_t amount = begin_turn(op, turn++);")
                out.append("        for (size_t i = 0; i < COUNT; i++) source[i] = value_%s(me, i + (size_t)turn * 7);" % k.word)
                out.append("        memset(dest, 0xa5, COUNT * sizeof *dest);\n        shmem_barrier_all();")
                out.append("        " + in_forms(k, verb, args))
                out.append("        CHECK(wait_turn() == expected);")
                out.append("        for (size_t i = 0; i != %d; i++) CHECK(same_%s(dest[i], value_%s(last, i + (size_t)turn * 7)));" % (n, k.word, k.word))
                out.append("        CHECK(is_filled(dest + %d, sizeof *dest, 0xa5));\n        quiet(form);\n    }" % n)
        out.append("    shmem_barrier_all();\n}")
    out.append("int main(void)\n{\n    start();\n    flag = shmem_calloc(1, sizeof *flag);\n    for (int form = 0; form < 3; form++) {\n        alone(form);")
    out += ["        signal_%s(form == 1 ? (void *)data : heap, form);" % k.word for k in all_kinds]
    out.append("    }\n    stop();\n    return 0;\n}")
    return "\n".join(out) + "\n"


def wait(model):
    out = [HEAD % "waits and tests of all types", WAITS]
    for k in kinds(model, "amo_std"):
        out.append(value_functions(k))
        out.append("WAITS(%s, %s)" % (k.c, k.word))
    for t in model.types["p2p_old"]:
        out.append("OLD_TEST(%s, %s)" % (t.c, t.name))
    for t in model.types["wait_old"]:
        out.append("OLD_WAIT(%s, %s)" % (t.c, t.name))
    out.append("int main(void)\n{\n    start();")
    out += ["    waits_%s(heap), waits_%s((void *)data);" % (k.word, k.word) for k in kinds(model, "amo_std")]
    out += ["    old_test_%s(heap);" % t.name for t in model.types["p2p_old"]]
    out += ["    old_wait_%s(heap);" % t.name for t in model.types["wait_old"]]
    out.append("    untyped((void *)heap);\n    stop();\n    return 0;\n}")
    return "\n".join(out) + "\n"


def emit(model):
    return [("test/data_rma.c", rma(model)), ("test/data_amo.c", amo(model)), ("test/data_signal.c", signal(model)),
            ("test/data_wait.c", wait(model)), ("test/data_coll.c", shmem_test_coll.emit(model))]
