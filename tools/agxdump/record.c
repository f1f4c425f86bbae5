/* SPDX-License-Identifier: MIT
 *
 * agxdump record: makes the capture file and runs a command whose programs go on with it. On a
 * virtual AGX those that use the driver in their own process record at its seam, all others where
 * they pass into the virtual node; `agx virtual`, which stands beside this program, runs the
 * command. On the system's nodes libagx_record.so, which is preloaded, records what all of them
 * ask.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agxdump.h"
#include "base/util.h"
#include "winsys/capture/record.h"
#include "winsys/virtual/doors/executable.h"

#define DEFAULT_FILE     "agx.capture"
#define MAX_OPTION_BYTES 256

static const char help[] =
   "usage: agxdump record [-o FILE] [OPTION...] [--] COMMAND [ARGUMENT...]\n"
   "\n"
   "Runs a command on a virtual AGX, or on the system's, and records what its programs and\n"
   "theirs ask of the device, with the memory that their submissions find and leave.\n"
   "\n"
   "  -o FILE            the capture; " DEFAULT_FILE " without it\n"
   "  --device NAME      virtual, or virtual:CHIP (g13g without it); drm: the system's nodes,\n"
   "                     whatever of them the programs open\n"
   "  --submits FROM-TO  memory of these submissions of each process only, from 1\n"
   "  --bytes N          ends the recording when so much is written: 500M, 2G\n"
   "  --seconds N        ends it after so long\n"
   "  --pipelined        doesn't wait for submissions: no memory behind them\n";

struct record {
   const char *file, *chip;
   bool is_real;                   /* the system's nodes */
   char options[MAX_OPTION_BYTES]; /* for AGX_CAPTURE_OPTIONS */
};

static agx_status add_word(struct record *record, const char *name, const char *value)
{
   size_t length = strlen(record->options);
   int added = snprintf(record->options + length, sizeof(record->options) - length, "%s%s%s%s",
                        length ? " " : "", name, value ? "=" : "", value ? value : "");
   if (added < 0 || (size_t)added >= sizeof(record->options) - length)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "--%s: too long", name);
   return AGX_OK;
}

static agx_status set_device(struct record *record, const char *device)
{
   bool is_virtual = strncmp(device, "virtual", 7) == 0 && (device[7] == 0 || device[7] == ':');
   record->is_real = strcmp(device, "drm") == 0;
   record->chip = is_virtual && device[7] ? device + 8 : NULL;
   if (is_virtual || record->is_real)
      return AGX_OK;
   return AGX_FAIL(AGX_INVALID_ARGUMENT,
                   "--device %s: virtual, virtual:CHIP and drm can be recorded", device);
}

static agx_status take_option(struct record *record, const char *name, const char *value)
{
   if (strcmp(name, "-o") == 0) {
      record->file = value;
      return AGX_OK;
   }
   return strcmp(name, "--device") == 0 ? set_device(record, value)
                                        : add_word(record, name + 2, value);
}

/* Options up to the command; *out_at is its index. */
static agx_status parse(struct record *record, int argc, char **argv, int *out_at)
{
   static const char *const valued[] = {"-o", "--device", "--submits", "--bytes", "--seconds"};
   int at = 2;
   for (; at < argc && argv[at][0] == '-' && strcmp(argv[at], "--") != 0; at++) {
      const char *name = argv[at];
      bool is_valued = false;
      for (size_t i = 0; i < AGX_COUNT(valued); i++)
         is_valued = is_valued || strcmp(name, valued[i]) == 0;
      if (strcmp(name, "--pipelined") == 0) {
         AGX_TRY(add_word(record, "pipelined", NULL));
         continue;
      }
      if (!is_valued)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "unexpected \"%s\"", name);
      if (++at == argc)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: its value is missing", name);
      AGX_TRY(take_option(record, name, argv[at]));
   }
   at += at < argc && strcmp(argv[at], "--") == 0;
   if (at == argc)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "there is no command to record");
   *out_at = at;
   return AGX_OK;
}

