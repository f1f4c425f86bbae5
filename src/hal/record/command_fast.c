/* SPDX-License-Identifier: MIT
 *
 * The fast path of a dispatch, for what most are: bindings in the executable's order, buffers by
 * address, images as a whole, and push constants. Everything is checked before anything changes, so
 * that the general path can start over where something is out of the ordinary, and say what. What
 * is plain is compiled by itself, since it needs a part of this only.
 */
#include "hal/record/launch_template_check.h"
#include "hal/record/indirect.h"
#include "hal/record/dynamic_size.h"
#include "robustness/buffer.h"

/* ---- uses ---------------------------------------------------------------- */

static inline bool note_use(struct agx_command_buffer *commands, struct agx_use *use, bool writes,
                            bool may_conflict)
{
   if (may_conflict)
      return agx_hazard_access(&commands->hazards, use, writes);
   agx_hazard_note(&commands->hazards, use, writes);
   return false;
}

static agx_status no_memory(const struct agx_command_buffer *commands)
{
   return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "%s: out of host memory", commands->label);
}

/* Of a binding that is no ordinary buffer: what is read or written; NULL: nothing. */
static inline void *other_object(const struct agx_fast_call *call,
                                 const struct agx_template_binding *wanted, uint32_t index)
{
   if (wanted->kind == AGX_TEMPLATE_VERTEX)
      return call->drawn[index];
   return wanted->kind & AGX_TEMPLATE_IMAGE ? call->dispatch->bindings[index].image : NULL;
}

/* Whether any needs a barrier word. */
static inline __attribute__((always_inline)) agx_status
note_uses(struct agx_command_buffer *commands, const struct agx_fast_call *call, bool is_plain,
          bool *out_needs_barrier)
{
   const struct agx_launch_template *template = call->template;
   const bool may_conflict = agx_hazard_is_possible(&commands->hazards);
   bool needs = false;
   commands->hazards.launch_index++;
   for (uint32_t i = 0; i < template->binding_count; i++) {
      const struct agx_template_binding *wanted = &template->bindings[i];
      const bool is_buffer = is_plain || agx_template_is_buffer(wanted);
      void *object =
         is_buffer ? call->dispatch->bindings[i].ref.buffer : other_object(call, wanted, i);
      if (object) {
         struct agx_use *use = agx_record_use(commands, object);
         if (!use)
            return no_memory(commands);
         needs |= note_use(commands, use, wanted->access & AGX_BINDING_WRITES, may_conflict);
      }
      if (!is_buffer && wanted->kind & AGX_TEMPLATE_SAMPLER &&
          !agx_record_use(commands, call->dispatch->bindings[i].sampler))
         return no_memory(commands);
   }
   if (!is_plain && template->takes_addresses)
      needs |= agx_hazard_access_anything(&commands->hazards);
   *out_needs_barrier = needs;
   return AGX_OK;
}

/* ---- contents ------------------------------------------------------------ */

static inline uint8_t *put(uint8_t *at, uint64_t value, uint32_t bytes)
{
   if (bytes == 8)
      memcpy(at, &value, 8);
   else
      memcpy(at, &value, 4);
   return at + bytes;
}

static inline uint8_t *put_push(uint8_t *at, const uint8_t *from, uint32_t bytes)
{
   if (bytes == 8)
      memcpy(at, from, 8);
   else if (bytes == 4)
      memcpy(at, from, 4);
   else
      memcpy(at, from, bytes);
   return at + bytes;
}

/* Where stray accesses go from some bindings; a draw's are known. */
static inline void find_sinks(struct agx_fast_call *call, uint32_t which)
{
   for (uint32_t left = which; left; left &= left - 1) {
      const uint32_t index = (uint32_t)__builtin_ctz(left);
      const struct agx_buffer_ref *ref = &call->dispatch->bindings[index].ref;
      /* Out of reach is no error until a part wants one. */
      (void)agxw_bo_sinks(ref->buffer->bo, ref->buffer->offset_B + ref->offset_B,
                          &call->sinks[index]);
   }
}

