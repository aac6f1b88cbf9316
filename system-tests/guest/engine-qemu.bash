# shellcheck shell=bash  # The engine "qemu", which runs Debian's stock kernel in QEMU; sourced by run
. "$guest/virtual-machine.bash"

run_command() {
    local kernel directory accelerator=tcg,thread=multi,tb-size=512 processor=max
    kernel=$(qemu_kernel)
    if [[ ! $kernel ]]; then
        need "${GUEST_PACKAGES[@]}" "${QEMU_PACKAGES[@]}" "${QEMU_BUILD_PACKAGES[@]}"
        kernel=$("$guest/build-qemu")
    fi
    need "${GUEST_PACKAGES[@]}" "${QEMU_PACKAGES[@]}"
    if [[ -w /dev/kvm ]] && grep -qwE 'vmx|svm' /proc/cpuinfo; then
        accelerator=kvm processor=host
    fi

    prepare_share
    # shellcheck disable=SC2054  # the commas belong to QEMU
    machine_options=(-nodefaults -no-user-config -display none -no-reboot -serial stdio
        -accel "$accelerator" -cpu "$processor" -smp "${cpus:-2}" -m "$memory" -object rng-builtin,id=random -device virtio-rng-pci,rng=random
        -kernel "$kernel/vmlinux" -initrd "$kernel/initramfs"
        -append "console=ttyS0 quiet panic=-1 mitigations=off nokaslr no_timer_check tsc=reliable random.trust_cpu=on net.ifnames=0 selinux=0 apparmor=0 audit=0")
    share_directory root / ,readonly=on,multidevs=remap
    share_directory share "$share"
    {
        printf 'mkdir -p /lib/modules && ln -s %q/lib/modules/* /lib/modules/\n' "$kernel"
        echo 'modprobe -a dummy rdma_rxe siw rdma_ucm ib_umad'
    } > "$share/mounts"
    for directory in "${writable[@]}"; do
        share_directory "writable${#machine_options[@]}" "$directory" ,multidevs=remap
        printf 'mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose %s %q\n' "$tag" "$directory" >> "$share/mounts"
    done
    # shellcheck disable=SC2206  # several words
    machine_options+=(${JRDMA_GUEST_QEMU_OPTIONS:-})
    run_guest qemu-system-x86_64 "${machine_options[@]}"
}

# Adds the QEMU options that share a directory ($2) with the guest under a tag ($1), with further options for the file system ($3).
share_directory() {
    tag=$1
    machine_options+=(-fsdev "local,id=$tag,path=${2//,/,,},security_model=none${3:-}" -device "virtio-9p-pci,fsdev=$tag,mount_tag=$tag")
}
