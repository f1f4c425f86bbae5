/* SPDX-License-Identifier: MIT
 *
 * Writes a program's container (container.h): collects its sections, which agx_elf_write makes a
 * file of.
 */
#include <string.h>

#include "base/util.h"
#include "program/container.h"
#include "program/lines.h"

#define MAX_SECTIONS (20 + AGX_PROGRAM_MAX_ENTRIES)

struct image {
   void *bytes;
   size_t size;
};

/* Sections and what they refer to until the file is written. */
struct writer {
   const struct agx_program *program;
   struct agx_elf_section sections[MAX_SECTIONS];
   uint32_t section_count;
   uint8_t words[128];
   uint8_t notes[256];
   size_t notes_B;
   char *symbol_names; /* as much room as they take */
   size_t symbol_names_B, symbol_room_B;
   uint8_t symbols[3 * AGX_ELF_SYMBOL_BYTES];
   uint8_t bindings[AGX_PROGRAM_MAX_BINDINGS * AGX_CONTAINER_RECORD_BYTES];
   uint8_t uniforms[AGX_PROGRAM_MAX_UNIFORMS * AGX_CONTAINER_RECORD_BYTES];
   uint8_t states[AGX_PROGRAM_MAX_STATES * AGX_CONTAINER_RECORD_BYTES];
   uint8_t guards[AGX_PROGRAM_MAX_GUARDS * AGX_CONTAINER_GUARD_BYTES];
   uint8_t parameters[AGX_PROGRAM_MAX_PARAMETERS * AGX_CONTAINER_RECORD_BYTES];
   uint8_t constants[AGX_PROGRAM_MAX_CONSTANTS * AGX_CONTAINER_RECORD_BYTES];
   uint8_t debug_info[64];
   struct image unchecked;                        /* the unchecked variant's, or NULL */
   struct image entries[AGX_PROGRAM_MAX_ENTRIES]; /* further programs' */
   uint32_t entry_count;
};

/* Adds a section with the name and bytes; returns its index. */
static uint32_t add_section(struct writer *writer, struct agx_elf_section like, const char *name,
                            const void *bytes, size_t size)
{
   agx_assert(writer->section_count < MAX_SECTIONS);
   like.name = name;
   like.bytes = bytes;
   like.size = size;
   writer->sections[writer->section_count] = like;
   return ++writer->section_count;
}

static void make_words(struct writer *writer)
{
   agx_assert(4 * agx_program_word_count <= sizeof(writer->words));
   for (size_t i = 0; i < agx_program_word_count; i++)
      agx_put_u32(writer->words + 4 * i,
                  agx_load_u32((const char *)writer->program + agx_program_words[i]));
}

static void make_record(uint8_t *at, const uint32_t words[4], uint64_t wide)
{
   for (unsigned i = 0; i < 4; i++)
      agx_put_u32(at + 4 * i, words[i]);
   agx_put_u32(at + 16, (uint32_t)wide);
   agx_put_u32(at + 20, (uint32_t)(wide >> 32));
}

static void make_records(struct writer *writer)
{
   const struct agx_program *program = writer->program;
   for (uint32_t i = 0; i < program->binding_count; i++) {
      const struct agx_program_binding *b = &program->bindings[i];
      make_record(writer->bindings + (size_t)i * AGX_CONTAINER_RECORD_BYTES,
                  (uint32_t[4]){b->set, b->binding,
                                b->kind | b->dim << AGX_CONTAINER_DIM_SHIFT |
                                   b->element << AGX_CONTAINER_ELEMENT_SHIFT,
                                b->access | b->robustness << AGX_CONTAINER_ROBUST_SHIFT},
                  agx_binding_is_vertex(b->kind)
                     ? b->divisor | (uint64_t)b->stride_B << AGX_CONTAINER_STRIDE_SHIFT |
                          (uint64_t)b->element_B << AGX_CONTAINER_SIZE_SHIFT |
                          (uint64_t)b->per_instance << AGX_CONTAINER_RATE_SHIFT
                  : agx_binding_is_array(b->kind, b->access) ? b->elements
                                                             : b->min_size_B);
   }
   for (uint32_t i = 0; i < program->uniform_count; i++) {
      const struct agx_program_uniform *u = &program->uniforms[i];
      make_record(writer->uniforms + (size_t)i * AGX_CONTAINER_RECORD_BYTES,
                  (uint32_t[4]){u->kind, u->start, u->halves, u->index}, u->value);
   }
   for (uint32_t i = 0; i < program->state_count; i++)
      make_record(writer->states + (size_t)i * AGX_CONTAINER_RECORD_BYTES,
                  (uint32_t[4]){program->states[i].kind, program->states[i].index,
                                program->states[i].element},
                  0);
}

