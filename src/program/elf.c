/* SPDX-License-Identifier: MIT
 *
 * Reads and writes ELF files (elf.h). The reader and the writer of programs call it, and
 * `agx disasm` for files of any origin: whatever the bytes say, nothing outside of them is read.
 */
#include "program/elf.h"

#include <string.h>

#include "base/util.h"

/* Offsets in the file's header and in a section's. */
enum {
   FILE_CLASS = 4,
   FILE_DATA = 5,
   FILE_VERSION_BYTE = 6,
   FILE_TYPE = 16,
   FILE_MACHINE = 18,
   FILE_VERSION = 20,
   FILE_SECTIONS = 40,
   FILE_HEADER_BYTES = 52,
   FILE_SECTION_BYTES = 58,
   FILE_SECTION_COUNT = 60,
   FILE_NAMES = 62,
   SECTION_NAME = 0,
   SECTION_TYPE = 4,
   SECTION_FLAGS = 8,
   SECTION_ADDRESS = 16,
   SECTION_OFFSET = 24,
   SECTION_SIZE = 32,
   SECTION_LINK = 40,
   SECTION_INFO = 44,
   SECTION_ALIGNMENT = 48,
   SECTION_ENTRY = 56,
};

#define CLASS_64           2
#define LITTLE_ENDIAN_DATA 1
#define VERSION            1

static uint32_t get_u16(const uint8_t *at)
{
   return at[0] | (uint32_t)at[1] << 8;
}

static uint64_t get_u64(const uint8_t *at)
{
   return agx_get_u32(at) | (uint64_t)agx_get_u32(at + 4) << 32;
}

static void put_u16(uint8_t *at, uint32_t value)
{
   at[0] = (uint8_t)value;
   at[1] = (uint8_t)(value >> 8);
}

static void put_u64(uint8_t *at, uint64_t value)
{
   agx_put_u32(at, (uint32_t)value);
   agx_put_u32(at + 4, (uint32_t)(value >> 32));
}

/* ---- reading -------------------------------------------------------------- */

static agx_status malformed(const char *what)
{
   return AGX_FAIL(AGX_INVALID_ARGUMENT, "ELF file: %s", what);
}

static const uint8_t *header_of(const struct agx_elf *elf, uint32_t index)
{
   return elf->image + elf->sections_at + (size_t)index * AGX_ELF_HEADER_BYTES;
}

agx_status agx_elf_open(const void *image, size_t size, struct agx_elf *out_elf)
{
   const uint8_t *header = image;
   *out_elf = (struct agx_elf){.image = image, .size = size};
   if (size < AGX_ELF_HEADER_BYTES || memcmp(header, "\177ELF", 4) != 0)
      return malformed("no header");
   if (header[FILE_CLASS] != CLASS_64 || header[FILE_DATA] != LITTLE_ENDIAN_DATA)
      return malformed("not a 64-bit little-endian file");
   out_elf->type = get_u16(header + FILE_TYPE);
   out_elf->machine = get_u16(header + FILE_MACHINE);
   out_elf->section_count = get_u16(header + FILE_SECTION_COUNT);
   uint64_t at = get_u64(header + FILE_SECTIONS);
   if (get_u16(header + FILE_SECTION_BYTES) != AGX_ELF_HEADER_BYTES || out_elf->section_count < 2 ||
       !agx_range_fits(at, (uint64_t)out_elf->section_count * AGX_ELF_HEADER_BYTES, size))
      return malformed("no table of sections inside of it");
   out_elf->sections_at = (size_t)at;

   uint32_t names = get_u16(header + FILE_NAMES);
   if (names == 0 || names >= out_elf->section_count)
      return malformed("no section names");
   const uint8_t *table = header_of(out_elf, names);
   uint64_t names_at = get_u64(table + SECTION_OFFSET), names_B = get_u64(table + SECTION_SIZE);
   if (agx_get_u32(table + SECTION_TYPE) != AGX_ELF_STRTAB ||
       !agx_range_fits(names_at, names_B, size))
      return malformed("no section names");
   /* With an end behind all names each one has an end, so that no section costs a search for it:
    * many sections with one long name would cost hours. */
   if (names_B == 0 || ((const char *)image)[names_at + names_B - 1] != 0)
      return malformed("the section names have no end");
   out_elf->names = (const char *)image + names_at;
   out_elf->names_B = (size_t)names_B;
   return AGX_OK;
}

agx_status agx_elf_section(const struct agx_elf *elf, uint32_t index,
                           struct agx_elf_section *out_section)
{
   const uint8_t *header = header_of(elf, index);
   uint32_t name = agx_get_u32(header + SECTION_NAME);
   uint64_t offset = get_u64(header + SECTION_OFFSET), size = get_u64(header + SECTION_SIZE);
   *out_section = (struct agx_elf_section){
      .name = "?",
      .type = agx_get_u32(header + SECTION_TYPE),
      .link = agx_get_u32(header + SECTION_LINK),
      .info = agx_get_u32(header + SECTION_INFO),
      .flags = get_u64(header + SECTION_FLAGS),
      .address = get_u64(header + SECTION_ADDRESS),
      .alignment = get_u64(header + SECTION_ALIGNMENT),
      .entry_B = get_u64(header + SECTION_ENTRY),
   };
   if (name >= elf->names_B)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "ELF file: section %u has no name", index);
   out_section->name = elf->names + name;
   if (out_section->type == AGX_ELF_NOBITS)
      return AGX_OK;
   if (!agx_range_fits(offset, size, elf->size))
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "ELF file: section %s is not inside it",
                      out_section->name);
   if (out_section->flags & AGX_ELF_COMPRESSED)
      return AGX_FAIL(AGX_INVALID_ARGUMENT, "ELF file: section %s is compressed",
                      out_section->name);
   out_section->bytes = elf->image + offset;
   out_section->size = (size_t)size;
   return AGX_OK;
}

