package org.jrdma.ffi.linkage;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.LibcDowncalls.call;
import static org.jrdma.ffi.linkage.LibcDowncalls.symbol;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Locale;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;

/**
 * Memory that processes share by passing its descriptor, and whose size is final. In C: {@code
 * memfd_create} and {@code F_ADD_SEALS}. The constants are those of Linux on x86-64 and aarch64.
 */
public final class SealedMemory {

    private static final int MFD_CLOEXEC = 1;
    private static final int MFD_ALLOW_SEALING = 2;
    private static final int MFD_NOEXEC_SEAL = 8;
    private static final int MAX_MEMORY_NAME = 200; // bytes
    private static final int F_ADD_SEALS = 1033;
    private static final int F_GET_SEALS = 1034;
    private static final int F_SEAL_SEAL = 1;
    private static final int F_SEAL_SHRINK = 2;
    private static final int F_SEAL_GROW = 4;
    private static final int TMPFS_MAGIC = 0x01021994;
    private static final long STATFS_BYTES = 120;
    private static final int SEEK_END = 2;

    private static final MemorySegment FALLOCATE = symbol("fallocate");
    private static final MemorySegment FSTATFS = symbol("fstatfs");
    private static final MemorySegment MEMFD_CREATE = symbol("memfd_create");
    private static final MemorySegment LSEEK = symbol("lseek");

    private static final MethodHandle CREATE_MEMORY =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
    private static final MethodHandle DESCRIBE =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));
    private static final MethodHandle RESERVE =
            Downcalls.capturingErrno(
                    FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle SEEK =
            Downcalls.capturingErrno(
                    FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));

    private SealedMemory() {}

    /**
     * Creates memory of size 0. The memory has no file name that other processes could open, and
     * ends with its last descriptor and mapping.
     *
     * @param name the name that /proc shows for descriptors and mappings; a long name is truncated
     */
    public static int create(String name) throws FabricException {
        try (var arena = Arena.ofConfined()) {
            var shown = arena.allocateFrom(endOfName(name));
            var memory = create(shown, MFD_NOEXEC_SEAL);
            return memory < 0 && CapturedErrno.value() == Errno.EINVAL // before Linux 6.3
                    ? LinuxCalls.check("memfd_create", create(shown, 0))
                    : LinuxCalls.check("memfd_create", memory);
        }
    }

    private static int create(MemorySegment name, int flags) {
        return call(() ->
                (int)
                        CREATE_MEMORY.invokeExact(
                                MEMFD_CREATE,
                                segment(),
                                name,
                                MFD_CLOEXEC | MFD_ALLOW_SEALING | flags));
    }

    /** Returns the longest end of a name whose UTF-8 form the kernel accepts. */
    private static String endOfName(String name) {
        var end = name.substring(Math.max(0, name.length() - MAX_MEMORY_NAME));
        while (end.getBytes(UTF_8).length > MAX_MEMORY_NAME) {
            end = end.substring(1);
        }
        return end;
    }

    /**
     * Allocates the pages of shared memory, so that a later access cannot fail for lack of memory,
     * and prevents changes of its size.
     */
    public static void reserve(int memory, long bytes) throws FabricException {
        LinuxCalls.check(
                String.format(Locale.ROOT, "fallocate of %,d bytes", bytes),
                call(() -> (int) RESERVE.invokeExact(FALLOCATE, segment(), memory, 0, 0L, bytes)));
        var _ =
                LinuxCalls.controlFile(
                        "F_ADD_SEALS",
                        memory,
                        F_ADD_SEALS,
                        F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    }

    /**
     * Checks memory that another process has created. Its size must be final, because access to
     * mapped memory beyond its end would raise SIGBUS.
     *
     * @throws FabricException if the descriptor refers to another kind of file, if the size can
     *     change, or if the size is less than {@code minBytes}
     */
    public static void check(int memory, long minBytes) throws FabricException {
        var seals = LinuxCalls.controlFile("F_GET_SEALS", memory, F_GET_SEALS, 0);
        var bytes = fileBytes(memory);
        // Memory of huge pages can also be sealed, but if one of its pages is removed, a later
        // access may find no free page.
        if ((seals & F_SEAL_SHRINK) == 0 || bytes < minBytes || fileSystem(memory) != TMPFS_MAGIC) {
            throw new FabricException(
                    String.format(
                            Locale.ROOT,
                            "Shared memory of another process is invalid: it has %,d bytes, the seals %d, and must have %,d bytes and be sealed.",
                            bytes,
                            seals,
                            minBytes));
        }
    }

    private static int fileSystem(int file) throws FabricException {
        try (var arena = Arena.ofConfined()) {
            var description = arena.allocate(STATFS_BYTES, 8);
            LinuxCalls.check(
                    "fstatfs",
                    call(() -> (int) DESCRIBE.invokeExact(FSTATFS, segment(), file, description)));
            return (int) description.get(JAVA_LONG, 0);
        }
    }

    private static long fileBytes(int descriptor) throws FabricException {
        long bytes =
                call(() -> (long) SEEK.invokeExact(LSEEK, segment(), descriptor, 0L, SEEK_END));
        if (bytes < 0) {
            throw LinuxCalls.failed("lseek");
        }
        return bytes;
    }
}