static void make_reflection(struct writer *writer)
{
   const struct agx_program *program = writer->program;
   for (uint32_t i = 0; i < program->parameter_count; i++) {
      const struct agx_program_parameter *p = &program->parameters[i];
      make_record(writer->parameters + (size_t)i * AGX_CONTAINER_RECORD_BYTES,
                  (uint32_t[4]){p->kind, p->set, p->binding, p->offset_B},
                  p->size_B | (uint64_t)p->name << 32);
   }
   for (uint32_t i = 0; i < program->constant_count; i++) {
      const struct agx_program_constant *c = &program->constants[i];
      make_record(
         writer->constants + (size_t)i * AGX_CONTAINER_RECORD_BYTES,
         (uint32_t[4]){c->id, c->type | c->bytes << AGX_CONTAINER_CONSTANT_BYTES_SHIFT, c->name},
         c->value);
   }
}

static void make_guards(struct writer *writer)
{
   uint8_t *at = writer->guards;
   for (uint32_t i = 0; i < writer->program->guard_count; i++) {
      const struct agx_program_guard *c = &writer->program->guards[i];
      const uint32_t head[3] = {c->binding, c->bytes, c->step_count};
      for (unsigned k = 0; k < 3; k++, at += 4)
         agx_put_u32(at, head[k]);
      for (unsigned k = 0; k < AGX_PROGRAM_MAX_STEPS; k++, at += 8) {
         agx_put_u32(at, c->steps[k].op);
         agx_put_u32(at + 4, c->steps[k].value);
      }
   }
}

static void add_note(struct writer *writer, enum agx_container_note type, const void *text,
                     size_t size)
{
   const size_t owner_B = sizeof(AGX_CONTAINER_NOTE_OWNER);
   uint8_t *at = writer->notes + writer->notes_B;
   size_t total = 12 + agx_align_up(owner_B, 4) + agx_align_up(size, 4);
   agx_assert(writer->notes_B + total <= sizeof(writer->notes));
   agx_put_u32(at, (uint32_t)owner_B);
   agx_put_u32(at + 4, (uint32_t)size);
   agx_put_u32(at + 8, type);
   memcpy(at + 12, AGX_CONTAINER_NOTE_OWNER, owner_B);
   memcpy(at + 12 + agx_align_up(owner_B, 4), text, size);
   writer->notes_B += total;
}

static void make_notes(struct writer *writer)
{
   uint8_t abi[4];
   agx_put_u32(abi, AGX_PROGRAM_ABI_VERSION);
   add_note(writer, AGX_CONTAINER_NOTE_ABI, abi, sizeof(abi));
   add_note(writer, AGX_CONTAINER_NOTE_CHIP, writer->program->chip,
            strlen(writer->program->chip) + 1);
   add_note(writer, AGX_CONTAINER_NOTE_KERNEL_INTERFACE, AGX_CONTAINER_KERNEL_INTERFACE,
            sizeof(AGX_CONTAINER_KERNEL_INTERFACE));
}

static void make_symbol(struct writer *writer, unsigned index, const char *name, uint32_t section,
                        size_t size)
{
   enum {
      GLOBAL_FUNCTION = 0x12
   };
   size_t name_B = strlen(name) + 1;
   uint8_t *at = writer->symbols + (size_t)index * AGX_ELF_SYMBOL_BYTES;
   memcpy(writer->symbol_names + writer->symbol_names_B, name, name_B);
   agx_put_u32(at, (uint32_t)writer->symbol_names_B);
   at[4] = GLOBAL_FUNCTION;
   at[6] = (uint8_t)section;
   at[7] = (uint8_t)(section >> 8);
   agx_put_u32(at + 16, (uint32_t)size); /* code has 16 MiB at most */
   writer->symbol_names_B += name_B;
}

static void add_symbols(struct writer *writer, uint32_t text, uint32_t preamble)
{
   const struct agx_program *program = writer->program;
   unsigned count = preamble ? 3 : 2;
   writer->symbol_names_B = 1;
   make_symbol(writer, 1, agx_program_name(program), text, program->text_B);
   if (preamble)
      make_symbol(writer, 2, "preamble", preamble, program->preamble_B);
   uint32_t strings =
      add_section(writer, (struct agx_elf_section){.type = AGX_ELF_STRTAB, .alignment = 1},
                  ".strtab", writer->symbol_names, writer->symbol_names_B);
   const struct agx_elf_section symbols = {.type = AGX_ELF_SYMTAB,
                                           .alignment = 8,
                                           .entry_B = AGX_ELF_SYMBOL_BYTES,
                                           .link = strings,
                                           .info = 1};
   add_section(writer, symbols, ".symtab", writer->symbols, count * (size_t)AGX_ELF_SYMBOL_BYTES);
}