/* The same as agx_bound_limit, which says what is wrong where no sink is in reach. */
static __attribute__((noinline, cold)) agx_status out_of_reach(const struct agx_fast_call *call,
                                                               const struct agx_template_part *part,
                                                               uint64_t *out_value)
{
   const struct agx_program_uniform slot = {
      .kind = part->kind, .index = part->index, .value = part->value};
   const struct agx_bound bound = {.address = call->addresses[part->index],
                                   .length_B = call->lengths_B[part->index],
                                   .sinks = call->sinks[part->index]};
   return agx_bound_limit(call->executable->program, &slot, &bound, out_value);
}

static inline agx_status sink_of(const struct agx_fast_call *call,
                                 const struct agx_template_part *part, uint64_t *out_value)
{
   const struct agx_program_access it = agx_program_access_unpack(part->value);
   const struct agxw_sinks *sinks = &call->sinks[part->index];
   const uint64_t sink = it.writes ? sinks->waste_va : sinks->zero_va;
   uint32_t index;
   if (!sink || !agxr_buffer_sink(call->addresses[part->index], it.constant, it.stride, it.bytes,
                                  sink, AGX_PAGE_BYTES, &index))
      return out_of_reach(call, part, out_value);
   *out_value = index;
   return AGX_OK;
}

static inline agx_status guard_of(const struct agx_fast_call *call,
                                  const struct agx_template_part *part, uint64_t *out_value)
{
   const struct agx_program_access it = agx_program_access_unpack(part->value);
   const struct agxw_sinks *sinks = &call->sinks[part->index];
   const uint64_t sink = it.writes ? sinks->waste_va : sinks->zero_va;
   if (!sink)
      return out_of_reach(call, part, out_value);
   *out_value = agxr_buffer_guard(call->addresses[part->index],
                                  AGX_MIN(call->lengths_B[part->index], (uint64_t)UINT32_MAX),
                                  it.constant, it.bytes, sink);
   return AGX_OK;
}

static inline uint64_t count_of(const struct agx_fast_call *call,
                                const struct agx_template_part *part)
{
   const struct agx_program_access it = agx_program_access_unpack(part->value);
   return agxr_buffer_count(call->lengths_B[part->index], it.constant, it.stride, it.bytes);
}

/* What only robust kernels and those with images ask for. */
static inline agx_status other_value(const struct agx_fast_call *call,
                                     const struct agx_template_part *part, uint64_t *out_value)
{
   uint64_t count;
   switch (part->kind) {
   case AGX_UNIFORM_BUFFER_COUNT:
      *out_value = count_of(call, part);
      return AGX_OK;
   case AGX_UNIFORM_BUFFER_LAST:
      count = count_of(call, part);
      *out_value = count ? count - 1 : 0;
      return AGX_OK;
   case AGX_UNIFORM_IMAGE:
      *out_value = call->dispatch->bindings[part->index].image->whole.properties[part->value];
      return AGX_OK;
   case AGX_UNIFORM_DRAW:
      *out_value =
         agx_vertex_value(call->executable->program, call->draw, (enum agx_draw_value)part->index);
      return AGX_OK;
   case AGX_UNIFORM_BUFFER_SINK:
      return sink_of(call, part, out_value);
   default: /* AGX_UNIFORM_BUFFER_GUARD */
      return guard_of(call, part, out_value);
   }
}

