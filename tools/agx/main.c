/* SPDX-License-Identifier: MIT
 *
 * agx: the project's command line. To add a command, write its file, declare it
 * in agx.h and add a row to the table. With AGX_COMPILER_ONLY (meson's compiler_only) the commands
 * that need a device are left out.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx.h"
#include "base/debug.h"
#include "base/util.h"
#include "standard.h"

static const struct agx_command {
   const char *name;
   const char *arguments;
   const char *summary;
   int (*run)(int argc, char **argv);
   const char *details; /* for --help; may be NULL */
   bool reads_debug;    /* AGX_DEBUG, by opening a device or leaving it to another program */
} commands[] = {
   {"asm", "[FILE]", "turn text into machine code, printed as hex", agx_cmd_asm,
    "Reads FILE or standard input, one instruction a line, as `agx disasm` prints them; offset\n"
    "and bytes columns are skipped, '#' and ';' start a comment. Prints one line of hex for\n"
    "each instruction. The text is described in docs/hw/isa.md.\n"},
#ifndef AGX_COMPILER_ONLY
   {"bench",
    "[--corpus DIR] [--chip CHIP] [--only compile|host] [--device DEVICE] [--best N] [--json]",
    "print what kernels compile to, and what dispatches cost the host", agx_cmd_bench,
    "Compiles the corpus in DIR (tests/corpus) and prints our figures beside recorded ones of\n"
    "Honeykrisp (hk, robustness off); then nanoseconds per recorded dispatch and per submission\n"
    "on the virtual device with execution switched off, successes taken on trust. gprs16 and\n"
    "unif16 are in halves; cycles: a static estimate of one pass through each block; ms: compile\n"
    "time, the best of N (5).\n"
    "scripts/race.py, which `make bench` runs, compares what is executed.\n",
    true},
#endif
   {"compile",
    "[--stats] [--json] [-o OUT] [--entry NAME] [--spec ID=VALUE]... [--chip NAME,...]\n"
    "                   [--robust MODE]... [--dynamic local-size|shared]... [--dump] [--best N]\n"
    "                   FILE.spv...",
    "compile SPIR-V kernels to ELF files", agx_cmd_compile,
    "Writes FILE.agxbin for each FILE.spv. A kernel that can't be compiled says why in one line;\n"
    "the others are compiled all the same, and the exit status is 1.\n"
    "  -o OUT           the file to write, for a single kernel\n"
    "  --stats, --json  print a table (TSV, JSON) of what the compiler made; no file without -o\n"
    "  --entry NAME     one entry point; without it all compute ones, or else all vertex ones\n"
    "  --spec ID=VALUE  a specialization constant: 12, 0x10, 1.5, true\n"
    "  --chip NAME,...  such as g13g (the default), g14s or t6020; one file for several chips\n"
    "  --robust MODE    what becomes of accesses outside of a buffer: off (the default), clamp,\n"
    "                   zero; SET.BINDING=MODE for one binding; docs/robustness.md\n"
    "  --dynamic WHAT   what dispatches may choose: local-size (of workgroups), shared (bytes\n"
    "                   of the last workgroup array); docs/hal/executables.md\n"
    "  --dump           print the code after each pass to standard error\n"
    "  --best N         compile N times: compile_ms, in processor time, is that of the quickest\n"},
   {"disasm", "[--json] [--raw] [--entry NAME] [FILE | --hex BYTES...]",
    "turn machine code into text, one instruction a line", agx_cmd_disasm,
    "FILE (or standard input) is an ELF file, whose executable sections are shown, or hex text,\n"
    "or raw bytes.\n"
    "  --entry NAME    one entry point of a file of `agx compile`\n"
    "  --hex BYTES...  the bytes themselves, as hex; spaces do not matter\n"
    "  --raw           FILE is raw bytes, whatever it looks like\n"
    "  --json          print {\"instructions\": [...], \"error\": ...}\n"},
#ifndef AGX_COMPILER_ONLY
   {"info", "[--device auto|drm|virtual[:CHIP]|PATH] [--json]",
    "describe the device, and say why other nodes are not used", agx_cmd_info,
    "  --device NAME   auto (the default) takes the first usable node, else the virtual AGX;\n"
    "                  drm only a real one; virtual:CHIP such as virtual:g14s or virtual:t6020\n"
    "  --json          print {\"device\": {...}, \"nodes\": [...]}, or \"error\" for the device\n"},
#endif
   {"opt",
    "[--pass NAME]... [--chip NAME] [--robust MODE] [--binding BYTES]... [--uniforms]\n"
    "               [--unchecked] [--halves N] [FILE.ir]",
    "run passes of the compiler over IR text", agx_cmd_opt,
    "Reads FILE.ir or standard input (-) as `agx compile --dump` prints IR, runs the passes in "
    "the\n"
    "order given, and prints what comes out. The text is validated before and after each pass.\n"
    "  --list           print the names of all passes, in the order of the pipeline\n"
    "  --pass NAME      a pass to run; without any the text is only validated and printed\n"
    "  --chip NAME      such as g13g (the default), g14s or t6020\n"
    "  --robust MODE    off (the default), clamp or zero: for accesses outside of the bindings\n"
    "  --binding BYTES  one more binding, with so many bytes at least (0: unknown)\n"
    "  --uniforms       uniforms hold the bindings' addresses, u0l, u2l and so on, and behind\n"
    "                   them the push constants\n"
    "  --unchecked      the text is of the variant without checks\n"
    "  --halves N       so many 16-bit registers at the most, so that values are spilled\n"},
#ifndef AGX_COMPILER_ONLY
   {"run",
    "KERNEL.spv --manifest FILE [--input DIR] [--dump DIR] [--check DIR] [--device NAME] [--stats] "
    "[--json]\n"
    "               [--entry NAME] [--robust MODE]... [--bounds] [--profile FILE] [--repeat N]",
    "run a kernel with the inputs of a manifest", agx_cmd_run,
    "KERNEL is SPIR-V or a file of `agx compile`; NAME is its file name without ending.\n"
    "  --entry NAME     one of several entry points; without it the first\n"
    "  --manifest FILE  inputs, grid and comparison (tools/manifest/manifest.h has the format)\n"
    "  --input DIR      what DIR/NAME.ID.bin has instead of a buffer's input, where it exists\n"
    "  --dump DIR       write each output to DIR/NAME.ID.bin; DIR is made\n"
    "  --check DIR      compare each output with DIR/NAME.ID.bin by the manifest's rule; the\n"
    "                   exit code is 1 when one differs\n"
    "  --device NAME    as for `agx info`\n"
    "  --stats          count what is executed and model its cycles: virtual devices only,\n"
    "                   several times slower; docs/hw/simulator.md explains the numbers\n"
    "  --robust MODE    as for `agx compile`\n"
    "  --profile FILE   write a trace of the run for Perfetto or chrome://tracing\n"
    "  --repeat N       submit it N times, one behind the other; the time is the sum\n"
    "  --bounds         fail at accesses outside of what the kernel binds: virtual devices only\n"
    "  --json           print one object: {\"kernel\", \"device\", \"ns\", \"outputs\": [...]},\n"
    "                   with --stats also \"statistics\": [...]\n",
    true},
   {"selftest", "[--device NAME] [--risky] [--mutate] [--only NAME|ID] [--json [FILE]] [--list]",
    "find out which readings of the hardware hold", agx_cmd_selftest,
    "Runs short experiments on the device and on a virtual AGX of the same chip, and tells where\n"
    "they differ; docs/selftest.md tells how to read it and where to send it. The exit code is 3\n"
    "when something differs.\n"
    "  --device NAME    as for `agx info`\n"
    "  --risky          also what may hang the GPU, last and one by one\n"
    "  --only NAME|ID   one experiment, or those that ask a question such as U-isa-07\n"
    "  --json [FILE]    write the machine-readable report, to standard output without FILE\n"
    "  --list           print the experiments, and the questions that none asks\n"
    "  --mutate         alter what the device is given: each experiment must differ then\n",
    true},
   {"virtual",
    "[--chip NAME] [--stats[=FILE] [--json]] [--check] [--strict] [--chaos SEED]\n"
    "                   [--inject SCRIPT] [--timeout N|Nms] [--seccomp] [--] COMMAND...",
    "run a program that sees the virtual AGX", agx_cmd_virtual,
    "Any program of this processor: it finds a render node of an Apple GPU, whatever the machine\n"
    "has; the programs that it starts share the device. docs/virtual.md tells how far programs\n"
    "get. The exit code is the command's, 128 + N when signal N ended it; 127: no such command.\n"
    "  --chip NAME     g13g (the default), g13s, g13c, g13d, g14g, g14s, g14c or g14d, or the SoC\n"
    "  --stats[=FILE]  count what each dispatch does; to standard error, or into FILE\n"
    "  --json          the statistics as JSON\n"
    "  --check         what hardware leaves undefined ends the submission, with a report\n"
    "  --strict        so does an access to memory that isn't mapped\n"
    "  --chaos SEED    everything that the stream does not order runs in random order\n"
    "  --inject SCRIPT failures by script: its file, or, where it has a blank in it, the script\n"
    "  --timeout N     instructions that a SIMD-group may execute; 0: no limit\n"
    "  --timeout Nms   milliseconds that a command of the GPU may take\n"
    "  --seccomp       serve its system calls, as for statically linked programs; for those that\n"
    "                  are linked dynamically, but make system calls of their own\n",
    true},
#endif
};

