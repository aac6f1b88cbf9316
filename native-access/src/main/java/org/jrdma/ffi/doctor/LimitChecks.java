package org.jrdma.ffi.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** How much of what this process may have. */
public final class LimitChecks {

    /** CAP_IPC_LOCK, which no limit of locked memory holds for. */
    private static final int LOCKS_MEMORY = 14;

    private static final long LITTLE_LOCKED = 64L << 20;
    private static final long FEW_DESCRIPTORS = 4096;
    private static final long LITTLE_SHARED = 64L << 20;

    private LimitChecks() {}

    /** All of them. */
    public static Stream<Finding> on(Machine machine) {
        return Stream.of(lockedMemory(machine), descriptors(machine), sharedMemory(machine));
    }

    /** The memory that this process may lock, as adapters need it. */
    public static Finding lockedMemory(Machine machine) {
        var subject = "locked memory";
        if (mayLock(machine)) {
            return Finding.fine(subject, "no limit for this user, who has CAP_IPC_LOCK");
        }
        return limit("Max locked memory", machine)
                .map(bytes -> lockedMemory(subject, bytes, DeviceChecks.hasDevices(machine)))
                .orElse(Finding.fine(subject, "no limit"));
    }

    /** The software fabrics lock nothing, so a small limit breaks only what has a device. */
    private static Finding lockedMemory(String subject, long bytes, boolean hasDevices) {
        var seen = String.format(Locale.ROOT, "at most %,d bytes", bytes);
        return bytes >= LITTLE_LOCKED
                ? Finding.fine(subject, seen)
                : new Finding(
                        subject,
                        hasDevices ? Verdict.BROKEN : Verdict.DOUBTFUL,
                        seen,
                        "on adapters, and on the kernel's software devices, memory and queues beyond that cannot be registered",
                        "ulimit -l unlimited; LimitMEMLOCK=infinity in a unit; memlock in /etc/security/limits.conf; --ulimit memlock=-1 for a container");
    }

    private static boolean mayLock(Machine machine) {
        return machine.lines("proc/self/status").stream()
                .filter(line -> line.startsWith("CapEff:"))
                .map(line -> Long.parseUnsignedLong(line.replaceFirst("CapEff:\\s*", ""), 16))
                .anyMatch(capabilities -> (capabilities >>> LOCKS_MEMORY & 1) == 1);
    }

    private static Finding descriptors(Machine machine) {
        var subject = "descriptors";
        return limit("Max open files", machine)
                .map(count ->
                        count < FEW_DESCRIPTORS
                                ? Finding.doubtful(
                                        subject,
                                        String.format(Locale.ROOT, "at most %,d", count),
                                        "a server with as many connections takes no more",
                                        "ulimit -n 65536; LimitNOFILE= in a unit; --ulimit nofile=65536 for a container")
                                : Finding.fine(
                                        subject, String.format(Locale.ROOT, "at most %,d", count)))
                .orElse(Finding.fine(subject, "no limit"));
    }

    /** The soft limit of a line of /proc/self/limits; empty for unlimited. */
    private static Optional<Long> limit(String name, Machine machine) {
        return machine.lines("proc/self/limits").stream()
                .filter(line -> line.startsWith(name))
                .map(line -> line.substring(name.length()).strip().split("\\s+", -1)[0])
                .filter(value -> !value.equals("unlimited"))
                .map(Long::parseLong)
                .findFirst();
    }

    private static Finding sharedMemory(Machine machine) {
        try {
            var store = Files.getFileStore(machine.file("dev/shm"));
            return sharedMemory(store.getTotalSpace(), store.getUsableSpace());
        } catch (IOException e) {
            return Finding.broken(
                    "/dev/shm",
                    "missing",
                    "SISCI on the software fabric has nowhere to put its segments",
                    "mount -t tmpfs tmpfs /dev/shm");
        }
    }

    /** Of so many bytes in all, and so many of them free. */
    public static Finding sharedMemory(long total, long free) {
        var seen = String.format(Locale.ROOT, "%,d bytes, %,d of them free", total, free);
        return total <= LITTLE_SHARED
                ? Finding.doubtful(
                        "/dev/shm",
                        seen,
                        "SISCI on the software fabric has its segments there, and refuses more",
                        "--shm-size 1g for a container; else mount -o remount,size=1g /dev/shm")
                : Finding.fine("/dev/shm", seen);
    }
}
