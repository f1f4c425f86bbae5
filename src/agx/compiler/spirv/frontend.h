/* SPDX-License-Identifier: MIT
 *
 * The front end's wall: SPIR-V to IR.
 */
#pragma once

#include "agx/compiler/ir/ir.h"

/* Fills a fresh shader from a module; every word is checked. Fails through agxc_fail:
 * AGX_UNIMPLEMENTED names what is missing, AGX_INVALID_ARGUMENT the word that is malformed. */
void agxc_spirv_to_ir(struct agxc_shader *shader, const uint32_t *words, size_t word_count);