static inline __attribute__((always_inline)) agx_status
write_contents(const struct agx_fast_call *call, uint8_t *at, bool is_plain)
{
   const struct agx_launch_template *template = call->template;
   for (uint32_t i = 0; i < template->part_count; i++) {
      const struct agx_template_part *part = &template->parts[i];
      uint64_t value = part->value;
      switch (part->kind) {
      case AGX_UNIFORM_BUFFER_ADDRESS:
         at = put(at, call->addresses[part->index] + value, 8);
         break;
      case AGX_UNIFORM_PUSH:
         at = put_push(at, (const uint8_t *)call->dispatch->push + part->index, part->bytes);
         break;
      case AGX_UNIFORM_BUFFER_SIZE:
         at = put(at, AGX_MIN(call->lengths_B[part->index], (uint64_t)UINT32_MAX), part->bytes);
         break;
      case AGX_UNIFORM_WORKGROUP_COUNT:
         at = put(at, call->dispatch->workgroups[part->index], part->bytes);
         break;
      default:
         if (!is_plain && part->kind != AGX_UNIFORM_CONSTANT)
            AGX_TRY(other_value(call, part, &value));
         at = put(at, value, part->bytes);
         break;
      }
   }
   return AGX_OK;
}

/* Their descriptors. */
static inline void write_states(const struct agx_fast_call *call, uint8_t *at)
{
   const struct agx_plan *plan = call->plan;
   const struct agx_template_state *state = call->template->states;
   for (uint32_t i = 0; i < plan->texture_count; i++, state++, at += AGX_HW_TEXTURE_BYTES) {
      const struct agx_image_whole *whole = &call->dispatch->bindings[state->index].image->whole;
      memcpy(at, state->kind == AGX_STATE_IMAGE ? whole->stored : whole->texture,
             AGX_HW_TEXTURE_BYTES);
   }
   for (uint32_t i = 0; i < plan->sampler_count; i++, state++, at += AGX_HW_SAMPLER_BYTES)
      memcpy(at,
             state->kind == AGX_STATE_FETCH_SAMPLER
                ? call->template->fetch_sampler
                : call->dispatch->bindings[state->index].sampler->words,
             AGX_HW_SAMPLER_BYTES);
}

static inline __attribute__((always_inline)) agx_status
write_block(const struct agx_fast_call *call, const struct agx_launch *launch, bool is_plain)
{
   const struct agx_plan *plan = call->plan;
   const struct agx_launch_template *template = call->template;
   uint8_t *at = launch->block;
   for (uint32_t i = 0; i < plan->load_count; i++)
      at = put(
         at, agx_hw_usc_uniform_at(plan->loads[i], launch->block_va + template->block.uniforms_at),
         8);
   if (!is_plain && plan->texture_count)
      at = put(
         at,
         agx_hw_usc_states_at(template->texture_word, launch->block_va + template->block.states_at),
         8);
   if (!is_plain && plan->sampler_count)
      at = put(at,
               agx_hw_usc_states_at(template->sampler_word,
                                    launch->block_va + template->block.states_at +
                                       plan->texture_count * AGX_HW_TEXTURE_BYTES),
               8);
   memcpy(at, plan->tail, sizeof(plan->tail));
   AGX_TRY(write_contents(call, at + sizeof(plan->tail), is_plain));
   if (!is_plain)
      write_states(call, launch->block + template->block.states_at);
   return AGX_OK;
}

/* ---- all ----------------------------------------------------------------- */

static inline __attribute__((always_inline)) agx_status
record(struct agx_command_buffer *commands, const struct agx_fast_call *call, bool is_plain)
{
   struct agx_launch launch;
   bool needs_barrier = false;
   AGX_TRY(note_uses(commands, call, is_plain, &needs_barrier));
   AGX_TRY(agx_record_run(commands, call->executable));
   AGX_TRY(
      agx_record_open(commands, call->plan, call->template->block.total_B, needs_barrier, &launch));
   AGX_TRY(write_block(call, &launch, is_plain));
   agx_record_close(commands, call->plan, &launch, call->threads);
   return AGX_OK;
}

static inline bool is_ordinary(const struct agx_command_buffer *commands,
                               const struct agx_executable *executable,
                               const struct agx_dispatch *dispatch)
{
   return executable && executable->template.is_fast && !agx_dispatch_has_dynamic_size(dispatch) &&
          !agx_dispatch_is_indirect(dispatch) && executable->device == commands->device &&
          agx_record_is_open(commands);
}

