/* SPDX-License-Identifier: MIT
 *
 * agx virtual: the options, and the environment in which the command sees the virtual
 * AGX. virtual_run.c starts it.
 */
#include "virtual.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agx.h"
#include "agx/chip.h"
#include "base/status.h"
#include "base/util.h"
#include "winsys/virtual/doors/executable.h"
#include "winsys/virtual/doors/serve/supervisor.h"

struct options {
   const struct agx_chip *chip;
   bool stats, json, check, strict, seccomp, attach;
   const char *stats_file, *chaos, *inject, *timeout;
   char timeout_ms[24]; /* empty: not given */
};

static agx_status set(const char *name, const char *value)
{
   if (setenv(name, value, 1) != 0)
      return agx_status_fail_errno(errno, "environment: %s", name);
   return AGX_OK;
}

/* As in the variable: a path, or, where it has a blank in it, the script itself; @PATH in any
 * case. */
static const char *script_path(const char *value)
{
   if (value[0] == '@')
      return value + 1;
   return strpbrk(value, " \t\n") ? NULL : value;
}

/* The command may go to another folder before it looks. */
static agx_status set_path(const char *name, const char *prefix, const char *path)
{
   char folder[PATH_MAX] = "", all[2 * PATH_MAX];
   if (path[0] != '/' && !getcwd(folder, sizeof(folder)))
      return agx_status_fail_errno(errno, "the working folder");
   int length =
      snprintf(all, sizeof(all), "%s%s%s%s", prefix, folder, path[0] == '/' ? "" : "/", path);
   if (length < 0 || (size_t)length >= sizeof(all))
      return AGX_FAIL(AGX_OUT_OF_RANGE, "%s: the path is too long", path);
   return set(name, all);
}

static agx_status set_stats(const struct options *options)
{
   const char *form = options->json ? "json" : "table";
   if (!options->stats_file)
      return set("AGX_VIRTUAL_STATS", form);
   return set_path("AGX_VIRTUAL_STATS", options->json ? "json:" : "table:", options->stats_file);
}

/* The preload library hides it from this program, which serves another. */
static agx_status restore_preload(void)
{
   const char *preload = getenv("AGX_VIRTUAL_LD_PRELOAD");
   AGX_TRY(preload ? set("LD_PRELOAD", preload) : AGX_OK);
   unsetenv("AGX_VIRTUAL_LD_PRELOAD");
   return AGX_OK;
}

/* By which the preload library starts programs that it can't reach. */
static agx_status set_tool(void)
{
   char self[PATH_MAX];
   ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
   if (length < 0)
      return agx_status_fail_errno(errno, "/proc/self/exe");
   self[length] = 0;
   return set("AGX_VIRTUAL_TOOL", self);
}

static agx_status set_environment(const struct options *options)
{
   char device[64];
   snprintf(device, sizeof(device), "virtual:%s", options->chip->name);
   AGX_TRY(set("AGX_DEVICE", device));
   if (options->check)
      AGX_TRY(set("AGX_VIRTUAL_CHECK", "1"));
   if (options->strict)
      AGX_TRY(set("AGX_VIRTUAL_STRICT", "1"));
   if (options->chaos)
      AGX_TRY(set("AGX_VIRTUAL_CHAOS", options->chaos));
   if (options->timeout)
      AGX_TRY(set("AGX_VIRTUAL_TIMEOUT", options->timeout));
   if (options->timeout_ms[0])
      AGX_TRY(set("AGX_VIRTUAL_TIMEOUT_MS", options->timeout_ms));
   const char *path = options->inject ? script_path(options->inject) : NULL;
   if (path)
      AGX_TRY(set_path("AGX_VIRTUAL_INJECT", "@", path));
   else if (options->inject)
      AGX_TRY(set("AGX_VIRTUAL_INJECT", options->inject));
   if (options->stats)
      AGX_TRY(set_stats(options));
   AGX_TRY(set_tool());
   AGX_TRY(agx_virtual_check_environment());
   return options->seccomp
             ? AGX_OK
             : agxv_preload("libagx_virtual.so", "AGX_VIRTUAL_LIBRARY"); /* one door is enough */
}

/* Decimal, 0x or 0 in front as in C, at most 64 bits. */
static bool is_number(const char *text)
{
   char *end;
   errno = 0;
   if (!isdigit((unsigned char)text[0]))
      return false;
   strtoull(text, &end, 0);
   return errno == 0 && *end == 0;
}

static bool is_option(const char *name, const char *argument)
{
   return strcmp(name, argument) == 0;
}

/* An option without a value: true when it was one. */
static bool take_flag(struct options *options, const char *argument)
{
   const struct {
      const char *name;
      bool *flag;
   } flags[] = {
      {"--stats", &options->stats},
      {"--json", &options->json},
      {"--check", &options->check},
      {"--strict", &options->strict},
      {"--seccomp", &options->seccomp},
      {"--attach", &options->attach}, /* by the preload library, for programs that it can't reach */
   };
   for (size_t i = 0; i < AGX_COUNT(flags); i++) {
      if (!is_option(flags[i].name, argument))
         continue;
      *flags[i].flag = true;
      return true;
   }
   if (strncmp(argument, "--stats=", 8) != 0)
      return false;
   options->stats = true;
   options->stats_file = argument + 8;
   return true;
}

