/* SPDX-License-Identifier: MIT */
#pragma once

#include "hal/device.h"
#include "program/program.h"

struct agx_executable {
   struct agx_object object;
   struct agx_device *device;
   struct agx_program *program;
   struct agxw_bo *bo;         /* machine code, in the USC window */
   uint32_t code_offset_B;     /* of the main program from the start of the window */
   uint32_t preamble_offset_B; /* likewise; meaningless without one */
   uint32_t uniform_B;         /* bytes of uniform contents a dispatch provides */

   /* Words that are the same in each dispatch, packed once (command_encode.c). */
   uint8_t launch_word_0[4];
   uint8_t words_tail[24]; /* of the launch words, behind the Uniform words */
   uint32_t words_tail_B;
};

/* Packs launch_word_0 and words_tail. */
AGX_MUST_CHECK agx_status agx_executable_pack(struct agx_executable *executable);
