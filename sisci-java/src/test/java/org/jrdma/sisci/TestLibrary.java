package org.jrdma.sisci;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.jrdma.abi.testing.Missing.missing;

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
 * A fake libsisci for one test, which counts calls and can be made to fail. Compiled from
 * src/test/c/test_sisci.c by the C compiler of this machine.
 */
final class TestLibrary {

    /** The kind of exports. */
    enum Kind {
        /**
         * Functions for single-threaded programs, and no constants, so that those of the header are
         * used.
         */
        SINGLE_THREADED("-DPREFIX=_SISCI_PUBLIC_FUNC_ST_"),
        /**
         * Functions for multithreaded programs, and constants whose numbers differ from the header.
         */
        WITH_CONSTANTS("-DPREFIX=_SISCI_PUBLIC_FUNC_MT_ -DCONSTANTS"),
        /** Functions without a prefix. */
        PLAIN("-DPREFIX="),
        /** Functions that only version 1 of the library has. */
        VERSION_1("-DPREFIX=_SISCI_PUBLIC_FUNC_MT_ -DVERSION_1");

        private final String options;

        Kind(String options) {
            this.options = options;
        }
    }

    /** The id of the node. */
    static final int NODE = 4;

    private static final MethodHandle OF_TEXT =
            Downcalls.plain(FunctionDescriptor.of(JAVA_INT, ADDRESS));
    private static final MethodHandle OF_TEXT_AND_NUMBERS =
            Downcalls.plain(FunctionDescriptor.ofVoid(ADDRESS, JAVA_INT, JAVA_INT));
    private static final MethodHandle OF_TEXTS =
            Downcalls.plain(FunctionDescriptor.ofVoid(ADDRESS, ADDRESS));
    private static final MethodHandle OF_NUMBER =
            Downcalls.plain(FunctionDescriptor.ofVoid(JAVA_INT));

    private static final MethodHandle NUMBER = Downcalls.plain(FunctionDescriptor.of(JAVA_INT));

    private static final Map<Kind, Path> COMPILED = new ConcurrentHashMap<>();

    private final NativeLibrary library;
    final Path file;
    final Sisci sisci;

    /** Loads a new copy of the library, because a library keeps its state. */
    TestLibrary(Kind kind) throws IOException {
        file = copy(kind);
        library = NativeLibrary.open(file);
        sisci = Sisci.load(file);
    }

    /** Returns the file of this copy. */
    static Path copy(Kind kind) throws IOException {
        var compiled = COMPILED.computeIfAbsent(kind, TestLibrary::compile);
        var copy = Files.createTempFile("libsisci", ".so");
        copy.toFile().deleteOnExit();
        Files.write(copy, Files.readAllBytes(compiled));
        return copy;
    }

    private static Path compile(Kind kind) {
        var chosen = System.getenv("CC");
        var command = new ArrayList<String>();
        command.add(chosen == null ? "cc" : chosen);
        command.addAll(List.of("-shared", "-fPIC", "-I../headers/sisci"));
        command.addAll(List.of(kind.options.split(" ")));
        try {
            var result = Files.createTempFile("libsisci", ".so");
            result.toFile().deleteOnExit();
            command.addAll(
                    List.of("-o", result.toString(), "src/test/c/test_sisci.c", "-lpthread"));
            var said = Command.run(Map.of(), command.toArray(String[]::new));
            if (said.exitCode() != 0) {
                throw new AssertionError(said.output());
            }
            return result;
        } catch (IOException e) {
            throw missing("no C compiler: install one, or set CC");
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the number of calls of a function. */
    int calls(String function) {
        try (var arena = Arena.ofConfined()) {
            var name = arena.allocateFrom(function);
            return Downcalls.call(() -> (int) OF_TEXT.invokeExact(address("tiny_calls"), name));
        }
    }

    /** Makes the next calls of a function fail. */
    void fail(String function, int code, int times) {
        try (var arena = Arena.ofConfined()) {
            var name = arena.allocateFrom(function);
            Downcalls.run(() -> {
                OF_TEXT_AND_NUMBERS.invokeExact(address("tiny_fail"), name, code, times);
            });
        }
    }

    /**
     * Sets the results of the next starts and checks of sequences, with one digit for each; then
     * OK.
     */
    void sequence(String starts, String checks) {
        try (var arena = Arena.ofConfined()) {
            var first = arena.allocateFrom(starts);
            var second = arena.allocateFrom(checks);
            Downcalls.run(() -> {
                OF_TEXTS.invokeExact(address("tiny_sequence"), first, second);
            });
        }
    }

    /** Suspends or resumes callbacks and DMA transfers. */
    void hold(boolean hold) {
        Downcalls.run(() -> {
            OF_NUMBER.invokeExact(address("tiny_hold"), hold ? 1 : 0);
        });
    }

    /**
     * Sets whether an aborted transfer continues until the suspension ends, and has no callback.
     */
    void slowAbort(boolean slow) {
        Downcalls.run(() -> {
            OF_NUMBER.invokeExact(address("tiny_slow_abort"), slow ? 1 : 0);
        });
    }

    /** Returns the state of the DMA channel: its uses, flags, type and id, one byte each. */
    int channel() {
        return Downcalls.call(() -> (int) NUMBER.invokeExact(address("tiny_channel")));
    }

    /** Reports an event to all remote segments. */
    void notifyRemote(int reason) {
        Downcalls.run(() -> {
            OF_NUMBER.invokeExact(address("tiny_tell_remote"), reason);
        });
    }

    private MemorySegment address(String function) {
        return library.find(function).orElseThrow();
    }
}
