/* SPDX-License-Identifier: MIT
 *
 * Reads a program's container (container.h) from bytes that may be hostile: elf.c finds the
 * sections, every range is checked against the image before it is touched, and the
 * result goes through agx_program_check.
 */
#include <string.h>

#include "base/util.h"
#include "program/container.h"

/* A section's bytes inside the image; bytes is NULL when there is no such section. */
struct section {
   const uint8_t *bytes;
   size_t size;
};

/* Where an image stands: in a file of its own, with further entries, or in a section of one. */
enum part {
   PART_FILE,
   PART_ENTRY,
   PART_UNCHECKED, /* which has none itself */
};

/* What has been read, owned; of a file, its own program comes first. */
struct programs {
   struct agx_program *at[AGX_PROGRAM_MAX_ENTRIES];
   uint32_t count;
};

struct reader {
   const uint8_t *image;
   size_t size;
   struct agx_elf elf;
   struct agx_program program;
   struct agx_program_binding bindings[AGX_PROGRAM_MAX_BINDINGS];
   struct agx_program_uniform uniforms[AGX_PROGRAM_MAX_UNIFORMS];
   struct agx_program_state states[AGX_PROGRAM_MAX_STATES];
   struct agx_program_guard guards[AGX_PROGRAM_MAX_GUARDS];
   struct agx_program_parameter parameters[AGX_PROGRAM_MAX_PARAMETERS];
   struct agx_program_constant constants[AGX_PROGRAM_MAX_CONSTANTS];
   struct agx_program *unchecked; /* owned, like what it was read with */
   const struct agx_host_alloc *alloc;
   enum part part;
   struct programs *programs;
};

static agx_status read_image(const void *image, size_t size, const struct agx_host_alloc *alloc,
                             enum part part, struct programs *programs);

static agx_status malformed(const char *what)
{
   return AGX_FAIL(AGX_INVALID_ARGUMENT, "program: ELF image: %s", what);
}

/* The next section of that name behind *cursor, 0: the first. */
static agx_status next_section(const struct reader *reader, const char *name, uint32_t *cursor,
                               struct section *out_section)
{
   *out_section = (struct section){0};
   for (uint32_t at = *cursor + 1; at < reader->elf.section_count; at++) {
      struct agx_elf_section section;
      AGX_TRY(agx_elf_section(&reader->elf, at, &section));
      if (strcmp(section.name, name) != 0)
         continue;
      *out_section = (struct section){section.bytes, section.size};
      *cursor = at;
      return AGX_OK;
   }
   return AGX_OK;
}

static agx_status find_section(const struct reader *reader, const char *name,
                               struct section *out_section)
{
   uint32_t first = 0;
   return next_section(reader, name, &first, out_section);
}

static agx_status need_section(const struct reader *reader, const char *name,
                               struct section *out_section)
{
   AGX_TRY(find_section(reader, name, out_section));
   if (!out_section->bytes)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "program: ELF image: section %s is missing", name);
   return AGX_OK;
}

static agx_status take_note(struct reader *reader, uint32_t type, const uint8_t *text, size_t size,
                            unsigned *seen)
{
   if (type > AGX_CONTAINER_NOTE_KERNEL_INTERFACE)
      return AGX_OK; /* a later minor addition */
   *seen |= 1u << type;
   if (type == AGX_CONTAINER_NOTE_ABI) {
      if (size != 4)
         return malformed("ABI note is not one word");
      uint32_t version = agx_get_u32(text);
      if (version != AGX_PROGRAM_ABI_VERSION)
         return AGX_FAIL(AGX_INCOMPATIBLE, "program: ABI version %u; this build takes %u", version,
                         AGX_PROGRAM_ABI_VERSION);
   }
   if (type == AGX_CONTAINER_NOTE_CHIP) {
      if (size == 0 || size > sizeof(reader->program.chip) || text[size - 1] != 0)
         return malformed("chip note is not a short text");
      memcpy(reader->program.chip, text, size);
   }
   return AGX_OK;
}

