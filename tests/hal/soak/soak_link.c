/* SPDX-License-Identifier: MIT
 *
 * Links of chains that are one operation of the GPU.
 */
#include <stdio.h>
#include <string.h>

#include "soak_chain.h"

/* ---- transfers -------------------------------------------------------------------- */

bool soak_link_fill(struct soak_thread *thread, struct soak_link *link)
{
   uint8_t *model = thread->chain->model;
   const uint32_t unit_B = 1u << soak_below(thread, 3);
   uint32_t at_B;
   struct agx_buffer_ref target = soak_place(thread, &at_B);
   at_B &= ~(unit_B - 1);
   target.offset_B &= ~(uint64_t)(unit_B - 1);
   target.length_B &= ~(uint64_t)(unit_B - 1); /* perhaps 0 */
   link->op.kind = AGX_OP_FILL;
   link->op.u.fill = (struct agx_op_fill){.target = target, .pattern_B = unit_B};
   for (uint32_t i = 0; i < 4; i++)
      link->op.u.fill.pattern[i] = (uint8_t)soak_below(thread, 256);
   for (uint64_t i = 0; i < target.length_B; i++)
      model[at_B + i] = link->op.u.fill.pattern[i % unit_B];
   soak_note(link, "fill[%u+%u]", at_B, (uint32_t)target.length_B);
   return true;
}

bool soak_link_update(struct soak_thread *thread, struct soak_link *link)
{
   uint32_t at_B;
   const struct agx_buffer_ref target = soak_place(thread, &at_B);
   for (uint32_t i = 0; i < target.length_B; i++)
      link->data[i] = (uint8_t)soak_below(thread, 256);
   link->op.kind = AGX_OP_UPDATE;
   link->op.u.update = (struct agx_op_update){link->data, target};
   memcpy(thread->chain->model + at_B, link->data, target.length_B);
   soak_note(link, "update[%u+%u]", at_B, (uint32_t)target.length_B);
   return true;
}

/* From the first part to the second. */
bool soak_link_copy(struct soak_thread *thread, struct soak_link *link)
{
   struct soak_chain *chain = thread->chain;
   const uint32_t half_B = SOAK_CHAIN_B / 2, from_B = soak_below(thread, half_B / 2);
   const uint32_t to_B = half_B + soak_below(thread, half_B / 2);
   const uint32_t length_B = 1 + soak_below(thread, half_B / 2);
   link->op.kind = AGX_OP_COPY;
   link->op.u.copy.source = soak_ref(chain, from_B, length_B);
   link->op.u.copy.target = soak_ref(chain, to_B, length_B);
   memcpy(chain->model + to_B, chain->model + from_B, length_B);
   soak_note(link, "copy[%u>%u+%u]", from_B, to_B, length_B);
   return true;
}

/* ---- dispatches ------------------------------------------------------------------- */

void soak_model_count(uint8_t *at, uint32_t workgroups)
{
   for (uint32_t i = 0; i < 64 * workgroups; i++) {
      const uint32_t word = i + 1;
      memcpy(at + i * 4, &word, 4);
   }
}

void soak_model_add(const uint8_t *from, uint8_t *to, uint32_t workgroups, uint32_t push)
{
   for (uint32_t i = 0; i < 32 * workgroups; i++) {
      uint32_t word;
      memcpy(&word, from + i * 4, 4);
      word += push;
      memcpy(to + i * 4, &word, 4);
   }
}

static void begin_dispatch(struct soak_link *link, struct agx_executable *executable,
                           uint32_t binding_count)
{
   link->op.kind = AGX_OP_DISPATCH;
   link->op.u.dispatch.dispatch = &link->dispatch;
   link->dispatch = (struct agx_dispatch){.size = sizeof(link->dispatch),
                                          .executable = executable,
                                          .workgroups = {1, 1, 1},
                                          .binding_count = binding_count,
                                          .bindings = link->bindings,
                                          .push = &link->push,
                                          .push_B = binding_count > 1 ? 4 : 0};
}

/* From 256 bytes of the first half to 256 bytes of the second. */
static void bind_add(struct soak_thread *thread, struct soak_link *link, uint32_t *out_from_B,
                     uint32_t *out_to_B)
{
   *out_from_B = 16 * soak_below(thread, 16);
   *out_to_B = SOAK_CHAIN_B / 2 + 16 * soak_below(thread, 16);
   begin_dispatch(link, thread->device->add, 2);
   link->bindings[0] = (struct agx_binding){.ref = soak_ref(thread->chain, *out_from_B, 256)};
   link->bindings[1] =
      (struct agx_binding){.binding = 1, .ref = soak_ref(thread->chain, *out_to_B, 256)};
}

