/* SPDX-License-Identifier: MIT
 *
 * Random kernels (kernel.h), compiled without optimisation, with it, robust, and with few
 * registers, must compute the same on the virtual AGX in check mode. AGX_RANDOM_KERNELS says how
 * many, AGX_RANDOM_SEED which is the first, AGX_RANDOM_FEATURES what they may use,
 * AGX_RANDOM_DOUBLES=1 that all of them use 64-bit floats, and AGX_RANDOM_SUMS=1 that they have
 * loops of one block that load and sum (else a few do, which are not kept).
 * AGX_RANDOM_SAVE=DIR keeps each of them there as NAME.spv with manifest and result, for other
 * implementations (make random compares lavapipe). Names begin with k; with AGX_RANDOM_SAVE_ALL=1
 * also those are kept, beginning with s, that only a GPU computes alike: one with subgroups of 32
 * lanes and with signed zeros.
 */
#include "kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/compiler/compiler.h"
#include "agx/hal.h"
#include "base/alloc.h"
#include "base/util.h"
#include "manifest.h"
#include "program/program.h"

#define DEFAULT_KERNELS 100
#define DOUBLE_KERNELS  14
#define SUM_KERNELS     30
#define WORKGROUPS      RANDOM_GROUPS
#define OUT_WORDS       (RANDOM_TAIL_AT + RANDOM_TAIL)
#define IN_SEED         12345
#define UNIFORM_SEED    54321
#define PUSH                                                                                       \
   {                                                                                               \
      1, 2, 3, 5, 8, 13, 21, 34, 0x80000000, 0xffffffff, 0xdeadbeef, 12345                         \
   }
#define PUSH_TEXT "1 2 3 5 8 13 21 34 0x80000000 0xffffffff 0xdeadbeef 12345"

struct comparison {
   struct agx_instance *instance;
   struct agx_device *device;
   struct agx_semaphore *done;
   struct agx_command_buffer *commands;
   struct agx_buffer *in, *out, *uniform;
   uint32_t *in_words, *out_words, *uniform_words;
   uint64_t value;
};