/* --timeout Nms: true when the value is one. */
static bool take_milliseconds(struct options *options, const char *name, const char *value)
{
   size_t length = strlen(value);
   if (!is_option("--timeout", name) || length < 3 || length - 2 >= sizeof(options->timeout_ms) ||
       strcmp(value + length - 2, "ms") != 0)
      return false;
   snprintf(options->timeout_ms, sizeof(options->timeout_ms), "%.*s", (int)(length - 2), value);
   return is_number(options->timeout_ms);
}

/* An option with a value, NULL when it is missing: an exit code, or -1 when it is good. */
static int take_named(struct options *options, const char *name, const char *value)
{
   const struct {
      const char *name;
      const char **to;
      bool is_number;
   } values[] = {
      {"--chaos", &options->chaos, true},
      {"--timeout", &options->timeout, true},
      {"--inject", &options->inject, false},
   };
   if (is_option("--chip", name) && value) {
      options->chip = agx_chip_find(value);
      return options->chip ? -1
                           : agx_tool_usage("virtual", "--chip %s: there is no such chip", value);
   }
   if (value && take_milliseconds(options, name, value))
      return -1;
   for (size_t i = 0; i < AGX_COUNT(values); i++) {
      if (!is_option(values[i].name, name))
         continue;
      if (!value)
         break;
      if (values[i].is_number && !is_number(value))
         return agx_tool_usage("virtual", "%s %s: not a number of 64 bits", name, value);
      *values[i].to = value;
      return -1;
   }
   if (!value)
      return agx_tool_usage("virtual", "%s: not an option, or its value is missing", name);
   return agx_tool_usage("virtual", "%s: there is no such option", name);
}

/* --name value, or --name=value; *at stands on the last word of it then. */
static int take_value(struct options *options, int argc, char **argv, int *at)
{
   const char *argument = argv[*at], *equals = strchr(argument, '=');
   char name[32];
   if (equals) {
      size_t length = (size_t)(equals - argument);
      if (length >= sizeof(name))
         return agx_tool_usage("virtual", "%s: there is no such option", argument);
      snprintf(name, sizeof(name), "%.*s", (int)length, argument);
      return take_named(options, name, equals[1] ? equals + 1 : NULL);
   }
   const char *value = *at + 1 < argc && !is_option("--", argv[*at + 1]) ? argv[*at + 1] : NULL;
   *at += 1;
   return take_named(options, argument, value);
}

/* What no option can be sure of alone: an exit code, or -1 when all is well. */
static int check_options(const struct options *options)
{
   if (options->json && !options->stats)
      return agx_tool_usage("virtual", "--json: the form of --stats, which is not asked for");
   if (options->stats_file && !options->stats_file[0])
      return agx_tool_usage("virtual", "--stats=: the file's name is missing");
   const char *path = options->inject ? script_path(options->inject) : NULL;
   if (path && access(path, R_OK) != 0)
      return agx_tool_usage("virtual", "--inject %s: %s", path, strerror(errno));
   return -1;
}

static int refused(const char *words)
{
   fprintf(stderr, "agx virtual: %s\n", words);
   return AGX_EXIT_NO_START;
}

/* How the command is to be served: sets run->seccomp. An exit code, or -1 when it can be. */
static int choose_door(struct agx_virtual_run *run)
{
   char path[PATH_MAX], words[PATH_MAX + 200];
   enum agxv_executable kind =
      agxv_executable_find(run->file, path, sizeof(path), words, sizeof(words));
   if (kind == AGXV_EXECUTABLE_REFUSED)
      return refused(words);
   run->seccomp |= kind == AGXV_EXECUTABLE_STATIC;
   if (!run->seccomp || agxv_supervisor_check() == AGX_OK)
      return -1;
   snprintf(words, sizeof(words),
            "%s: %s needs seccomp user notification of Linux 5.9 and later; %s", path,
            kind == AGXV_EXECUTABLE_STATIC ? "a statically linked program" : "--seccomp",
            agx_error_peek());
   return refused(words);
}

int agx_cmd_virtual(int argc, char **argv)
{
   struct options options = {.chip = agx_chip_at(0)};
   int at = 1, exit_code;
   for (; at < argc && argv[at][0] == '-'; at++) {
      if (is_option("--", argv[at])) {
         at++;
         break;
      }
      if (take_flag(&options, argv[at]))
         continue;
      if ((exit_code = take_value(&options, argc, argv, &at)) >= 0)
         return exit_code;
   }
   if ((exit_code = check_options(&options)) >= 0)
      return exit_code;
   if (at >= argc)
      return agx_tool_usage(argv[0], "no command to run");
   struct agx_virtual_run run = {options.chip, argv[at], argv + at, options.seccomp,
                                 options.attach};
   if (options.attach && argv[at + 1])
      run.command++; /* the name by which the program is called follows its path */
   if ((exit_code = choose_door(&run)) >= 0)
      return exit_code;
   if ((options.attach ? restore_preload() : set_environment(&options)) != AGX_OK ||
       agx_tool_run_virtual(&run, &exit_code) != AGX_OK)
      return agx_tool_failed(argv[0]);
   return exit_code;
}
