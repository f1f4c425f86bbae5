#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns cost.def into the constant table of cost.c. Usage:

    gen_cost.py cost.def isa.def operand.def isa_cost.inc
"""
import sys

from gen_isa import Bad, lines_of, read_operands, read_rows

VARIANTS = ("32", "64", "prefix")


def cycles(text):
    throughput, latency = text.split("/")
    return int(throughput), int(latency)


def read_costs(path):
    """{row: {variant: (throughput, latency)}, with True at "shared"}"""
    out = {}
    for number, words, _ in lines_of(path):
        try:
            if words[0] != "cost":
                raise Bad("expected cost")
            cost = {"16": cycles(words[1]), "shared": False}
            for i, word in enumerate(words[2:], 2):
                name, equals, value = word.partition("=")
                if equals and name in VARIANTS:
                    cost[name] = cycles(value)
                elif word == "shared":
                    cost["shared"] = True
                else:
                    break
            for row in words[i:]:
                if row in out:
                    raise Bad("%s has a cost already" % row)
                out[row] = cost
        except (Bad, ValueError, IndexError) as error:
            raise Bad("%s:%d: %s" % (path, number, error))
    return out


def main(argv):
    cost, isa, operand, output = argv[1:]
    costs = read_costs(cost)
    names = [row.name for row in read_rows(isa, read_operands(operand))[2]]
    if set(names) != set(costs):
        raise Bad("%s: rows without cost or unknown: %s" % (
            cost, " ".join(sorted(set(names) ^ set(costs)))))
    out = ["/* Made by gen_cost.py from cost.def. */\n"
           "static const struct cost_row cost_rows[AGX_ISA_OP_COUNT] = {\n"]
    for name in names:
        row = costs[name]
        word = row.get("32", row["16"])
        wide = row.get("64", word)
        variants = (row["16"], word, wide, row.get("prefix", row["16"]))
        out.append("   [AGX_ISA_OP_%s] = {%s, %s},\n" % (
            name.upper(), ", ".join("{%d, %d}" % pair for pair in variants),
            "true" if row["shared"] else "false"))
    out.append("};\n")
    with open(output, "w", encoding="utf-8") as file:
        file.write("".join(out))


if __name__ == "__main__":
    try:
        main(sys.argv)
    except Bad as error:
        sys.exit("gen_cost.py: %s" % error)
