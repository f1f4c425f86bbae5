/* SPDX-License-Identifier: MIT
 *
 * A device with the memory of one program: code, launch words, stream, uniforms, inputs and outputs
 * lie at fixed places, so that an experiment is text and a few numbers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/hw/cdm.h"
#include "agx/hw/usc.h"
#include "base/clock.h"
#include "selftest.h"

/* Offsets in the code buffer. */
#define WORDS_AT    0u
#define PREAMBLE_AT 0x400u
#define CODE_AT     0x4000u
#define CODE_B      0x20000u

#define UNIFORM_HALVES 64u
#define FAR_VA         0x3456780000ull /* nothing is mapped there */
#define WAIT_NS        30000000000ll

static void keep_counters(void *user, const struct agx_kmd_counters *counters)
{
   struct selftest_machine *machine = user;
   machine->counters = *counters;
}

agx_status selftest_open(struct selftest_machine *machine, const char *name)
{
   struct agx_kmd *kmd;
   void *code, *data, *read_only;
   *machine = (struct selftest_machine){0};
   snprintf(machine->name, sizeof(machine->name), "%s", name);
   AGX_TRY(agxw_kmd_open(name, NULL, &kmd));
   AGX_TRY(agxw_device_create(kmd, NULL, &machine->device));
   AGX_TRY(agxw_queue_create(machine->device, 0, &machine->queue));
   AGX_TRY(agxw_timeline_create(machine->device, 0, &machine->timeline));
   AGX_TRY(
      agxw_bo_create(machine->device, CODE_B, 0, AGXW_BO_USC, "selftest code", &machine->code_bo));
   AGX_TRY(agxw_bo_create(machine->device, SELFTEST_DATA_B, 0, AGXW_BO_CACHED, "selftest data",
                          &machine->data_bo));
   AGX_TRY(agxw_bo_create(machine->device, 0x4000, 0, AGXW_BO_READ_ONLY, "selftest read-only",
                          &machine->read_only_bo));
   AGX_TRY(agxw_stamps_create(machine->device, 2, &machine->stamps));
   AGX_TRY(agxw_bo_map(machine->code_bo, &code));
   AGX_TRY(agxw_bo_map(machine->data_bo, &data));
   AGX_TRY(agxw_bo_map(machine->read_only_bo, &read_only));
   for (uint32_t i = 0; i < 0x1000; i++)
      ((uint32_t *)read_only)[i] = 0x50000000 + i;
   machine->code = code;
   machine->data = data;
   machine->data_va = agxw_bo_va(machine->data_bo);
   machine->has_counters =
      agxw_device_watch_counters(machine->device, keep_counters, machine) == AGX_OK;
   return AGX_OK;
}

void selftest_close(struct selftest_machine *machine)
{
   if (machine->stamps)
      agxw_stamps_destroy(machine->stamps);
   if (machine->scratch_bo)
      agxw_bo_destroy(machine->scratch_bo);
   if (machine->helper_bo)
      agxw_bo_destroy(machine->helper_bo);
   if (machine->read_only_bo)
      agxw_bo_destroy(machine->read_only_bo);
   if (machine->data_bo)
      agxw_bo_destroy(machine->data_bo);
   if (machine->code_bo)
      agxw_bo_destroy(machine->code_bo);
   if (machine->timeline)
      agxw_timeline_destroy(machine->timeline);
   if (machine->queue)
      agxw_queue_destroy(machine->queue);
   if (machine->device)
      agxw_device_destroy(machine->device);
   char name[sizeof(machine->name)];
   memcpy(name, machine->name, sizeof(name));
   *machine = (struct selftest_machine){0};
   memcpy(machine->name, name, sizeof(name));
}

agx_status selftest_reopen(struct selftest_machine *machine)
{
   char name[sizeof(machine->name)];
   memcpy(name, machine->name, sizeof(name));
   selftest_close(machine);
   agx_status status = selftest_open(machine, name);
   if (status != AGX_OK)
      selftest_close(machine); /* the next experiment tries again */
   return status;
}

void selftest_clear(struct selftest_machine *machine)
{
   memset(machine->data, 0, SELFTEST_DATA_B);
   memset(machine->data + SELFTEST_OUTPUT, 0xee, SELFTEST_SPARE - SELFTEST_OUTPUT);
}

