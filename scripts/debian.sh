# SPDX-License-Identifier: MIT
#
# For scripts that make folders with Debian; they source it.

# Prints the mirror that is given, or the first Debian mirror in apt's lists, in either of their forms; fails without one.
debian_mirror() {
   if [ -n "${1:-}" ]; then echo "$1"; return; fi
   cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list /etc/apt/sources.list 2>/dev/null |
      awk '$1 == "URIs:" || $1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /^https?:.*\/debian\/?$/) { print $i; found = 1; exit } }
           END { exit !found }'
}

# Packages that are installed in the folder start no services, and come from mirrors that lag behind, too: sid's lists
# are good for a week only.
debian_settings() {
   printf '#!/bin/sh\nexit 101\n' > "$1/usr/sbin/policy-rc.d"
   chmod +x "$1/usr/sbin/policy-rc.d"
   echo 'Acquire::Check-Valid-Until "false";' > "$1/etc/apt/apt.conf.d/10-old-lists"
}
