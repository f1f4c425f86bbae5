/* SPDX-License-Identifier: MIT
 *
 * A launch, from what is known of it to its bytes. Two front halves fill struct agx_launch_inputs:
 * the fast path (command_fast.c) and the general one (command_dispatch.c), which takes everything
 * and says what is wrong. What follows is the same code for both: the uses of a launch, the value
 * of each uniform, and the writer, which is compiled once for each way so that each has only what
 * it needs.
 */
#pragma once

#include "hal/record/bind_array.h"
#include "hal/record/record.h"
#include "hal/record/vertex.h"
#include "robustness/buffer.h"

/* What a launch can have; a constant wherever it is passed. */
enum agx_launch_way {
   AGX_LAUNCH_PLAIN, /* buffers without limits only */
   AGX_LAUNCH_WHOLE, /* whole images and samplers too, as the dispatch names them, and draws */
   AGX_LAUNCH_ANY,   /* views, arrays, texel buffers and indirect grids too: inputs->binder */
};

struct agx_launch_inputs {
   struct agx_executable *executable; /* the entry point, or its unchecked variant */
   const struct agx_plan *plan;       /* the executable's, or a changed copy */
   const struct agx_launch_template *template;
   const struct agx_block *block;
   const struct agx_dispatch *dispatch;
   const struct agx_vertex_dispatch *draw; /* NULL: a compute kernel's */
   const struct agx_binder *binder;        /* AGX_LAUNCH_ANY only */
   const uint8_t *push;                    /* push constants for all that the parts read */
   const uint32_t *local_size;
   uint32_t threads[3];
   /* By binding; those of buffers only. */
   uint64_t addresses[AGX_PROGRAM_MAX_BINDINGS], lengths_B[AGX_PROGRAM_MAX_BINDINGS];
   struct agxw_sinks sinks[AGX_PROGRAM_MAX_BINDINGS]; /* where the template says that they count */
};

#define AGX_LAUNCH_INLINE static inline __attribute__((always_inline))

/* ---- uses ---------------------------------------------------------------- */

/* Keeps an object for the recording, one that the launch neither reads nor writes. */
AGX_LAUNCH_INLINE agx_status agx_launch_keep(struct agx_command_buffer *commands, void *object)
{
   return agx_record_use(commands, object) ? AGX_OK : agx_record_no_memory(commands);
}

/* Keeps an object that the launch reads or writes, and sets *needs_barrier where that needs a
 * barrier word before. may_conflict: what agx_hazard_is_possible says of the launch. */
AGX_LAUNCH_INLINE agx_status agx_launch_use(struct agx_command_buffer *commands, void *object,
                                            bool writes, bool may_conflict, bool *needs_barrier)
{
   struct agx_use *use = agx_record_use(commands, object);
   if (!use)
      return agx_record_no_memory(commands);
   if (may_conflict)
      *needs_barrier |= agx_hazard_access(&commands->hazards, use, writes);
   else
      agx_hazard_note(&commands->hazards, use, writes);
   return AGX_OK;
}

/* ---- uniforms ------------------------------------------------------------ */

/* AGX_OUT_OF_RANGE: the binding's kernel needs a sink, and none is in reach. */
AGX_MUST_CHECK agx_status agx_launch_out_of_reach(const struct agx_launch_inputs *inputs,
                                                  uint32_t binding);

/* The first index that leads into the sink of a binding. */
static inline agx_status agx_launch_sink(const struct agx_launch_inputs *inputs, uint32_t binding,
                                         struct agx_program_access it, uint64_t *out_value)
{
   const struct agxw_sinks *sinks = &inputs->sinks[binding];
   const uint64_t sink = it.writes ? sinks->waste_va : sinks->zero_va;
   uint32_t index;
   if (!sink || !agxr_buffer_sink(inputs->addresses[binding], it.constant, it.stride, it.bytes,
                                  sink, AGX_PAGE_BYTES, &index))
      return agx_launch_out_of_reach(inputs, binding);
   *out_value = index;
   return AGX_OK;
}

/* What ends beyond 4 GiB is never inside: so the compiler asks for the sink itself. */
static inline agx_status agx_launch_guard(const struct agx_launch_inputs *inputs, uint32_t binding,
                                          struct agx_program_access it, uint64_t *out_value)
{
   const struct agxw_sinks *sinks = &inputs->sinks[binding];
   const uint64_t sink = it.writes ? sinks->waste_va : sinks->zero_va;
   *out_value = agxr_buffer_guard(inputs->addresses[binding],
                                  AGX_MIN(inputs->lengths_B[binding], (uint64_t)UINT32_MAX),
                                  it.constant, it.bytes, sink);
   return *out_value ? AGX_OK : agx_launch_out_of_reach(inputs, binding);
}