static agx_status read_notes(struct reader *reader)
{
   struct section notes;
   AGX_TRY(need_section(reader, AGX_CONTAINER_NOTE, &notes));
   unsigned seen = 0;
   for (size_t at = 0; at < notes.size;) {
      if (!agx_range_fits(at, 12, notes.size))
         return malformed("a note is cut short");
      uint64_t owner_B = agx_get_u32(notes.bytes + at), text_B = agx_get_u32(notes.bytes + at + 4);
      uint32_t type = agx_get_u32(notes.bytes + at + 8);
      uint64_t text_at = at + 12 + agx_align_up(owner_B, 4);
      if (!agx_range_fits(text_at, agx_align_up(text_B, 4), notes.size))
         return malformed("a note is cut short");
      if (owner_B == sizeof(AGX_CONTAINER_NOTE_OWNER) &&
          memcmp(notes.bytes + at + 12, AGX_CONTAINER_NOTE_OWNER, owner_B) == 0)
         AGX_TRY(take_note(reader, type, notes.bytes + text_at, text_B, &seen));
      at = text_at + agx_align_up(text_B, 4);
   }
   unsigned needed = 1u << AGX_CONTAINER_NOTE_ABI | 1u << AGX_CONTAINER_NOTE_CHIP;
   return (seen & needed) == needed ? AGX_OK : malformed("no note of ABI version and chip");
}

static agx_status read_words(struct reader *reader)
{
   struct section words;
   AGX_TRY(need_section(reader, AGX_CONTAINER_PROGRAM, &words));
   if (words.size != 4 * agx_program_word_count)
      return malformed(AGX_CONTAINER_PROGRAM " has the wrong size");
   for (size_t i = 0; i < agx_program_word_count; i++) {
      uint32_t value = agx_get_u32(words.bytes + 4 * i);
      memcpy((char *)&reader->program + agx_program_words[i], &value, sizeof(value));
   }
   return AGX_OK;
}

static agx_status need_records(const struct reader *reader, const char *name, uint32_t count,
                               uint32_t limit, struct section *out_section)
{
   AGX_TRY(need_section(reader, name, out_section));
   if (count > limit || out_section->size != count * (size_t)AGX_CONTAINER_RECORD_BYTES)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "program: ELF image: %s holds %zu bytes for %u records",
                      name, out_section->size, count);
   return AGX_OK;
}

static uint64_t get_u64(const uint8_t *at)
{
   return agx_get_u32(at) | (uint64_t)agx_get_u32(at + 4) << 32;
}

/* A vertex stage's binding has no least size, but other numbers in its place. */
static void read_vertex(struct agx_program_binding *binding)
{
   uint64_t value = binding->min_size_B;
   binding->min_size_B = 0;
   binding->divisor = (uint32_t)value;
   binding->stride_B = value >> AGX_CONTAINER_STRIDE_SHIFT & 0xffff;
   binding->element_B = value >> AGX_CONTAINER_SIZE_SHIFT & 0xff;
   binding->per_instance = (uint32_t)(value >> AGX_CONTAINER_RATE_SHIFT);
}

