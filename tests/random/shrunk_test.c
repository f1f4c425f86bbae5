/* SPDX-License-Identifier: MIT
 *
 * Random kernels (kernel.h) in robust modes, with their buffers shrunk at random to multiples of 8
 * bytes, against the model of the rules that tests/hal/robust_model.h has: a device that applies
 * them itself to code without optimisation and without robustness. AGX_RANDOM_KERNELS says how
 * many, AGX_RANDOM_SEED which is the first.
 */
#include "kernel.h"

#include <stdlib.h>
#include <string.h>

#include "agx/compiler/compiler.h"
#include "base/util.h"
#include "hal/device/device.h"
#include "hal/fixture.h"
#include "hal/robust_model.h"
#include "manifest.h"

#define BUFFERS 3u
#define MARK    0xa5
#define MARGIN  64u

static const uint32_t push[RANDOM_PUSH_WORDS] = {1,  2,  3,          5,          8,          13,
                                                 21, 34, 0x80000000, 0xffffffff, 0xdeadbeef, 12345};

/* Input, output, uniform buffer. */
static const uint32_t full_B[BUFFERS] = {RANDOM_IN_WORDS * 4, (RANDOM_TAIL_AT + RANDOM_TAIL) * 4,
                                         RANDOM_UNIFORM_B};

struct side {
   struct fixture fixture;
   struct agx_buffer *buffers[BUFFERS];
   uint8_t *bytes[BUFFERS];
   struct agx_semaphore *done;
   uint64_t submitted;
};

struct plan {
   uint32_t offset[BUFFERS], size[BUFFERS];
};

static void open_side(struct side *side)
{
   side->done = fixture_semaphore(&side->fixture);
   for (uint32_t i = 0; i < BUFFERS; i++)
      side->buffers[i] =
         fixture_buffer(&side->fixture, full_B[i] + 2 * MARGIN, (uint32_t **)&side->bytes[i]);
}

static void close_side(struct side *side)
{
   for (uint32_t i = 0; i < BUFFERS; i++)
      agx_release(side->buffers[i]);
   agx_release(side->done);
   fixture_close(&side->fixture);
}

/* By way of an ELF file, so that the model's may be bound to anything. */
static struct agx_executable *load(struct side *side, const struct random_kernel *kernel,
                                   struct agxc_options options)
{
   struct agx_program_binding bindings[AGX_PROGRAM_MAX_BINDINGS];
   struct agx_executable_desc desc = {.size = sizeof(desc)};
   struct agx_executable *executable = NULL;
   struct agx_program *program = NULL;
   void *image;
   options.chip = agx_chip_find("g13g");
   assert_ok(agxc_compile(kernel->words, kernel->count * 4ul, &options, &program));
   memcpy(bindings, program->bindings, program->binding_count * sizeof(bindings[0]));
   for (uint32_t i = 0; i < program->binding_count; i++)
      bindings[i].min_size_B = 0;
   struct agx_program open = *program;
   open.bindings = bindings;
   assert_ok(agx_program_write_elf(&open, NULL, &image, &desc.data_B));
   desc.data = image;
   assert_ok(agx_executable_create(side->fixture.device, &desc, &executable));
   agx_host_free(NULL, image, desc.data_B);
   agx_program_free(program);
   return executable;
}

static void fill(struct side *side, const struct plan *plan)
{
   for (uint32_t i = 0; i < BUFFERS; i++) {
      const struct agx_manifest_init init = {.kind = AGX_INIT_RAND_U32, .seed = 1000 + i};
      memset(side->bytes[i], MARK, full_B[i] + 2 * MARGIN);
      if (i != 1)
         agx_manifest_fill(&init, side->bytes[i] + plan->offset[i], full_B[i], NULL, NULL);
   }
   memset(side->bytes[1] + plan->offset[1] + (size_t)RANDOM_TAIL_AT * 4, 0, RANDOM_TAIL * 4);
}

static agx_status run(struct side *side, const struct plan *plan, struct agx_executable *executable,
                      uint32_t binding_count)
{
   struct agx_binding bindings[BUFFERS];
   fill(side, plan);
   for (uint32_t i = 0; i < BUFFERS; i++)
      bindings[i] = (struct agx_binding){.binding = i,
                                         .ref = {side->buffers[i], plan->offset[i], plan->size[i]}};
   const struct agx_dispatch dispatch = {.size = sizeof(dispatch),
                                         .executable = executable,
                                         .workgroups = {RANDOM_GROUPS, 1, 1},
                                         .binding_count = binding_count,
                                         .bindings = bindings,
                                         .push = push,
                                         .push_B = sizeof(push)};
   struct agx_command_buffer *commands = fixture_begin(&side->fixture);
   assert_ok(agx_cmd_dispatch(commands, &dispatch));
   assert_ok(agx_command_buffer_end(commands));
   side->submitted++;
   assert_ok(fixture_submit(&side->fixture, commands, NO_POINT,
                            (struct agx_point){side->done, side->submitted}));
   agx_status status = fixture_wait(side->done, side->submitted);
   agx_release(commands);
   return status;
}

