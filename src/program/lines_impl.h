/* SPDX-License-Identifier: MIT
 *
 * Numbers of DWARF 5 that both the writer and the reader of line tables name.
 * Source: DWARF Debugging Information Format, version 5, sections 6.2 and 7.22.
 */
#pragma once

#include <stdint.h>

enum {
   AGX_DWARF_VERSION = 5,
   AGX_DWARF_ADDRESS_B = 8,
   AGX_DWARF_UNIT_B = 2, /* instructions have an even length */
   AGX_DWARF_LINE_BASE = -5,
   AGX_DWARF_LINE_RANGE = 14,
   AGX_DWARF_OPCODE_BASE = 13,
   AGX_DWARF_LAST_OPCODE = 255,
};

#define AGX_DWARF_PATH            1
#define AGX_DWARF_DIRECTORY_INDEX 2
#define AGX_DWARF_FORM_STRING     0x08
#define AGX_DWARF_FORM_UDATA      0x0f

enum agx_dwarf_standard {
   AGX_DWARF_COPY = 1,
   AGX_DWARF_ADVANCE_PC = 2,
   AGX_DWARF_ADVANCE_LINE = 3,
   AGX_DWARF_SET_FILE = 4,
   AGX_DWARF_SET_COLUMN = 5,
};

enum agx_dwarf_extended {
   AGX_DWARF_END_SEQUENCE = 1,
   AGX_DWARF_SET_ADDRESS = 2,
};

/* Operands of the standard opcodes from 1 on, as a header lists them. */
extern const uint8_t agx_dwarf_operands[AGX_DWARF_OPCODE_BASE - 1];
/* What a directory is made of, and what a file is: how many contents, and each with its form. libdw
 * wants a directory's index. */
extern const uint8_t agx_dwarf_directory[3];
extern const uint8_t agx_dwarf_file[5];