bool soak_link_dispatch(struct soak_thread *thread, struct soak_link *link)
{
   struct soak_chain *chain = thread->chain;
   uint32_t from_B, to_B;
   if (soak_chance(thread, 500)) {
      to_B = SOAK_PART_B * soak_below(thread, 2) + 16 * soak_below(thread, 16);
      begin_dispatch(link, thread->device->count, 1);
      link->bindings[0] = (struct agx_binding){.ref = soak_ref(chain, to_B, 256)};
      soak_model_count(chain->model + to_B, 1);
      soak_note(link, "count[%u]", to_B);
      return true;
   }
   bind_add(thread, link, &from_B, &to_B);
   link->push = soak_below(thread, 1u << 30);
   link->dispatch.workgroups[0] = soak_below(thread, 3);
   soak_model_add(chain->model + from_B, chain->model + to_B, link->dispatch.workgroups[0],
                  link->push);
   soak_note(link, "add[%u>%u]x%u", from_B, to_B, link->dispatch.workgroups[0]);
   return true;
}

/* What the next indirect links read. */
bool soak_link_parameters(struct soak_thread *thread, struct soak_link *link)
{
   const uint32_t words[4] = {soak_below(thread, 3), 1, soak_below(thread, 10) ? 1 : 0,
                              soak_below(thread, 1u << 30)};
   memcpy(link->data, words, sizeof(words));
   memcpy(thread->chain->model + SOAK_PARAMETERS, words, sizeof(words));
   link->op.kind = AGX_OP_UPDATE;
   link->op.u.update = (struct agx_op_update){
      link->data, soak_ref(thread->chain, SOAK_PARAMETERS, SOAK_PARAMETERS_B)};
   soak_note(link, "parameters(%u,%u)", words[0], words[2]);
   return true;
}

bool soak_link_indirect(struct soak_thread *thread, struct soak_link *link)
{
   struct soak_chain *chain = thread->chain;
   uint32_t from_B, to_B, words[4];
   memcpy(words, chain->model + SOAK_PARAMETERS, sizeof(words));
   bind_add(thread, link, &from_B, &to_B);
   link->dispatch.counts = soak_ref(chain, SOAK_PARAMETERS, 12);
   if (soak_chance(thread, 500)) {
      link->dispatch.arguments = soak_ref(chain, SOAK_PARAMETERS + 12, 4);
   } else {
      link->push = soak_below(thread, 1u << 30);
      words[3] = link->push;
   }
   soak_model_add(chain->model + from_B, chain->model + to_B, words[0] * words[1] * words[2],
                  words[3]);
   soak_note(link, "indirect[%u>%u]", from_B, to_B);
   return true;
}

/* A workgroup of 5 to 8 threads and as many words of workgroup memory; rows as tests/kernels/
 * any_size.comp has them. */
bool soak_link_dynamic_size(struct soak_thread *thread, struct soak_link *link)
{
   struct soak_chain *chain = thread->chain;
   const uint32_t threads = 5 + soak_below(thread, 4);
   const uint32_t to_B = SOAK_PART_B * soak_below(thread, 2) + 16 * soak_below(thread, 16);
   if (!thread->device->dynamic_size)
      return false;
   begin_dispatch(link, thread->device->dynamic_size, 1);
   link->dispatch.local_size[0] = threads;
   link->dispatch.local_size[1] = link->dispatch.local_size[2] = 1;
   link->dispatch.shared_B = 4 * threads;
   link->dispatch.push_B = 4;
   link->push = 1;
   link->bindings[0] = (struct agx_binding){.ref = soak_ref(chain, to_B, 32 * threads)};
   for (uint32_t i = 0; i < threads; i++) {
      const uint32_t row[8] = {i % 3 ? 1 : threads,
                               3 * threads * (threads - 1) / 2 + threads,
                               77,
                               1,
                               i,
                               threads,
                               i & 1 ? i * 5 : 0,
                               i};
      memcpy(chain->model + to_B + 32 * i, row, sizeof(row));
   }
   soak_note(link, "dynamic_size[%u]x%u", to_B, threads);
   return true;
}
