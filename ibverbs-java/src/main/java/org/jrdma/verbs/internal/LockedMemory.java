package org.jrdma.verbs.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.jrdma.ffi.Errno;

/**
 * What can be said when the system refuses memory: how much may be locked, how much is, and how to
 * raise it.
 */
public final class LockedMemory {

    private LockedMemory() {}

    /** Advice for a function that locks memory. */
    public static String advice(int errno) {
        if (errno != Errno.ENOMEM && errno != Errno.EAGAIN && errno != Errno.EPERM) {
            return "";
        }
        var limit = field(Path.of("/proc/self/limits"), "Max locked memory").orElse("unlimited");
        if (limit.equals("unlimited")) {
            return "";
        }
        var locked =
                field(Path.of("/proc/self/status"), "VmPin:")
                        .map(LockedMemory::kilobytes)
                        .orElse(0L);
        return String.format(
                Locale.ROOT,
                "The process may lock %,d bytes of memory (RLIMIT_MEMLOCK), and has locked %,d. Raise the limit with \"ulimit -l unlimited\", LimitMEMLOCK=infinity"
                        + " in the unit, memlock in /etc/security/limits.conf, or --ulimit memlock=-1 for a container.",
                Long.parseLong(limit),
                locked);
    }

    /**
     * Advice for memory that is to be registered, with what is known of a combination that the
     * kernel refuses.
     */
    public static String adviceOnRegistering(int errno, boolean remoteWithoutLocalWrite) {
        if (errno == Errno.EINVAL && remoteWithoutLocalWrite) {
            return "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE too.";
        }
        return switch (errno) {
            case Errno.EFAULT -> "The memory is not there, or is not writable.";
            case Errno.EOPNOTSUPP ->
                    "The device does not offer one of these rights; its extended attributes tell whether it has on-demand paging.";
            default -> advice(errno);
        };
    }

    private static Optional<String> field(Path file, String name) {
        try (var lines = Files.lines(file)) {
            return lines.filter(line -> line.startsWith(name))
                    .map(line -> line.substring(name.length()).strip().replaceFirst("\\s.*", ""))
                    .findFirst();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static long kilobytes(String number) {
        return Long.parseLong(number) * 1024;
    }
}
