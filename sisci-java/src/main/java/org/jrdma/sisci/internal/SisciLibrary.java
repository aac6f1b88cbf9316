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
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.abi.sisci.sisci_query;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.ffi.linkage.CapturedErrno;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.LibraryName;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.sisci.model.SisciException;

/** An open libsisci: its names, its numbers, and its one way to report an error. */
public final class SisciLibrary {

    /** What the library is called, and where its installer puts it. */
    public static final LibraryName NAME =
            new LibraryName(
                    "libsisci.so",
                    List.of(Path.of("/opt/DIS/lib64")),
                    "It comes with the driver of Dolphin's adapters (eXpressWare, DIS 5 or newer), not with a distribution; or name the file, with Sisci.load. Or go without: Sisci.software(), or Sisci.configured() and -Djrdma.fabric=software.");

    /** Under which names a function is exported: for programs with threads, without, and plain. */
    private static final List<String> PREFIXES =
            List.of("_SISCI_PUBLIC_FUNC_MT_", "_SISCI_PUBLIC_FUNC_ST_", "");

    private static final String DATA_PREFIX = "_SISCI_PUBLIC_CONST_";

    private static final MethodHandle ON_HANDLE =
            Downcalls.capturingErrno(sisci_h.SCIClose$descriptor());
    private static final MethodHandle GET_ERROR_STRING =
            Downcalls.plain(sisci_h.SCIGetErrorString$descriptor());

    private final NativeLibrary library;
    private final Map<String, Optional<MemorySegment>> functions = new ConcurrentHashMap<>();
    private final Map<Constant, Integer> constants = new EnumMap<>(Constant.class);
    private final Map<sisci_query, Integer> queries = new EnumMap<>(sisci_query.class);

    /**
     * Reads the constants that the library exports.
     *
     * @throws LibraryNotFoundException if this is another library, or version 1 of this one
     */
    public SisciLibrary(NativeLibrary library) throws LibraryNotFoundException {
        this.library = library;
        if (find("SCIEnqueueDMATransfer").isPresent() && find("SCIStartDmaTransfer").isEmpty()) {
            throw new LibraryNotFoundException(
                    "%s is version 1 of SISCI (DIS 4.4 or older), whose sizes have 32 bits. DIS 5 or newer is needed."
                            .formatted(library));
        }
        for (var name : List.of("SCIInitialize", "SCIOpen", "SCIClose")) {
            if (find(name).isEmpty()) {
                throw new LibraryNotFoundException(
                        "%s has no function %s, nor %s: it is another library."
                                .formatted(
                                        library, PREFIXES.get(0) + name, PREFIXES.get(1) + name));
            }
        }
        for (var constant : Constant.values()) {
            data(constant.name())
                    .or(constant::known)
                    .ifPresent(number -> constants.put(constant, number));
        }
        for (var query : sisci_query.values()) {
            data(query.name()).ifPresent(number -> queries.put(query, number));
        }
    }

    private Optional<Integer> data(String name) {
        return library.find(DATA_PREFIX + name)
                .map(address -> Downcalls.memoryAt(address, JAVA_INT.byteSize()))
                .map(data -> data.get(JAVA_INT, 0));
    }

    /** A function of C's, for {@link #call}. */
    @FunctionalInterface
    public interface Call<T> {
        /**
         * Invokes a handle that captures errno.
         *
         * @param function the address
         * @param arena for what C reads and writes; closed after the call
         * @param error where C leaves its error code
         */
        T invoke(MemorySegment function, Arena arena, MemorySegment error) throws Throwable;
    }

    /** One without a result, for {@link #run}. */
    @FunctionalInterface
    public interface VoidCall {
        /** As {@link Call#invoke}. */
        void invoke(MemorySegment function, Arena arena, MemorySegment error) throws Throwable;
    }

    /**
     * Calls a function that reports by its last argument. The result is thrown away where it
     * reports an error. Never runs on a virtual thread: all these functions enter the driver.
     *
     * @param function its name in C, without prefix
     * @param subject the object of the call, such as {@code segment 7}, for the exception
     * @throws UnsupportedOperationException if this library has no such function
     */
    public <T> T call(String function, Object subject, Call<T> call) throws SisciException {
        var address = require(function);
        return PlatformCalls.call(() -> {
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

    /** Calls a function without a result; as {@link #call}. */
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

    /** Calls a function that takes a handle and flags; as {@link #call}. */
    public void run(String function, MemorySegment handle, int flags, Object subject)
            throws SisciException {
        run(
                function,
                subject,
                (address, _, error) -> {
                    ON_HANDLE.invokeExact(address, CapturedErrno.segment(), handle, flags, error);
                });
    }

    /** The exception for an error code. */
    public SisciException failure(String function, Object subject, int code, int errno) {
        var explanation = library.explanation();
        return new SisciException(
                function,
                subject.toString(),
                code,
                errno,
                explanation.isEmpty() ? text(code) : explanation);
    }

    /** What the library itself says of an error code; empty where it says nothing. */
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
     * The address of a function.
     *
     * @throws UnsupportedOperationException if this library has no such function
     */
    public MemorySegment require(String function) {
        return find(function)
                .orElseThrow(() ->
                        new UnsupportedOperationException(
                                "%s has no function %s".formatted(library, function)));
    }

    /** The address of a function, under whichever name it is exported. */
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
     * The number of a constant: what the library exports, or else what is publicly known.
     *
     * @throws UnsupportedOperationException if there is neither
     */
    public int number(Constant constant) {
        return numberIfKnown(constant).orElseThrow(() -> unknown(constant.name()));
    }

    /** The number of a query, as the library exports it: none is public. As for a constant. */
    public int number(sisci_query query) {
        var number = queries.get(query);
        if (number == null) {
            throw unknown(query.name());
        }
        return number;
    }

    private UnsupportedOperationException unknown(String name) {
        return new UnsupportedOperationException(
                "%s does not export %s%s, and its number is not public"
                        .formatted(library, DATA_PREFIX, name));
    }

    /** The same, or empty. */
    public OptionalInt numberIfKnown(Constant constant) {
        var number = constants.get(constant);
        return number == null ? OptionalInt.empty() : OptionalInt.of(number);
    }

    /** The flag word of several constants. */
    public int bits(Stream<Constant> flags) {
        return flags.mapToInt(this::number).reduce(0, (left, right) -> left | right);
    }

    /** The same for the same library, however often it was opened. */
    public long identity() {
        return require("SCIInitialize").address();
    }

    /** Whether the functions may be Java. */
    public boolean isProvided() {
        return library.isProvided();
    }

    /** Where it was found. */
    @Override
    public String toString() {
        return library.toString();
    }
}
