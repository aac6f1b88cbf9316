package org.jrdma.verbs.internal;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import org.jrdma.ffi.Errno;

/**
 * Creates the advice in exceptions for failures to lock memory: the limit, the amount that the
 * process has locked, and how to raise the limit.
 */
public final class LockedMemoryAdvice {

    private LockedMemoryAdvice() {}

    /**
     * Returns the advice for a failed function that locks memory. Returns an empty string if the
     * failure has another cause, because of its errno or because memory is not limited.
     */
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
                        .map(kilobytes -> Long.parseLong(kilobytes) * 1024)
                        .orElse(0L);
        return String.format(
                Locale.ROOT,
                "The process may lock %,d bytes of memory (RLIMIT_MEMLOCK) and has locked %,d. Raise the limit with \"ulimit -l unlimited\", LimitMEMLOCK=infinity"
                        + " in the unit, memlock in /etc/security/limits.conf, or --ulimit memlock=-1 for a container.",
                Long.parseLong(limit),
                locked);
    }

    /**
     * Returns the advice for a failed registration of memory.
     *
     * @param remoteWithoutLocalWrite true if the access rights permit remote writes or atomics
     *     without local writes, which the kernel rejects
     */
    public static String adviceOnRegistering(int errno, boolean remoteWithoutLocalWrite) {
        if (errno == Errno.EINVAL && remoteWithoutLocalWrite) {
            return "REMOTE_WRITE and REMOTE_ATOMIC require LOCAL_WRITE.";
        }
        return switch (errno) {
            case Errno.EFAULT -> "The memory is not mapped or not writable.";
            case Errno.EOPNOTSUPP ->
                    "The device does not support one of these rights. Its extended attributes show whether it supports on-demand paging.";
            default -> advice(errno);
        };
    }

    /** Returns the first word after the name of a field in a file of /proc. */
    static Optional<String> field(Path file, String name) {
        try {
            // Not Files.lines, which throws an exception for a process name that is not UTF-8.
            return new String(Files.readAllBytes(file), UTF_8)
                    .lines()
                    .filter(line -> line.startsWith(name))
                    .map(line -> line.substring(name.length()).strip().replaceFirst("\\s.*", ""))
                    .findFirst();
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
