/* SPDX-License-Identifier: MIT
 *
 * agx compile: SPIR-V to ELF, and what the compiler made of it as a table. Each file is
 * compiled on its own; one that fails says why in a line and the others go on.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agx.h"
#include "agx/compiler/compiler.h"
#include "base/json.h"
#include "base/status.h"
#include "base/util.h"
#include "program/bundle.h"
#include "robust.h"

#define MAX_SPECS 64
#define MAX_BEST  1000

struct compile {
   struct agxc_options options;
   struct agxc_spec specs[MAX_SPECS];
   struct agx_tool_robust robust;
   struct agxc_robust_binding robust_bindings[AGX_MAX_BINDINGS];
   const struct agx_chip *chips[AGX_BUNDLE_MAX_CHIPS];
   uint32_t chip_count;
   const char *out;
   bool shows_stats, is_json;
   uint32_t failed, done, best;
   struct agx_json json; /* of one row */
};

/* ---- the table ----------------------------------------------------------- */

/* A column: a field of the program or of its stats, in table order. */
static const struct {
   const char *name;
   size_t offset;
} columns[] = {
#define COLUMN(name, field)                                                                        \
   {                                                                                               \
      name, offsetof(struct agx_program, field)                                                    \
   }
   COLUMN("instructions", stats.instructions),
   COLUMN("bytes", text_B),
   COLUMN("preamble_instructions", stats.preamble_instructions),
   COLUMN("gprs16", gpr_halves),
   COLUMN("uniforms16", uniform_halves),
   COLUMN("threads", stats.threads),
   COLUMN("spills", stats.spills),
   COLUMN("fills", stats.fills),
   COLUMN("loads", stats.loads),
   COLUMN("waits", stats.waits),
   COLUMN("cycles", stats.cycles),
#undef COLUMN
};

static void print_header(const struct compile *compile)
{
   if (compile->is_json) {
      printf("[");
   } else if (compile->shows_stats) {
      printf("kernel");
      for (size_t i = 0; i < AGX_COUNT(columns); i++)
         printf("\t%s", columns[i].name);
      printf("\tcompile_ms\n");
   }
}

/* In JSON each object stands on a line of its own. */
static void begin_row(struct compile *compile, const char *name)
{
   if (!compile->is_json) {
      printf("%s", name);
      return;
   }
   printf("%s\n  ", compile->done++ ? "," : "");
   compile->json = (struct agx_json){.file = stdout};
   agx_json_open(&compile->json, NULL, '{');
   agx_json_text(&compile->json, "kernel", name);
}

/* The unchecked variant of a program has a row of its own, NAME.unchecked; its time is part of the
 * program's. Where a file has several entry points, their names stand behind the file's; where it
 * is compiled for several chips, theirs stand last. */
static void print_row(struct compile *compile, const char *path, const char *entry,
                      const struct agx_program *program, double ms, bool is_variant)
{
   const char *start;
   int length = agx_tool_kernel_name(path, &start);
   size_t room = 256 + (entry ? strlen(entry) : 0);
   char *name = malloc(room);
   if (!name)
      return; /* no memory for a line */
   snprintf(name, room, "%.*s%s%s%s%s%s", AGX_MIN(length, 200), start, entry ? ":" : "",
            entry ? entry : "", is_variant ? ".unchecked" : "", compile->chip_count > 1 ? "@" : "",
            compile->chip_count > 1 ? program->chip : "");
   begin_row(compile, name);
   free(name);
   for (size_t i = 0; i < AGX_COUNT(columns); i++) {
      uint32_t value = agx_load_u32((const char *)program + columns[i].offset);
      if (compile->is_json)
         agx_json_number(&compile->json, columns[i].name, value);
      else
         printf("\t%" PRIu32, value);
   }
   if (compile->is_json) {
      const uint32_t *local = program->local_size;
      agx_json_number(&compile->json, "workgroup_threads",
                      (uint64_t)local[0] * local[1] * local[2]);
      agx_json_number(&compile->json, "threadgroup_bytes", program->shared_B);
      agx_json_fixed(&compile->json, "compile_ms", is_variant ? 0 : ms);
      agx_json_close(&compile->json, '}');
   } else {
      printf("\t%.3f\n", is_variant ? 0 : ms);
   }
   if (program->unchecked)
      print_row(compile, path, entry, program->unchecked, ms, true);
}

