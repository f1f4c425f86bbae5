/* SPDX-License-Identifier: MIT
 *
 * Writes a program's container (container.h) with libelf. libelf writes to files only,
 * so it gets one in memory, which is read back.
 */
#include <errno.h>
#include <libelf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "program/container.h"

#define MAX_NAMES_B 2048

struct image {
   void *bytes;
   size_t size;
};

/* Buffers that libelf refers to until the file is written. */
struct writer {
   const struct agx_program *program;
   Elf *elf;
   char names[MAX_NAMES_B]; /* section names */
   size_t names_B;
   uint8_t words[128];
   uint8_t notes[256];
   size_t notes_B;
   char *symbol_names; /* as much room as they take */
   size_t symbol_names_B, symbol_room_B;
   Elf64_Sym symbols[3];
   uint8_t bindings[AGX_PROGRAM_MAX_BINDINGS * AGX_CONTAINER_RECORD_BYTES];
   uint8_t uniforms[AGX_PROGRAM_MAX_UNIFORMS * AGX_CONTAINER_RECORD_BYTES];
   uint8_t states[AGX_PROGRAM_MAX_STATES * AGX_CONTAINER_RECORD_BYTES];
   uint8_t guards[AGX_PROGRAM_MAX_GUARDS * AGX_CONTAINER_GUARD_BYTES];
   uint8_t parameters[AGX_PROGRAM_MAX_PARAMETERS * AGX_CONTAINER_RECORD_BYTES];
   uint8_t constants[AGX_PROGRAM_MAX_CONSTANTS * AGX_CONTAINER_RECORD_BYTES];
   struct image unchecked;                        /* the unchecked variant's, or NULL */
   struct image entries[AGX_PROGRAM_MAX_ENTRIES]; /* further programs' */
   uint32_t entry_count;
};

static agx_status elf_failed(const char *what)
{
   return AGX_FAIL(AGX_INTERNAL, "program: libelf: %s: %s", what, elf_errmsg(-1));
}

static size_t add_name(struct writer *writer, const char *name)
{
   size_t at = writer->names_B, size = strlen(name) + 1;
   agx_assert(at + size <= sizeof(writer->names));
   memcpy(writer->names + at, name, size);
   writer->names_B += size;
   return at;
}

