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

struct fixture {
   struct agxw_device *device;
   struct agxw_queue *queue;
   struct agxw_timeline *timeline;
   struct agxw_bo *bos[3];
   uint8_t *usc, *stream, *data;
};

static uint8_t *make_bo(struct fixture *fixture, int index, uint32_t flags, const char *label)
{
   void *memory;
   assert_ok(agxw_bo_create(fixture->device, 16384, 0, flags, label, &fixture->bos[index]));
   assert_ok(agxw_bo_map(fixture->bos[index], &memory));
   return memory;
}

/* Code at 0 of its buffer, the preamble at 128, USC words at 256; the uniform at 64 of the
 * data. */
static void write_program(struct fixture *fixture)
{
   uint64_t data_va = agxw_bo_va(fixture->bos[2]);
   uint32_t usc =
      (uint32_t)(agxw_bo_va(fixture->bos[0]) - agxw_device_info(fixture->device)->usc_base);
   assemble(fixture->usc, code_lines, 5);
   assemble(fixture->usc + 128, preamble_lines, 3);
   memcpy(fixture->data + 64, &data_va, sizeof(data_va));
   struct agx_hw_buffer words = {fixture->usc + 256, 256, 0}, stream = {fixture->stream, 512, 0};
   const struct agx_hw_usc_program program = {
      .code_offset = usc, .gpr_halves = 2, .has_preamble = true, .preamble_offset = usc + 128};
   assert_ok(agx_hw_usc_uniforms(&words, 0, 4, data_va + 64));
   assert_ok(agx_hw_usc_compute(&words, &program));
   const struct agx_hw_launch launch = {.uniform_halves = 6,
                                        .preamble_halves = 2,
                                        .usc_offset = usc + 256,
                                        .global = {1, 1, 1},
                                        .local = {1, 1, 1}};
   const struct agx_chip *chip = agxw_device_info(fixture->device)->chip;
   for (int i = 0; i < 2; i++) {
      assert_ok(agx_hw_cdm_launch(&stream, chip, &launch));
      assert_ok(agx_hw_cdm_barrier(&stream));
   }
   assert_ok(agx_hw_cdm_terminate(&stream));
}

static void submit(struct fixture *fixture, uint64_t stream_va, uint64_t value)
{
   const struct agxw_compute command = {stream_va, stream_va + 64};
   const struct agxw_point before = {fixture->timeline, value - 1},
                           after = {fixture->timeline, value};
   assert_ok(agxw_submit(fixture->queue, &(struct agxw_submit){.commands = &command,
                                                               .command_count = 1,
                                                               .waits = &before,
                                                               .wait_count = 1,
                                                               .signals = &after,
                                                               .signal_count = 1}));
   assert_ok(agxw_wait(fixture->device, &after, 1, false, INT64_MAX));
}

void small_capture_record(const char *path)
{
   struct fixture fixture;
   struct agx_kmd *kmd;
   assert_ok(agxw_kmd_open("virtual:g13g", path, &kmd));
   assert_ok(agxw_device_create(kmd, NULL, &fixture.device));
   assert_ok(agxw_queue_create(fixture.device, 0, &fixture.queue));
   assert_ok(agxw_timeline_create(fixture.device, 0, &fixture.timeline));
   fixture.usc = make_bo(&fixture, 0, AGXW_BO_USC, "code");
   fixture.stream = make_bo(&fixture, 1, 0, "stream");
   fixture.data = make_bo(&fixture, 2, 0, "data");
   write_program(&fixture);
   submit(&fixture, agxw_bo_va(fixture.bos[1]), 1);
   const struct agxw_point point = {fixture.timeline, 1};
   assert_ok(agxw_point_status(&point));
   assert_int_equal(fixture.data[0], 10);
   submit(&fixture, 0x3000000000, 2);
   for (int i = 0; i < 3; i++)
      agxw_bo_destroy(fixture.bos[i]);
   agxw_timeline_destroy(fixture.timeline);
   agxw_queue_destroy(fixture.queue);
   agxw_device_destroy(fixture.device);
}