static void add_data(struct writer *writer)
{
   const struct agx_elf_section records = {.type = AGX_ELF_PROGBITS,
                                           .flags = AGX_ELF_ALLOC,
                                           .alignment = 8,
                                           .entry_B = AGX_CONTAINER_RECORD_BYTES};
   const struct agx_elf_section plain = {
      .type = AGX_ELF_PROGBITS, .flags = AGX_ELF_ALLOC, .alignment = 4};
   const struct agx_elf_section notes = {
      .type = AGX_ELF_NOTE, .flags = AGX_ELF_ALLOC, .alignment = 4};
   const struct agx_program *program = writer->program;
   make_words(writer);
   make_records(writer);
   make_notes(writer);
   make_guards(writer);
   make_reflection(writer);
   if (program->data_B)
      add_section(writer, plain, AGX_CONTAINER_DATA, program->data, program->data_B);
   if (program->names_B) {
      add_section(writer, records, AGX_CONTAINER_PARAMETERS, writer->parameters,
                  program->parameter_count * (size_t)AGX_CONTAINER_RECORD_BYTES);
      add_section(writer, records, AGX_CONTAINER_CONSTANTS, writer->constants,
                  program->constant_count * (size_t)AGX_CONTAINER_RECORD_BYTES);
      add_section(writer, plain, AGX_CONTAINER_NAMES, program->names, program->names_B);
   }
   for (uint32_t i = 0; i < writer->entry_count; i++)
      add_section(writer, plain, AGX_CONTAINER_ENTRY, writer->entries[i].bytes,
                  writer->entries[i].size);
   if (writer->unchecked.bytes) {
      add_section(writer, plain, AGX_CONTAINER_GUARDS, writer->guards,
                  program->guard_count * (size_t)AGX_CONTAINER_GUARD_BYTES);
      add_section(writer, plain, AGX_CONTAINER_UNCHECKED, writer->unchecked.bytes,
                  writer->unchecked.size);
   }
   add_section(writer, plain, AGX_CONTAINER_PROGRAM, writer->words, 4 * agx_program_word_count);
   add_section(writer, records, AGX_CONTAINER_BINDINGS, writer->bindings,
               program->binding_count * (size_t)AGX_CONTAINER_RECORD_BYTES);
   add_section(writer, records, AGX_CONTAINER_UNIFORMS, writer->uniforms,
               program->uniform_count * (size_t)AGX_CONTAINER_RECORD_BYTES);
   add_section(writer, records, AGX_CONTAINER_STATES, writer->states,
               program->state_count * (size_t)AGX_CONTAINER_RECORD_BYTES);
   add_section(writer, notes, AGX_CONTAINER_NOTE, writer->notes, writer->notes_B);
}

/* A compile unit that says where the table of lines is, and nothing else. Source: DWARF Debugging
 * Information Format, version 5, section 7.5. */
static const uint8_t debug_abbrev[] = {
   1,    0x11, 0, /* a compile unit, without children */
   0x25, 0x08,    /* producer: text */
   0x10, 0x17,    /* statement list: offset */
   0x11, 0x01,    /* first address */
   0x12, 0x06,    /* bytes, in four bytes */
   0,    0,    0,
};

static size_t make_debug_info(struct writer *writer)
{
   enum {
      PRODUCER_AT = 13,
      LINES_AT = PRODUCER_AT + sizeof(AGX_CONTAINER_NOTE_OWNER),
      SIZE_AT = LINES_AT + 4 + 8,
      INFO_B = SIZE_AT + 4,
   };
   const struct agx_program *program = writer->program;
   uint8_t *at = writer->debug_info;
   agx_put_u32(at, INFO_B - 4);
   at[4] = 5;  /* version */
   at[6] = 1;  /* compile unit */
   at[7] = 8;  /* bytes of an address */
   at[12] = 1; /* abbreviation */
   memcpy(at + PRODUCER_AT, AGX_CONTAINER_NOTE_OWNER, sizeof(AGX_CONTAINER_NOTE_OWNER));
   agx_put_u32(at + SIZE_AT, program->preamble_B
                                ? agx_program_preamble_at(program->code_B) + program->preamble_B
                                : program->code_B);
   return INFO_B;
}

