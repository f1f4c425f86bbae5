/* SPDX-License-Identifier: MIT
 *
 * The options of a node that the environment gives (docs/virtual.md). Creating a node reads them,
 * and `agx virtual` checks them before it starts a program. A value that makes no sense is an
 * error, so that no program runs without an option that its user asked for.
 */
#include "winsys/virtual/node/node_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "winsys/asahi_uapi.h"
#include "winsys/virtual/gpu/faultlog.h"

#define DEFAULT_INSTRUCTIONS 2000000000ull
#define DEFAULT_WORKGROUPS   (1ull << 32)
#define DEFAULT_MEMORY       (16ull << 30)
#define MIN_MEMORY           (1ull << 20)
#define MAX_MEMORY           (1ull << 38)
#define MAX_THREADS          1024u

struct number {
   const char *name;
   uint64_t least, most;
   uint64_t *value; /* holds the default */
};

static agx_status read_number(const struct number *number)
{
   const char *text = getenv(number->name);
   if (!text || !*text)
      return AGX_OK;
   char *end;
   errno = 0;
   unsigned long long value = strtoull(text, &end, 0);
   bool is_number = errno == 0 && *end == 0 && *text >= '0' && *text <= '9';
   if (!is_number || value < number->least || value > number->most)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "%s=%.40s: it takes a number from %" PRIu64 " to %" PRIu64, number->name,
                      text, number->least, number->most);
   *number->value = value;
   return AGX_OK;
}

/* What else has a name of this kind: their readers check the values. */
static const char *const other_names[] = {
   "AGX_VIRTUAL_STATS",   "AGX_VIRTUAL_INJECT", "AGX_VIRTUAL_SEGMENT",
   "AGX_VIRTUAL_LIBRARY", "AGX_VIRTUAL_TOOL",   "AGX_VIRTUAL_LD_PRELOAD",
};

static bool is_named(const char *variable, const char *name)
{
   size_t length = strlen(name);
   return strncmp(variable, name, length) == 0 && variable[length] == '=';
}

/* A mistyped name asks for something that nothing would do. */
static agx_status check_names(const struct number *numbers, size_t count)
{
   for (char **at = environ; at && *at; at++) {
      bool is_known = strncmp(*at, "AGX_VIRTUAL_", strlen("AGX_VIRTUAL_")) != 0;
      for (size_t i = 0; i < count && !is_known; i++)
         is_known = is_named(*at, numbers[i].name);
      for (size_t i = 0; i < AGX_COUNT(other_names) && !is_known; i++)
         is_known = is_named(*at, other_names[i]);
      if (!is_known)
         return AGX_FAIL(AGX_INVALID_ARGUMENT,
                         "%.*s: the virtual AGX has no such variable; `agx virtual --help` lists "
                         "options, docs/virtual.md all variables",
                         (int)AGX_MIN(strcspn(*at, "="), 60u), *at);
   }
   return AGX_OK;
}

agx_status agxv_options_read(struct agxv_options *out_options)
{
   const char *debug = getenv("AGX_DEBUG");
   uint64_t strict = 0, check = 0, execute = 1, threads = 0, chaos = 0;
   uint64_t instructions = DEFAULT_INSTRUCTIONS, workgroups = DEFAULT_WORKGROUPS;
   uint64_t memory = DEFAULT_MEMORY, timeout_ms = 0, seccomp = 1;
   const struct number numbers[] = {
      {"AGX_VIRTUAL_STRICT", 0, 1, &strict},
      {"AGX_VIRTUAL_CHECK", 0, 1, &check},
      {"AGX_VIRTUAL_EXECUTE", 0, 1, &execute},
      {"AGX_VIRTUAL_THREADS", 0, MAX_THREADS, &threads},
      {"AGX_VIRTUAL_CHAOS", 0, UINT64_MAX, &chaos},
      {"AGX_VIRTUAL_TIMEOUT", 0, UINT64_MAX, &instructions},
      {"AGX_VIRTUAL_TIMEOUT_MS", 0, UINT32_MAX, &timeout_ms},
      {"AGX_VIRTUAL_WORKGROUPS", 0, UINT64_MAX, &workgroups},
      {"AGX_VIRTUAL_MEMORY", MIN_MEMORY, MAX_MEMORY, &memory},
      {"AGX_VIRTUAL_SECCOMP", 0, 1, &seccomp}, /* the served door looks at it itself */
   };
   AGX_TRY(check_names(numbers, AGX_COUNT(numbers)));
   for (size_t i = 0; i < AGX_COUNT(numbers); i++)
      AGX_TRY(read_number(&numbers[i]));
   *out_options = (struct agxv_options){
      .strict = strict != 0,
      .check = check != 0,
      .shares = true,
      .execute = execute != 0,
      .trace = debug && strstr(debug, "virtual"),
      .threads = (uint32_t)threads,
      .instructions = instructions,
      .timeout_ms = timeout_ms,
      .workgroups = workgroups,
      .chaos_seed = chaos,
      .memory_bytes = memory & ~(uint64_t)(AGX_UAPI_PAGE_BYTES * 64 - 1),
   };
   return agxv_stats_parse(getenv("AGX_VIRTUAL_STATS"), &out_options->stats);
}

agx_status agxv_options_read_script(struct agxv_inject **out_inject)
{
   const char *value = getenv("AGX_VIRTUAL_INJECT");
   *out_inject = NULL;
   if (!value || !*value)
      return AGX_OK;
   struct agxv_inject *inject = calloc(1, sizeof(*inject));
   if (!inject)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "virtual node: no memory for a fault script");
   agx_status status = agxv_inject_read(value, inject);
   if (status == AGX_OK)
      *out_inject = inject;
   else
      free(inject);
   return status;
}

agx_status agx_virtual_check_environment(void)
{
   struct agxv_options options;
   struct agxv_inject *inject;
   AGX_TRY(agxv_options_read(&options));
   AGX_TRY(agxv_options_read_script(&inject));
   free(inject);
   return AGX_OK;
}