static void print_overview(FILE *to)
{
   fprintf(to, "usage: agx COMMAND [ARGUMENTS...]\n\n");
   for (size_t i = 0; i < AGX_COUNT(commands); i++)
      fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].summary);
   fprintf(to, "\n`agx COMMAND --help` tells more about one.\n");
}

static void print_help(const struct agx_command *command)
{
   printf("usage: agx %s %s\n\n%s.\n", command->name, command->arguments, command->summary);
   if (command->details)
      printf("\n%s", command->details);
}

static bool wants_help(int argc, char **argv)
{
   for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
      if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
         return true;
   return false;
}

/* A mistake in AGX_DEBUG is told by every command, also by those that open no device. */
static int run(const struct agx_command *command, int argc, char **argv)
{
   uint32_t flags;
   if (!command->reads_debug && agx_debug_parse(getenv("AGX_DEBUG"), &flags) != AGX_OK)
      return agx_tool_failed(command->name);
   return command->run(argc, argv);
}

/* What standard output didn't take is lost, however the command went: a full disk must not pass
 * for success. */
static int finish_output(const char *command, int code)
{
   if (fflush(stdout) == 0 && !ferror(stdout))
      return code;
   fprintf(stderr, "agx %s: standard output can't be written: %s\n", command, strerror(errno));
   return code == AGX_EXIT_OK ? AGX_EXIT_FAILURE : code;
}

int main(int argc, char **argv)
{
   standard_keep();
   if (argc < 2) {
      print_overview(stderr);
      return AGX_EXIT_USAGE;
   }
   for (size_t i = 0; i < AGX_COUNT(commands); i++) {
      if (strcmp(argv[1], commands[i].name) != 0)
         continue;
      if (!wants_help(argc - 1, argv + 1))
         return finish_output(argv[1], run(&commands[i], argc - 1, argv + 1));
      print_help(&commands[i]);
      return AGX_EXIT_OK;
   }
   if (wants_help(argc, argv) || strcmp(argv[1], "help") == 0) {
      print_overview(stdout);
      return AGX_EXIT_OK;
   }
   fprintf(stderr, "agx: there is no command \"%s\"; `agx --help` lists them\n", argv[1]);
   return AGX_EXIT_USAGE;
}
