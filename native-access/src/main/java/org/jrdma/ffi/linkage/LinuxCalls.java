package org.jrdma.ffi.linkage;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.LibcDowncalls.call;
import static org.jrdma.ffi.linkage.LibcDowncalls.symbol;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;

/**
 * The system calls that the SDK makes for file descriptors and memory. If a C function returns -1,
 * the method throws a {@link FabricException} with errno as its code.
 */
public final class LinuxCalls {

    /** From epoll(7): data or the end of the stream can be read. */
    public static final int EPOLLIN = 0x001;

    /** From epoll(7): data can be written. */
    public static final int EPOLLOUT = 0x004;

    /**
     * From epoll(7): the descriptor failed. The kernel reports this event even if it was not
     * requested.
     */
    public static final int EPOLLERR = 0x008;

    /**
     * From epoll(7): the connection is closed in both directions. The kernel reports this event
     * even if it was not requested.
     */
    public static final int EPOLLHUP = 0x010;

    static final int EPOLLONESHOT = 1 << 30;

    /** From epoll_ctl(2): adds the registration of a descriptor. */
    public static final int EPOLL_CTL_ADD = 1;

    /** From epoll_ctl(2): deletes the registration of a descriptor. */
    public static final int EPOLL_CTL_DEL = 2;

    /** From epoll_ctl(2): changes the requested events of a descriptor. */
    public static final int EPOLL_CTL_MOD = 3;

    /** From open(2): creates the file if it does not exist. */
    public static final int O_CREAT = 0x40;

    /** From open(2): fails if the file exists. */
    public static final int O_EXCL = 0x80;

    static final int O_RDONLY = 0;
    static final int O_RDWR = 2;
    static final int O_NONBLOCK = 0x800;
    static final int O_CLOEXEC = 0x80000;

    private static final int EPOLL_CLOEXEC = 0x80000;
    private static final int F_DUPFD_CLOEXEC = 1030;
    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    private static final int MAP_PRIVATE_ANONYMOUS = 0x22;
    private static final int MAP_HUGETLB = 0x40000;
    private static final long MAP_FAILED = -1;

    private static final MemorySegment EPOLL_CREATE1 = symbol("epoll_create1");
    private static final MemorySegment EPOLL_CTL = symbol("epoll_ctl");
    private static final MemorySegment EPOLL_WAIT = symbol("epoll_wait");
    private static final MemorySegment FCNTL = symbol("fcntl");
    private static final MemorySegment MMAP = symbol("mmap");
    private static final MemorySegment MUNMAP = symbol("munmap");
    private static final MemorySegment GETPAGESIZE = symbol("getpagesize");
    private static final MemorySegment GETEUID = symbol("geteuid");
    private static final MemorySegment IOCTL = symbol("ioctl");
    private static final MemorySegment PREAD = symbol("pread");
    private static final MemorySegment PWRITE = symbol("pwrite");

