package org.jrdma.ffi.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/** Checks of the resource limits of this process. */
public final class LimitChecks {

    /**
     * The bit number of CAP_IPC_LOCK, a capability that exempts a process from the limit of locked
     * memory.
     */
    private static final int CAP_IPC_LOCK = 14;

    private static final long RECOMMENDED_LOCKED_BYTES = 64L << 20;
    private static final long RECOMMENDED_DESCRIPTORS = 4096;
    private static final long DEFAULT_CONTAINER_SHARED_BYTES = 64L << 20;

    private LimitChecks() {}

    /** Runs all checks of this class on a machine. */
    public static Stream<Finding> on(MachineFiles machine) {
        return Stream.of(lockedMemory(machine), descriptors(machine), sharedMemory(machine));
    }

    /** Checks the limit of locked memory, because adapters lock the memory that they access. */
    public static Finding lockedMemory(MachineFiles machine) {
        var subject = "locked memory";
        if (mayLock(machine)) {
            return Finding.fine(subject, "no limit, because this process has CAP_IPC_LOCK");
        }
        return limit("Max locked memory", machine)
                .map(bytes -> lockedMemory(subject, bytes, RdmaDeviceChecks.hasDevices(machine)))
                .orElse(Finding.fine(subject, "no limit"));
    }

    /**
     * Evaluates the limit of locked memory of a process. The software fabrics lock no memory, so a
     * small limit affects only machines with devices.
     */
    private static Finding lockedMemory(String subject, long bytes, boolean hasDevices) {
        var seen = String.format(Locale.ROOT, "at most %,d bytes", bytes);
        return bytes >= RECOMMENDED_LOCKED_BYTES
                ? Finding.fine(subject, seen)
                : new Finding(
                        subject,
                        hasDevices ? Verdict.BROKEN : Verdict.DOUBTFUL,
                        seen,
                        "adapters and the kernel's software devices cannot register more memory and queues",
                        "ulimit -l unlimited; LimitMEMLOCK=infinity in a unit; memlock in /etc/security/limits.conf; --ulimit memlock=-1 for a container");
    }

    private static boolean mayLock(MachineFiles machine) {
        return machine.lines("proc/self/status").stream()
                .filter(line -> line.startsWith("CapEff:"))
                .map(line -> Long.parseUnsignedLong(line.replaceFirst("CapEff:\\s*", ""), 16))
                .anyMatch(capabilities -> (capabilities >>> CAP_IPC_LOCK & 1) == 1);
    }

    private static Finding descriptors(MachineFiles machine) {
        var subject = "descriptors";
        return limit("Max open files", machine)
                .map(count ->
                        count < RECOMMENDED_DESCRIPTORS
                                ? Finding.doubtful(
                                        subject,
                                        String.format(Locale.ROOT, "at most %,d", count),
                                        "a server cannot accept more connections than that",
                                        "ulimit -n 65536; LimitNOFILE= in a unit; --ulimit nofile=65536 for a container")
                                : Finding.fine(
                                        subject, String.format(Locale.ROOT, "at most %,d", count)))
                .orElse(Finding.fine(subject, "no limit"));
    }

    /**
     * Returns the soft limit from the line of /proc/self/limits that begins with {@code name};
     * empty if unlimited.
     */
    private static Optional<Long> limit(String name, MachineFiles machine) {
        return machine.lines("proc/self/limits").stream()
                .filter(line -> line.startsWith(name))
                .map(line -> line.substring(name.length()).strip().split("\\s+", -1)[0])
                .filter(value -> !value.equals("unlimited"))
                .map(Long::parseLong)
                .findFirst();
    }

    private static Finding sharedMemory(MachineFiles machine) {
        try {
            var store = Files.getFileStore(machine.file("dev/shm"));
            return sharedMemory(store.getTotalSpace(), store.getUsableSpace());
        } catch (IOException e) {
            return Finding.broken(
                    "/dev/shm",
                    "missing",
                    "SISCI on the software fabric cannot create segments",
                    "mount -t tmpfs tmpfs /dev/shm");
        }
    }

    /** Evaluates the size and the free space of /dev/shm, in bytes. */
    public static Finding sharedMemory(long total, long free) {
        var seen = String.format(Locale.ROOT, "%,d bytes, %,d of them free", total, free);
        return total <= DEFAULT_CONTAINER_SHARED_BYTES
                ? Finding.doubtful(
                        "/dev/shm",
                        seen,
                        "SISCI on the software fabric stores its segments there and rejects more",
                        "--shm-size 1g for a container; otherwise mount -o remount,size=1g /dev/shm")
                : Finding.fine("/dev/shm", seen);
    }
}