static void write_uniforms(struct selftest_machine *machine, const struct selftest_launch *launch)
{
   const uint64_t va = machine->data_va;
   const uint64_t addresses[] = {
      va + SELFTEST_INPUT,
      va + SELFTEST_OUTPUT,
      va + SELFTEST_SPARE,
      va + SELFTEST_DATA_B,
      agxw_bo_va(machine->read_only_bo),
      FAR_VA,
      va + SELFTEST_HEAP,
   };
   const uint32_t numbers[] = {launch->loops, 0x40200000, 0x80000001, 0x00030002};
   memcpy(machine->data, addresses, sizeof(addresses));
   const uint64_t code = agxw_bo_va(machine->code_bo);
   memcpy(machine->data + sizeof(addresses), numbers, sizeof(numbers));
   memcpy(machine->data + sizeof(addresses) + sizeof(numbers), &code, sizeof(code));
}

static agx_status write_words(struct selftest_machine *machine,
                              const struct selftest_launch *launch)
{
   struct agx_hw_buffer words = {machine->code + WORDS_AT, PREAMBLE_AT, 0};
   uint32_t halves = launch->uniform_halves ? launch->uniform_halves : UNIFORM_HALVES;
   uint32_t base =
      (uint32_t)(agxw_bo_va(machine->code_bo) - agxw_device_info(machine->device)->usc_base);
   const struct agx_hw_usc_program program = {
      .shared_B = launch->shared_B,
      .code_offset = base + CODE_AT,
      .gpr_halves = launch->halves ? launch->halves : 128,
      .scratch_B = launch->scratch_B,
      .has_preamble = launch->preamble != NULL,
      .preamble_offset = base + PREAMBLE_AT,
   };
   AGX_TRY(agx_hw_usc_uniforms(&words, 0, halves, machine->data_va));
   uint8_t *shared = words.memory + words.used;
   AGX_TRY(agx_hw_usc_compute(&words, &program));
   if (launch->sample_stride) {
      struct agx_hw_usc_shared tile = agx_hw_usc_shared_default();
      tile.uses_shared_memory = true;
      tile.layout = AGX_HW_SHARED_LAYOUT_VERTEX_COMPUTE;
      tile.sample_stride_in_8_bytes = launch->sample_stride;
      tile.bytes_per_threadgroup = launch->shared_B;
      AGX_TRY(agx_hw_usc_shared_pack(&tile, shared));
   }
   return AGX_OK;
}

/* Of indirect launches: workgroups, or else threads and the local size. */
static void write_sizes(struct selftest_machine *machine, const struct selftest_launch *launch,
                        struct agx_hw_launch *words)
{
   uint32_t sizes[6];
   words->mode = launch->mode;
   words->indirect_address = machine->data_va + SELFTEST_SIZES;
   for (unsigned i = 0; i < 3; i++) {
      sizes[i] =
         words->global[i] / (launch->mode == AGX_HW_CDM_MODE_INDIRECT_GLOBAL ? words->local[i] : 1);
      sizes[3 + i] = words->local[i];
   }
   memcpy(machine->data + SELFTEST_SIZES, sizes, sizeof(sizes));
}

static agx_status write_stream(struct selftest_machine *machine,
                               const struct selftest_launch *launch)
{
   const struct agxw_device_info *info = agxw_device_info(machine->device);
   struct agx_hw_buffer stream = {machine->data + SELFTEST_STREAM, SELFTEST_SIZES - SELFTEST_STREAM,
                                  0};
   struct agx_hw_launch words = {
      .uniform_halves = UNIFORM_HALVES,
      .texture_count = launch->preamble ? 8 : 0,
      .sampler_states = launch->preamble ? AGX_HW_SAMPLER_STATES_8_COMPACT : 0,
      .preamble_halves = launch->preamble ? 64 : 0,
      .usc_offset = (uint32_t)(agxw_bo_va(machine->code_bo) - info->usc_base) + WORDS_AT,
   };
   for (unsigned i = 0; i < 3; i++) {
      uint32_t usual = i == 0 ? 32 : 1;
      words.global[i] = launch->threads[i] || launch->has_threads ? launch->threads[i] : usual;
      words.local[i] = launch->local[i] ? launch->local[i] : usual;
   }
   if (!launch->threads[0] && launch->local[0] && !launch->has_threads)
      memcpy(words.global, words.local, sizeof(words.global));
   write_sizes(machine, launch, &words);
   for (uint32_t i = 0; i <= launch->repeats; i++) {
      AGX_TRY(agx_hw_cdm_launch(&stream, info->chip, &words));
      AGX_TRY(agx_hw_cdm_barrier(&stream));
      if (launch->barrier)
         memcpy(stream.memory + stream.used - 4, &launch->barrier, 4);
   }
   machine->stream_end = SELFTEST_STREAM + (uint32_t)stream.used;
   return agx_hw_cdm_terminate(&stream);
}

