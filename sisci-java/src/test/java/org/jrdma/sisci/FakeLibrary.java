package org.jrdma.sisci;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.jrdma.abi.testing.MissingPrerequisite.missing;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.abi.testing.Command;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.NativeLibrary;

/**
 * A fake libsisci for one test. It counts the calls of its functions, and can be set to fail. The C
 * compiler of this machine compiles it from src/test/c/test_sisci.c.
 */
final class FakeLibrary {

    /** The symbols that the library exports. */
    enum Kind {
        /**
         * Functions for single-threaded programs, and no constants, so that Java uses the numbers
         * of the header.
         */
        SINGLE_THREADED("-DPREFIX=_SISCI_PUBLIC_FUNC_ST_"),
        /**
         * Functions for multithreaded programs, and constants whose numbers differ from those of
         * the header.
         */
        WITH_CONSTANTS("-DPREFIX=_SISCI_PUBLIC_FUNC_MT_ -DCONSTANTS"),
        /** Functions without a prefix. */
        PLAIN("-DPREFIX="),
        /**
         * Functions as in version 1 of the library: SCIEnqueueDMATransfer instead of
         * SCIStartDmaTransfer.
         */
        VERSION_1("-DPREFIX=_SISCI_PUBLIC_FUNC_MT_ -DVERSION_1");

        private final String options;

        Kind(String options) {
            this.options = options;
        }
    }

    /** The id of the only node. */
    static final int NODE = 4;

    private static final MethodHandle OF_TEXT =
            Downcalls.plain(FunctionDescriptor.of(JAVA_INT, ADDRESS));
    private static final MethodHandle OF_TEXT_AND_NUMBERS =
            Downcalls.plain(FunctionDescriptor.ofVoid(ADDRESS, JAVA_INT, JAVA_INT));
    private static final MethodHandle OF_TEXTS =
            Downcalls.plain(FunctionDescriptor.ofVoid(ADDRESS, ADDRESS));
    private static final MethodHandle TEXT_OF_TEXT =
            Downcalls.plain(FunctionDescriptor.of(ADDRESS, ADDRESS));
    private static final MethodHandle OF_NUMBER =
            Downcalls.plain(FunctionDescriptor.ofVoid(JAVA_INT));

    private static final MethodHandle NUMBER = Downcalls.plain(FunctionDescriptor.of(JAVA_INT));

    private static final Map<Kind, Path> COMPILED = new ConcurrentHashMap<>();

    private final NativeLibrary library;
    final Path file;
    final Sisci sisci;

    /**
     * Loads a new copy of the library, because the state of a library persists from test to test.
     */
    FakeLibrary(Kind kind) throws IOException {
        file = copy(kind);
        library = NativeLibrary.open(file);
        sisci = Sisci.load(file);
    }

    /** Creates a copy of the compiled library, and returns its file. */
    static Path copy(Kind kind) throws IOException {
        var compiled = COMPILED.computeIfAbsent(kind, FakeLibrary::compile);
        var copy = Files.createTempFile("libsisci", ".so");
        copy.toFile().deleteOnExit();
        Files.write(copy, Files.readAllBytes(compiled));
        return copy;
    }

    private static Path compile(Kind kind) {
        var compiler = System.getenv("CC");
        var command = new ArrayList<String>();
        command.add(compiler == null ? "cc" : compiler);
        command.addAll(List.of("-shared", "-fPIC", "-I../headers/sisci"));
        command.addAll(List.of(kind.options.split(" ")));
        try {
            var result = Files.createTempFile("libsisci", ".so");
            result.toFile().deleteOnExit();
            command.addAll(
                    List.of("-o", result.toString(), "src/test/c/test_sisci.c", "-lpthread"));
            var compilation = Command.run(Map.of(), command.toArray(String[]::new));
            if (compilation.exitCode() != 0) {
                throw new AssertionError(compilation.output());
            }
            return result;
        } catch (IOException e) {
            throw missing("No C compiler was found. Install one, or set CC.");
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the number of calls of a function. */
    int calls(String function) {
        try (var arena = Arena.ofConfined()) {
            var name = arena.allocateFrom(function);
            return Downcalls.call(() -> (int) OF_TEXT.invokeExact(address("test_calls"), name));
        }
    }

    /** Makes the next {@code times} calls of a function fail with an error code. */
    void fail(String function, int code, int times) {
        try (var arena = Arena.ofConfined()) {
            var name = arena.allocateFrom(function);
            Downcalls.run(() -> {
                OF_TEXT_AND_NUMBERS.invokeExact(address("test_fail"), name, code, times);
            });
        }
    }

    /**
     * Sets the results of the next starts and checks of sequences. Each digit is the C number of
     * one result. Further starts and checks return OK.
     */
    void sequence(String starts, String checks) {
        try (var arena = Arena.ofConfined()) {
            var first = arena.allocateFrom(starts);
            var second = arena.allocateFrom(checks);
            Downcalls.run(() -> {
                OF_TEXTS.invokeExact(address("test_sequence"), first, second);
            });
        }
    }

    /** Suspends or resumes the thread that runs callbacks and DMA transfers. */
    void hold(boolean hold) {
        Downcalls.run(() -> {
            OF_NUMBER.invokeExact(address("test_suspend"), hold ? 1 : 0);
        });
    }

    /**
     * Sets whether an aborted transfer stays POSTED while the thread is suspended. Such a transfer
     * has no callback.
     */
    void slowAbort(boolean slow) {
        Downcalls.run(() -> {
            OF_NUMBER.invokeExact(address("test_slow_abort"), slow ? 1 : 0);
        });
    }

    /**
     * Returns four bytes that describe the DMA channel, from the highest: a bit for each use, and
     * the requested flags, type and id.
     */
    int channel() {
        return Downcalls.call(() -> (int) NUMBER.invokeExact(address("test_channel")));
    }

    /** Returns the arguments of the last call of a function of SmartIO. */
    String arguments(String function) {
        try (var arena = Arena.ofConfined()) {
            var name = arena.allocateFrom(function);
            return Downcalls.textAt(
                    Downcalls.call(() ->
                            (MemorySegment)
                                    TEXT_OF_TEXT.invokeExact(address("test_arguments"), name)));
        }
    }

    /** Sets the number of devices in the fabric. The first two can be borrowed. */
    void deviceCount(int count) {
        Downcalls.run(() -> {
            OF_NUMBER.invokeExact(address("test_device_count"), count);
        });
    }

    /** Lets the ids of devices have 32 bits. */
    void narrowDeviceIds() {
        Downcalls.run(() -> {
            OF_NUMBER.invokeExact(address("test_narrow_ids"), 1);
        });
    }

    /** Reports an event with the given reason to all connected remote segments. */
    void notifyRemote(int reason) {
        Downcalls.run(() -> {
            OF_NUMBER.invokeExact(address("test_notify_remote"), reason);
        });
    }

    private MemorySegment address(String function) {
        return library.find(function).orElseThrow();
    }
}