static agx_status read_records(struct reader *reader)
{
   struct agx_program *program = &reader->program;
   struct section bindings, uniforms, states;
   AGX_TRY(need_records(reader, AGX_CONTAINER_BINDINGS, program->binding_count,
                        AGX_PROGRAM_MAX_BINDINGS, &bindings));
   AGX_TRY(need_records(reader, AGX_CONTAINER_UNIFORMS, program->uniform_count,
                        AGX_PROGRAM_MAX_UNIFORMS, &uniforms));
   AGX_TRY(need_records(reader, AGX_CONTAINER_STATES, program->state_count, AGX_PROGRAM_MAX_STATES,
                        &states));
   for (uint32_t i = 0; i < program->binding_count; i++) {
      const uint8_t *at = bindings.bytes + (size_t)i * AGX_CONTAINER_RECORD_BYTES;
      uint32_t kind = agx_get_u32(at + 8), access = agx_get_u32(at + 12);
      uint64_t last = get_u64(at + 16);
      const bool is_array = agx_binding_is_array(kind & 0xff, access);
      if (is_array && last > UINT32_MAX)
         return AGX_FAIL(AGX_INVALID_ARGUMENT, "program: binding %u of too many elements", i);
      reader->bindings[i] = (struct agx_program_binding){
         .set = agx_get_u32(at),
         .binding = agx_get_u32(at + 4),
         .kind = kind & 0xff,
         .access = access & 0xff,
         .min_size_B = is_array ? 0 : last,
         .elements = is_array ? (uint32_t)last : 0,
         .element = kind >> AGX_CONTAINER_ELEMENT_SHIFT,
         .dim = kind >> AGX_CONTAINER_DIM_SHIFT & 0xff,
         .robustness = access >> AGX_CONTAINER_ROBUST_SHIFT,
      };
      if (agx_binding_is_vertex(kind & 0xff))
         read_vertex(&reader->bindings[i]);
   }
   for (uint32_t i = 0; i < program->uniform_count; i++) {
      const uint8_t *at = uniforms.bytes + (size_t)i * AGX_CONTAINER_RECORD_BYTES;
      reader->uniforms[i] =
         (struct agx_program_uniform){agx_get_u32(at), agx_get_u32(at + 4), agx_get_u32(at + 8),
                                      agx_get_u32(at + 12), get_u64(at + 16)};
   }
   for (uint32_t i = 0; i < program->state_count; i++) {
      const uint8_t *at = states.bytes + (size_t)i * AGX_CONTAINER_RECORD_BYTES;
      reader->states[i] =
         (struct agx_program_state){agx_get_u32(at), agx_get_u32(at + 4), agx_get_u32(at + 8)};
   }
   program->states = reader->states;
   program->bindings = reader->bindings;
   program->uniforms = reader->uniforms;
   return AGX_OK;
}

/* What is only there to be asked for; a file may have none of it. */
static agx_status read_reflection(struct reader *reader)
{
   struct agx_program *program = &reader->program;
   struct section parameters, constants, names;
   AGX_TRY(find_section(reader, AGX_CONTAINER_NAMES, &names));
   if (!names.bytes)
      return program->parameter_count || program->constant_count ? malformed("no names") : AGX_OK;
   AGX_TRY(need_records(reader, AGX_CONTAINER_PARAMETERS, program->parameter_count,
                        AGX_PROGRAM_MAX_PARAMETERS, &parameters));
   AGX_TRY(need_records(reader, AGX_CONTAINER_CONSTANTS, program->constant_count,
                        AGX_PROGRAM_MAX_CONSTANTS, &constants));
   if (names.size > AGX_PROGRAM_MAX_NAMES_B)
      return malformed("too many names");
   for (uint32_t i = 0; i < program->parameter_count; i++) {
      const uint8_t *at = parameters.bytes + (size_t)i * AGX_CONTAINER_RECORD_BYTES;
      reader->parameters[i] = (struct agx_program_parameter){
         agx_get_u32(at),      agx_get_u32(at + 4),  agx_get_u32(at + 8),
         agx_get_u32(at + 12), agx_get_u32(at + 16), agx_get_u32(at + 20)};
   }
   for (uint32_t i = 0; i < program->constant_count; i++) {
      const uint8_t *at = constants.bytes + (size_t)i * AGX_CONTAINER_RECORD_BYTES;
      uint32_t type = agx_get_u32(at + 4);
      reader->constants[i] =
         (struct agx_program_constant){.id = agx_get_u32(at),
                                       .type = type & 0xff,
                                       .bytes = type >> AGX_CONTAINER_CONSTANT_BYTES_SHIFT,
                                       .name = agx_get_u32(at + 8),
                                       .value = get_u64(at + 16)};
   }
   program->parameters = reader->parameters;
   program->constants = reader->constants;
   program->names = (const char *)names.bytes;
   program->names_B = (uint32_t)names.size;
   return AGX_OK;
}

