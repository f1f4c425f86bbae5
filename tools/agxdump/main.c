/* SPDX-License-Identifier: MIT
 *
 * The command line of agxdump: finds the command.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agxdump.h"
#include "base/util.h"
#include "print.h"
#include "standard.h"

static const struct {
   const char *name;
   int (*run)(int argc, char **argv);
   const char *takes, *says;
   int failure; /* exit code of failures; 0: 1 */
} commands[] = {
   {"record", dump_record, "[-o FILE] [OPTION...] -- COMMAND", "runs a program and records it"},
   {"show", dump_show, "[OPTION...] FILE", "prints submissions, word by word"},
   {"replay", dump_replay, "[OPTION...] FILE", "runs a capture again and compares"},
   {"stats", dump_stats, "[OPTION...] FILE", "what each dispatch executes"},
   {"extract", dump_extract, "[OPTION...] FILE -o DIR", "one dispatch as files"},
   {"minimize", dump_minimize, "[OPTION...] FILE -o OUT",
    "the smallest capture that shows a fault"},
   {"diff", dump_diff, "[OPTION...] A B", "two captures beside each other", 2},
   {"html", dump_html, "[OPTION...] -o DIR FILE [FILE2]", "a page for a browser"},
};

static void help(FILE *file)
{
   for (size_t i = 0; i < AGX_COUNT(commands); i++)
      fprintf(file, "%s agxdump %-8s %-34s %s\n", i ? "      " : "usage:", commands[i].name,
              commands[i].takes, commands[i].says);
   fprintf(file, "\n"
                 "Captures of what goes to the GPU; a program also writes one when it runs with\n"
                 "AGX_CAPTURE=FILE. Each command tells its options with --help. docs/capture.md\n"
                 "describes the file.\n");
}

/* What standard output didn't take is lost, however the command went: a full disk must not pass for
 * success, nor for a difference. */
static int finish_output(const char *command, int code, int failure)
{
   if (print_finish())
      return code;
   fprintf(stderr, "agxdump %s: standard output can't be written: %s\n", command, strerror(errno));
   return AGX_MAX(code, failure);
}

int main(int argc, char **argv)
{
   const char *command = argc > 1 ? argv[1] : "";
   standard_keep();
   for (size_t i = 0; i < AGX_COUNT(commands); i++)
      if (strcmp(command, commands[i].name) == 0)
         return finish_output(command, commands[i].run(argc, argv),
                              AGX_MAX(commands[i].failure, 1));
   bool wants_help = strcmp(command, "--help") == 0 || strcmp(command, "-h") == 0;
   if (command[0] && !wants_help)
      fprintf(stderr, "agxdump: there is no command \"%s\"\n", command);
   help(wants_help ? stdout : stderr);
   return finish_output("--help", wants_help ? 0 : 2, 1);
}
