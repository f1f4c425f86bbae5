/* SPDX-License-Identifier: MIT
 *
 * Keeps some of the texts that the compiler shows after each pass. executable_load.c hands it to
 * the compiler, introspect.c gives the texts to the application. The compiler takes one entry point
 * after the other, in the module's order; of robust code the unchecked variant first; the preamble
 * of each behind its main program (agx/compiler/ir/options.h).
 */
#include "hal/executable/kept_ir.h"

#include <string.h>

#include "base/util.h"

/* Memory for capacity bytes in place of what *memory has, which moves there. */
static bool grow(struct agx_kept_ir *ir, void *memory, size_t old_B, size_t new_B)
{
   void *old, *larger = ir->is_short ? NULL : agx_host_zalloc(ir->alloc, new_B);
   memcpy(&old, memory, sizeof(old));
   if (!larger) {
      ir->is_short = true;
      return false;
   }
   if (old_B)
      memcpy(larger, old, old_B);
   if (old)
      agx_host_free(ir->alloc, old, old_B);
   memcpy(memory, &larger, sizeof(larger));
   return true;
}

static void append(struct agx_kept_ir *ir, struct agx_ir_text *to, const char *text)
{
   const size_t length = strlen(text), needed = to->length + length + 1;
   if (needed > to->capacity) {
      const size_t capacity = AGX_MAX(needed, 2 * to->capacity);
      if (!grow(ir, &to->bytes, to->capacity, capacity))
         return;
      to->capacity = capacity;
   }
   memcpy(to->bytes + to->length, text, length + 1);
   to->length += length;
}

static void begin_run(struct agx_kept_ir *ir)
{
   if (ir->run_count == ir->run_capacity) {
      const uint32_t capacity = AGX_MAX(2 * ir->run_capacity, 2u);
      if (!grow(ir, &ir->runs, ir->run_capacity * sizeof(*ir->runs), capacity * sizeof(*ir->runs)))
         return;
      ir->run_capacity = capacity;
   }
   ir->run_count++;
}

/* The preamble's text stands behind the main program's, which was there first. */
static void keep_last(struct agx_kept_ir *ir, struct agx_ir_text *to)
{
   if (to->length)
      append(ir, to, "preamble\n");
   append(ir, to, ir->last.bytes ? ir->last.bytes : "");
}

void agx_kept_ir_add(void *user, const char *pass, const char *text)
{
   struct agx_kept_ir *ir = user;
   const bool is_module = strcmp(pass, "spirv") == 0;
   if (is_module)
      begin_run(ir);
   if (ir->is_short || strcmp(pass, "asm preamble") == 0)
      return;
   struct agx_ir_text *stages = ir->runs[ir->run_count - 1].stages;
   if (is_module)
      append(ir, &stages[AGX_IR_MODULE], text);
   if (strcmp(pass, "select") == 0)
      keep_last(ir, &stages[AGX_IR_OPTIMIZED]);
   if (strcmp(pass, "preamble") == 0 || strcmp(pass, "asm") == 0)
      keep_last(ir, &stages[AGX_IR_REGISTERS]);
   ir->last.length = 0;
   append(ir, &ir->last, text);
}

static void free_text(struct agx_kept_ir *ir, struct agx_ir_text *text)
{
   if (text->bytes)
      agx_host_free(ir->alloc, text->bytes, text->capacity);
   *text = (struct agx_ir_text){0};
}

agx_status agx_kept_ir_finish(struct agx_kept_ir *ir, uint32_t entry_count)
{
   if (ir->is_short)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "executable: out of host memory for the texts of IR");
   ir->runs_each = ir->run_count / entry_count;
   free_text(ir, &ir->last);
   return AGX_OK;
}

void agx_kept_ir_fini(struct agx_kept_ir *ir)
{
   free_text(ir, &ir->last);
   for (uint32_t i = 0; i < ir->run_count; i++)
      for (uint32_t j = 0; j < AGX_IR_STAGES; j++)
         free_text(ir, &ir->runs[i].stages[j]);
   if (ir->runs)
      agx_host_free(ir->alloc, ir->runs, ir->run_capacity * sizeof(*ir->runs));
   *ir = (struct agx_kept_ir){0};
}

const struct agx_ir_text *agx_kept_ir_find(const struct agx_kept_ir *ir, uint32_t entry,
                                           bool is_unchecked, enum agx_ir_stage stage)
{
   const uint32_t index = entry * ir->runs_each + (is_unchecked ? 0 : ir->runs_each - 1);
   return index < ir->run_count ? &ir->runs[index].stages[stage] : NULL;
}