static void add_lines(struct writer *writer)
{
   const struct agx_elf_section debug = {.type = AGX_ELF_PROGBITS, .alignment = 1};
   const struct agx_program *program = writer->program;
   if (!program->lines_B)
      return;
   add_section(writer, debug, AGX_CONTAINER_LINES, program->lines, program->lines_B);
   if (program->texts_B)
      add_section(writer, debug, AGX_CONTAINER_TEXTS, program->texts, program->texts_B);
   add_section(writer, debug, ".debug_info", writer->debug_info, make_debug_info(writer));
   add_section(writer, debug, ".debug_abbrev", debug_abbrev, sizeof(debug_abbrev));
}

static void add_all(struct writer *writer)
{
   struct agx_elf_section code = {
      .type = AGX_ELF_PROGBITS, .flags = AGX_ELF_ALLOC | AGX_ELF_EXECUTABLE, .alignment = 128};
   const struct agx_program *program = writer->program;
   uint32_t text = add_section(writer, code, AGX_CONTAINER_TEXT, program->code, program->code_B);
   uint32_t preamble = 0;
   if (program->lines_B) /* which name addresses of both */
      code.address = agx_program_preamble_at(program->code_B);
   if (program->preamble_B)
      preamble =
         add_section(writer, code, AGX_CONTAINER_PREAMBLE, program->preamble, program->preamble_B);
   add_data(writer);
   add_lines(writer);
   add_symbols(writer, text, preamble);
}

static agx_status write_image(const struct agx_program *program, struct agx_program *const *others,
                              uint32_t other_count, const struct agx_host_alloc *alloc,
                              struct image *out_image);

/* The images that stand in the file as sections. */
static agx_status write_parts(struct writer *writer, struct agx_program *const *others,
                              uint32_t other_count, const struct agx_host_alloc *alloc)
{
   if (writer->program->unchecked)
      AGX_TRY(write_image(writer->program->unchecked, NULL, 0, alloc, &writer->unchecked));
   for (uint32_t i = 0; i < other_count; i++, writer->entry_count++)
      AGX_TRY(write_image(others[i], NULL, 0, alloc, &writer->entries[i]));
   return AGX_OK;
}

static void free_writer(struct writer *writer, const struct agx_host_alloc *alloc)
{
   if (writer->unchecked.bytes)
      agx_host_free(alloc, writer->unchecked.bytes, writer->unchecked.size);
   for (uint32_t i = 0; i < writer->entry_count; i++)
      agx_host_free(alloc, writer->entries[i].bytes, writer->entries[i].size);
   if (writer->symbol_names)
      agx_host_free(alloc, writer->symbol_names, writer->symbol_room_B);
   agx_host_free(alloc, writer, sizeof(*writer));
}

static agx_status write_image(const struct agx_program *program, struct agx_program *const *others,
                              uint32_t other_count, const struct agx_host_alloc *alloc,
                              struct image *out_image)
{
   AGX_TRY(agx_program_check(program, alloc));
   struct writer *writer = agx_host_zalloc(alloc, sizeof(*writer));
   if (!writer)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "program %s: no memory to write it", program->name);
   writer->program = program;
   writer->symbol_room_B = 1 + strlen(agx_program_name(program)) + 1 + sizeof("preamble");
   writer->symbol_names = agx_host_zalloc(alloc, writer->symbol_room_B);
   agx_status status =
      writer->symbol_names
         ? write_parts(writer, others, other_count, alloc)
         : AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "program %s: no memory for its name", program->name);
   if (status == AGX_OK) {
      add_all(writer);
      status = agx_elf_write(writer->sections, writer->section_count, alloc, &out_image->bytes,
                             &out_image->size);
   }
   free_writer(writer, alloc);
   return status;
}

agx_status agx_program_write_elf(const struct agx_program *program,
                                 const struct agx_host_alloc *alloc, void **out_image,
                                 size_t *out_size)
{
   struct image image = {NULL, 0};
   agx_status status =
      write_image(program, NULL, 0, alloc ? alloc : agx_host_alloc_default(), &image);
   *out_image = image.bytes;
   *out_size = image.size;
   return status;
}

agx_status agx_module_write_elf(const struct agx_module *module, const struct agx_host_alloc *alloc,
                                void **out_image, size_t *out_size)
{
   struct image image = {NULL, 0};
   agx_status status =
      write_image(module->programs[0], module->programs + 1, module->program_count - 1,
                  alloc ? alloc : agx_host_alloc_default(), &image);
   *out_image = image.bytes;
   *out_size = image.size;
   return status;
}
