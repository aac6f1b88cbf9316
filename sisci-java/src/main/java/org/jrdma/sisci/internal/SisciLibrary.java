package org.jrdma.sisci.internal;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.abi.sisci.sisci_query;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.CapturedErrno;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.LibraryNameAndInstallation;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;

/** An open libsisci: its symbols, its constants, and its convention for errors. */
public final class SisciLibrary {

    /** The name of the library, and the directory where its installer places it. */
    public static final LibraryNameAndInstallation NAME =
            new LibraryNameAndInstallation(
                    "libsisci.so",
                    List.of(Path.of("/opt/DIS/lib64")),
                    "The library comes with the driver of Dolphin's adapters (eXpressWare, DIS 5 or newer), not with a Linux distribution. To use another file, call Sisci.load. To use the software fabric, call Sisci.software(), or Sisci.configured() with -Djrdma.fabric=software.");

    /**
     * The prefixes of function symbols, in order of preference: multithreaded, single-threaded, and
     * no prefix.
     */
    private static final List<String> PREFIXES =
            List.of("_SISCI_PUBLIC_FUNC_MT_", "_SISCI_PUBLIC_FUNC_ST_", "");

    private static final String DATA_PREFIX = "_SISCI_PUBLIC_CONST_";

    private static final MethodHandle ON_HANDLE =
            Downcalls.capturingErrno(sisci_h.SCIClose$descriptor());
    private static final MethodHandle GET_ERROR_STRING =
            Downcalls.plain(sisci_h.SCIGetErrorString$descriptor());

    private final NativeLibrary library;
    private final Map<String, Optional<MemorySegment>> functions = new ConcurrentHashMap<>();
    private final Map<SisciConstant, Integer> constants = new EnumMap<>(SisciConstant.class);
    private final Map<sisci_query, Integer> queries = new EnumMap<>(sisci_query.class);

    /**
     * The error code NO_SUCH_DEVICE, whose number is not publicly documented; empty if the library
     * does not export it.
     */
    private final Optional<Integer> noSuchDevice;

    /**
     * Checks the version of a library, and reads the constants that it exports.
     *
     * @throws LibraryNotFoundException if the library is not a libsisci, or is a libsisci of
     *     version 1
     */
    public SisciLibrary(NativeLibrary library) throws LibraryNotFoundException {
        this.library = library;
        if (find("SCIEnqueueDMATransfer").isPresent() && find("SCIStartDmaTransfer").isEmpty()) {
            throw new LibraryNotFoundException(
                    "%s is version 1 of SISCI (DIS 4.4 or older), whose sizes have 32 bits."
                            .formatted(library),
                    "Install DIS 5 or newer.");
        }
        for (var name : List.of("SCIInitialize", "SCIOpen", "SCIClose")) {
            if (find(name).isEmpty()) {
                throw new LibraryNotFoundException(
                        "%s has neither the function %s nor %s: it is not a libsisci."
                                .formatted(library, PREFIXES.get(0) + name, PREFIXES.get(1) + name),
                        "");
            }
        }
        for (var constant : SisciConstant.values()) {
            data(constant.name())
                    .or(constant::known)
                    .ifPresent(number -> constants.put(constant, number));
        }
        for (var query : sisci_query.values()) {
            data(query.name()).ifPresent(number -> queries.put(query, number));
        }
        noSuchDevice = data("SCI_ERR_NO_SUCH_FDID");
    }

    private Optional<Integer> data(String name) {
        return library.find(DATA_PREFIX + name)
                .map(address -> Downcalls.memoryAt(address, JAVA_INT.byteSize()))
                .map(data -> data.get(JAVA_INT, 0));
    }

    /** Invokes the method handle of a C function with a result, for {@link #call}. */
    @FunctionalInterface
    public interface Call<T> {
        /**
         * Invokes a method handle that captures errno.
         *
         * @param function the address of the function
         * @param arena the arena for arguments and results in memory; closed after the call
         * @param error the memory for the error code
         */
        T invoke(MemorySegment function, Arena arena, MemorySegment error) throws Throwable;
    }

    /** Invokes the method handle of a C function without a result, for {@link #run}. */
    @FunctionalInterface
    public interface VoidCall {
        void invoke(MemorySegment function, Arena arena, MemorySegment error) throws Throwable;
    }

    /**
     * Calls a function that reports an error in its last argument. The call runs on a platform
     * thread, because all these functions enter the driver and may block.
     *
     * @param function the C name of the function, without prefix
     * @param subject the object of the call, such as {@code segment 7}, for the exception
     * @throws UnsupportedOperationException if this library has no such function
     */
    public <T> T call(String function, Object subject, Call<T> call) throws SisciException {
        var address = require(function);
        return BlockingCalls.call(() -> {
            try (var arena = Arena.ofConfined()) {
                var error = arena.allocate(JAVA_INT);
                var result = Downcalls.call(() -> call.invoke(address, arena, error));
                var code = error.get(JAVA_INT, 0);
                if (code != sisci_h.SCI_ERR_OK()) {
                    throw failure(function, subject, code, CapturedErrno.value());
                }
                return result;
            }
        });
    }