/* The entry's name is that of the first symbol. */
static agx_status read_name(struct reader *reader)
{
   struct section symbols, strings;
   AGX_TRY(need_section(reader, ".symtab", &symbols));
   AGX_TRY(need_section(reader, ".strtab", &strings));
   if (symbols.size < 2 * AGX_ELF_SYMBOL_BYTES)
      return malformed("no entry symbol");
   uint32_t at = agx_get_u32(symbols.bytes + AGX_ELF_SYMBOL_BYTES);
   size_t room = at < strings.size ? strings.size - at : 0;
   size_t length = room ? strnlen((const char *)strings.bytes + at, room) : 0;
   if (length == room || length >= AGX_PROGRAM_MAX_NAME_B)
      return malformed("the entry symbol's name has no end, or 256 KiB and more");
   agx_program_set_name(&reader->program, (const char *)strings.bytes + at);
   return AGX_OK;
}

static agx_status read_code(struct reader *reader)
{
   struct agx_program *program = &reader->program;
   struct section text, preamble, data, lines, texts;
   AGX_TRY(need_section(reader, AGX_CONTAINER_TEXT, &text));
   AGX_TRY(find_section(reader, AGX_CONTAINER_PREAMBLE, &preamble));
   AGX_TRY(find_section(reader, AGX_CONTAINER_DATA, &data));
   AGX_TRY(find_section(reader, AGX_CONTAINER_LINES, &lines));
   AGX_TRY(find_section(reader, AGX_CONTAINER_TEXTS, &texts));
   if (data.size > AGX_PROGRAM_MAX_DATA_B)
      return malformed("more data than a program may have");
   if (text.size > AGX_PROGRAM_MAX_CODE_B || preamble.size > AGX_PROGRAM_MAX_CODE_B)
      return malformed("more code than a program may have");
   if (lines.size > AGX_PROGRAM_MAX_LINES_B || texts.size > AGX_PROGRAM_MAX_TEXTS_B)
      return malformed("a larger table of lines than a program may have");
   program->code = text.bytes;
   program->code_B = (uint32_t)text.size;
   program->preamble = preamble.bytes;
   program->preamble_B = (uint32_t)preamble.size;
   program->data = data.size ? data.bytes : NULL;
   program->data_B = (uint32_t)data.size;
   program->lines = lines.size ? lines.bytes : NULL;
   program->lines_B = (uint32_t)lines.size;
   program->texts = texts.size ? texts.bytes : NULL;
   program->texts_B = (uint32_t)texts.size;
   return AGX_OK;
}

static void read_guard(const uint8_t *at, struct agx_program_guard *out)
{
   out->binding = agx_get_u32(at);
   out->bytes = agx_get_u32(at + 4);
   out->step_count = agx_get_u32(at + 8);
   for (unsigned i = 0; i < AGX_PROGRAM_MAX_STEPS; i++)
      out->steps[i] =
         (struct agx_program_step){agx_get_u32(at + 12 + 8 * i), agx_get_u32(at + 16 + 8 * i)};
}

static agx_status read_unchecked(struct reader *reader)
{
   struct agx_program *program = &reader->program;
   struct section guards, unchecked;
   uint32_t count = program->guard_count;
   AGX_TRY(find_section(reader, AGX_CONTAINER_UNCHECKED, &unchecked));
   if (!unchecked.bytes)
      return count ? malformed("guards of nothing") : AGX_OK;
   if (reader->part == PART_UNCHECKED)
      return malformed("an unchecked variant has one itself");
   AGX_TRY(need_section(reader, AGX_CONTAINER_GUARDS, &guards));
   if (count > AGX_PROGRAM_MAX_GUARDS || guards.size != count * (size_t)AGX_CONTAINER_GUARD_BYTES)
      return malformed("the wrong number of guards");
   for (uint32_t i = 0; i < count; i++)
      read_guard(guards.bytes + (size_t)i * AGX_CONTAINER_GUARD_BYTES, &reader->guards[i]);
   program->guards = reader->guards;
   struct programs variant = {.count = 0};
   agx_status status =
      read_image(unchecked.bytes, unchecked.size, reader->alloc, PART_UNCHECKED, &variant);
   program->unchecked = reader->unchecked =
      variant.count ? variant.at[0] : NULL; /* freed in any case */
   return status;
}