/* The time is that of all. */
static void print_rows(struct compile *compile, const char *path, const struct agx_module *module,
                       double ms)
{
   for (uint32_t i = 0; i < module->program_count; i++)
      print_row(compile, path,
                module->program_count > 1 ? agx_program_name(module->programs[i]) : NULL,
                module->programs[i], i ? 0 : ms, false);
}

static void print_json_failure(struct compile *compile, const char *path)
{
   char name[320];
   const char *start;
   int length = agx_tool_kernel_name(path, &start);
   snprintf(name, sizeof(name), "%.*s", length, start);
   begin_row(compile, name);
   agx_json_text(&compile->json, "error", agx_error_peek());
   agx_json_close(&compile->json, '}');
}

/* ---- one file ------------------------------------------------------------- */

/* FILE.spv becomes FILE.agxbin, unless -o says otherwise; with a table alone, nothing. */
static agx_status write_modules(const struct compile *compile, const char *path,
                                struct agx_module *const *modules)
{
   char name[4096];
   if (!compile->out && (compile->shows_stats || compile->is_json))
      return AGX_OK;
   size_t length = strlen(path);
   if (length > 4 && strcmp(path + length - 4, ".spv") == 0)
      length -= 4;
   if (length + sizeof(".agxbin") > sizeof(name))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "%s: the name is too long", path);
   snprintf(name, sizeof(name), "%.*s.agxbin", (int)length, path);

   void *image;
   size_t size;
   AGX_TRY(agx_bundle_write(modules, compile->chip_count, NULL, &image, &size));
   agx_status status = agx_tool_write(compile->out ? compile->out : name, image, size);
   agx_host_free(NULL, image, size);
   return status;
}