    /**
     * Calls a function without a result, like {@link #call}, but creates no exception for one of
     * its error codes.
     *
     * @return false if the function fails with the code {@code expected}
     */
    boolean tryRun(String function, Object subject, int expected, VoidCall call)
            throws SisciException {
        return call(
                function,
                subject,
                (address, arena, error) -> {
                    call.invoke(address, arena, error);
                    var failed = error.get(JAVA_INT, 0) == expected;
                    if (failed) {
                        error.set(JAVA_INT, 0, sisci_h.SCI_ERR_OK());
                    }
                    return !failed;
                });
    }

    /** Calls a function without a result, like {@link #call}. */
    public void run(String function, Object subject, VoidCall call) throws SisciException {
        var _ =
                call(
                        function,
                        subject,
                        (address, arena, error) -> {
                            call.invoke(address, arena, error);
                            return true;
                        });
    }

    /** Calls a function that takes a handle and flags, like {@link #call}. */
    public void run(String function, MemorySegment handle, int flags, Object subject)
            throws SisciException {
        run(
                function,
                subject,
                (address, _, error) -> {
                    ON_HANDLE.invokeExact(address, CapturedErrno.segment(), handle, flags, error);
                });
    }

    public SisciException failure(String function, Object subject, int code, int errno) {
        var explanation = library.explanation();
        var text = explanation.isEmpty() ? text(code) : explanation;
        return noSuchDevice.isPresent() && noSuchDevice.get() == code
                ? new SisciException(
                        function, subject.toString(), code, SisciError.NO_SUCH_DEVICE, errno, text)
                : new SisciException(function, subject.toString(), code, errno, text);
    }

    /** Returns the library's text for an error code; empty if there is none. */
    private String text(int code) {
        return find("SCIGetErrorString")
                .map(function ->
                        Downcalls.call(
                                () -> (MemorySegment) GET_ERROR_STRING.invokeExact(function, code)))
                .filter(text -> text.address() != 0)
                .map(Downcalls::textAt)
                .orElse("");
    }

    /**
     * Returns the address of a function.
     *
     * @throws UnsupportedOperationException if this library has no such function
     */
    public MemorySegment require(String function) {
        return find(function)
                .orElseThrow(() ->
                        new UnsupportedOperationException(
                                "%s has no function %s".formatted(library, function)));
    }

    /**
     * Returns the address of a function, exported with the first of the prefixes that the library
     * uses; empty if the library has no such function.
     */
    Optional<MemorySegment> find(String function) {
        return functions.computeIfAbsent(
                function,
                name ->
                        PREFIXES.stream()
                                .map(prefix -> library.find(prefix + name))
                                .flatMap(Optional::stream)
                                .findFirst());
    }

    /**
     * Returns the number of a constant: the number that the library exports, or otherwise the
     * publicly documented number.
     *
     * @throws UnsupportedOperationException if the library does not export the number, and it is
     *     not publicly documented
     */
    public int number(SisciConstant constant) {
        var number = constants.get(constant);
        if (number == null) {
            throw unknown(constant.name());
        }
        return number;
    }

    /**
     * Returns the number of a query, which the library exports. The numbers of queries are not
     * publicly documented.
     *
     * @throws UnsupportedOperationException if the library does not export the number
     */
    public int number(sisci_query query) {
        var number = queries.get(query);
        if (number == null) {
            throw unknown(query.name());
        }
        return number;
    }

    private UnsupportedOperationException unknown(String name) {
        return new UnsupportedOperationException(
                "%s does not export %s%s, and its number is not publicly documented"
                        .formatted(library, DATA_PREFIX, name));
    }

    public int bits(Stream<SisciConstant> flags) {
        return flags.mapToInt(this::number).reduce(0, (left, right) -> left | right);
    }

    /** Returns the flag for a function that registers a callback; 0 if {@code listener} is 0. */
    int callbackFlag(long listener) {
        return listener == 0 ? 0 : number(SisciConstant.SCI_FLAG_USE_CALLBACK);
    }

    /**
     * Returns an identifier of the library, which is the same if the library was loaded several
     * times.
     */
    public long identity() {
        return require("SCIInitialize").address();
    }

    /**
     * Checks that two objects belong to the same library.
     *
     * @param one an object of this library
     * @param other an object of the library {@code others}
     */
    public void checkSame(SisciLibrary others, Object one, Object other) {
        if (identity() != others.identity()) {
            throw new IllegalArgumentException(
                    "Cannot use %s (library %s) with %s (library %s): both objects must belong to the same library"
                            .formatted(one, this, other, others));
        }
    }

    /** Returns true if the functions of the library may be implemented in Java. */
    public boolean isProvided() {
        return library.isProvided();
    }

    @Override
    public String toString() {
        return library.toString();
    }
}