    private static final MethodHandle INT_OF_INT =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle CONTROL =
            Downcalls.capturingErrno(
                    FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS));
    private static final MethodHandle WAIT =
            Downcalls.capturingErrno(
                    FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT));
    private static final MethodHandle CONTROL_FILE =
            Downcalls.variadicCapturingErrno(
                    FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT), 2);
    private static final MethodHandle MAP =
            Downcalls.capturingErrno(
                    FunctionDescriptor.of(
                            ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle UNMAP =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));
    private static final MethodHandle CONTROL_DEVICE =
            Downcalls.variadicCapturingErrno(
                    FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS), 2);
    private static final MethodHandle TRANSFER =
            Downcalls.capturingErrno(
                    FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle INT_OF_NOTHING =
            Downcalls.plain(FunctionDescriptor.of(JAVA_INT));

    private LinuxCalls() {}

    /**
     * Creates an epoll descriptor. Child processes do not inherit it. In C: {@code epoll_create1}.
     */
    public static int epollCreate() throws FabricException {
        return check(
                "epoll_create1",
                call(() -> (int) INT_OF_INT.invokeExact(EPOLL_CREATE1, segment(), EPOLL_CLOEXEC)));
    }

    /**
     * Adds, modifies or deletes the registration of a descriptor with an epoll descriptor. In C:
     * {@code epoll_ctl}.
     */
    public static void epollControl(int epoll, int operation, int descriptor, MemorySegment event)
            throws FabricException {
        int result =
                call(() ->
                        (int)
                                CONTROL.invokeExact(
                                        EPOLL_CTL, segment(), epoll, operation, descriptor, event));
        if (result < 0) {
            throw failed("epoll_ctl for descriptor " + descriptor);
        }
    }

    /**
     * Waits for events and stores them in {@code events}. In C: {@code epoll_wait}.
     *
     * @param milliseconds the timeout; -1 for no timeout
     * @return the number of events; 0 if the timeout expired or a signal arrived
     */
    public static int epollWait(int epoll, MemorySegment events, int capacity, int milliseconds)
            throws FabricException {
        var count =
                call(() ->
                        (int)
                                WAIT.invokeExact(
                                        EPOLL_WAIT,
                                        segment(),
                                        epoll,
                                        events,
                                        capacity,
                                        milliseconds));
        return count < 0 && CapturedErrno.value() == Errno.EINTR ? 0 : check("epoll_wait", count);
    }

    /**
     * Makes a descriptor non-blocking: its calls return instead of waiting. In C: {@code fcntl}
     * with {@code O_NONBLOCK}.
     */
    public static void setNonBlocking(int descriptor) throws FabricException {
        var flags = controlFile("F_GETFL", descriptor, F_GETFL, 0);
        controlFile("F_SETFL", descriptor, F_SETFL, flags | O_NONBLOCK);
    }

    /**
     * Duplicates a descriptor. Child processes do not inherit the duplicate. In C: {@code fcntl}
     * with {@code F_DUPFD_CLOEXEC}.
     */
    public static int duplicate(int descriptor) throws FabricException {
        return controlFile("F_DUPFD_CLOEXEC", descriptor, F_DUPFD_CLOEXEC, 0);
    }

    /** Executes a command for a descriptor. In C: {@code fcntl}. */
    static int controlFile(String name, int descriptor, int command, int argument)
            throws FabricException {
        return check(
                "fcntl " + name + " for descriptor " + descriptor,
                call(() ->
                        (int)
                                CONTROL_FILE.invokeExact(
                                        FCNTL, segment(), descriptor, command, argument)));
    }

    /** Returns the normal size of a memory page in bytes. In C: {@code getpagesize}. */
    public static long pageBytes() {
        return call(() -> (int) INT_OF_NOTHING.invokeExact(GETPAGESIZE));
    }

    /** Returns the effective user id of this process. In C: {@code geteuid}. */
    public static int effectiveUser() {
        return call(() -> (int) INT_OF_NOTHING.invokeExact(GETEUID));
    }

    /**
     * Maps zeroed memory in pages of the normal size. The memory is unmapped when the arena is
     * closed. The kernel allocates each physical page on first access. The memory does not count
     * towards the JVM's limit of direct memory. In C: {@code mmap}.
     */
    public static MemorySegment mapPages(long bytes, Arena arena) throws FabricException {
        return map(bytes, pageBytes(), MAP_PRIVATE_ANONYMOUS, -1, 0, arena);
    }

    /**
     * Maps zeroed memory in huge pages of the default size. The memory is unmapped when the arena
     * is closed. In C: {@code mmap} with {@code MAP_HUGETLB}.
     */
    public static MemorySegment mapHugePages(long bytes, Arena arena) throws FabricException {
        return map(bytes, hugePageBytes(), MAP_PRIVATE_ANONYMOUS | MAP_HUGETLB, -1, 0, arena);
    }

    /**
     * Maps a part of a file for reading and writing. The memory is unmapped when the arena is
     * closed. In C: {@code mmap} with {@code MAP_SHARED}.
     *
     * @param offset the offset of the part, a multiple of the page size
     */
    public static MemorySegment mapFile(int descriptor, long offset, long bytes, Arena arena)
            throws FabricException {
        return map(bytes, pageBytes(), MAP_SHARED, descriptor, offset, arena);
    }

    private static MemorySegment map(
            long bytes, long pageBytes, int flags, int descriptor, long offset, Arena arena)
            throws FabricException {
        var length = Math.ceilDiv(bytes, pageBytes) * pageBytes;
        var memory =
                call(() ->
                        (MemorySegment)
                                MAP.invokeExact(
                                        MMAP,
                                        segment(),
                                        MemorySegment.NULL,
                                        length,
                                        PROT_READ_WRITE,
                                        flags,
                                        descriptor,
                                        offset));
        if (memory.address() == MAP_FAILED) {
            throw failed(
                    String.format(
                            Locale.ROOT, "mmap of %,d bytes in pages of %,d", length, pageBytes));
        }
        return memory.reinterpret(
                        length,
                        arena,
                        mapped ->
                                call(() ->
                                        (int) UNMAP.invokeExact(MUNMAP, segment(), mapped, length)))
                .asSlice(0, bytes);
    }

    /**
     * Executes a command of a device driver. In C: {@code ioctl}.
     *
     * @param name the name of the command for messages
     * @param argument the structure that the command reads or writes, or an address that is the
     *     argument itself
     */
    public static int controlDevice(
            int descriptor, String name, long command, MemorySegment argument)
            throws FabricException {
        return check(
                "ioctl " + name,
                call(() ->
                        (int)
                                CONTROL_DEVICE.invokeExact(
                                        IOCTL, segment(), descriptor, command, argument)));
    }

    /** Reads from a file at an offset. In C: {@code pread}. Returns the number of bytes. */
    public static long readAt(int descriptor, MemorySegment target, long offset)
            throws FabricException {
        return transfer("pread", PREAD, descriptor, target, offset);
    }

    /** Writes to a file at an offset. In C: {@code pwrite}. Returns the number of bytes. */
    public static long writeAt(int descriptor, MemorySegment source, long offset)
            throws FabricException {
        return transfer("pwrite", PWRITE, descriptor, source, offset);
    }

    private static long transfer(
            String name, MemorySegment function, int descriptor, MemorySegment data, long offset)
            throws FabricException {
        var bytes = data.byteSize();
        var result =
                call(() ->
                        (long)
                                TRANSFER.invokeExact(
                                        function, segment(), descriptor, data, bytes, offset));
        if (result < 0) {
            throw failed("%s of %d bytes at offset %d".formatted(name, bytes, offset));
        }
        return result;
    }

    /** Returns the default size of a huge page in bytes. */
    public static long hugePageBytes() throws FabricException {
        try (var lines = Files.lines(Path.of("/proc/meminfo"))) {
            return lines.filter(line -> line.startsWith("Hugepagesize:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024)
                    .findFirst()
                    .orElseThrow(
                            () -> new FabricException("This kernel does not support huge pages"));
        } catch (IOException e) {
            throw new FabricException("Cannot read /proc/meminfo: " + e.getMessage());
        }
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

    /** The layout of {@code struct epoll_event}, which is packed on x86-64 only. */
    public static final class EpollEvent {
        private static final long DATA = System.getProperty("os.arch").equals("amd64") ? 4 : 8;

        /** The size of a {@code struct epoll_event} in bytes. */
        public static final long BYTES = DATA + 8;

        private EpollEvent() {}

        /** Sets the requested events and the number that identifies the registration. */
        public static void set(MemorySegment event, int events, long data) {
            event.set(JAVA_INT, 0, events);
            event.set(ValueLayout.JAVA_LONG_UNALIGNED, DATA, data);
        }

        /** Returns the reported events of the array element at {@code index}. */
        public static int events(MemorySegment events, int index) {
            return events.get(ValueLayout.JAVA_INT_UNALIGNED, index * BYTES);
        }

        /**
         * Returns the number that identifies the registration, for the array element at {@code
         * index}.
         */
        public static long data(MemorySegment events, int index) {
            return events.get(ValueLayout.JAVA_LONG_UNALIGNED, index * BYTES + DATA);
        }
    }
}