/* The file's further programs. Their sections may not share bytes, so that a small file cannot
 * become a large module. */
static agx_status read_entries(struct reader *reader)
{
   size_t total_B = 0;
   struct section entry;
   for (uint32_t at = 0;;) {
      AGX_TRY(next_section(reader, AGX_CONTAINER_ENTRY, &at, &entry));
      if (!entry.bytes)
         return AGX_OK;
      if (reader->part != PART_FILE)
         return malformed("an entry point inside another one");
      total_B += entry.size;
      if (reader->programs->count == AGX_PROGRAM_MAX_ENTRIES || total_B > reader->size)
         return malformed("more entry points than a file may have");
      AGX_TRY(read_image(entry.bytes, entry.size, reader->alloc, PART_ENTRY, reader->programs));
   }
}

static agx_status read_all(struct reader *reader)
{
   agx_status status = agx_elf_open(reader->image, reader->size, &reader->elf);
   if (status != AGX_OK) {
      agx_error_prefix("program");
      return status;
   }
   if (reader->elf.machine != AGX_ELF_MACHINE_NONE || reader->elf.type != AGX_ELF_TYPE_REL)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "program: ELF image: machine %u, type %u is not ours",
                      reader->elf.machine, reader->elf.type);
   AGX_TRY(read_notes(reader));
   AGX_TRY(read_words(reader));
   AGX_TRY(read_records(reader));
   AGX_TRY(read_name(reader));
   AGX_TRY(read_reflection(reader));
   AGX_TRY(read_code(reader));
   return read_unchecked(reader);
}

static agx_status read_image(const void *image, size_t size, const struct agx_host_alloc *alloc,
                             enum part part, struct programs *programs)
{
   if (!agx_program_is_elf(image, size))
      return malformed("not an ELF file");
   if (size > AGX_CONTAINER_MAX_BYTES)
      return AGX_FAIL(AGX_INVALID_ARGUMENT,
                      "program: ELF image of %zu bytes, at most %u: put fewer entry points into it",
                      size, AGX_CONTAINER_MAX_BYTES);
   struct reader *reader = agx_host_zalloc(alloc, sizeof(*reader));
   if (!reader)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "program: no memory to read it");
   reader->image = image;
   reader->alloc = alloc;
   reader->part = part;
   reader->programs = programs;
   reader->size = size;
   agx_status status = read_all(reader);
   if (status == AGX_OK)
      status = agx_program_copy(&reader->program, alloc, &programs->at[programs->count]);
   if (status == AGX_OK) {
      programs->count++;
      status = read_entries(reader);
   }
   agx_program_free(reader->unchecked);
   agx_host_free(alloc, reader, sizeof(*reader));
   return status;
}

static agx_status read_file(const void *image, size_t size, const struct agx_host_alloc *alloc,
                            struct programs *programs)
{
   agx_status status = read_image(image, size, alloc, PART_FILE, programs);
   while (status != AGX_OK && programs->count)
      agx_program_free(programs->at[--programs->count]);
   return status;
}

agx_status agx_program_read_elf(const void *image, size_t size, const struct agx_host_alloc *alloc,
                                struct agx_program **out_program)
{
   struct programs programs = {.count = 0};
   *out_program = NULL;
   AGX_TRY(read_file(image, size, alloc, &programs));
   if (programs.count == 1) {
      *out_program = programs.at[0];
      return AGX_OK;
   }
   uint32_t count = programs.count;
   while (programs.count)
      agx_program_free(programs.at[--programs.count]);
   return AGX_FAIL(AGX_INVALID_ARGUMENT, "program: ELF image: %u entry points instead of one",
                   count);
}

agx_status agx_module_read_elf(const void *image, size_t size, const struct agx_host_alloc *alloc,
                               struct agx_module **out_module)
{
   struct programs programs = {.count = 0};
   *out_module = NULL;
   AGX_TRY(read_file(image, size, alloc, &programs));
   return agx_module_create(programs.at, programs.count, alloc, out_module);
}