/* ---- writing -------------------------------------------------------------- */

/* The image, first measured (bytes is NULL), then filled in. */
struct writer {
   uint8_t *bytes;
   size_t at, names_at, headers_at;
};

static void put_header(uint8_t *at, const struct agx_elf_section *section, size_t name,
                       size_t offset)
{
   agx_put_u32(at + SECTION_NAME, (uint32_t)name);
   agx_put_u32(at + SECTION_TYPE, section->type);
   put_u64(at + SECTION_FLAGS, section->flags);
   put_u64(at + SECTION_ADDRESS, section->address);
   put_u64(at + SECTION_OFFSET, offset);
   put_u64(at + SECTION_SIZE, section->size);
   agx_put_u32(at + SECTION_LINK, section->link);
   agx_put_u32(at + SECTION_INFO, section->info);
   put_u64(at + SECTION_ALIGNMENT, section->alignment);
   put_u64(at + SECTION_ENTRY, section->entry_B);
}

static void add(struct writer *writer, uint32_t index, const struct agx_elf_section *section,
                size_t name)
{
   writer->at = agx_align_up(writer->at, section->alignment);
   if (writer->bytes) {
      if (section->bytes && section->size)
         memcpy(writer->bytes + writer->at, section->bytes, section->size);
      put_header(writer->bytes + writer->headers_at + (size_t)index * AGX_ELF_HEADER_BYTES, section,
                 name, writer->at);
   }
   writer->at += section->size;
}

/* The names stand in the last section, in the order of the sections; its first byte is the empty
 * name. */
static void add_sections(struct writer *writer, const struct agx_elf_section *sections,
                         uint32_t count)
{
   struct agx_elf_section names = {
      .name = ".shstrtab", .type = AGX_ELF_STRTAB, .alignment = 1, .size = 1};
   writer->at = AGX_ELF_HEADER_BYTES;
   for (uint32_t i = 0; i < count; i++) {
      add(writer, i + 1, &sections[i], names.size);
      names.size += strlen(sections[i].name) + 1;
   }
   size_t last = names.size;
   names.size += strlen(names.name) + 1;
   writer->names_at = writer->at;
   add(writer, count + 1, &names, last);
   if (writer->bytes) {
      char *at = (char *)writer->bytes + writer->names_at + 1;
      for (uint32_t i = 0; i <= count; i++) {
         const char *name = i < count ? sections[i].name : names.name;
         size_t name_B = strlen(name) + 1;
         memcpy(at, name, name_B);
         at += name_B;
      }
   }
   writer->headers_at = agx_align_up(writer->at, 8);
   writer->at = writer->headers_at + (size_t)(count + 2) * AGX_ELF_HEADER_BYTES;
}

static void put_file_header(const struct writer *writer, uint32_t count)
{
   uint8_t *header = writer->bytes;
   memcpy(header, "\177ELF", 4);
   header[FILE_CLASS] = CLASS_64;
   header[FILE_DATA] = LITTLE_ENDIAN_DATA;
   header[FILE_VERSION_BYTE] = VERSION;
   put_u16(header + FILE_TYPE, AGX_ELF_TYPE_REL);
   put_u16(header + FILE_MACHINE, AGX_ELF_MACHINE_NONE);
   agx_put_u32(header + FILE_VERSION, VERSION);
   put_u64(header + FILE_SECTIONS, writer->headers_at);
   put_u16(header + FILE_HEADER_BYTES, AGX_ELF_HEADER_BYTES);
   put_u16(header + FILE_SECTION_BYTES, AGX_ELF_HEADER_BYTES);
   put_u16(header + FILE_SECTION_COUNT, count + 2);
   put_u16(header + FILE_NAMES, count + 1);
}

agx_status agx_elf_write(const struct agx_elf_section *sections, uint32_t count,
                         const struct agx_host_alloc *alloc, void **out_image, size_t *out_size)
{
   struct writer writer = {.bytes = NULL};
   agx_assert(count + 2 < AGX_ELF_MAX_SECTIONS);
   add_sections(&writer, sections, count);
   *out_size = writer.at;
   *out_image = writer.bytes = agx_host_zalloc(alloc, writer.at);
   if (!writer.bytes)
      return AGX_FAIL(AGX_RESOURCE_EXHAUSTED, "program: no memory for %zu bytes of ELF", writer.at);
   add_sections(&writer, sections, count);
   put_file_header(&writer, count);
   return AGX_OK;
}
