/* SPDX-License-Identifier: MIT
 *
 * A small kernel with a preamble, written word by word, launched twice on the virtual device: what
 * no change of the compiler moves.
 */
#include "small_capture.h"

#include "agx/hw/cdm.h"
#include "agx/hw/usc.h"
#include "agx/isa/isa.h"
#include "support.h"
#include "winsys/winsys.h"

#include <string.h>

/* The preamble puts 5 into u2; the kernel adds it to the word that u0 and u1 point at. */
static const char *const preamble_lines[] = {
   "iadd d=r0 a=2 b=3",
   "uniform_store u=u2 r=r0",
   "stop",
};
static const char *const code_lines[] = {
   "load r=r0 base=du0 index=0 format=i32 mask=x group=a",  "wait group=a", "iadd d=r0 a=r0 b=u2",
   "store r=r0 base=du0 index=0 format=i32 mask=x group=a", "stop",
};

static void assemble(uint8_t *out, const char *const *lines, size_t count)
{
   for (size_t i = 0; i < count; i++) {
      struct agx_isa_instr instr;
      size_t length;
      assert_ok(agx_isa_parse(lines[i], strlen(lines[i]), &instr));
      assert_ok(agx_isa_encode(&instr, out, &length));
      out += length;
   }
}

static uint8_t *make_bo(struct small_device *small, int index, uint32_t flags, const char *label)
{
   void *memory;
   assert_ok(agxw_bo_create(small->device, 16384, 0, flags, label, &small->bos[index]));
   assert_ok(agxw_bo_map(small->bos[index], &memory));
   return memory;
}

/* Code at 0 of its buffer, the preamble at 128, USC words at 256; the uniform at 64 of the
 * data. */
static void write_program(struct small_device *small)
{
   uint64_t data_va = agxw_bo_va(small->bos[2]);
   uint32_t usc = (uint32_t)(agxw_bo_va(small->bos[0]) - agxw_device_info(small->device)->usc_base);
   assemble(small->usc, code_lines, 5);
   assemble(small->usc + 128, preamble_lines, 3);
   memcpy(small->data + 64, &data_va, sizeof(data_va));
   struct agx_hw_buffer words = {small->usc + 256, 256, 0}, stream = {small->stream, 512, 0};
   const struct agx_hw_usc_program program = {
      .code_offset = usc, .gpr_halves = 2, .has_preamble = true, .preamble_offset = usc + 128};
   assert_ok(agx_hw_usc_uniforms(&words, 0, 4, data_va + 64));
   assert_ok(agx_hw_usc_compute(&words, &program));
   const struct agx_hw_launch launch = {.uniform_halves = 6,
                                        .preamble_halves = 2,
                                        .usc_offset = usc + 256,
                                        .global = {1, 1, 1},
                                        .local = {1, 1, 1}};
   const struct agx_chip *chip = agxw_device_info(small->device)->chip;
   for (int i = 0; i < 2; i++) {
      assert_ok(agx_hw_cdm_launch(&stream, chip, &launch));
      assert_ok(agx_hw_cdm_barrier(&stream));
   }
   assert_ok(agx_hw_cdm_terminate(&stream));
}

void small_device_open(struct small_device *small, const char *name, const char *path)
{
   struct agx_kmd *kmd;
   assert_ok(agxw_kmd_open(name, path, &kmd));
   assert_ok(agxw_device_create(kmd, NULL, &small->device));
   assert_ok(agxw_queue_create(small->device, 0, &small->queue));
   assert_ok(agxw_timeline_create(small->device, 0, &small->timeline));
   small->usc = make_bo(small, 0, AGXW_BO_USC, "code");
   small->stream = make_bo(small, 1, 0, "stream");
   small->data = make_bo(small, 2, 0, "data");
   write_program(small);
}

void small_device_submit(struct small_device *small, uint64_t stream_va, uint64_t value)
{
   const struct agxw_compute command = {stream_va, stream_va + 64};
   const struct agxw_point before = {small->timeline, value - 1}, after = {small->timeline, value};
   assert_ok(agxw_submit(small->queue, &(struct agxw_submit){.commands = &command,
                                                             .command_count = 1,
                                                             .waits = &before,
                                                             .wait_count = 1,
                                                             .signals = &after,
                                                             .signal_count = 1}));
   assert_ok(agxw_wait(small->device, &after, 1, false, INT64_MAX));
}

void small_device_close(struct small_device *small)
{
   for (int i = 0; i < 3; i++)
      agxw_bo_destroy(small->bos[i]);
   agxw_timeline_destroy(small->timeline);
   agxw_queue_destroy(small->queue);
   agxw_device_destroy(small->device);
}

void small_capture_record(const char *path)
{
   struct small_device small;
   small_device_open(&small, "virtual:g13g", path);
   small_device_submit(&small, agxw_bo_va(small.bos[1]), 1);
   const struct agxw_point point = {small.timeline, 1};
   assert_ok(agxw_point_status(&point));
   assert_int_equal(small.data[0], 10);
   small_device_submit(&small, 0x3000000000, 2);
   small_device_close(&small);
}
