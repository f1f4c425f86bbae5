/* SPDX-License-Identifier: MIT
 *
 * Links of chains that are one operation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "soak_chain.h"

static void __attribute__((format(printf, 2, 3)))
note(struct soak_link *link, const char *format, ...)
{
   va_list arguments;
   va_start(arguments, format);
   vsnprintf(link->note, sizeof(link->note), format, arguments);
   va_end(arguments);
}

/* A place in what links write. */
static struct agx_buffer_ref place(struct soak_thread *thread)
{
   const uint32_t offset_B = soak_below(thread, SOAK_CHAIN_B);
   return (struct agx_buffer_ref){thread->chain->buffer, offset_B,
                                  1 + soak_below(thread, SOAK_CHAIN_B - offset_B)};
}

/* ---- transfers -------------------------------------------------------------------- */

bool soak_link_fill(struct soak_thread *thread, struct soak_link *link)
{
   uint8_t *model = thread->chain->model;
   const uint32_t unit_B = 1u << soak_below(thread, 3);
   struct agx_buffer_ref target = place(thread);
   target.offset_B &= ~(uint64_t)(unit_B - 1);
   target.length_B &= ~(uint64_t)(unit_B - 1); /* perhaps 0 */
   link->op.kind = AGX_OP_FILL;
   link->op.u.fill = (struct agx_op_fill){.target = target, .pattern_B = unit_B};
   for (uint32_t i = 0; i < 4; i++)
      link->op.u.fill.pattern[i] = (uint8_t)soak_below(thread, 256);
   for (uint64_t i = 0; i < target.length_B; i++)
      model[target.offset_B + i] = link->op.u.fill.pattern[i % unit_B];
   note(link, "fill[%llu+%llu]", (unsigned long long)target.offset_B,
        (unsigned long long)target.length_B);
   return true;
}

bool soak_link_update(struct soak_thread *thread, struct soak_link *link)
{
   const struct agx_buffer_ref target = place(thread);
   for (uint32_t i = 0; i < target.length_B; i++)
      link->data[i] = (uint8_t)soak_below(thread, 256);
   link->op.kind = AGX_OP_UPDATE;
   link->op.u.update = (struct agx_op_update){link->data, target};
   memcpy(thread->chain->model + target.offset_B, link->data, target.length_B);
   note(link, "update[%llu+%llu]", (unsigned long long)target.offset_B,
        (unsigned long long)target.length_B);
   return true;
}

/* Between the halves, so that nothing overlaps. */
bool soak_link_copy(struct soak_thread *thread, struct soak_link *link)
{
   struct soak_chain *chain = thread->chain;
   const uint32_t half_B = SOAK_CHAIN_B / 2, from_B = soak_below(thread, half_B / 2);
   const uint32_t to_B = half_B + soak_below(thread, half_B / 2);
   const uint32_t length_B = 1 + soak_below(thread, half_B / 2);
   link->op.kind = AGX_OP_COPY;
   link->op.u.copy.source = (struct agx_buffer_ref){chain->buffer, from_B, length_B};
   link->op.u.copy.target = (struct agx_buffer_ref){chain->buffer, to_B, length_B};
   memcpy(chain->model + to_B, chain->model + from_B, length_B);
   note(link, "copy[%u>%u+%u]", from_B, to_B, length_B);
   return true;
}

/* ---- dispatches ------------------------------------------------------------------- */

void soak_model_count(uint8_t *model, uint32_t at_B, uint32_t workgroups)
{
   for (uint32_t i = 0; i < 64 * workgroups; i++) {
      const uint32_t word = i + 1;
      memcpy(model + at_B + i * 4, &word, 4);
   }
}

void soak_model_add(uint8_t *model, uint32_t from_B, uint32_t to_B, uint32_t workgroups,
                    uint32_t push)
{
   for (uint32_t i = 0; i < 32 * workgroups; i++) {
      uint32_t word;
      memcpy(&word, model + from_B + i * 4, 4);
      word += push;
      memcpy(model + to_B + i * 4, &word, 4);
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
   link->bindings[0] = (struct agx_binding){.ref = {thread->chain->buffer, *out_from_B, 256}};
   link->bindings[1] =
      (struct agx_binding){.binding = 1, .ref = {thread->chain->buffer, *out_to_B, 256}};
}

bool soak_link_dispatch(struct soak_thread *thread, struct soak_link *link)
{
   struct soak_chain *chain = thread->chain;
   uint32_t from_B, to_B;
   if (soak_chance(thread, 500)) {
      to_B = 16 * soak_below(thread, 32);
      begin_dispatch(link, thread->device->count, 1);
      link->bindings[0] = (struct agx_binding){.ref = {chain->buffer, to_B, 256}};
      soak_model_count(chain->model, to_B, 1);
      note(link, "count[%u]", to_B);
      return true;
   }
   bind_add(thread, link, &from_B, &to_B);
   link->push = soak_below(thread, 1u << 30);
   link->dispatch.workgroups[0] = soak_below(thread, 3);
   soak_model_add(chain->model, from_B, to_B, link->dispatch.workgroups[0], link->push);
   note(link, "add[%u>%u]x%u", from_B, to_B, link->dispatch.workgroups[0]);
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
      link->data, {thread->chain->buffer, SOAK_PARAMETERS, SOAK_PARAMETERS_B}};
   note(link, "parameters(%u,%u)", words[0], words[2]);
   return true;
}

