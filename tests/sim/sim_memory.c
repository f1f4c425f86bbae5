/* SPDX-License-Identifier: MIT
 *
 * The address space and the assembler of the simulator's tests; needs nothing of the simulator.
 */
#include "sim_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agx/isa/isa.h"
#include "base/util.h"

static void *translate(void *user, uint64_t va, enum agxs_access access)
{
   struct sim_memory *memory = user;
   for (unsigned i = 0; i < memory->count; i++) {
      const struct sim_region *region = &memory->region[i];
      if (va - region->va < region->size && (access == AGXS_READ || region->is_writable))
         return region->host + (va - region->va);
   }
   return NULL;
}

void sim_memory_init(struct sim_memory *memory)
{
   *memory = (struct sim_memory){
      .interface = {.user = memory, .translate = translate, .generation = &memory->generation}};
}

void sim_memory_fini(struct sim_memory *memory)
{
   for (unsigned i = 0; i < memory->count; i++)
      free(memory->region[i].host);
   memory->count = 0;
}

uint8_t *sim_map(struct sim_memory *memory, uint64_t va, uint64_t size, bool is_writable)
{
   size = agx_align_up(size, AGX_PAGE_BYTES);
   for (unsigned i = 0; i < memory->count; i++) {
      struct sim_region *region = &memory->region[i];
      if (region->va == va && region->size == size)
         return memset(region->host, 0, size);
   }
   assert_true(memory->count < SIM_MAX_REGIONS);
   uint8_t *host = aligned_alloc(64, size);
   assert_non_null(host);
   memset(host, 0, size);
   memory->region[memory->count++] =
      (struct sim_region){.va = va, .size = size, .host = host, .is_writable = is_writable};
   return host;
}

/* "name:" marks a place; "jmp_any offset=@name" refers to one. */
struct label {
   char name[32];
   size_t at;
};

static size_t assemble_pass(const char *text, uint8_t *code, size_t capacity, struct label *labels,
                            unsigned *label_count, bool is_last)
{
   size_t at = 0;
   for (const char *line = text; *line;) {
      size_t length = strcspn(line, ";\n");
      char copy[256], fixed[320];
      const char *start = line + strspn(line, " ");
      size_t used = length - (size_t)AGX_MIN((size_t)(start - line), length);
      assert_true(used < sizeof(copy));
      memcpy(copy, start, used);
      copy[used] = '\0';
      line += length + (line[length] != '\0');
      if (!used)
         continue;
      if (copy[used - 1] == ':') {
         copy[used - 1] = '\0';
         if (!is_last) {
            snprintf(labels[*label_count].name, sizeof(labels[0].name), "%.31s", copy);
            labels[(*label_count)++].at = at;
         }
         continue;
      }
      char *mark = strchr(copy, '@');
      if (mark) {
         int64_t offset = 0;
         bool is_found = !is_last;
         for (unsigned i = 0; i < *label_count; i++) {
            if (strcmp(labels[i].name, mark + 1) == 0) {
               offset = (int64_t)labels[i].at - (int64_t)at;
               is_found = true;
            }
         }
         assert_true(is_found);
         *mark = '\0';
         snprintf(fixed, sizeof(fixed), "%s%d", copy, (int)offset);
      } else {
         snprintf(fixed, sizeof(fixed), "%s", copy);
      }
      struct agx_isa_instr instr;
      uint8_t bytes[AGX_ISA_MAX_BYTES];
      size_t size = 0;
      if (agx_isa_parse(fixed, strlen(fixed), &instr) != AGX_OK ||
          agx_isa_encode(&instr, bytes, &size) != AGX_OK)
         fail_msg("%s: %s", fixed, agx_error_peek());
      assert_true(at + size <= capacity);
      memcpy(code + at, bytes, size);
      at += size;
   }
   return at;
}

size_t sim_assemble(const char *text, uint8_t *code, size_t capacity)
{
   struct label labels[32];
   unsigned count = 0;
   assemble_pass(text, code, capacity, labels, &count, false);
   return assemble_pass(text, code, capacity, labels, &count, true);
}