static struct plan make_plan(struct agx_test_rng *rng)
{
   struct plan plan;
   for (uint32_t i = 0; i < BUFFERS; i++) {
      uint32_t most = full_B[i] / 8;
      plan.offset[i] = 8 * (uint32_t)agx_test_random_below(rng, MARGIN / 8);
      plan.size[i] =
         8 * (agx_test_random_below(rng, 3) == 0 ? most
                                                 : (uint32_t)agx_test_random_below(rng, most + 1));
   }
   return plan;
}

/* Everything in the buffers, or, in clamp mode with something outside, what isn't bound. */
static bool agree(const struct side *got, const struct side *wanted, const struct plan *plan,
                  bool is_told, uint64_t number, const char *mode)
{
   for (uint32_t i = 0; i < BUFFERS; i++) {
      for (uint32_t at = 0; at < full_B[i] + 2 * MARGIN; at++) {
         bool is_bound = at >= plan->offset[i] && at - plan->offset[i] < plan->size[i];
         if (got->bytes[i][at] == wanted->bytes[i][at] || (is_bound && !is_told))
            continue;
         print_error("kernel %llu, %s: buffer %u of %u bytes: byte %d is 0x%02x, the model has "
                     "0x%02x\n",
                     (unsigned long long)number, mode, i, plan->size[i],
                     (int)at - (int)plan->offset[i], got->bytes[i][at], wanted->bytes[i][at]);
         return false;
      }
   }
   return true;
}

struct shrunk {
   struct side plain, robust;
   struct robust_model model;
   uint64_t outside, compared, wrong;
};

static void set_model(struct shrunk *it, const struct plan *plan)
{
   it->model = (struct robust_model){.count = BUFFERS};
   for (uint32_t i = 0; i < BUFFERS; i++) {
      struct agx_buffer_info info = {.size = sizeof(info)};
      agx_buffer_get_info(it->plain.buffers[i], &info);
      it->model.bindings[i] =
         (struct model_binding){.va = info.address + plan->offset[i], .bytes = plan->size[i]};
   }
}

static void try_kernel(struct shrunk *it, const struct random_kernel *kernel, uint64_t number,
                       const struct plan *plan)
{
   static const char *const names[] = {"off", "clamp", "zero"};
   uint64_t outside = 0;
   bool has_result = false; /* of an atomic outside */
   struct agx_executable *executable =
      load(&it->plain, kernel, (struct agxc_options){.debug = AGXC_DEBUG_NO_OPT});
   set_model(it, plan);
   assert_ok(run(&it->plain, plan, executable, kernel->binding_count));
   agx_release(executable);
   assert_int_equal(it->model.foreign, 0);
   for (uint32_t i = 0; i < BUFFERS; i++) {
      outside += it->model.bindings[i].outside;
      has_result |= it->model.bindings[i].atomic_outside;
   }
   it->outside += outside;
   for (uint32_t mode = AGXC_ROBUST_CLAMP; mode <= AGXC_ROBUST_ZERO; mode++) {
      bool is_told = mode == AGXC_ROBUST_ZERO ? !has_result : outside == 0;
      executable =
         load(&it->robust, kernel, (struct agxc_options){.robustness = (enum agxc_robustness)mode});
      agx_status status = run(&it->robust, plan, executable, kernel->binding_count);
      agx_release(executable);
      if (status != AGX_OK)
         print_error("kernel %llu, %s: %s\n", (unsigned long long)number, names[mode],
                     agx_error_peek());
      it->wrong +=
         status != AGX_OK || !agree(&it->robust, &it->plain, plan, is_told, number, names[mode]);
      it->compared += is_told;
   }
}

static uint64_t number(const char *name, uint64_t otherwise)
{
   const char *text = getenv(name);
   return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static void shrunk_buffers_follow_the_rules(void **state)
{
   static struct random_kernel kernel;
   struct shrunk *it = calloc(1, sizeof(*it));
   uint64_t count = number("AGX_RANDOM_KERNELS", 60), first = number("AGX_RANDOM_SEED", 1);
   setenv("AGX_VIRTUAL_THREADS", "1", 1);
   assert_ok(agx_instance_create(NULL, &it->plain.fixture.instance));
   assert_ok(agx_device_open_kmd(it->plain.fixture.instance, model_open("g13g", &it->model),
                                 &it->plain.fixture.device));
   setenv("AGX_DEBUG", "bounds", 1);
   setenv("AGX_VIRTUAL_CHECK", "1", 1);
   fixture_open(&it->robust.fixture, "virtual:g13g");
   open_side(&it->plain);
   open_side(&it->robust);
   for (uint64_t i = 0; i < count; i++) {
      struct agx_test_rng rng = {first + i};
      uint32_t features = (uint32_t)agx_test_random(&rng) & RANDOM_ALL;
      uint64_t seed = agx_test_random(&rng) | 1;
      struct plan plan = make_plan(&rng);
      random_kernel_make(&kernel, seed, features);
      try_kernel(it, &kernel, first + i, &plan);
   }
   print_message("%llu kernels, %llu elements outside, %llu results compared\n",
                 (unsigned long long)count, (unsigned long long)it->outside,
                 (unsigned long long)it->compared);
   uint64_t wrong = it->wrong;
   close_side(&it->plain);
   close_side(&it->robust);
   free(it);
   assert_int_equal(wrong, 0);
}

AGX_TEST_FILE(void)
{
   const struct CMUnitTest tests[] = {cmocka_unit_test(shrunk_buffers_follow_the_rules)};
   return cmocka_run_group_tests(tests, NULL, NULL);
}
