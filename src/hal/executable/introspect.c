/* SPDX-License-Identifier: MIT
 *
 * Shows applications what became of their kernels: numbers, machine code, texts of IR, and the file
 * that makes the same executable again.
 */
#include <string.h>

#include "base/util.h"
#include "hal/executable/executable.h"
#include "hal/executable/state.h"
#include "program/listing.h"

static agx_status find_variant(struct agx_executable *executable, uint32_t entry, uint32_t variant,
                               const struct agx_program **out_program)
{
   struct agx_executable *found = NULL;
   AGX_TRY(agx_executable_resolve(executable, entry, &found));
   *out_program = variant == AGX_VARIANT_CHECKED     ? found->program
                  : variant == AGX_VARIANT_UNCHECKED ? found->program->unchecked
                                                     : NULL;
   if (*out_program)
      return AGX_OK;
   return AGX_FAIL(AGX_NOT_FOUND, "executable %s: no variant %u", found->program->name, variant);
}

/* ---- numbers ------------------------------------------------------------- */

#define FIELD(field) offsetof(struct agx_program, field)

static const struct {
   const char *name, *description;
   size_t field; /* of struct agx_program, 32 bits */
} fields[] = {
   {"Instructions", "Instructions of the main program", FIELD(stats.instructions)},
   {"Preamble instructions", "Instructions that run once for each launch, before it",
    FIELD(stats.preamble_instructions)},
   {"Code size", "Bytes of the main program, without padding", FIELD(text_B)},
   {"Preamble size", "Bytes of the preamble, with padding", FIELD(preamble_B)},
   {"Constant data size", "Bytes of tables that the code reads from memory", FIELD(data_B)},
   {"Registers", "16-bit registers of a thread", FIELD(gpr_halves)},
   {"Preamble registers", "16-bit registers of the preamble", FIELD(preamble_gpr_halves)},
   {"Uniform registers", "16-bit uniform registers, results of the preamble among them",
    FIELD(uniform_halves)},
   {"Resident threads", "Threads that the registers allow on a core", FIELD(stats.threads)},
   {"Spills", "Stores of registers to scratch memory", FIELD(stats.spills)},
   {"Fills", "Loads of registers from scratch memory", FIELD(stats.fills)},
   {"Scratch size", "Bytes of scratch memory of a thread", FIELD(scratch_B)},
   {"Threadgroup memory", "Bytes of a workgroup's memory", FIELD(shared_B)},
   {"Memory loads", "Instructions that load from memory or images", FIELD(stats.loads)},
   {"Waits", "Instructions that wait for loads", FIELD(stats.waits)},
   {"Cycles", "Estimate of cycles, one pass through each block", FIELD(stats.cycles)},
};

agx_status agx_executable_get_statistics(struct agx_executable *executable, uint32_t entry,
                                         uint32_t variant, uint32_t *count,
                                         struct agx_statistic *statistics)
{
   const struct agx_program *program = NULL;
   AGX_TRY(find_variant(executable, entry, variant, &program));
   for (uint32_t i = 0; statistics && i < AGX_MIN(*count, AGX_COUNT(fields)); i++)
      statistics[i] = (struct agx_statistic){fields[i].name, fields[i].description,
                                             agx_load_u32((const char *)program + fields[i].field)};
   *count = AGX_COUNT(fields);
   return AGX_OK;
}

/* ---- texts --------------------------------------------------------------- */

/* A text that goes on behind its end, to be counted. */
struct writer {
   char *bytes;
   size_t capacity, length;
};

static void put(struct writer *writer, const char *text, size_t length)
{
   if (writer->length < writer->capacity)
      memcpy(writer->bytes + writer->length, text,
             AGX_MIN(length, writer->capacity - writer->length));
   writer->length += length;
}

static void put_line(void *user, const char *line)
{
   put(user, line, strlen(line));
   put(user, "\n", 1);
}

static agx_status put_ir(const struct agx_executable *executable, uint32_t entry, uint32_t variant,
                         uint32_t kind, struct writer *writer)
{
   static const enum agx_ir_stage stages[] = {[AGX_TEXT_IR] = AGX_IR_MODULE,
                                              [AGX_TEXT_IR_OPTIMIZED] = AGX_IR_OPTIMIZED,
                                              [AGX_TEXT_IR_REGISTERS] = AGX_IR_REGISTERS};
   const char *name = executable->program->name;
   if (kind >= AGX_COUNT(stages))
      return AGX_FAIL(AGX_NOT_FOUND, "executable %s: no text %u", name, kind);
   const struct agx_ir_text *text =
      agx_kept_ir_find(&executable->ir, entry, variant == AGX_VARIANT_UNCHECKED, stages[kind]);
   if (!text)
      return AGX_FAIL(AGX_NOT_FOUND,
                      "executable %s: text %u of its IR was not kept; create it of SPIR-V, with "
                      "AGX_EXECUTABLE_KEEP_IR",
                      name, kind);
   put(writer, text->bytes, text->length);
   return AGX_OK;
}

agx_status agx_executable_get_text(struct agx_executable *executable, uint32_t entry,
                                   uint32_t variant, uint32_t text, size_t *text_B, char *out_text)
{
   const struct agx_program *program = NULL;
   const size_t room_B = out_text ? *text_B : 0;
   struct writer writer = {out_text, room_B ? room_B - 1 : 0, 0};
   AGX_TRY(find_variant(executable, entry, variant, &program));
   if (text == AGX_TEXT_ASSEMBLY)
      AGX_TRY(agx_program_list(program, put_line, &writer));
   else
      AGX_TRY(put_ir(executable, entry, variant, text, &writer));
   if (room_B)
      out_text[AGX_MIN(writer.length, writer.capacity)] = 0;
   *text_B = writer.length + 1;
   return AGX_OK;
}

/* ---- the file ------------------------------------------------------------ */

agx_status agx_executable_get_binary(struct agx_executable *executable, size_t *binary_B,
                                     void *out_binary)
{
   const struct agx_host_alloc *alloc = agx_context_of(executable->device)->alloc;
   void *image;
   size_t size;
   /* Of a file with several entry points the application may have taken one. */
   if (executable->entry_count == executable->module->program_count)
      AGX_TRY(agx_module_write_elf(executable->module, alloc, &image, &size));
   else
      AGX_TRY(agx_program_write_elf(executable->program, alloc, &image, &size));
   if (out_binary && size <= *binary_B)
      memcpy(out_binary, image, size);
   agx_host_free(alloc, image, size);
   *binary_B = size;
   return AGX_OK;
}