agx_status selftest_prepare(struct selftest_machine *machine, const struct selftest_launch *launch)
{
   const struct agx_chip *chip = agxw_device_info(machine->device)->chip;
   const bool in_program = launch->from && strstr(launch->program, launch->from);
   const char *from = launch->from;
   size_t length;
   AGX_TRY(selftest_assemble(chip, launch->program, in_program || !launch->preamble ? from : NULL,
                             launch->to, machine->code + CODE_AT, CODE_B - CODE_AT, &length));
   if (launch->preamble)
      AGX_TRY(selftest_assemble(chip, launch->preamble, in_program ? NULL : from, launch->to,
                                machine->code + PREAMBLE_AT, CODE_AT - PREAMBLE_AT, &length));
   machine->needs_helper = launch->scratch_B != 0;
   if (machine->needs_helper)
      AGX_TRY(selftest_make_helper(machine));
   write_uniforms(machine, launch);
   AGX_TRY(write_words(machine, launch));
   return write_stream(machine, launch);
}

static agx_status wait_for(struct selftest_machine *machine, const struct agxw_point *point,
                           struct selftest_outcome *out_outcome)
{
   int64_t begin = agx_now_ns();
   agx_status status = agxw_wait(machine->device, point, 1, false, begin + WAIT_NS);
   out_outcome->host_ns = (uint64_t)(agx_now_ns() - begin);
   if (status != AGX_OK) {
      machine->is_stale = true;
      return AGX_FAIL(AGX_UNAVAILABLE, "the submission did not end within %d seconds",
                      (int)(WAIT_NS / 1000000000));
   }
   status = agxw_point_error(point, &out_outcome->error);
   if (status != AGX_OK && out_outcome->error == 0)
      out_outcome->error = EIO;
   machine->is_stale = machine->is_stale || out_outcome->error != 0;
   return AGX_OK;
}

struct agxw_compute selftest_command(const struct selftest_machine *machine)
{
   return (struct agxw_compute){
      .stream_va = machine->data_va + SELFTEST_STREAM,
      .stream_end_va = machine->data_va + machine->stream_end,
      .stamps = machine->stamps,
      .start_stamp = 0,
      .end_stamp = 1,
   };
}

agx_status selftest_submit_on(struct selftest_machine *machine, struct agxw_queue *queue,
                              const struct agxw_compute *commands, uint32_t count,
                              struct selftest_outcome *out_outcome)
{
   _Atomic uint64_t *times = agxw_stamps_times(machine->stamps);
   const struct agxw_point before = {machine->timeline, machine->point};
   const struct agxw_point done = {machine->timeline, ++machine->point};
   const struct agxw_submit submit = {.commands = commands,
                                      .command_count = count,
                                      .waits = &before,
                                      .wait_count = 1,
                                      .signals = &done,
                                      .signal_count = 1,
                                      .helper = machine->needs_helper ? &machine->helper : NULL};
   *out_outcome = (struct selftest_outcome){0};
   times[0] = times[1] = 0;
   machine->counters = (struct agx_kmd_counters){0};
   AGX_TRY(agxw_submit(queue, &submit));
   AGX_TRY(wait_for(machine, &done, out_outcome));
   out_outcome->start = times[0];
   out_outcome->end = times[1];
   return AGX_OK;
}

agx_status selftest_submit(struct selftest_machine *machine, struct selftest_outcome *out_outcome)
{
   const struct agxw_compute command = selftest_command(machine);
   return selftest_submit_on(machine, machine->queue, &command, 1, out_outcome);
}

agx_status selftest_run(struct selftest_machine *machine, const struct selftest_launch *launch,
                        struct selftest_outcome *out_outcome)
{
   AGX_TRY(selftest_prepare(machine, launch));
   return selftest_submit(machine, out_outcome);
}
