package org.jrdma.soft.sisci.host;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.LibcDowncalls.call;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Locale;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.CapturedErrno;
import org.jrdma.ffi.linkage.Downcalls;

/**
 * System calls for files and memory. The constants are those of 64-bit Linux, which are the same on
 * x86-64 and aarch64 unless noted.
 */
public final class SystemCalls {

    private static final int O_CREAT = 0x40;
    private static final int O_EXCL = 0x80;
    private static final int O_CLOEXEC = 0x80000;

    // These constants are the only ones that differ between x86-64 and aarch64.
    private static final boolean IS_ARM = System.getProperty("os.arch").equals("aarch64");
    private static final int O_DIRECTORY = IS_ARM ? 0x4000 : 0x10000;
    private static final int O_NOFOLLOW = IS_ARM ? 0x8000 : 0x20000;

    private static final int O_RDWR = 2;
    private static final int OWNER_ONLY = 0600;
    private static final int LOCK_EX = 2;
    private static final int LOCK_NB = 4;
    private static final int LOCK_UN = 8;
    private static final int PROT_READ = 1;
    private static final int PROT_WRITE = 2;
    private static final int MAP_SHARED = 1;
    private static final int MAP_PRIVATE = 2;
    private static final int MAP_FIXED = 0x10;
    private static final int MAP_ANONYMOUS = 0x20;
    private static final int MREMAP_MAYMOVE = 1;
    private static final int MREMAP_FIXED = 2;

    private static final MemorySegment OPEN = symbol("open");
    private static final MemorySegment CLOSE = symbol("close");
    private static final MemorySegment FTRUNCATE = symbol("ftruncate");
    private static final MemorySegment FLOCK = symbol("flock");
    private static final MemorySegment MMAP = symbol("mmap");
    private static final MemorySegment MUNMAP = symbol("munmap");
    private static final MemorySegment MREMAP = symbol("mremap");
    private static final MemorySegment MPROTECT = symbol("mprotect");

    private static final MethodHandle OPEN_FILE =
            Downcalls.variadicCapturingErrno(
                    FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT), 2);
    private static final MethodHandle CLOSE_FILE =
            Downcalls.plain(FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle UNLOCK_FILE =
            Downcalls.plain(FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle OF_TWO_INTS =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle RESIZE =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle MAP =
            Downcalls.capturingErrno(
                    FunctionDescriptor.of(
                            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT,
                            JAVA_LONG));
    private static final MethodHandle UNMAP =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle MOVE =
            Downcalls.variadicCapturingErrno(
                    FunctionDescriptor.of(
                            JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG),
                    4);
    private static final MethodHandle PROTECT =
            Downcalls.capturingErrno(
                    FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));

    private SystemCalls() {}

    /**
     * Opens a directory, to lock it and to access its files by a short path.
     *
     * @param followsLink true if the path may be a symbolic link
     */
    public static int openDirectory(String path, boolean followsLink) throws FabricException {
        return open(path, O_DIRECTORY | O_CLOEXEC | (followsLink ? 0 : O_NOFOLLOW));
    }

    public static int openFile(String path) throws FabricException {
        return open(path, O_RDWR | O_CLOEXEC);
    }

    /** Creates a file with access for this user only. Fails if the file exists. */
    public static int createFile(String path) throws FabricException {
        return open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC);
    }

    private static int open(String path, int flags) throws FabricException {
        try (var arena = Arena.ofConfined()) {
            var name = arena.allocateFrom(path);
            return check(
                    "open of " + path,
                    call(() ->
                            (int) OPEN_FILE.invokeExact(OPEN, segment(), name, flags, OWNER_ONLY)));
        }
    }

    /** Closes a descriptor. Allocates no memory, because the lack of memory may be the reason. */
    public static void close(int descriptor) {
        try {
            var _ = (int) CLOSE_FILE.invokeExact(CLOSE, descriptor);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /** Sets the size of a file without allocating memory for it. */
    public static void setFileBytes(int file, long bytes) throws FabricException {
        check("ftruncate", call(() -> (int) RESIZE.invokeExact(FTRUNCATE, segment(), file, bytes)));
    }

    /**
     * Tries to lock an open file. Returns false if another process holds the lock. The system
     * releases the lock when the process ends.
     */
    public static boolean tryLock(int descriptor) throws FabricException {
        int result =
                call(() ->
                        (int)
                                OF_TWO_INTS.invokeExact(
                                        FLOCK, segment(), descriptor, LOCK_EX | LOCK_NB));
        if (result < 0
                && (CapturedErrno.value() == Errno.EAGAIN
                        || CapturedErrno.value() == Errno.EINTR)) {
            return false;
        }
        check("flock", result);
        return true;
    }

    /** Unlocks an open file. Allocates no memory, because all processes wait for the lock. */
    public static void unlock(int descriptor) {
        try {
            var _ = (int) UNLOCK_FILE.invokeExact(FLOCK, descriptor, LOCK_UN);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /** Maps a part of a file as shared memory. */
    static long map(int descriptor, long offset, long bytes, boolean writable)
            throws FabricException {
        return map(0, bytes, protection(writable), MAP_SHARED, descriptor, offset);
    }

    /** Maps a part of a file as shared memory, replacing the mapping at an address. */
    static void mapAt(long address, int descriptor, long offset, long bytes, boolean writable)
            throws FabricException {
        map(address, bytes, protection(writable), MAP_SHARED | MAP_FIXED, descriptor, offset);
    }

    /** Maps private memory that is filled with zeros. */
    static long mapAnonymous(long bytes) throws FabricException {
        return map(0, bytes, protection(true), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }

    private static long map(
            long address, long bytes, int protection, int flags, int descriptor, long offset)
            throws FabricException {
        long mapped =
                call(() ->
                        (long)
                                MAP.invokeExact(
                                        MMAP,
                                        segment(),
                                        address,
                                        bytes,
                                        protection,
                                        flags,
                                        descriptor,
                                        offset));
        if (mapped == -1) {
            throw failed(String.format(Locale.ROOT, "mmap of %,d bytes", bytes));
        }
        return mapped;
    }

    /** Moves a mapping to another address. Atomically replaces the mapping that exists there. */
    static void move(long from, long to, long bytes, boolean writable) throws FabricException {
        check(
                "mprotect",
                call(() ->
                        (int)
                                PROTECT.invokeExact(
                                        MPROTECT, segment(), from, bytes, protection(writable))));
        long moved =
                call(() ->
                        (long)
                                MOVE.invokeExact(
                                        MREMAP,
                                        segment(),
                                        from,
                                        bytes,
                                        bytes,
                                        MREMAP_MAYMOVE | MREMAP_FIXED,
                                        to));
        if (moved == -1) {
            throw failed(String.format(Locale.ROOT, "mremap of %,d bytes", bytes));
        }
    }

    static void unmap(long address, long bytes) {
        var _ = call(() -> (int) UNMAP.invokeExact(MUNMAP, segment(), address, bytes));
    }

    private static int protection(boolean writable) {
        return writable ? PROT_READ | PROT_WRITE : PROT_READ;
    }

    static int check(String attempt, int result) throws FabricException {
        if (result < 0) {
            throw failed(attempt);
        }
        return result;
    }

    static FabricException failed(String attempt) {
        var errno = CapturedErrno.value();
        return new FabricException(attempt + " failed: " + Errno.describe(errno), errno, null);
    }

    static MemorySegment symbol(String name) {
        return Linker.nativeLinker().defaultLookup().findOrThrow(name);
    }
}
