/* SPDX-License-Identifier: MIT
 *
 * The descriptors 0 to 2, which a program may be started without.
 */
#pragma once

#include <fcntl.h>

/* Puts /dev/null where standard input, output or errors are closed, so that no file which is opened
 * later gets their number and what is printed. It can't be read or written there: the failure is
 * still told. Called first in main. */
static inline void standard_keep(void)
{
   for (int fd = 0; fd < 3; fd++)
      if (fcntl(fd, F_GETFD) < 0)
         (void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}
