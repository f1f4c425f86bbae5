/* SPDX-License-Identifier: MIT
 *
 * What the doors through the C library share.
 */
#pragma once

#include "rows/door.h"

struct door_file {
   int fd;
};

struct door_file *door_open_path(const char *path);
