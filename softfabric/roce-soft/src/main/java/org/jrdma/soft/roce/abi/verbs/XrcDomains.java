package org.jrdma.soft.roce.abi.verbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashMap;
import java.util.Map;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.Linux;
import org.jrdma.soft.roce.abi.ErrnoException;

/**
 * The XRC domains of a device that are found by a file. Its contexts share them; another process
 * has a device of its own. Which flags mean what, and the errors, are those of the kernel.
 */
final class XrcDomains {

    private static final int NO_FILE = -1;

    private final Map<Object, XrcDomain> byFile = new HashMap<>();

    /**
     * Opens the one of a file, or makes one.
     *
     * @param descriptor of the file; -1 for a domain that nobody else finds
     * @param flags as of open(2)
     */
    synchronized XrcDomain open(int descriptor, int flags) {
        var file = descriptor == NO_FILE ? null : file(descriptor);
        var domain = file == null ? null : byFile.get(file);
        if (file != null && domain == null && (flags & Linux.O_CREAT) == 0) {
            throw new ErrnoException(Errno.EAGAIN);
        }
        ErrnoException.throwIf(domain != null && (flags & Linux.O_EXCL) != 0, Errno.EINVAL);
        if (domain == null) {
            domain = new XrcDomain(file);
            if (file != null) {
                byFile.put(file, domain);
            }
        }
        domain.opened++;
        return domain;
    }

    /** Takes back one {@link #open}. */
    synchronized void close(XrcDomain domain) {
        domain.opened--;
        if (domain.opened == 0 && domain.file() != null) {
            byFile.remove(domain.file());
        }
    }

    /** What two descriptors of one file have in common. */
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
