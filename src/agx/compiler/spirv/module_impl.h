/* SPDX-License-Identifier: MIT
 *
 * What the walk over a module and the frame around it call: readers of module-level instructions,
 * and what comes before and after the entry point's code.
 */
#pragma once

#include "agx/compiler/spirv/reader_impl.h"

/* Reads all words once: types, constants, variables, and functions as lists of blocks. */
void agxc_spv_read_module(struct agxc_spv *s);
/* Chooses the entry point and fills s->reached. */
void agxc_spv_find_reached(struct agxc_spv *s);
/* Outside of functions: the word behind a function that the entry point does not reach, or behind
 * an instruction of unknown opcode whose result it does not reach; else `at`. */
uint32_t agxc_spv_behind_unreached(const struct agxc_spv *s, uint32_t at);
/* Reads an OpType instruction. */
void agxc_spv_read_type(struct agxc_spv *s, const struct agxc_spv_instr *in);
/* Announces a pointer type, whose pointee comes later. */
void agxc_spv_read_forward_pointer(struct agxc_spv *s, const struct agxc_spv_instr *in);
/* Reads a constant, specialization constant or OpUndef. */
void agxc_spv_read_constant(struct agxc_spv *s, const struct agxc_spv_instr *in);
/* Reads an OpVariable outside functions. */
void agxc_spv_read_variable(struct agxc_spv *s, const struct agxc_spv_instr *in);
/* Whether an execution mode is one of SPV_KHR_float_controls. */
bool agxc_spv_is_float_mode(uint32_t mode);
/* Notes such a mode; fails where the hardware does something else. */
void agxc_spv_read_float_mode(struct agxc_spv *s, const struct agxc_spv_instr *in);

/* Remembers a name, before anything else is known. */
void agxc_spv_note_name(struct agxc_spv *s, const struct agxc_spv_instr *in);
/* Of OpSource: remembers where a file's text is. */
void agxc_spv_note_source(struct agxc_spv *s, const struct agxc_spv_instr *in);
/* Of any instruction: lists the source line that it says those behind it come from. Returns its
 * index in s->lines, or 0. */
uint32_t agxc_spv_note_line(struct agxc_spv *s, const struct agxc_spv_instr *in);
/* The index in s->lines of what the instruction at that word says. */
uint32_t agxc_spv_line_at(const struct agxc_spv *s, uint32_t word);

/* Remembers a specialization constant with the module's value. */
void agxc_spv_note_constant(struct agxc_spv *s, const struct agxc_spv_instr *in, uint32_t spec_id,
                            uint64_t value);
/* Lists parameters, when it is known which bindings there are. */
void agxc_spv_reflect(struct agxc_spv *s);

/* Notes an execution mode that makes quads of invocations; two different ones fail. */
void agxc_spv_read_quad_mode(struct agxc_spv *s, uint32_t mode);
/* Fails where such a mode does not fit the workgroup's size, which is known by then. */
void agxc_spv_check_quads(struct agxc_spv *s);

/* Finds, before functions are read, constants that are none where launches choose the size. */
void agxc_spv_mark_dynamic_size(struct agxc_spv *s);
/* Checks, before functions are emitted, that launches may choose what the options let them. */
void agxc_spv_check_dynamic_size(struct agxc_spv *s);
/* At the beginning of the entry point: constants that depend on the workgroup's size become
 * values. */
void agxc_spv_begin_dynamic_size(struct agxc_spv *s);

/* Notes what an instruction of a function body does to roots of pointers. */
void agxc_spv_scan_pointers(struct agxc_spv *s, const struct agxc_spv_instr *in);
/* After the walk: what is indexed through parameters. */
void agxc_spv_propagate_indexed(struct agxc_spv *s);

/* Sorts the buffer variables by set and binding. */
void agxc_spv_assign_bindings(struct agxc_spv *s);
/* Drops bindings that no instruction names and renumbers the others. */
void agxc_spv_prune_bindings(struct agxc_spv *s);

/* Emits the entry point into shader->body. */
void agxc_spv_emit_entry(struct agxc_spv *s);
