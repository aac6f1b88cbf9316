package org.jrdma.soft.roce.abi.verbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.Map;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.soft.roce.abi.ErrnoException;

/**
 * The XRC domains of a device. The contexts of the device share a domain by opening it with the
 * same file. Another process cannot open the domain, because each process has its own devices.
 * Flags and errors are the same as in the kernel. Safe for use by multiple threads.
 */
final class XrcDomains {

    private static final int NO_FILE = -1;

    private final Map<Object, XrcDomain> byFile = new HashMap<>();

    /**
     * Opens the domain that is associated with a file, or creates one.
     *
     * @param descriptor the descriptor of the file; -1 to create a domain without a file
     * @param flags the flags {@code O_CREAT} and {@code O_EXCL}, with the same meaning as for
     *     open(2)
     */
    synchronized XrcDomain open(int descriptor, int flags) {
        var file = descriptor == NO_FILE ? null : file(descriptor);
        var domain = file == null ? null : byFile.get(file);
        if (file != null && domain == null && (flags & LinuxCalls.O_CREAT) == 0) {
            throw new ErrnoException(Errno.EAGAIN);
        }
        ErrnoException.throwIf(domain != null && (flags & LinuxCalls.O_EXCL) != 0, Errno.EINVAL);
        if (domain == null) {
            domain = new XrcDomain(file);
            if (file != null) {
                byFile.put(file, domain);
            }
        }
        domain.opened++;
        return domain;
    }

    /**
     * Closes a domain that {@link #open} has returned. Call this method once for each call of
     * {@link #open}.
     */
    synchronized void close(XrcDomain domain) {
        domain.opened--;
        if (domain.opened == 0 && domain.file() != null) {
            byFile.remove(domain.file());
        }
    }

    /**
     * Returns a key for the file of a descriptor. All descriptors of the same file have equal keys.
     */
    private static Object file(int descriptor) {
        try {
            return Files.readAttributes(
                            Path.of("/proc/self/fd", String.valueOf(descriptor)),
                            BasicFileAttributes.class)
                    .fileKey();
        } catch (IOException e) {
            throw new ErrnoException(Errno.EBADF);
        }
    }
}
