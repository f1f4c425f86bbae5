#!/bin/busybox sh
# SPDX-License-Identifier: MIT
#
# What runs in the machine of aarch64.sh: first as its first process, which mounts what the host shows it and starts the
# tests of the list, several at a time; then once for each test, which leaves its output, exit code and seconds in results.

value() { sed -n "s/.*$1=\([^ ]*\).*/\1/p" /proc/cmdline; }

if [ "${1:-}" = test ]; then
   results=/results name=$2 seconds=$3
   read -r begin _ < /proc/uptime
   timeout -k 10 "$seconds" sh "$results/$name.sh" < /dev/null > "/tmp/$name.log" 2>&1
   code=$?
   read -r end _ < /proc/uptime
   cp "/tmp/$name.log" "$results/$name.log"
   echo "$code ${begin%.*} ${end%.*}" > "$results/$name.new"
   mv "$results/$name.new" "$results/$name.done"
   exit 0
fi

export PATH=/bin:/sbin:/usr/bin:/usr/sbin
/bin/busybox mkdir -p /proc /sbin /usr/bin /usr/sbin
/bin/busybox --install -s
mount -t proc proc /proc
mkdir -p /machine
while read -r module; do insmod "/modules/$module.ko"; done < /modules/order
top=$(value agx_top) cpus=$(value agx_cpus)
show() { mount -t 9p -o "trans=virtio,version=9p2000.L,msize=262144,$3" "$1" "$2"; }
show root /machine ro,cache=loose
mount -t proc proc /machine/proc
mount -t sysfs sysfs /machine/sys
mount -t devtmpfs devtmpfs /machine/dev
mkdir -p /machine/dev/shm
for folder in dev/shm tmp run; do mount -t tmpfs -o mode=1777 tmpfs "/machine/$folder"; done
[ -e /machine/dev/fd ] || ln -s /proc/self/fd /machine/dev/fd
# Tests may write into the checkout; the host's stays as it is.
show top /machine/checkout ro,cache=loose
mkdir -p "/machine$top" /machine/run/upper /machine/run/work
mount -t overlay -o "lowerdir=/machine/checkout,upperdir=/machine/run/upper,workdir=/machine/run/work" overlay "/machine$top"
show results /machine/results rw
ifconfig lo up
ulimit -c 0
export HOME=/tmp TMPDIR=/tmp LC_ALL=C
echo "@page $(chroot /machine getconf PAGESIZE), Linux $(uname -r)"
chroot /machine sh -c "cd /tmp && xargs -P $cpus -n 2 sh $top/scripts/aarch64_init.sh test < /results/list"
sync
poweroff -f
