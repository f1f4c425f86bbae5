/* SPDX-License-Identifier: MIT
 *
 * agx bench: what the compiler makes of the corpus, and what a dispatch costs the
 * host: to record, and to submit, on the virtual device with execution switched off.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"
#include "bench.h"

#define BEST     5
#define MAX_BEST 1000

struct parts {
   bool compile, host;
};

/* Both parts need the corpus, which is only in the source tree. */
static agx_status check_corpus(const char *folder)
{
   char path[4096];
   if ((size_t)snprintf(path, sizeof(path), "%s/tiers.tsv", folder) < sizeof(path) &&
       access(path, R_OK) == 0)
      return AGX_OK;
   return AGX_FAIL(AGX_NOT_FOUND,
                   "%.256s/tiers.tsv can't be read: this needs the source tree; run it there, or "
                   "--corpus names its tests/corpus",
                   folder);
}

static agx_status run_parts(const struct bench_options *options, const struct parts *parts,
                            struct agx_json *json, uint32_t *out_failed)
{
   agx_status status = AGX_OK;
   if (parts->compile)
      status = bench_compile(options, json, out_failed);
   return status == AGX_OK && parts->host ? bench_host(options, json) : status;
}

/* False: the word is no option, or its value is none. */
static bool take_option(struct bench_options *options, struct parts *parts, const char *word,
                        const char *value)
{
   if (strcmp(word, "--corpus") == 0)
      options->folder = value;
   else if (strcmp(word, "--chip") == 0)
      options->chip = agx_chip_find(value);
   else if (strcmp(word, "--device") == 0)
      options->device = value;
   else if (strcmp(word, "--best") == 0)
      options->best = (uint32_t)strtoul(value, NULL, 10);
   else if (strcmp(word, "--only") == 0)
      *parts = (struct parts){strcmp(value, "compile") == 0, strcmp(value, "host") == 0};
   else
      return false;
   return options->chip && options->best > 0 && options->best <= MAX_BEST &&
          (parts->compile || parts->host);
}

int agx_cmd_bench(int argc, char **argv)
{
   struct bench_options options = {
      .folder = "tests/corpus", .chip = agx_chip_at(0), .best = BEST, .device = "virtual"};
   struct parts parts = {true, true};
   struct agx_json json = {.file = stdout};
   bool is_json = false;
   uint32_t failed = 0;
   for (int i = 1; i < argc; i++) {
      if (strcmp(argv[i], "--json") == 0)
         is_json = true;
      else if (i + 1 < argc && take_option(&options, &parts, argv[i], argv[i + 1]))
         i++;
      else if (argv[i][0] == '-' && i + 1 < argc)
         return agx_tool_usage(argv[0], "no option, or no value of it: %s %s", argv[i],
                               argv[i + 1]);
      else if (argv[i][0] == '-')
         return agx_tool_usage(argv[0], "%s: no option, or its value is missing", argv[i]);
      else
         return agx_tool_usage(argv[0], "unexpected \"%s\"", argv[i]);
   }
   if (check_corpus(options.folder) != AGX_OK)
      return agx_tool_failed(argv[0]);
   setenv("AGX_VIRTUAL_EXECUTE", "0", 1);
   if (is_json)
      agx_json_open(&json, NULL, '{');
   agx_status status = run_parts(&options, &parts, is_json ? &json : NULL, &failed);
   if (is_json) {
      agx_json_close(&json, '}');
      putchar('\n');
   }
   if (status != AGX_OK)
      return agx_tool_failed(argv[0]);
   return failed ? AGX_EXIT_FAILURE : AGX_EXIT_OK;
}
