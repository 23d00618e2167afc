#!/bin/sh
# build.sh SUITE HOST_KEY CLIENT_KEY.pub OUT: make OUT/root.ext4, OUT/vmlinuz and OUT/initrd. Needs root.
set -eu
PATH=$PATH:/usr/sbin:/sbin
suite=$1 host_key=$2 client_key=$3 out=$4
guest=$(dirname "$(readlink -f "$0")")
root=$out/root
trap 'rm -rf --one-file-system "$root"' EXIT

# Without what the guests never use, building and booting take half the time.
mmdebstrap --mode=root --variant=minbase \
    --include="$(paste -sd, "$guest/packages")" \
    --dpkgopt=force-unsafe-io \
    --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    --dpkgopt='path-exclude=*/kernel/sound/*' \
    --dpkgopt='path-exclude=*/kernel/drivers/*' \
    --dpkgopt='path-include=*/kernel/drivers/infiniband/*' \
    --dpkgopt='path-include=*/kernel/drivers/virtio/*' \
    --dpkgopt='path-include=*/kernel/drivers/block/virtio_blk*' \
    --dpkgopt='path-include=*/kernel/drivers/net/virtio_net*' \
    --dpkgopt='path-include=*/kernel/drivers/net/net_failover*' \
    --essential-hook='mkdir -p "$1/etc/initramfs-tools/conf.d" "$1/etc/initramfs-tools/hooks"' \
    --essential-hook='echo MODULES=list >"$1/etc/initramfs-tools/conf.d/lab"' \
    --essential-hook="cp '$guest/lab-rdinit' \"\$1/lab-rdinit\"" \
    --essential-hook="cp '$guest/initrd-hook' \"\$1/etc/initramfs-tools/hooks/lab\"" \
    "$suite" "$root"

rm -f "$root"/etc/ssh/ssh_host_*
install -m 644 "$guest/sshd_config" "$root/etc/ssh/sshd_config"
# Connections that do not log in, such as a test's probes, would block their address; the option came with OpenSSH 9.8.
if grep -q PerSourcePenalties "$root/usr/sbin/sshd"; then echo 'PerSourcePenalties no' >>"$root/etc/ssh/sshd_config"; fi
install -m 600 "$host_key" "$root/etc/ssh/lab_host_key"
install -m 644 "$client_key" "$root/etc/ssh/lab_authorized_keys"
install -m 755 "$guest/lab-init" "$guest/lab-restore" "$root/"
printf '127.0.0.1 localhost\n192.168.77.1 fab1\n192.168.77.2 fab2\n' >"$root/etc/hosts"
chroot "$root" groupadd --system --force rdma
# A password that matches nothing: "!" would lock the account for sshd.
chroot "$root" useradd --create-home --shell /bin/sh --groups rdma --password '*' ops

cp "$root"/boot/vmlinuz-* "$out/vmlinuz"
cp "$root"/boot/initrd.img-* "$out/initrd"
rm -f "$root"/boot/*
mke2fs -q -t ext4 -O ^has_journal -d "$root" "$out/root.ext4" 1200M
