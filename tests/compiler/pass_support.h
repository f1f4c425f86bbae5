/* SPDX-License-Identifier: MIT
 *
 * For tests of passes whose IR a program makes; others are IR files, see ir_files_test.c.
 */
#pragma once

#include "support.h"

#include "agx/compiler/ir/ir.h"

#define PASS_HEADER "shader main local 32x1x1 shared 0 push 0\n"
