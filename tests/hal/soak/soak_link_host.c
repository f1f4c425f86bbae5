/* SPDX-License-Identifier: MIT
 *
 * Links of chains that the host does: files, whose content is compared, and functions, which
 * compare what the chain has left when they are called.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "soak_chain.h"

/* ---- files ------------------------------------------------------------------------- */

/* Of host memory, that goes with the file. */
bool soak_link_read(struct soak_thread *thread, struct soak_link *link)
{
   uint32_t at_B;
   const struct agx_buffer_ref target = soak_place(thread, &at_B);
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
   memcpy(thread->chain->model + at_B, memory + offset_B, target.length_B);
   soak_note(link, "read[%u+%u]", at_B, (uint32_t)target.length_B);
   return true;
}

/* To a file of the system, whose content is compared in the end. */
bool soak_link_write(struct soak_thread *thread, struct soak_link *link)
{
   struct soak_chain *chain = thread->chain;
   struct chain_file *file = &chain->files[chain->file_count];
   struct agx_file_desc desc = {.size = sizeof(desc), .access = AGX_FILE_WRITE};
   uint32_t at_B;
   const struct agx_buffer_ref source = soak_place(thread, &at_B);
   if (chain->file_count == CHAIN_FILES)
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
   memcpy(file->bytes, chain->model + at_B, source.length_B);
   chain->file_count++;
   link->op.kind = AGX_OP_WRITE;
   link->op.u.file = (struct agx_op_file){link->file, file->offset_B, source};
   soak_note(link, "write[%u+%u]", at_B, (uint32_t)source.length_B);
   return true;
}

/* ---- functions ---------------------------------------------------------------------- */

/* All links before it are done, none behind it has begun. */
static agx_status look(void *user, const uint64_t args[4], struct agx_host_call *call)
{
   struct soak_record *record = user;
   uint8_t bytes[SOAK_MODEL_B];
   const uint32_t calls = atomic_fetch_add(&record->calls, 1) + 1;
   soak_check(calls == 1, "a chain's host call came %u times", calls);
   if (!soak_chain_read(record->buffers, bytes))
      return AGX_OK;
   for (uint32_t i = 0; i < SOAK_MODEL_B; i++)
      soak_check(bytes[i] == record->expected[i],
                 "chain: host call at %llu: byte %u is %02x, not %02x", (unsigned long long)args[0],
                 i, bytes[i], record->expected[i]);
   return AGX_OK;
}

bool soak_link_call(struct soak_thread *thread, struct soak_link *link)
{
   struct soak_chain *chain = thread->chain;
   struct soak_record *record = chain->call_count < SOAK_CALLS ? soak_record_take(thread) : NULL;
   if (!record || agx_semaphore_create(thread->device->device, 0, &record->done) != AGX_OK)
      return false;
   record->expected = malloc(SOAK_MODEL_B);
   soak_check(record->expected, "no memory");
   memcpy(record->expected, chain->model, SOAK_MODEL_B);
   for (uint32_t i = 0; i < SOAK_PARTS; i++) {
      record->buffers[i] = chain->buffers[i];
      agx_retain(record->buffers[i]);
   }
   chain->calls[chain->call_count++] = record;
   link->signals[1] = (struct agx_point){record->done, 1};
   link->op.kind = AGX_OP_HOST_CALL;
   link->op.u.host_call =
      (struct agx_op_host_call){.fn = look, .user = record, .args = {chain->value + 1}};
   soak_note(link, "call");
   return true;
}