/* Each way has a struct agx_fast_call of its own, whose arrays are not cleared, so that the
 * compiler keeps that of plain ones in registers. */
static inline void begin(struct agx_fast_call *call, struct agx_executable *executable,
                         const struct agx_dispatch *dispatch,
                         const struct agx_vertex_dispatch *draw)
{
   call->executable = executable;
   call->plan = &executable->plan;
   call->template = &executable->template;
   call->dispatch = dispatch;
   call->draw = draw;
}

/* As agx_bounds_note; robust: a bit for each binding that had limits, whichever code runs. */
static __attribute__((noinline, cold)) agx_status
note_bounds(struct agx_command_buffer *commands, const struct agx_fast_call *call, uint32_t robust)
{
   const struct agx_program *program = call->executable->program;
   AGX_TRY(agx_bounds_note_program(commands, program));
   for (uint32_t i = 0; i < call->template->binding_count; i++) {
      const uint32_t kind = call->template->bindings[i].kind;
      struct agx_bound bound = {0};
      if (kind == AGX_TEMPLATE_SAMPLER)
         continue;
      if (kind & AGX_TEMPLATE_IMAGE)
         bound.image = call->dispatch->bindings[i].image;
      else
         bound = (struct agx_bound){.address = call->addresses[i], .length_B = call->lengths_B[i]};
      if (kind == AGX_TEMPLATE_VERTEX || robust >> i & 1)
         bound.sinks = call->sinks[i];
      AGX_TRY(agx_bounds_note_bound(commands, &program->bindings[i], &bound));
   }
   return AGX_OK;
}

static inline bool take_other(const struct agx_command_buffer *commands, struct agx_fast_call *call)
{
   return !call->draw == !call->template->is_vertex && agx_fast_take_push(call) &&
          (call->draw ? agx_fast_take_draw(call) : agx_fast_take_grid(call)) &&
          (call->template->has_others ? agx_fast_take_bindings(commands, call, true)
                                      : agx_fast_take_bindings(commands, call, false)) &&
          agx_fast_choose_variant(call);
}

static __attribute__((noinline)) bool record_other(struct agx_command_buffer *commands,
                                                   struct agx_executable *executable,
                                                   const struct agx_dispatch *dispatch,
                                                   const struct agx_vertex_dispatch *draw,
                                                   agx_status *out_status)
{
   struct agx_fast_call call;
   begin(&call, executable, dispatch, draw);
   if (!take_other(commands, &call))
      return false;
   if (call.template->is_plain && !commands->is_watched) {
      *out_status = record(commands, &call, true);
      return true;
   }
   /* An unchecked variant from elsewhere may have limits where the program itself has none. */
   const uint32_t robust = executable->template.robust | call.template->robust;
   find_sinks(&call, commands->is_watched ? robust : robust & call.template->sinks);
   *out_status = record(commands, &call, false);
   if (*out_status == AGX_OK && commands->is_watched)
      *out_status = note_bounds(commands, &call, robust);
   return true;
}

bool agx_record_fast(struct agx_command_buffer *commands, const struct agx_dispatch *dispatch,
                     const struct agx_vertex_dispatch *draw, agx_status *out_status)
{
   struct agx_executable *executable = dispatch->executable;
   struct agx_fast_call call;
   if (executable && dispatch->entry)
      executable = agx_executable_entry(executable, dispatch->entry);
   if (!is_ordinary(commands, executable, dispatch))
      return false;
   if (!executable->template.is_plain || commands->is_watched)
      return record_other(commands, executable, dispatch, draw, out_status);
   begin(&call, executable, dispatch, NULL);
   if (draw || !agx_fast_take_push(&call) || !agx_fast_take_grid(&call) ||
       !agx_fast_take_bindings(commands, &call, false))
      return false;
   *out_status = record(commands, &call, true);
   return true;
}
