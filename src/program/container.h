/* SPDX-License-Identifier: MIT
 *
 * How a struct agx_program lies in an ELF file; only for the files of this room.
 * All numbers are little-endian. The file is ET_REL for machine EM_NONE (there is no
 * registered number for AGX) without relocations:
 *
 *   .text               main program with padding; the entry symbol points here
 *   .text.preamble      preamble, when there is one
 *   .rodata.agx.program the words of agx_program_words, in that order
 *   .rodata.agx.bindings, .rodata.agx.uniforms, .rodata.agx.states   records of six words each;
 *                       a binding's third word has the kind in its lowest byte, the dimension
 *                       in the next, the element above; its last two have the least size of
 *                       a buffer, or the elements of an array of images or samplers;
 *                       those of a vertex stage's are
 *                       its divisor, and stride, element size and rate (AGX_CONTAINER_*)
 *   .rodata.agx.parameters, .rodata.agx.constants   records likewise; of a constant: id, type with
 *                       its bytes in the second byte, name, nothing, and the value
 *   .rodata.agx.data    constants that the code reads from memory, when there are some
 *   .rodata.agx.names   their names, each with a zero byte behind
 *   .note.agx           ABI version, chip, kernel interface
 *   .debug_line         which source lines the code comes from (lines.h), when that is known. The
 *                       code begins at address 0, the preamble at that of its section
 *   .debug_agx_text     the texts of its files, in their order, each with a zero byte behind;
 *                       when the module held one
 *   .debug_info, .debug_abbrev   one compile unit around it, for tools that ask for one; the reader
 *                       doesn't look at it
 *   .rodata.agx.entry   any number: the image of a further program, of the same chip
 *
 * A file for several chips has only the whole files of each, in sections of their own (bundle.h).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "program/elf.h"
#include "program/program.h"

#define AGX_CONTAINER_TEXT     ".text"
#define AGX_CONTAINER_PREAMBLE ".text.preamble"
#define AGX_CONTAINER_PROGRAM  ".rodata.agx.program"
#define AGX_CONTAINER_BINDINGS ".rodata.agx.bindings"
#define AGX_CONTAINER_UNIFORMS ".rodata.agx.uniforms"
#define AGX_CONTAINER_STATES   ".rodata.agx.states"
/* Of a program with an unchecked variant: the guards, which must hold for it, and its whole image.
 */
#define AGX_CONTAINER_GUARDS               ".rodata.agx.conditions"
#define AGX_CONTAINER_UNCHECKED            ".rodata.agx.inside"
#define AGX_CONTAINER_PARAMETERS           ".rodata.agx.parameters"
#define AGX_CONTAINER_CONSTANTS            ".rodata.agx.constants"
#define AGX_CONTAINER_DATA                 ".rodata.agx.data"
#define AGX_CONTAINER_NAMES                ".rodata.agx.names"
#define AGX_CONTAINER_LINES                ".debug_line"
#define AGX_CONTAINER_TEXTS                ".debug_agx_text"
#define AGX_CONTAINER_CONSTANT_BYTES_SHIFT 8
#define AGX_CONTAINER_ENTRY                ".rodata.agx.entry"
#define AGX_CONTAINER_NOTE                 ".note.agx"

#define AGX_CONTAINER_NOTE_OWNER       "agxhal"
#define AGX_CONTAINER_KERNEL_INTERFACE "asahi-drm 7.2-merged"

enum agx_container_note {
   AGX_CONTAINER_NOTE_ABI = 1,  /* one word */
   AGX_CONTAINER_NOTE_CHIP = 2, /* text */
   AGX_CONTAINER_NOTE_KERNEL_INTERFACE = 3,
};

#define AGX_CONTAINER_RECORD_WORDS 6
/* Of a binding's dimension and element in the word of its kind. */
#define AGX_CONTAINER_DIM_SHIFT     8
#define AGX_CONTAINER_ELEMENT_SHIFT 16
/* Of its robustness in the word of its access. */
#define AGX_CONTAINER_ROBUST_SHIFT 8
/* Of a vertex stage's binding, in the record's last 64 bits above the divisor. */
#define AGX_CONTAINER_STRIDE_SHIFT 32
#define AGX_CONTAINER_SIZE_SHIFT   48
#define AGX_CONTAINER_RATE_SHIFT   56
#define AGX_CONTAINER_RECORD_BYTES (4 * AGX_CONTAINER_RECORD_WORDS)
/* A guard: binding, bytes, step count, and all steps. */
#define AGX_CONTAINER_GUARD_BYTES (4 * (3 + 2 * AGX_PROGRAM_MAX_STEPS))
#define AGX_CONTAINER_MAX_BYTES   (64u << 20)
#define AGX_PROGRAM_MAX_CODE_B    (16u << 20)

/* Offsets in struct agx_program of its plain 32-bit fields, in file order. */
extern const uint16_t agx_program_words[];
extern const size_t agx_program_word_count;

/* Checks every field, and the code instruction by instruction. */
AGX_MUST_CHECK agx_status agx_program_check(const struct agx_program *program,
                                            const struct agx_host_alloc *alloc);
/* The part of guards. Failures' texts lack the program's name. */
AGX_MUST_CHECK agx_status agx_program_check_guards(const struct agx_program *program);
/* The code's part of that: it decodes, stays inside, ends in stop and traps, and names no
 * register that the program does not declare. Texts likewise. */
AGX_MUST_CHECK agx_status agx_program_check_code(const struct agx_program *program,
                                                 const struct agx_host_alloc *alloc);
