/* SPDX-License-Identifier: MIT
 *
 * AGX_DEBUG=bounds: what each launch of a recording may access. Each function fails with
 * AGX_RESOURCE_EXHAUSTED only.
 */
#pragma once

#include "hal/record/bind_array.h"

/* Notes what the last launch may access besides its bindings. */
AGX_MUST_CHECK agx_status agx_bounds_note_program(struct agx_command_buffer *commands,
                                                  const struct agx_executable *executable);
/* Notes what the last launch may access of one thing that it binds. */
AGX_MUST_CHECK agx_status agx_bounds_note_bound(struct agx_command_buffer *commands,
                                                const struct agx_program_binding *binding,
                                                const struct agx_bound *bound);
/* Notes all of the last launch, by the two functions above. executable: whose code runs; heap_va:
 * where its heap lies. */
AGX_MUST_CHECK agx_status agx_bounds_note(struct agx_command_buffer *commands,
                                          const struct agx_binder *binder,
                                          const struct agx_executable *executable,
                                          uint64_t heap_va);
/* What the last launch may read besides. */
AGX_MUST_CHECK agx_status agx_bounds_note_data(struct agx_command_buffer *commands, uint64_t va,
                                               uint64_t length_B);
/* Tells the device what the recorded launches may access; nothing without AGX_DEBUG=bounds. */
AGX_MUST_CHECK agx_status agx_bounds_declare(struct agx_command_buffer *commands);
/* Tells the device that the stream is not watched any more. */
void agx_bounds_forget(struct agx_command_buffer *commands);
