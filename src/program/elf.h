/* SPDX-License-Identifier: MIT
 *
 * ELF files as far as programs and `agx disasm` need them: 64 bits, little-endian, sections
 * only. The numbers are those of the System V ABI; no header of the host says them, since
 * hosts without ELF have none.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/status.h"

/* Reads a little-endian number, on any host. */
static inline uint32_t agx_get_u32(const uint8_t *at)
{
   return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Writes a little-endian number, on any host. */
static inline void agx_put_u32(uint8_t *at, uint32_t value)
{
   for (unsigned i = 0; i < 4; i++)
      at[i] = (uint8_t)(value >> 8 * i);
}

enum {
   AGX_ELF_TYPE_REL = 1,
   AGX_ELF_MACHINE_NONE = 0,
   AGX_ELF_HEADER_BYTES = 64, /* of the file's header, and of a section's */
   AGX_ELF_SYMBOL_BYTES = 24,
   AGX_ELF_MAX_SECTIONS = 0xff00, /* numbers from here on have other meanings */
};

enum agx_elf_section_type {
   AGX_ELF_PROGBITS = 1,
   AGX_ELF_SYMTAB = 2,
   AGX_ELF_STRTAB = 3,
   AGX_ELF_NOTE = 7,
   AGX_ELF_NOBITS = 8,
};

enum agx_elf_section_flags {
   AGX_ELF_ALLOC = 0x2,
   AGX_ELF_EXECUTABLE = 0x4,
   AGX_ELF_COMPRESSED = 0x800,
};

/* A section. Names and bytes are borrowed: of a file that is read, they lie inside it. */
struct agx_elf_section {
   const char *name;
   uint32_t type;
   uint32_t link; /* the index of another section, as the type says */
   uint32_t info;
   uint64_t flags;
   uint64_t address;
   uint64_t alignment; /* a power of two */
   uint64_t entry_B;   /* bytes of an entry in a table; 0: no table */
   const void *bytes;
   size_t size;
};

/* A file that is read; it borrows the image. */
struct agx_elf {
   const uint8_t *image;
   size_t size;
   uint32_t type, machine;
   uint32_t section_count; /* with the empty one at index 0 */
   size_t sections_at;
   const char *names; /* whose last byte is zero */
   size_t names_B;
};

/* Reads a file's header. AGX_INVALID_ARGUMENT when it isn't a 64-bit little-endian ELF file
 * whose table of sections, with their names, lies inside it, or when the last name has no end. */
AGX_MUST_CHECK agx_status agx_elf_open(const void *image, size_t size, struct agx_elf *out_elf);

/* One section; index is below section_count. AGX_INVALID_ARGUMENT when its bytes or its name
 * don't lie inside the file, or when it is compressed; out_section->name is set as far as it is
 * known. A section without bytes in the file (AGX_ELF_NOBITS) is empty. */
AGX_MUST_CHECK agx_status agx_elf_section(const struct agx_elf *elf, uint32_t index,
                                          struct agx_elf_section *out_section);

/* Writes a relocatable file of these sections, which get the indices 1, 2 and so on, and behind
 * them one for their names. The caller frees the image with agx_host_free. */
AGX_MUST_CHECK agx_status agx_elf_write(const struct agx_elf_section *sections, uint32_t count,
                                        const struct agx_host_alloc *alloc, void **out_image,
                                        size_t *out_size);
