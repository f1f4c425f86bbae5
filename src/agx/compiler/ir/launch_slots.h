/* SPDX-License-Identifier: MIT
 *
 * What a launch has to put into uniform and state registers, the scratch memory of a thread, and
 * the constants of a program that lie in memory. Passes ask for a slot by what it holds; equal ones
 * share it.
 */
#pragma once

#include "agx/compiler/ir/shader.h"

/* The uniform halves that hold the described value; makes the slot on first use.
 * Addresses are kept below half 256 (memory bases). Fails the compilation when uniforms
 * run out. */
struct agxc_ref agxc_uniform_slot(struct agxc_shader *shader, enum agx_uniform_kind kind,
                                  uint32_t index, uint64_t value, unsigned bits);

/* The slot that begins at a uniform half, or NULL. */
const struct agx_program_uniform *agxc_slot_at(const struct agxc_shader *shader, uint32_t half);

/* The texture or sampler state register that holds the described descriptor, its number; made on
 * first use. Fails the compilation when they run out. */
uint32_t agxc_state_slot(struct agxc_shader *shader, enum agx_state_kind kind, uint32_t binding,
                         uint32_t element);

/* Uniform halves that the preamble stores a value of so many bits to, each call its own. */
struct agxc_ref agxc_uniform_result(struct agxc_shader *shader, unsigned bits);

/* Adds constants to the data that the program finds in memory, and gives their address; false when
 * there is no room for them, or for their address. */
bool agxc_data_add(struct agxc_shader *shader, const uint8_t *bytes, uint32_t size_B,
                   struct agxc_ref *out_address);

/* Takes bytes of the thread's scratch memory, aligned to 4, and gives their offset; fails
 * the compilation beyond AGX_PROGRAM_MAX_SCRATCH_B. */
uint32_t agxc_scratch_alloc(struct agxc_shader *shader, uint64_t bytes);
