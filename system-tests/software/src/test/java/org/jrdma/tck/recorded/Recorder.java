package org.jrdma.tck.recorded;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.LibraryProvider;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.opentest4j.TestAbortedException;

/**
 * The libibverbs in recording_verbs.c, which records the calls of its functions. This class
 * compiles the library with {@code $CC} (default {@code cc}) and the headers in the directory
 * {@code $RDMA_HEADERS} (default: the headers of the system). If the compiler or the headers are
 * missing, tests are skipped, except in CI, where they fail. A test also fails if it sets a
 * function to {@link #fail} and the function is not called.
 */
final class Recorder implements AfterEachCallback {

    private static final Path SOURCE = Path.of("src/test/c/recording_verbs.c");
    private static final String DEVICE = "recording0";

    /**
     * A function that the library implements and that headers before rdma-core 62 do not declare.
     */
    private static final String NEWEST_FUNCTION = "ibv_query_port_speed";

    private static final Linker LINKER = Linker.nativeLinker();

    private static @Nullable Path compiled;

    private final Path library;
    private final SymbolLookup symbols;

    private Recorder(Path library) {
        this.library = library;
        this.symbols = SymbolLookup.libraryLookup(library, Arena.global());
    }

    /**
     * Compiles the library if necessary, and resets it: removes all recorded calls and all values
     * that tests have set.
     */
    static synchronized Recorder begin() {
        if (compiled == null) {
            compiled = compile();
        }
        var recorder = new Recorder(compiled);
        recorder.call("recording_begin", FunctionDescriptor.ofVoid());
        return recorder;
    }

    /** Returns a binding to the library with all its functions. */
    Verbs verbs() throws LibraryNotFoundException {
        return Verbs.load(library);
    }

    /**
     * Returns a binding to the recording library that does not find some of its functions, as if
     * the library were older.
     */
    Verbs verbsWithout(String... functions) throws LibraryNotFoundException {
        var hidden = Set.of(functions);
        return Verbs.from(
                new LibraryProvider() {
                    @Override
                    public String name() {
                        return "older recording library";
                    }

                    @Override
                    public SymbolLookup symbols() {
                        return name ->
                                hidden.contains(name) ? Optional.empty() : symbols.find(name);
                    }
                });
    }

    /** Opens the device of the recording library. */
    Device open() throws LibraryNotFoundException, VerbsException {
        return verbs().open(DEVICE);
    }

    /**
     * Opens the device as if its provider had left some function pointers of {@code struct
     * verbs_context} unset.
     */
    Device openWithout(String... members) throws LibraryNotFoundException, VerbsException {
        for (var member : members) {
            answer("offers " + member, 0);
        }
        return open();
    }

    /** Returns the recorded calls since the previous call of this method. */
    List<String> calls() {
        return lines("recording_take");
    }

    /** Returns the name, as the kernel knows it, of the thread that made the last recorded call. */
    String caller() {
        return lines("recording_caller").getFirst();
    }

    @Override
    public void afterEach(ExtensionContext test) {
        assertThat(lines("recording_unhit"))
                .as("functions that were set to fail and were not called")
                .isEmpty();
    }

    private List<String> lines(String function) {
        var text = (MemorySegment) call(function, FunctionDescriptor.of(ADDRESS));
        return text.reinterpret(Long.MAX_VALUE).getString(0).lines().toList();
    }

    /** Makes the next call of a function fail. */
    void fail(String function, int errno) {
        call("recording_fail", FunctionDescriptor.ofVoid(ADDRESS, JAVA_INT), function, errno);
    }

    /**
     * Sets a value that functions of the recording library return.
     *
     * @param name the name by which the library reads the value
     */
    void answer(String name, long value) {
        call("recording_answer", FunctionDescriptor.ofVoid(ADDRESS, JAVA_LONG), name, value);
    }

    /**
     * Triggers an asynchronous event of an object.
     *
     * @param type the {@code IBV_EVENT_} code
     * @param object the name of the object, such as {@code qp1}, as in {@link #calls}
     */
    void event(int type, String object) {
        call(
                "recording_event",
                FunctionDescriptor.ofVoid(JAVA_INT, ADDRESS, JAVA_INT),
                type,
                object,
                0);
    }

    /** Returns the UDP source port that the function in the C header computes for a flow label. */
    int udpSourcePort(int flowLabel) {
        return (int)
                call("recording_udp_sport", FunctionDescriptor.of(JAVA_INT, JAVA_INT), flowLabel);
    }

    private Object call(String function, FunctionDescriptor type, Object... arguments) {
        MethodHandle handle = LINKER.downcallHandle(symbols.findOrThrow(function), type);
        try (var arena = Arena.ofConfined()) {
            for (var index = 0; index < arguments.length; index++) {
                if (arguments[index] instanceof String text) {
                    arguments[index] = arena.allocateFrom(text);
                }
            }
            return handle.invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    private static Path compile() {
        var headers =
                Path.of(Optional.ofNullable(System.getenv("RDMA_HEADERS")).orElse("/usr/include"));
        var header = headers.resolve("infiniband/verbs.h");
        try {
            if (!Files.exists(header) || !Files.readString(header).contains(NEWEST_FUNCTION)) {
                throw missing(header + " does not exist or is older than rdma-core 62");
            }
            var folder = Files.createTempDirectory("jrdma-recording-verbs");
            var library = folder.resolve("librecordingverbs.so");
            var process =
                    new ProcessBuilder(
                                    Optional.ofNullable(System.getenv("CC")).orElse("cc"),
                                    "-Wall",
                                    "-Wextra",
                                    "-Werror",
                                    "-shared",
                                    "-fPIC",
                                    "-I",
                                    headers.toString(),
                                    "-o",
                                    library.toString(),
                                    SOURCE.toString())
                            .redirectErrorStream(true)
                            .start();
            var output = process.inputReader().readAllAsString();
            if (process.waitFor() != 0) {
                throw new AssertionError(output);
            }
            folder.toFile().deleteOnExit();
            // The JVM deletes the files in the reverse order of these calls, so the folder must be
            // registered first.
            library.toFile().deleteOnExit();
            return library;
        } catch (IOException e) {
            throw missing("Cannot run the C compiler: " + e.getMessage());
        } catch (InterruptedException e) {
            throw new AssertionError("The compilation was interrupted.", e);
        }
    }

    private static TestAbortedException missing(String reason) {
        if ("true".equals(System.getenv("CI"))) {
            throw new AssertionError(reason);
        }
        return new TestAbortedException(reason);
    }
}
