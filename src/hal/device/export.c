/* SPDX-License-Identifier: MIT
 *
 * libagxhal.so is the static libraries as a whole; this file only gives the linker a source.
 */
#include "agx/hal.h"

_Static_assert(AGX_VERSION_MAJOR == 0, "the shared library's version is in meson.build");
