/* SPDX-License-Identifier: MIT
 *
 * agx opt: runs passes of the compiler over IR text, to see what one does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx.h"
#include "agx/compiler/compiler.h"
#include "base/util.h"

#define MAX_PASSES 64

struct opt {
   struct agxc_options options;
   struct agxc_text_input input;
   const char *passes[MAX_PASSES];
   size_t pass_count;
   const char *path; /* NULL: standard input */
};

/* Every pass once, in the order of the pipeline. */
static int list_passes(void)
{
   const char *name;
   for (size_t i = 0; (name = agxc_pass_name(i)); i++) {
      size_t first = 0;
      while (strcmp(agxc_pass_name(first), name) != 0)
         first++;
      if (first == i)
         puts(name);
   }
   return AGX_EXIT_OK;
}

static bool parse_robustness(const char *text, enum agxc_robustness *out)
{
   static const char *const names[] = {
      [AGXC_ROBUST_NONE] = "off", [AGXC_ROBUST_CLAMP] = "clamp", [AGXC_ROBUST_ZERO] = "zero"};
   for (unsigned i = 0; i < AGX_COUNT(names); i++)
      if (strcmp(names[i], text) == 0) {
         *out = (enum agxc_robustness)i;
         return true;
      }
   return false;
}

static bool parse_number(const char *text, uint64_t max, uint64_t *out)
{
   char *end;
   if (*text < '0' || *text > '9')
      return false;
   *out = strtoull(text, &end, 0);
   return *end == 0 && *out <= max;
}

static bool add_binding(struct opt *opt, const char *text)
{
   uint64_t bytes;
   if (opt->input.binding_count == AGX_PROGRAM_MAX_BINDINGS ||
       !parse_number(text, UINT32_MAX, &bytes))
      return false;
   opt->input.bindings[opt->input.binding_count++].min_size_B = bytes;
   return true;
}

static bool parse_value(struct opt *opt, const char *option, const char *value)
{
   uint64_t number = 0;
   if (strcmp(option, "--pass") == 0) {
      if (opt->pass_count < MAX_PASSES)
         opt->passes[opt->pass_count] = value;
      return opt->pass_count++ < MAX_PASSES;
   }
   if (strcmp(option, "--chip") == 0)
      return (opt->options.chip = agx_chip_find(value)) != NULL;
   if (strcmp(option, "--robust") == 0)
      return parse_robustness(value, &opt->options.robustness);
   if (strcmp(option, "--binding") == 0)
      return add_binding(opt, value);
   bool fits = parse_number(value, 256, &number);
   opt->options.most_halves = (uint32_t)number;
   return fits;
}

static bool takes_value(const char *option)
{
   static const char *const options[] = {"--pass", "--chip", "--robust", "--binding", "--halves"};
   for (size_t i = 0; i < AGX_COUNT(options); i++)
      if (strcmp(options[i], option) == 0)
         return true;
   return false;
}

static bool parse_flag(struct opt *opt, const char *option)
{
   if (strcmp(option, "--uniforms") == 0)
      opt->input.has_uniforms = true;
   else if (strcmp(option, "--unchecked") == 0)
      opt->input.is_unchecked = true;
   else
      return false;
   return true;
}

static int run(struct opt *opt, const char *command)
{
   uint8_t *text;
   size_t size;
   char *result;
   for (uint32_t i = 0; i < opt->input.binding_count; i++)
      opt->input.bindings[i].robustness = opt->options.robustness;
   if (agx_tool_read(opt->path, &text, &size) != AGX_OK)
      return agx_tool_failed(command);
   agx_status status = agxc_run_passes((const char *)text, opt->passes, opt->pass_count,
                                       &opt->options, &opt->input, &result);
   free(text);
   if (status != AGX_OK) {
      agx_error_prefix("%s", agx_tool_name(opt->path));
      return agx_tool_failed(command);
   }
   fputs(result, stdout);
   free(result);
   return AGX_EXIT_OK;
}

int agx_cmd_opt(int argc, char **argv)
{
   struct opt opt = {.options = {.chip = agx_chip_find("g13g")}};
   int files = 0;
   for (int i = 1; i < argc; i++) {
      if (strcmp(argv[i], "--list") == 0)
         return list_passes();
      if (takes_value(argv[i])) {
         if (i + 1 == argc)
            return agx_tool_usage(argv[0], "%s needs a value", argv[i]);
         if (!parse_value(&opt, argv[i], argv[i + 1]))
            return agx_tool_usage(argv[0], "%s doesn't take %s", argv[i], argv[i + 1]);
         i++;
      } else if (argv[i][0] == '-' && argv[i][1]) {
         if (!parse_flag(&opt, argv[i]))
            return agx_tool_usage(argv[0], "unknown option %s", argv[i]);
      } else {
         opt.path = argv[i];
         files++;
      }
   }
   if (files > 1)
      return agx_tool_usage(argv[0], "takes one file, not %d", files);
   return run(&opt, argv[0]);
}
