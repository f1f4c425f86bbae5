/* SPDX-License-Identifier: MIT
 *
 * Checks indirect counts and arguments, and changes a launch plan so that the hardware reads them.
 * The general path of recording calls it.
 */
#include "hal/record/indirect.h"

#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "hal/memory/buffer.h"

#define COUNTS_B 12u

/* ---- checks --------------------------------------------------------------- */

static agx_status check_ref(const struct agx_device *device, const struct agx_program *program,
                            const char *what, const struct agx_buffer_ref *ref, uint64_t bytes)
{
   const struct agx_buffer *buffer = ref->buffer;
   if (!agx_ref_is_set(ref))
      return AGX_OK;
   AGX_TRY(agx_ref_check_placed(ref, what));
   if (ref->table_slot)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "dispatch of %s: %s: slot %u, in a command buffer that was made without "
                      "table_slots",
                      program->name, what, ref->table_slot - 1);
   if (buffer->device != device)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch of %s: %s: %s is a buffer %s", program->name,
                      what, buffer->label, agx_describe_owner(buffer->device, device).text);
   if (!(buffer->usage & AGX_USAGE_INDIRECT_PARAMETERS))
      return AGX_FAIL(AGX_PERMISSION_DENIED,
                      "dispatch of %s: %s: %s was made without AGX_USAGE_INDIRECT_PARAMETERS",
                      program->name, what, buffer->label);
   if (ref->offset_B % 4)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "dispatch of %s: %s: offset %llu is no multiple of 4",
                      program->name, what, (unsigned long long)ref->offset_B);
   uint64_t length_B = ref->length_B;
   if (length_B == AGX_WHOLE_LENGTH && ref->offset_B <= buffer->size_B)
      length_B = buffer->size_B - ref->offset_B;
   if (!agx_range_fits(ref->offset_B, length_B, buffer->size_B) || length_B < bytes)
      return AGX_FAIL(AGX_OUT_OF_RANGE,
                      "dispatch of %s: %s: offset %llu, length %llu in %s of %llu bytes; it takes "
                      "%llu",
                      program->name, what, (unsigned long long)ref->offset_B,
                      (unsigned long long)ref->length_B, buffer->label,
                      (unsigned long long)buffer->size_B, (unsigned long long)bytes);
   return AGX_OK;
}

agx_status agx_indirect_check(const struct agx_device *device, const struct agx_program *program,
                              const struct agx_dispatch *dispatch)
{
   AGX_TRY(check_ref(device, program, "counts", &dispatch->counts, COUNTS_B));
   return check_ref(device, program, "arguments", &dispatch->arguments, dispatch->push_B);
}

/* ---- plans ---------------------------------------------------------------- */

/* A run of uniform registers that is loaded from elsewhere. */
struct piece {
   uint32_t start, halves;
   uint64_t address;
};

static uint64_t address_of(const struct agx_buffer_ref *ref)
{
   return ref->buffer->address + ref->offset_B;
}

/* 0: it is in the contents, as ever. */
static uint64_t source_of(const struct agx_dispatch *dispatch,
                          const struct agx_program_uniform *slot)
{
   if (slot->kind == AGX_UNIFORM_WORKGROUP_COUNT && dispatch->counts.buffer)
      return address_of(&dispatch->counts) + slot->index * sizeof(uint32_t);
   if (slot->kind == AGX_UNIFORM_PUSH && dispatch->arguments.buffer)
      return address_of(&dispatch->arguments) + slot->index;
   return 0;
}

static int by_start(const void *a, const void *b)
{
   const struct piece *x = a, *y = b;
   return (x->start > y->start) - (x->start < y->start);
}

static agx_status find_pieces(const struct agx_program *program,
                              const struct agx_dispatch *dispatch, struct piece *pieces,
                              uint32_t *out_count)
{
   uint32_t count = 0;
   for (uint32_t i = 0; i < program->uniform_count; i++) {
      const struct agx_program_uniform *slot = &program->uniforms[i];
      const uint64_t address = source_of(dispatch, slot);
      if (address == 0)
         continue;
      /* Uniform words name multiples of 4. Source: docs/hw/cmdstream.md 2. */
      if (address % 4 || slot->start % 2 || slot->halves % 2)
         return AGX_FAIL(AGX_UNIMPLEMENTED,
                         "dispatch of %s: indirect arguments: %u bytes at %u are no 32-bit words",
                         program->name, slot->halves * 2u, slot->index);
      pieces[count++] = (struct piece){slot->start, slot->halves, address};
   }
   qsort(pieces, count, sizeof(*pieces), by_start);
   *out_count = count;
   return AGX_OK;
}

/* What lies one behind the other, there and here, is loaded at once. */
static uint32_t join(struct piece *pieces, uint32_t count)
{
   uint32_t kept = 0;
   for (uint32_t i = 0; i < count; i++) {
      struct piece *last = kept ? &pieces[kept - 1] : NULL;
      if (last && last->start + last->halves == pieces[i].start &&
          last->address + last->halves * 2 == pieces[i].address)
         last->halves += pieces[i].halves;
      else
         pieces[kept++] = pieces[i];
   }
   return kept;
}

/* The contents around the pieces, then the pieces. */
static agx_status pack_loads(struct agx_plan *plan, const struct piece *pieces, uint32_t count)
{
   struct agx_hw_buffer loads = {(uint8_t *)plan->loads, sizeof(plan->loads), 0};
   struct agx_hw_buffer others = {(uint8_t *)plan->others, sizeof(plan->others), 0};
   uint32_t at = 0, end = plan->uniform_B / 2;
   for (uint32_t i = 0; i <= count; i++) {
      uint32_t next = i < count ? pieces[i].start : AGX_MAX(at, end);
      if (next > at)
         AGX_TRY(agx_hw_usc_uniforms(&loads, at, next - at, at * 2));
      if (i == count)
         break;
      AGX_TRY(agx_hw_usc_uniforms(&others, pieces[i].start, pieces[i].halves, pieces[i].address));
      at = pieces[i].start + pieces[i].halves;
   }
   plan->load_count = (uint32_t)(loads.used / AGX_HW_USC_UNIFORM_BYTES);
   plan->other_count = (uint32_t)(others.used / AGX_HW_USC_UNIFORM_BYTES);
   return AGX_OK;
}

agx_status agx_indirect_plan(const struct agx_chip *chip, const struct agx_program *program,
                             const struct agx_dispatch *dispatch, struct agx_plan *plan)
{
   struct piece pieces[AGX_UNIFORM_HALVES];
   uint32_t count = 0;
   AGX_TRY(find_pieces(program, dispatch, pieces, &count));
   count = join(pieces, count);
   AGX_TRY(pack_loads(plan, pieces, count));
   return dispatch->counts.buffer ? agx_plan_indirect(chip, program, dispatch->local_size,
                                                      address_of(&dispatch->counts), plan)
                                  : AGX_OK;
}