/* Adds a section; *out_index may be NULL. */
static agx_status add_section(struct writer *writer, Elf64_Shdr like, const char *name,
                              Elf_Type type, const void *bytes, size_t size, size_t *out_index)
{
   Elf_Scn *section = elf_newscn(writer->elf);
   Elf_Data *data = section ? elf_newdata(section) : NULL;
   Elf64_Shdr *header = data ? elf64_getshdr(section) : NULL;
   if (!header)
      return elf_failed(name);
   data->d_buf = (void *)bytes;
   data->d_size = size;
   data->d_type = type;
   data->d_align = like.sh_addralign;
   data->d_version = EV_CURRENT;
   like.sh_name = (Elf64_Word)add_name(writer, name);
   like.sh_offset = header->sh_offset;
   like.sh_size = header->sh_size;
   *header = like;
   if (out_index)
      *out_index = elf_ndxscn(section);
   return AGX_OK;
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
                  : agx_binding_is_array(b->kind) ? b->elements
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

static void make_symbol(struct writer *writer, Elf64_Sym *symbol, const char *name, size_t section,
                        size_t size)
{
   size_t name_B = strlen(name) + 1;
   memcpy(writer->symbol_names + writer->symbol_names_B, name, name_B);
   *symbol = (Elf64_Sym){
      .st_name = (Elf64_Word)writer->symbol_names_B,
      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
      .st_shndx = (Elf64_Section)section,
      .st_size = size,
   };
   writer->symbol_names_B += name_B;
}

static agx_status add_symbols(struct writer *writer, size_t text, size_t preamble)
{
   const struct agx_program *program = writer->program;
   unsigned count = preamble ? 3 : 2;
   writer->symbol_names_B = 1;
   make_symbol(writer, &writer->symbols[1], agx_program_name(program), text, program->text_B);
   if (preamble)
      make_symbol(writer, &writer->symbols[2], "preamble", preamble, program->preamble_B);
   size_t strings;
   AGX_TRY(add_section(writer, (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_addralign = 1}, ".strtab",
                       ELF_T_BYTE, writer->symbol_names, writer->symbol_names_B, &strings));
   return add_section(writer,
                      (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                   .sh_addralign = 8,
                                   .sh_entsize = sizeof(Elf64_Sym),
                                   .sh_link = (Elf64_Word)strings,
                                   .sh_info = 1},
                      ".symtab", ELF_T_SYM, writer->symbols, count * sizeof(Elf64_Sym), NULL);
}

static agx_status add_data(struct writer *writer)
{
   const Elf64_Shdr records = {.sh_type = SHT_PROGBITS,
                               .sh_flags = SHF_ALLOC,
                               .sh_addralign = 8,
                               .sh_entsize = AGX_CONTAINER_RECORD_BYTES};
   const Elf64_Shdr plain = {.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addralign = 4};
   const Elf64_Shdr notes = {.sh_type = SHT_NOTE, .sh_flags = SHF_ALLOC, .sh_addralign = 4};
   const struct agx_program *program = writer->program;
   make_words(writer);
   make_records(writer);
   make_notes(writer);
   make_guards(writer);
   make_reflection(writer);
   if (program->names_B) {
      AGX_TRY(add_section(writer, records, AGX_CONTAINER_PARAMETERS, ELF_T_BYTE, writer->parameters,
                          program->parameter_count * (size_t)AGX_CONTAINER_RECORD_BYTES, NULL));
      AGX_TRY(add_section(writer, records, AGX_CONTAINER_CONSTANTS, ELF_T_BYTE, writer->constants,
                          program->constant_count * (size_t)AGX_CONTAINER_RECORD_BYTES, NULL));
      AGX_TRY(add_section(writer, plain, AGX_CONTAINER_NAMES, ELF_T_BYTE, program->names,
                          program->names_B, NULL));
   }
   for (uint32_t i = 0; i < writer->entry_count; i++)
      AGX_TRY(add_section(writer, plain, AGX_CONTAINER_ENTRY, ELF_T_BYTE, writer->entries[i].bytes,
                          writer->entries[i].size, NULL));
   if (writer->unchecked.bytes) {
      AGX_TRY(add_section(writer, plain, AGX_CONTAINER_GUARDS, ELF_T_BYTE, writer->guards,
                          program->guard_count * (size_t)AGX_CONTAINER_GUARD_BYTES, NULL));
      AGX_TRY(add_section(writer, plain, AGX_CONTAINER_UNCHECKED, ELF_T_BYTE,
                          writer->unchecked.bytes, writer->unchecked.size, NULL));
   }
   AGX_TRY(add_section(writer, plain, AGX_CONTAINER_PROGRAM, ELF_T_BYTE, writer->words,
                       4 * agx_program_word_count, NULL));
   AGX_TRY(add_section(writer, records, AGX_CONTAINER_BINDINGS, ELF_T_BYTE, writer->bindings,
                       program->binding_count * (size_t)AGX_CONTAINER_RECORD_BYTES, NULL));
   AGX_TRY(add_section(writer, records, AGX_CONTAINER_UNIFORMS, ELF_T_BYTE, writer->uniforms,
                       program->uniform_count * (size_t)AGX_CONTAINER_RECORD_BYTES, NULL));
   AGX_TRY(add_section(writer, records, AGX_CONTAINER_STATES, ELF_T_BYTE, writer->states,
                       program->state_count * (size_t)AGX_CONTAINER_RECORD_BYTES, NULL));
   return add_section(writer, notes, AGX_CONTAINER_NOTE, ELF_T_BYTE, writer->notes, writer->notes_B,
                      NULL);
}

static agx_status build(struct writer *writer)
{
   const Elf64_Shdr code = {
      .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addralign = 128};
   const struct agx_program *program = writer->program;
   Elf64_Ehdr *header = elf64_newehdr(writer->elf);
   if (!header)
      return elf_failed("header");
   header->e_ident[EI_DATA] = ELFDATA2LSB;
   header->e_type = ET_REL;
   header->e_machine = EM_NONE;
   header->e_version = EV_CURRENT;
   add_name(writer, "");

   size_t text, preamble = 0, names;
   AGX_TRY(add_section(writer, code, AGX_CONTAINER_TEXT, ELF_T_BYTE, program->code, program->code_B,
                       &text));
   if (program->preamble_B)
      AGX_TRY(add_section(writer, code, AGX_CONTAINER_PREAMBLE, ELF_T_BYTE, program->preamble,
                          program->preamble_B, &preamble));
   AGX_TRY(add_data(writer));
   AGX_TRY(add_symbols(writer, text, preamble));
   AGX_TRY(add_section(writer, (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_addralign = 1}, ".shstrtab",
                       ELF_T_BYTE, writer->names, writer->names_B + sizeof(".shstrtab"), &names));
   header = elf64_getehdr(writer->elf);
   header->e_shstrndx = (Elf64_Half)names;
   return elf_update(writer->elf, ELF_C_WRITE) < 0 ? elf_failed("writing") : AGX_OK;
}

static agx_status read_back(int fd, const struct agx_host_alloc *alloc, void **out_image,
                            size_t *out_size)
{
   struct stat stat;
   if (fstat(fd, &stat) != 0)
      return agx_status_fail_errno(errno, "program: ELF in memory");
   size_t size = (size_t)stat.st_size;
   uint8_t *image = agx_host_zalloc(alloc, size);
   if (!image)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "program: no memory for %zu bytes of ELF", size);
   for (size_t at = 0; at < size;) {
      ssize_t got = pread(fd, image + at, size - at, (off_t)at);
      if (got <= 0) {
         agx_status status = agx_status_fail_errno(got < 0 ? errno : EIO, "program: ELF in memory");
         agx_host_free(alloc, image, size);
         return status;
      }
      at += (size_t)got;
   }
   *out_image = image;
   *out_size = size;
   return AGX_OK;
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

static agx_status write_file(struct writer *writer, const struct agx_host_alloc *alloc,
                             struct image *out_image)
{
   int fd = memfd_create("agx-program", MFD_CLOEXEC);
   if (fd < 0)
      return agx_status_fail_errno(errno, "program %s: memory file", writer->program->name);
   writer->elf = elf_begin(fd, ELF_C_WRITE, NULL);
   agx_status status = writer->elf ? build(writer) : elf_failed("beginning");
   if (writer->elf)
      elf_end(writer->elf);
   if (status == AGX_OK)
      status = read_back(fd, alloc, &out_image->bytes, &out_image->size);
   close(fd);
   return status;
}

static agx_status write_image(const struct agx_program *program, struct agx_program *const *others,
                              uint32_t other_count, const struct agx_host_alloc *alloc,
                              struct image *out_image)
{
   AGX_TRY(agx_program_check(program, alloc));
   if (elf_version(EV_CURRENT) == EV_NONE)
      return elf_failed("version");
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
   if (status == AGX_OK)
      status = write_file(writer, alloc, out_image);
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