/* A property of an image, of its whole or of the view that the dispatch binds. */
AGX_LAUNCH_INLINE agx_status agx_launch_image(const struct agx_launch_inputs *inputs,
                                              enum agx_launch_way way, uint32_t binding,
                                              uint64_t what, uint64_t *out_value)
{
   if (way == AGX_LAUNCH_ANY)
      return agx_binder_property(inputs->binder, binding, what, out_value);
   *out_value = inputs->dispatch->bindings[binding].image->whole.properties[what];
   return AGX_OK;
}

/* What robust kernels ask for of a buffer's limits. */
static inline agx_status agx_launch_limit(const struct agx_launch_inputs *inputs,
                                          const struct agx_template_part *part, uint64_t *out_value)
{
   const uint32_t index = part->index;
   const struct agx_program_access it = agx_program_access_unpack(part->value);
   /* Code reaches no more of a buffer of texels either, of which more may be bound. */
   const uint64_t length_B = AGX_MIN(inputs->lengths_B[index], (uint64_t)AGX_MAX_BINDING_B);
   switch (part->kind) {
   case AGX_UNIFORM_BUFFER_COUNT:
      *out_value = agxr_buffer_count(length_B, it.constant, it.stride, it.bytes);
      return AGX_OK;
   case AGX_UNIFORM_BUFFER_LAST:
      *out_value = agxr_buffer_last(length_B, it.constant, it.stride, it.bytes);
      return AGX_OK;
   case AGX_UNIFORM_BUFFER_SINK:
      return agx_launch_sink(inputs, index, it, out_value);
   default: /* AGX_UNIFORM_BUFFER_GUARD */
      return agx_launch_guard(inputs, index, it, out_value);
   }
}

/* The value of a part of the uniform contents, of any kind but push constants and addresses, which
 * agx_launch_write_contents knows: the only place that says what a kind of uniform stands for.
 * heap_va: where the launch's heap lies. */
AGX_LAUNCH_INLINE agx_status agx_launch_value(const struct agx_launch_inputs *inputs,
                                              enum agx_launch_way way,
                                              const struct agx_template_part *part,
                                              uint64_t heap_va, uint64_t *out_value)
{
   const uint32_t index = part->index;
   *out_value = part->value;
   switch (part->kind) {
   case AGX_UNIFORM_BUFFER_SIZE:
      *out_value = AGX_MIN(inputs->lengths_B[index], (uint64_t)UINT32_MAX);
      return AGX_OK;
   case AGX_UNIFORM_WORKGROUP_COUNT:
      *out_value = inputs->dispatch->workgroups[index];
      return AGX_OK;
   case AGX_UNIFORM_LOCAL_SIZE:
      *out_value = inputs->local_size[index];
      return AGX_OK;
   case AGX_UNIFORM_BUFFER_COUNT:
   case AGX_UNIFORM_BUFFER_LAST:
   case AGX_UNIFORM_BUFFER_SINK:
   case AGX_UNIFORM_BUFFER_GUARD:
      return way == AGX_LAUNCH_PLAIN ? AGX_OK : agx_launch_limit(inputs, part, out_value);
   case AGX_UNIFORM_IMAGE:
      return way == AGX_LAUNCH_PLAIN ? AGX_OK
                                     : agx_launch_image(inputs, way, index, part->value, out_value);
   case AGX_UNIFORM_HEAP:
      if (way == AGX_LAUNCH_ANY)
         *out_value = agx_binder_heap_address(inputs->binder, index, part->value, heap_va);
      return AGX_OK;
   case AGX_UNIFORM_SAMPLER:
      return way == AGX_LAUNCH_ANY
                ? agx_binder_sampler(inputs->binder, index, part->value, out_value)
                : AGX_OK;
   case AGX_UNIFORM_DRAW:
      if (way != AGX_LAUNCH_PLAIN)
         *out_value =
            agx_vertex_value(inputs->executable->program, inputs->draw, (enum agx_draw_value)index);
      return AGX_OK;
   default: /* others were resolved when the template was made */
      agx_assert(part->kind == AGX_UNIFORM_CONSTANT);
      return AGX_OK;
   }
}

/* ---- the writer ---------------------------------------------------------- */

/* Copies bytes to a block, and returns where the next ones go. */
static inline uint8_t *agx_launch_put(uint8_t *at, const void *from, uint32_t bytes)
{
   if (bytes == 8)
      memcpy(at, from, 8);
   else if (bytes == 4)
      memcpy(at, from, 4);
   else
      memcpy(at, from, bytes);
   return at + bytes;
}

/* Writes the low bytes of a number, at most 8, and returns where the next ones go. */
static inline uint8_t *agx_launch_put_value(uint8_t *at, uint64_t value, uint32_t bytes)
{
   if (bytes == 8) {
      memcpy(at, &value, 8); /* hosts are little-endian */
   } else if (__builtin_expect(bytes == 4, 1)) {
      memcpy(at, &value, 4);
   } else {
      const uint64_t odd = value; /* so that others stay in a register */
      memcpy(at, &odd, bytes);
   }
   return at + bytes;
}

/* Writes a word of 64 bits to a block, and returns where the next one goes. */
static inline uint8_t *agx_launch_put_word(uint8_t *at, uint64_t word)
{
   memcpy(at, &word, sizeof(word));
   return at + sizeof(word);
}