bool soak_link_indirect(struct soak_thread *thread, struct soak_link *link)
{
   struct soak_chain *chain = thread->chain;
   uint32_t from_B, to_B, words[4];
   memcpy(words, chain->model + SOAK_PARAMETERS, sizeof(words));
   bind_add(thread, link, &from_B, &to_B);
   link->dispatch.counts = (struct agx_buffer_ref){chain->buffer, SOAK_PARAMETERS, 12};
   if (soak_chance(thread, 500)) {
      link->dispatch.arguments = (struct agx_buffer_ref){chain->buffer, SOAK_PARAMETERS + 12, 4};
   } else {
      link->push = soak_below(thread, 1u << 30);
      words[3] = link->push;
   }
   soak_model_add(chain->model, from_B, to_B, words[0] * words[1] * words[2], words[3]);
   note(link, "indirect[%u>%u]", from_B, to_B);
   return true;
}

/* A workgroup of 5 to 8 threads and as many words of workgroup memory; rows as tests/kernels/
 * any_size.comp has them. */
bool soak_link_shaped(struct soak_thread *thread, struct soak_link *link)
{
   struct soak_chain *chain = thread->chain;
   const uint32_t threads = 5 + soak_below(thread, 4), to_B = 16 * soak_below(thread, 48);
   if (!thread->device->shaped)
      return false;
   begin_dispatch(link, thread->device->shaped, 1);
   link->dispatch.local_size[0] = threads;
   link->dispatch.local_size[1] = link->dispatch.local_size[2] = 1;
   link->dispatch.shared_B = 4 * threads;
   link->dispatch.push_B = 4;
   link->push = 1;
   link->bindings[0] = (struct agx_binding){.ref = {chain->buffer, to_B, 32 * threads}};
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
   note(link, "shaped[%u]x%u", to_B, threads);
   return true;
}

/* ---- files ------------------------------------------------------------------------- */

/* Of host memory, that goes with the file. */
bool soak_link_read(struct soak_thread *thread, struct soak_link *link)
{
   const struct agx_buffer_ref target = place(thread);
   uint8_t *memory = malloc(SOAK_CHAIN_B);
   const uint32_t offset_B = soak_below(thread, SOAK_CHAIN_B - (uint32_t)target.length_B + 1);
   const struct agx_file_desc desc = {.size = sizeof(desc),
                                      .kind = AGX_FILE_HOST_MEMORY,
                                      .access = AGX_FILE_READ,
                                      .memory = memory,
                                      .memory_B = SOAK_CHAIN_B,
                                      .release = free,
                                      .user = memory};
   soak_check(memory, "no memory");
   for (uint32_t i = 0; i < SOAK_CHAIN_B; i++)
      memory[i] = (uint8_t)soak_below(thread, 256);
   if (agx_file_import(thread->device->device, &desc, &link->file) != AGX_OK) {
      free(memory);
      return false;
   }
   link->op.kind = AGX_OP_READ;
   link->op.u.file = (struct agx_op_file){link->file, offset_B, target};
   memcpy(thread->chain->model + target.offset_B, memory + offset_B, target.length_B);
   note(link, "read[%llu+%llu]", (unsigned long long)target.offset_B,
        (unsigned long long)target.length_B);
   return true;
}

/* To a file of the system, whose content is compared in the end. */
bool soak_link_write(struct soak_thread *thread, struct soak_link *link)
{
   struct soak_chain *chain = thread->chain;
   struct soak_file *file = &chain->files[chain->file_count];
   struct agx_file_desc desc = {.size = sizeof(desc), .access = AGX_FILE_WRITE};
   const struct agx_buffer_ref source = place(thread);
   if (chain->file_count == SOAK_FILES)
      return false;
   file->fd = memfd_create("soak", MFD_CLOEXEC);
   soak_check(file->fd >= 0, "no memory file");
   desc.fd = file->fd;
   if (agx_file_import(thread->device->device, &desc, &link->file) != AGX_OK) {
      close(file->fd);
      return false;
   }
   file->link = (uint32_t)chain->value + 1;
   file->offset_B = soak_below(thread, 100);
   file->length_B = (uint32_t)source.length_B;
   memcpy(file->bytes, chain->model + source.offset_B, source.length_B);
   chain->file_count++;
   link->op.kind = AGX_OP_WRITE;
   link->op.u.file = (struct agx_op_file){link->file, file->offset_B, source};
   note(link, "write[%llu+%llu]", (unsigned long long)source.offset_B,
        (unsigned long long)source.length_B);
   return true;
}

/* ---- functions ---------------------------------------------------------------------- */

/* All links before it are done, none behind it has begun. */
static agx_status look(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   struct soak_record *record = user;
   uint8_t *memory = NULL;
   const uint32_t calls = atomic_fetch_add(&record->calls, 1) + 1;
   soak_check(calls == 1, "a chain's host call came %u times", calls);
   if (agx_buffer_map(record->buffer, (void **)&memory) != AGX_OK)
      return AGX_OK; /* there may be no memory for that */
   for (uint32_t i = 0; i < SOAK_MODEL_B; i++)
      soak_check(memory[i] == record->expected[i],
                 "chain: host call at %llu: byte %u is %02x, not %02x", (unsigned long long)args[0],
                 i, memory[i], record->expected[i]);
   return AGX_OK;
}

bool soak_link_call(struct soak_thread *thread, struct soak_link *link)
{
   struct soak_chain *chain = thread->chain;
   struct soak_record *record = chain->call_count < SOAK_CALLS ? soak_record_take(thread) : NULL;
   if (!record)
      return false;
   record->expected = malloc(SOAK_MODEL_B);
   soak_check(record->expected, "no memory");
   memcpy(record->expected, chain->model, SOAK_MODEL_B);
   record->buffer = chain->buffer;
   agx_retain(record->buffer);
   chain->calls[chain->call_count++] = record;
   link->op.kind = AGX_OP_HOST_CALL;
   link->op.u.host_call =
      (struct agx_op_host_call){.fn = look, .user = record, .args = {chain->value + 1}};
   note(link, "call");
   return true;
}