static uint64_t number(const char *name, uint64_t otherwise)
{
   const char *text = getenv(name);
   return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static void make_buffer(struct comparison *it, uint64_t size_B, struct agx_buffer **out_buffer,
                        uint32_t **out_words)
{
   struct agx_buffer_desc desc = {
      .size = sizeof(desc), .size_B = size_B, .flags = AGX_BUFFER_HOST_READ, .label = "random"};
   assert_ok(agx_buffer_create(it->device, &desc, out_buffer));
   assert_ok(agx_buffer_map(*out_buffer, (void **)out_words));
}

/* As `rand_u32` of a manifest does it. */
static void fill(uint32_t *words, uint64_t size_B, uint64_t seed)
{
   const struct agx_manifest_init init = {.kind = AGX_INIT_RAND_U32, .seed = seed};
   agx_manifest_fill(&init, words, size_B, NULL, NULL);
}

static void open_comparison(struct comparison *it)
{
   struct agx_device_desc desc = {.size = sizeof(desc), .name = "virtual"};
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   assert_ok(agx_instance_create(NULL, &it->instance));
   assert_ok(agx_device_open(it->instance, &desc, &it->device));
   assert_ok(agx_semaphore_create(it->device, 0, &it->done));
   assert_ok(agx_command_buffer_create(it->device, NULL, &it->commands));
   make_buffer(it, RANDOM_IN_WORDS * 4, &it->in, &it->in_words);
   make_buffer(it, OUT_WORDS * 4, &it->out, &it->out_words);
   make_buffer(it, RANDOM_UNIFORM_B, &it->uniform, &it->uniform_words);
   fill(it->in_words, RANDOM_IN_WORDS * 4, IN_SEED);
   fill(it->uniform_words, RANDOM_UNIFORM_B, UNIFORM_SEED);
}

static void close_comparison(struct comparison *it)
{
   agx_release(it->in);
   agx_release(it->out);
   agx_release(it->uniform);
   agx_release(it->commands);
   agx_release(it->done);
   agx_release(it->device);
   agx_release(it->instance);
}

/* Ways to compile. The validator numbers blocks anew, so one does without it. */
static const struct mode {
   const char *name;
   struct agxc_options options;
} modes[] = {
   {"plain", {.debug = AGXC_DEBUG_NO_OPT | AGXC_DEBUG_VALIDATE}},
   {"optimised", {.debug = AGXC_DEBUG_VALIDATE}},
   {"clamp", {.robustness = AGXC_ROBUST_CLAMP}},
   {"zero", {.robustness = AGXC_ROBUST_ZERO}},
   {"spilling", {.most_halves = 56}},
};

/* SPIR-V to an executable, by way of an ELF file, which has no say in how it is compiled. */
static agx_status load(struct comparison *it, const struct random_kernel *kernel,
                       const struct mode *mode, struct agx_executable **out_executable)
{
   struct agxc_options options = mode->options;
   struct agx_program *program = NULL;
   options.chip = agx_chip_find("g13g");
   void *image;
   size_t size;
   AGX_TRY(agxc_compile(kernel->words, kernel->count * 4ul, &options, &program));
   agx_status status = agx_program_write_elf(program, NULL, &image, &size);
   agx_program_free(program);
   AGX_TRY(status);
   struct agx_executable_desc desc = {.size = sizeof(desc), .data = image, .data_B = size};
   status = agx_executable_create(it->device, &desc, out_executable);
   agx_host_free(NULL, image, size);
   return status;
}

static agx_status run(struct comparison *it, struct agx_executable *executable,
                      uint32_t binding_count, uint32_t *out_words)
{
   static const uint32_t push[RANDOM_PUSH_WORDS] = PUSH;
   struct agx_binding bindings[3] = {
      {.binding = 0, .ref = {it->in, 0, AGX_WHOLE_LENGTH}},
      {.binding = 1, .ref = {it->out, 0, AGX_WHOLE_LENGTH}},
      {.binding = 2, .ref = {it->uniform, 0, AGX_WHOLE_LENGTH}},
   };
   struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                   .executable = executable,
                                   .workgroups = {WORKGROUPS, 1, 1},
                                   .binding_count = binding_count,
                                   .bindings = bindings,
                                   .push = push,
                                   .push_B = sizeof(push)};
   struct agx_point point = {it->done, ++it->value};
   struct agx_op op = {.size = sizeof(op),
                       .kind = AGX_OP_EXECUTE,
                       .signals = &point,
                       .signal_count = 1,
                       .u.execute.commands = it->commands};
   memset(it->out_words, 0xa5, RANDOM_TAIL_AT * 4);
   memset(it->out_words + RANDOM_TAIL_AT, 0, RANDOM_TAIL * 4);
   AGX_TRY(agx_command_buffer_begin(it->commands));
   AGX_TRY(agx_cmd_dispatch(it->commands, &dispatch));
   AGX_TRY(agx_command_buffer_end(it->commands));
   AGX_TRY(agx_submit(it->device, &op, 1, NULL));
   AGX_TRY(agx_semaphore_wait(&point, 1, false, AGX_DEADLINE_NEVER));
   memcpy(out_words, it->out_words, OUT_WORDS * 4);
   return AGX_OK;
}

static agx_status compute(struct comparison *it, const struct random_kernel *kernel,
                          const struct mode *mode, uint32_t *out_words)
{
   struct agx_executable *executable = NULL;
   AGX_TRY(load(it, kernel, mode, &executable));
   agx_status status = run(it, executable, kernel->binding_count, out_words);
   agx_release(executable);
   return status;
}

/* ---- for others --------------------------------------------------------- */

static void write_file(const char *folder, const char *name, uint64_t seed, const char *ending,
                       const void *data, size_t size)
{
   char path[1024];
   snprintf(path, sizeof(path), "%s/%s%llu%s", folder, name, (unsigned long long)seed, ending);
   FILE *file = fopen(path, "wb");
   if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
      fail_msg("%s can't be written", path);
}