/* Time of the processor, on all threads: others may use the machine, too. */
static double used_ms(void)
{
   struct timespec now;
   clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
   return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* As often as --best says; *out_ms is what the quickest took. */
static agx_status compile_module(struct compile *compile, const struct agx_chip *chip,
                                 const uint8_t *spirv, size_t size, struct agx_module **out_module,
                                 double *out_ms)
{
   agx_status status = AGX_OK;
   compile->options.chip = chip;
   for (uint32_t i = 0; i < AGX_MAX(compile->best, 1u) && status == AGX_OK; i++) {
      agx_module_release(*out_module);
      *out_module = NULL;
      double start = used_ms();
      status = agxc_compile_module(spirv, size, &compile->options, out_module);
      double ms = used_ms() - start;
      *out_ms = i > 0 ? AGX_MIN(*out_ms, ms) : ms;
   }
   return status;
}

static bool has_binding(const struct agx_module *module,
                        const struct agx_binding_robustness *wanted)
{
   for (uint32_t i = 0; i < module->program_count; i++)
      for (uint32_t j = 0; j < module->programs[i]->binding_count; j++)
         if (module->programs[i]->bindings[j].set == wanted->set &&
             module->programs[i]->bindings[j].binding == wanted->binding)
            return true;
   return false;
}

/* The compiler ignores modes of bindings that a module lacks; whoever types one has erred. */
static agx_status check_robustness(const struct agx_tool_robust *robust,
                                   const struct agx_module *module)
{
   for (uint32_t i = 0; i < robust->count; i++)
      if (!has_binding(module, &robust->overrides[i]))
         return AGX_FAIL(AGX_NOT_FOUND,
                         "--robust %u.%u=...: the kernel has no buffer at set %u binding %u",
                         robust->overrides[i].set, robust->overrides[i].binding,
                         robust->overrides[i].set, robust->overrides[i].binding);
   return AGX_OK;
}

static agx_status compile_file(struct compile *compile, const char *path)
{
   uint8_t *spirv;
   size_t size;
   AGX_TRY(agx_tool_read(path, &spirv, &size));
   struct agx_module *modules[AGX_BUNDLE_MAX_CHIPS] = {NULL};
   double ms[AGX_BUNDLE_MAX_CHIPS] = {0};
   agx_status status = AGX_OK;
   for (uint32_t i = 0; i < compile->chip_count && status == AGX_OK; i++)
      status = compile_module(compile, compile->chips[i], spirv, size, &modules[i], &ms[i]);
   free(spirv);
   if (status == AGX_OK)
      status = check_robustness(&compile->robust, modules[0]);
   if (status == AGX_OK)
      status = write_modules(compile, path, modules);
   for (uint32_t i = 0; i < compile->chip_count; i++) {
      if (status == AGX_OK && (compile->shows_stats || compile->is_json))
         print_rows(compile, path, modules[i], ms[i]);
      agx_module_release(modules[i]);
   }
   return status;
}

/* ---- the command line ------------------------------------------------------ */

static void print_dump(void *user, const char *pass, const char *text)
{
   fprintf(stderr, "---- %s\n%s\n", pass, text);
}

/* ID=VALUE; a value with a point is a float, true and false are 1 and 0. */
static bool parse_spec(const char *text, struct agxc_spec *out_spec)
{
   char *end;
   unsigned long id = strtoul(text, &end, 0);
   if (end == text || *end != '=' || id > UINT32_MAX || !end[1])
      return false;
   const char *value = end + 1;
   *out_spec = (struct agxc_spec){.id = (uint32_t)id, .bytes = 4};
   if (strcmp(value, "true") == 0 || strcmp(value, "false") == 0) {
      out_spec->value = *value == 't';
      return true;
   }
   if (strchr(value, '.')) {
      float number = strtof(value, &end);
      uint32_t bits;
      memcpy(&bits, &number, sizeof(bits));
      out_spec->value = bits;
      return *end == 0;
   }
   errno = 0;
   long long number = strtoll(value, &end, 0);
   out_spec->value = (uint32_t)number;
   return *end == 0 && errno == 0 && number >= INT32_MIN && number <= UINT32_MAX;
}

/* NAME or NAME,NAME..., each once. */
static bool parse_chips(struct compile *compile, const char *text)
{
   compile->chip_count = 0;
   for (;;) {
      char name[16];
      size_t length = strcspn(text, ",");
      if (length >= sizeof(name) || compile->chip_count == AGX_BUNDLE_MAX_CHIPS)
         return false;
      snprintf(name, sizeof(name), "%.*s", (int)length, text);
      const struct agx_chip *chip = agx_chip_find(name);
      for (uint32_t i = 0; i < compile->chip_count; i++)
         if (compile->chips[i] == chip)
            return false;
      if (!chip)
         return false;
      compile->chips[compile->chip_count++] = chip;
      if (!text[length])
         return true;
      text += length + 1;
   }
}

static bool parse_best(const char *text, uint32_t *out_best)
{
   char *end;
   unsigned long count = strtoul(text, &end, 10);
   *out_best = (uint32_t)count;
   return end != text && *end == 0 && count > 0 && count <= MAX_BEST;
}

/* Takes option argv[i] with its value, if it has one; returns how many words, 0 when it
 * makes no sense. */
static int take_option(struct compile *compile, const char *option, const char *value)
{
   if (strcmp(option, "--stats") == 0)
      return (int)(compile->shows_stats = true);
   if (strcmp(option, "--json") == 0)
      return (int)(compile->is_json = true);
   if (strcmp(option, "--dump") == 0) {
      compile->options.dump = print_dump;
      return 1;
   }
   if (!value)
      return 0;
   if (strcmp(option, "-o") == 0)
      compile->out = value;
   else if (strcmp(option, "--best") == 0 && parse_best(value, &compile->best))
      return 2;
   else if (strcmp(option, "--entry") == 0)
      compile->options.entry = value;
   else if (strcmp(option, "--dynamic") == 0 && strcmp(value, "local-size") == 0)
      compile->options.has_dynamic_local_size = true;
   else if (strcmp(option, "--dynamic") == 0 && strcmp(value, "shared") == 0)
      compile->options.has_dynamic_shared = true;
   else if (strcmp(option, "--chip") == 0 && parse_chips(compile, value))
      return 2;
   else if (strcmp(option, "--spec") == 0 && compile->options.spec_count < MAX_SPECS &&
            parse_spec(value, &compile->specs[compile->options.spec_count]))
      compile->options.spec_count++;
   else if (strcmp(option, "--robust") != 0 || !agx_tool_robust_parse(&compile->robust, value))
      return 0;
   return 2;
}

/* Tells what the option takes. */
static int refuse_option(const char *option, const char *value)
{
   static const struct {
      const char *option, *takes;
   } all[] = {
      {"-o", "the file to write"},
      {"--entry", "the name of an entry point"},
      {"--spec", "ID=VALUE such as 0=12, 64 times at most"},
      {"--chip", "there is no such chip, or one stands there twice"},
      {"--robust", AGX_TOOL_ROBUST_VALUES},
      {"--dynamic", "local-size or shared"},
      {"--best", "how often to compile, up to 1000 times"},
   };
   for (size_t i = 0; i < AGX_COUNT(all); i++)
      if (strcmp(option, all[i].option) == 0)
         return value ? agx_tool_usage("compile", "%s %s: %s", option, value, all[i].takes)
                      : agx_tool_usage("compile", "%s: its value is missing", option);
   return agx_tool_usage("compile", "%s: there is no such option", option);
}

static void set_robustness(struct compile *compile)
{
   const struct agx_tool_robust *robust = &compile->robust;
   compile->options.robustness = (enum agxc_robustness)robust->mode;
   compile->options.robust_bindings = compile->robust_bindings;
   compile->options.robust_binding_count = robust->count;
   for (uint32_t i = 0; i < robust->count; i++)
      compile->robust_bindings[i] =
         (struct agxc_robust_binding){robust->overrides[i].set, robust->overrides[i].binding,
                                      (enum agxc_robustness)robust->overrides[i].robustness};
}

/* Takes the options, wherever they stand, and moves the files to argv[1] and on. Returns how many
 * there are, or -1 - the exit status. */
static int take_arguments(struct compile *compile, int argc, char **argv)
{
   bool takes_options = true;
   int files = 0;
   for (int at = 1; at < argc;) {
      if (!takes_options || argv[at][0] != '-' || !argv[at][1]) {
         argv[1 + files++] = argv[at++];
      } else if (strcmp(argv[at], "--") == 0) {
         takes_options = false;
         at++;
      } else {
         int words = take_option(compile, argv[at], argv[at + 1]);
         if (words == 0)
            return -1 - refuse_option(argv[at], argv[at + 1]);
         at += words;
      }
   }
   if (files == 0)
      return -1 - agx_tool_usage("compile", "no file");
   if (compile->out && files > 1)
      return -1 - agx_tool_usage("compile", "-o with %d files", files);
   return files;
}

int agx_cmd_compile(int argc, char **argv)
{
   struct compile compile = {.chips = {agx_chip_find("g13g")}, .chip_count = 1};
   compile.options.specs = compile.specs;
   const int files = take_arguments(&compile, argc, argv);
   if (files < 0)
      return -1 - files;
   set_robustness(&compile);
   print_header(&compile);
   for (int at = 1; at <= files; at++) {
      if (compile_file(&compile, argv[at]) == AGX_OK)
         continue;
      const char *name = agx_tool_name(argv[at]), *error = agx_error_peek();
      if (strncmp(error, name, strlen(name)) == 0)
         fprintf(stderr, "agx compile: %s\n", error);
      else
         fprintf(stderr, "agx compile: %s: %s\n", name, error);
      if (compile.is_json)
         print_json_failure(&compile, argv[at]);
      compile.failed++;
   }
   if (compile.is_json)
      printf("\n]\n");
   return compile.failed ? AGX_EXIT_FAILURE : AGX_EXIT_OK;
}
