/* SPDX-License-Identifier: MIT
 *
 * Reads the options of `agx opt` into a request and runs it; the command and the IR tests call it.
 */
#include "agx/opt_request.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"

struct agx_opt_request agx_opt_request_default(void)
{
   return (struct agx_opt_request){.options = {.chip = agx_chip_find("g13g")}};
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

static bool add_binding(struct agx_opt_request *request, const char *text)
{
   uint64_t bytes;
   if (request->input.binding_count == AGX_PROGRAM_MAX_BINDINGS ||
       !parse_number(text, UINT32_MAX, &bytes))
      return false;
   request->input.bindings[request->input.binding_count++].min_size_B = bytes;
   return true;
}

static bool add_value(struct agx_opt_request *request, const char *option, const char *value)
{
   uint64_t number = 0;
   if (strcmp(option, "--pass") == 0) {
      if (request->pass_count < AGX_OPT_MAX_PASSES)
         request->passes[request->pass_count] = value;
      return request->pass_count++ < AGX_OPT_MAX_PASSES;
   }
   if (strcmp(option, "--chip") == 0)
      return (request->options.chip = agx_chip_find(value)) != NULL;
   if (strcmp(option, "--robust") == 0)
      return parse_robustness(value, &request->options.robustness);
   if (strcmp(option, "--binding") == 0)
      return add_binding(request, value);
   bool fits = parse_number(value, 256, &number);
   request->options.most_halves = (uint32_t)number;
   return fits;
}

bool agx_opt_takes_value(const char *option)
{
   static const char *const options[] = {"--pass", "--chip", "--robust", "--binding", "--halves"};
   for (size_t i = 0; i < AGX_COUNT(options); i++)
      if (strcmp(options[i], option) == 0)
         return true;
   return false;
}

static bool add_flag(struct agx_opt_request *request, const char *option)
{
   if (strcmp(option, "--uniforms") == 0)
      request->input.has_uniforms = true;
   else if (strcmp(option, "--unchecked") == 0)
      request->input.is_unchecked = true;
   else
      return false;
   return true;
}

bool agx_opt_add(struct agx_opt_request *request, const char *option, const char *value)
{
   return value ? add_value(request, option, value) : add_flag(request, option);
}

agx_status agx_opt_run(struct agx_opt_request *request, const char *text, char **out_text)
{
   for (uint32_t i = 0; i < request->input.binding_count; i++)
      request->input.bindings[i].robustness = request->options.robustness;
   return agxc_run_passes(text, request->passes, request->pass_count, &request->options,
                          &request->input, out_text);
}