static void save(const char *folder, uint64_t seed, const struct random_kernel *kernel,
                 uint32_t features, const uint32_t *result)
{
   bool is_special = features & (RANDOM_SUBGROUP | RANDOM_ZEROS);
   const char *name = is_special ? "s" : "k", *reference = is_special ? "ref/s" : "ref/k";
   char manifest[512], wide[256];
   snprintf(wide, sizeof(wide), "buf 2 0 2 ubo %u rand_u32 %u\npush u32 " PUSH_TEXT "\n",
            RANDOM_UNIFORM_B, UNIFORM_SEED);
   int length = snprintf(manifest, sizeof(manifest),
                         "buf 0 0 0 ssbo %u rand_u32 %u\nbuf 1 0 1 ssbo %u zero out\n"
                         "%sdispatch %u 1 1\ncmp exact\n",
                         RANDOM_IN_WORDS * 4, IN_SEED, OUT_WORDS * 4,
                         features & RANDOM_WIDE ? wide : "", WORKGROUPS);
   write_file(folder, name, seed, ".spv", kernel->words, kernel->count * 4ul);
   write_file(folder, name, seed, ".txt", manifest, (size_t)length);
   write_file(folder, reference, seed, ".1.bin", result, OUT_WORDS * 4);
}

/* ---- test --------------------------------------------------------------- */

static uint64_t seed_of(uint64_t first, uint64_t index)
{
   return (first + index) * 0x9e3779b97f4a7c15ull | 1;
}

/* What kernels use, one set after the other. */
struct kind {
   uint32_t count, sets[17];
};

static const struct kind plain_kind = {
   17,
   {
      0,
      RANDOM_ALL & ~(RANDOM_SUBGROUP | RANDOM_MEMORY | RANDOM_ZEROS | RANDOM_WIDE),
      RANDOM_FLOAT32 | RANDOM_SHARED,
      RANDOM_INT8 | RANDOM_INT16,
      RANDOM_INT64,
      RANDOM_FLOAT16 | RANDOM_INT16,
      RANDOM_MEMORY,
      RANDOM_MEMORY | RANDOM_INT8 | RANDOM_INT16 | RANDOM_INT64,
      RANDOM_FLOAT16 | RANDOM_FLOAT32 | RANDOM_ZEROS,
      RANDOM_SUBGROUP | RANDOM_SHARED,
      RANDOM_ALL & ~RANDOM_WIDE,
      RANDOM_WIDE | RANDOM_SHARED,
      RANDOM_WIDE | RANDOM_FLOAT32,
      RANDOM_WIDE | RANDOM_MEMORY | RANDOM_SHARED | RANDOM_INT8 | RANDOM_INT16 | RANDOM_INT64,
      RANDOM_WIDE | RANDOM_SUBGROUP | RANDOM_SHARED | RANDOM_INT16,
      RANDOM_ALL & ~(RANDOM_SUBGROUP | RANDOM_MEMORY | RANDOM_ZEROS),
      RANDOM_ALL,
   }};

static const struct kind double_kind = {
   7,
   {
      RANDOM_FLOAT64,
      RANDOM_FLOAT64 | RANDOM_FLOAT32 | RANDOM_FLOAT16 | RANDOM_SHARED,
      RANDOM_FLOAT64 | RANDOM_INT8 | RANDOM_INT16 | RANDOM_INT64,
      RANDOM_FLOAT64 | RANDOM_FLOAT32 | RANDOM_MEMORY,
      RANDOM_FLOAT64 | RANDOM_WIDE | RANDOM_SHARED | RANDOM_INT64,
      RANDOM_FLOAT64 | RANDOM_SUBGROUP | RANDOM_FLOAT16,
      RANDOM_FLOAT64 | RANDOM_ZEROS | RANDOM_FLOAT32,
   }};