/* Writes the uniform contents, part by part. Push constants and addresses, which most parts are,
 * have code of their own here for speed. */
AGX_LAUNCH_INLINE agx_status agx_launch_write_contents(const struct agx_launch_inputs *inputs,
                                                       enum agx_launch_way way, uint64_t heap_va,
                                                       uint8_t *at)
{
   const struct agx_template_part *part = inputs->template->parts;
   for (uint32_t left = inputs->template->part_count; left > 0; left--, part++) {
      uint64_t value;
      switch (part->kind) {
      case AGX_UNIFORM_PUSH:
         at = agx_launch_put(at, inputs->push + part->index, part->bytes);
         break;
      case AGX_UNIFORM_BUFFER_ADDRESS:
         at = agx_launch_put_word(at, inputs->addresses[part->index] + part->value);
         break;
      default:
         AGX_TRY(agx_launch_value(inputs, way, part, heap_va, &value));
         at = agx_launch_put_value(at, value, part->bytes);
         break;
      }
   }
   return AGX_OK;
}

/* Descriptors of textures, then of samplers, of whole images. */
static inline void agx_launch_write_whole(const struct agx_launch_inputs *inputs, uint8_t *at)
{
   const struct agx_plan *plan = inputs->plan;
   const struct agx_template_state *state = inputs->template->states;
   for (uint32_t i = 0; i < plan->texture_count; i++, state++, at += AGX_HW_TEXTURE_BYTES) {
      const struct agx_image_whole *whole = &inputs->dispatch->bindings[state->index].image->whole;
      memcpy(at, state->kind == AGX_STATE_IMAGE ? whole->stored : whole->texture,
             AGX_HW_TEXTURE_BYTES);
   }
   for (uint32_t i = 0; i < plan->sampler_count; i++, state++, at += AGX_HW_SAMPLER_BYTES)
      memcpy(at,
             state->kind == AGX_STATE_FETCH_SAMPLER
                ? inputs->template->fetch_sampler
                : inputs->dispatch->bindings[state->index].sampler->words,
             AGX_HW_SAMPLER_BYTES);
}

/* The words that the hardware reads of a launch, and the address of all that they load. */
AGX_LAUNCH_INLINE uint8_t *agx_launch_write_words(const struct agx_launch_inputs *inputs,
                                                  enum agx_launch_way way, uint64_t block_va,
                                                  uint8_t *at)
{
   const struct agx_plan *plan = inputs->plan;
   const struct agx_launch_template *template = inputs->template;
   const uint64_t states_va = block_va + inputs->block->states_at;
   for (uint32_t i = 0; i < plan->load_count; i++)
      at = agx_launch_put_word(
         at, agx_hw_usc_uniform_at(plan->loads[i], block_va + inputs->block->uniforms_at));
   if (way == AGX_LAUNCH_ANY)
      for (uint32_t i = 0; i < plan->other_count; i++)
         at = agx_launch_put_word(at, plan->others[i]);
   if (way != AGX_LAUNCH_PLAIN && plan->texture_count)
      at = agx_launch_put_word(at, agx_hw_usc_states_at(template->texture_word, states_va));
   if (way != AGX_LAUNCH_PLAIN && plan->sampler_count)
      at = agx_launch_put_word(
         at, agx_hw_usc_states_at(template->sampler_word,
                                  states_va + plan->texture_count * AGX_HW_TEXTURE_BYTES));
   memcpy(at, plan->tail, sizeof(plan->tail));
   return at + sizeof(plan->tail);
}

/* Writes a launch whose uses were noted; *out_heap_va: where its heap lies. */
AGX_LAUNCH_INLINE agx_status agx_launch_write(struct agx_command_buffer *commands,
                                              const struct agx_launch_inputs *inputs,
                                              enum agx_launch_way way, bool needs_barrier,
                                              uint64_t *out_heap_va)
{
   const struct agx_block *block = inputs->block;
   struct agx_launch launch;
   AGX_TRY(agx_record_run(commands, inputs->executable));
   AGX_TRY(agx_record_open(commands, inputs->plan, block->total_B, needs_barrier, &launch));
   const uint64_t heap_va = launch.block_va + block->heap_at;
   uint8_t *contents = agx_launch_write_words(inputs, way, launch.block_va, launch.block);
   AGX_TRY(agx_launch_write_contents(inputs, way, heap_va, contents));
   if (way == AGX_LAUNCH_WHOLE)
      agx_launch_write_whole(inputs, launch.block + block->states_at);
   if (way == AGX_LAUNCH_ANY) {
      AGX_TRY(agx_binder_states(inputs->binder, launch.block + block->states_at));
      AGX_TRY(agx_binder_heap(inputs->binder, launch.block + block->heap_at));
   }
   agx_record_close(commands, inputs->plan, &launch, inputs->threads);
   *out_heap_va = heap_va;
   return AGX_OK;
}