/* `agx`, in the folder of this program; build folders have it beside that. */
static agx_status find_tool(char path[PATH_MAX])
{
   static const char *const places[] = {"agx", "../agx/agx"};
   char self[PATH_MAX];
   ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
   if (length < 0)
      return agx_status_fail_errno(errno, "/proc/self/exe");
   self[length] = 0;
   *(strrchr(self, '/') + 1) = 0;
   for (size_t i = 0; i < AGX_COUNT(places); i++) {
      int bytes = snprintf(path, PATH_MAX, "%s%s", self, places[i]);
      if (bytes > 0 && bytes < PATH_MAX && access(path, X_OK) == 0)
         return AGX_OK;
   }
   return AGX_FAIL(AGX_NOT_FOUND, "%sagx: not there; install it (make build)", self);
}

static agx_status make_file(const struct record *record, char path[PATH_MAX])
{
   struct agxw_capture_options options;
   struct agxw_capture_file *file;
   char node[64];
   struct stat info;
   AGX_TRY(agxw_capture_options_parse(record->options, &options));
   if (stat(record->file, &info) == 0 && S_ISFIFO(info.st_mode))
      return AGX_FAIL(
         AGX_INVALID_ARGUMENT,
         "-o %s: a pipe, of which each program would close an end of its own; record to "
         "a file, which agxdump show reads while it is written",
         record->file);
   if (record->is_real)
      snprintf(node, sizeof(node), "drm");
   else
      snprintf(node, sizeof(node), "virtual:%s", record->chip ? record->chip : "g13g");
   AGX_TRY(agxw_capture_file_open(record->file, node, &options, &file));
   int error = agxw_capture_error(file);
   agxw_capture_file_release(file);
   if (error)
      return agx_status_fail_errno(error, "%s can't be written", record->file);
   if (!realpath(record->file, path)) /* the command may go to another folder */
      return agx_status_fail_errno(errno, "%s", record->file);
   return AGX_OK;
}

static agx_status set_environment(struct record *record, const char *path)
{
   AGX_TRY(add_word(record, record->is_real ? "join nodes" : "join", NULL));
   if (setenv("AGX_CAPTURE", path, 1) != 0 ||
       setenv("AGX_CAPTURE_OPTIONS", record->options, 1) != 0)
      return agx_status_fail_errno(errno, "environment");
   return AGX_OK;
}

/* On the system's nodes: the command itself, with the library that records. */
static agx_status run_real(struct record *record, char **command)
{
   char path[PATH_MAX], words[PATH_MAX + 200];
   enum agxv_executable kind =
      agxv_executable_find(command[0], path, sizeof(path), words, sizeof(words));
   if (kind == AGXV_EXECUTABLE_REFUSED)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s", words);
   if (kind == AGXV_EXECUTABLE_STATIC)
      return AGX_FAIL(AGX_UNIMPLEMENTED,
                      "%s is statically linked: it loads no library that could record", path);
   AGX_TRY(make_file(record, path));
   AGX_TRY(set_environment(record, path));
   AGX_TRY(agxv_preload("libagx_record.so", "AGX_RECORD_LIBRARY"));
   execvp(command[0], command);
   return agx_status_fail_errno(errno, "%s", command[0]);
}

static agx_status run(struct record *record, char **command, int count)
{
   char tool[PATH_MAX], path[PATH_MAX];
   if (record->is_real)
      return run_real(record, command);
   AGX_TRY(find_tool(tool));
   AGX_TRY(make_file(record, path));
   AGX_TRY(set_environment(record, path));
   char **arguments = calloc((size_t)count + 6, sizeof(*arguments));
   if (!arguments)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "no memory for the command");
   int at = 0;
   arguments[at++] = tool;
   arguments[at++] = (char *)"virtual";
   if (record->chip) {
      arguments[at++] = (char *)"--chip";
      arguments[at++] = (char *)record->chip;
   }
   arguments[at++] = (char *)"--";
   memcpy(arguments + at, command, (size_t)count * sizeof(*arguments));
   execv(tool, arguments);
   int error = errno;
   free(arguments);
   return agx_status_fail_errno(error, "%s", tool);
}

int dump_record(int argc, char **argv)
{
   struct record record = {.file = DEFAULT_FILE};
   int at = 0;
   if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
      fputs(help, stdout);
      return 0;
   }
   agx_status status = parse(&record, argc, argv, &at);
   bool is_usage = status != AGX_OK;
   if (status == AGX_OK)
      status = run(&record, argv + at, argc - at);
   fprintf(stderr, "agxdump record: %s\n%s", agx_error_peek(), is_usage ? help : "");
   return is_usage ? 2 : 1;
}