static const struct kind sum_kind = {6,
                                     {
                                        RANDOM_SUMS,
                                        RANDOM_SUMS | RANDOM_SHARED,
                                        RANDOM_SUMS | RANDOM_MEMORY | RANDOM_INT16,
                                        RANDOM_SUMS | RANDOM_FLOAT32 | RANDOM_INT64,
                                        RANDOM_SUMS | RANDOM_WIDE,
                                        RANDOM_SUMS | RANDOM_SUBGROUP | RANDOM_SHARED,
                                     }};

static uint32_t features_of(uint64_t index, const struct kind *kind)
{
   return (uint32_t)number("AGX_RANDOM_FEATURES", kind->sets[index % kind->count]);
}

/* Whether the kernel computes in that mode what it did in the first, plain one. */
static bool agrees(struct comparison *it, const struct random_kernel *kernel, uint64_t number,
                   const struct mode *mode, uint32_t *plain)
{
   static uint32_t words[OUT_WORDS];
   bool is_first = mode == modes;
   agx_status status = compute(it, kernel, mode, is_first ? plain : words);
   if (status != AGX_OK) {
      print_error("kernel %llu, %s: %s\n", (unsigned long long)number, mode->name,
                  agx_error_peek());
      return false;
   }
   for (uint32_t at = 0; !is_first && at < OUT_WORDS; at++) {
      if (plain[at] == words[at])
         continue;
      print_error("kernel %llu, %s: thread %u, word %u is 0x%x, plain 0x%x\n",
                  (unsigned long long)number, mode->name, at / RANDOM_OUT_WORDS,
                  at % RANDOM_OUT_WORDS, words[at], plain[at]);
      return false;
   }
   return true;
}

/* Kernels from `first` on; folder: where they are kept, or null. */
static void try_kernels(uint64_t first, uint64_t count, const struct kind *kind, const char *folder)
{
   static struct random_kernel kernel;
   static uint32_t plain[OUT_WORDS];
   uint64_t wrong = 0;
   bool save_all = number("AGX_RANDOM_SAVE_ALL", 0);
   struct comparison it = {0};
   open_comparison(&it);
   for (uint64_t i = 0; i < count; i++) {
      uint32_t features = features_of(first + i, kind);
      random_kernel_make(&kernel, seed_of(first, i), features);
      bool agree = true;
      for (size_t mode = 0; mode < AGX_COUNT(modes) && agree; mode++)
         agree = agrees(&it, &kernel, first + i, &modes[mode], plain);
      bool is_kept =
         !kernel.is_open && (save_all || !(features & (RANDOM_SUBGROUP | RANDOM_ZEROS)));
      if (folder && (!agree || is_kept))
         save(folder, first + i, &kernel, features, plain);
      wrong += !agree;
   }
   close_comparison(&it);
   if (wrong)
      fail_msg("%llu of %llu kernels failed", (unsigned long long)wrong, (unsigned long long)count);
}

static void modes_agree(void **state)
{
   const struct kind *kind = number("AGX_RANDOM_DOUBLES", 0) ? &double_kind
                             : number("AGX_RANDOM_SUMS", 0)  ? &sum_kind
                                                             : &plain_kind;
   try_kernels(number("AGX_RANDOM_SEED", 1), number("AGX_RANDOM_KERNELS", DEFAULT_KERNELS), kind,
               getenv("AGX_RANDOM_SAVE"));
}

static void modes_agree_on_doubles(void **state)
{
   try_kernels(number("AGX_RANDOM_SEED", 1), DOUBLE_KERNELS, &double_kind, NULL);
}

static void modes_agree_on_sums(void **state)
{
   try_kernels(number("AGX_RANDOM_SEED", 1), SUM_KERNELS, &sum_kind, NULL);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {cmocka_unit_test(modes_agree),
                                      cmocka_unit_test(modes_agree_on_doubles),
                                      cmocka_unit_test(modes_agree_on_sums)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
