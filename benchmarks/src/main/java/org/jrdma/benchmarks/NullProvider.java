package org.jrdma.benchmarks;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.verbs.Verbs;

/**
 * A libibverbs in C that does nothing (null_verbs.c). It is compiled by the C compiler of this
 * machine and loaded once.
 */
public final class NullProvider {

    /** The name of the only device. */
    public static final String DEVICE = "null0";

    private static final String SOURCE = "null_verbs.c";
    private static final Linker LINKER = Linker.nativeLinker();
    private static final MethodHandle WRITE_AND_POLL =
            LINKER.downcallHandle(
                    FunctionDescriptor.of(
                            JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, JAVA_INT, JAVA_LONG));
    private static final MethodHandle RECEIVE_AND_POLL =
            LINKER.downcallHandle(
                    FunctionDescriptor.of(JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG));
    private static final MethodHandle DATAGRAM_AND_POLL =
            LINKER.downcallHandle(
                    FunctionDescriptor.of(
                            JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG));
    private static final MethodHandle LINGER =
            LINKER.downcallHandle(FunctionDescriptor.ofVoid(JAVA_INT));

    private final Path library;
    private final SymbolLookup symbols;

    private NullProvider(Path library) {
        this.library = library;
        this.symbols = SymbolLookup.libraryLookup(library, Arena.global());
    }

    private static final class Loaded {
        static final NullProvider INSTANCE = new NullProvider(compile());
    }

    /** Returns the provider. The first call compiles and loads it. */
    public static NullProvider instance() {
        return Loaded.INSTANCE;
    }

    /** Returns the C compiler that the environment variable CC names, or cc; empty if not found. */
    public static Optional<String> compiler() {
        var name = Optional.ofNullable(System.getenv("CC")).orElse("cc");
        return Stream.of(System.getenv("PATH").split(":"))
                .map(folder -> Path.of(folder).resolve(name))
                .filter(Files::isExecutable)
                .findFirst()
                .map(Path::toString);
    }

    /** Returns a new {@code Verbs} for this provider. */
    public Verbs verbs() throws LibraryNotFoundException {
        return Verbs.load(library);
    }

    /**
     * Makes posts and polls slower, so that they overlap with closes on other threads.
     *
     * @param spins the number of pause instructions in each call
     */
    public void linger(int spins) {
        try {
            LINGER.invokeExact(symbols.findOrThrow("null_verbs_linger"), spins);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Posts chains of writes in C and polls all completions. Returns the number of successes. */
    public long writeAndPoll(PostAndPollLoop loop, int chain, long rounds) {
        try {
            return (long)
                    WRITE_AND_POLL.invokeExact(
                            symbols.findOrThrow("null_verbs_write_and_poll"),
                            loop.queuePair.address(),
                            loop.completions.address(),
                            loop.element,
                            chain,
                            rounds);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Like {@link #writeAndPoll}, but through the extended interfaces. */
    public long extendedWriteAndPoll(PostAndPollLoop loop, int chain, long rounds) {
        try {
            return (long)
                    WRITE_AND_POLL.invokeExact(
                            symbols.findOrThrow("null_verbs_extended_write_and_poll"),
                            loop.extended().queuePair.address(),
                            loop.extended().completions.address(),
                            loop.element,
                            chain,
                            rounds);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Posts datagrams in C and polls their completions. Returns the number of successes. */
    public long datagramAndPoll(PostAndPollLoop loop, long rounds) {
        try {
            return (long)
                    DATAGRAM_AND_POLL.invokeExact(
                            symbols.findOrThrow("null_verbs_datagram_and_poll"),
                            loop.datagrams.address(),
                            loop.completions.address(),
                            loop.element,
                            loop.handle.address(),
                            rounds);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Posts receives in C and polls their completions. Returns the number of successes. */
    public long receiveAndPoll(PostAndPollLoop loop, long rounds) {
        try {
            return (long)
                    RECEIVE_AND_POLL.invokeExact(
                            symbols.findOrThrow("null_verbs_receive_and_poll"),
                            loop.queuePair.address(),
                            loop.completions.address(),
                            loop.element,
                            rounds);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Like {@link #receiveAndPoll}, but with a shared receive queue. */
    public long sharedReceiveAndPoll(PostAndPollLoop loop, long rounds) {
        try {
            return (long)
                    RECEIVE_AND_POLL.invokeExact(
                            symbols.findOrThrow("null_verbs_shared_receive_and_poll"),
                            loop.shared.address(),
                            loop.completions.address(),
                            loop.element,
                            rounds);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Returns a scatter/gather element. In C: {@code struct ibv_sge}. */
    static MemorySegment element(Arena arena, long address, int length, int localKey) {
        var element = arena.allocate(16, 8);
        element.set(JAVA_LONG, 0, address);
        element.set(JAVA_INT, 8, length);
        element.set(JAVA_INT, 12, localKey);
        return element;
    }

    private static Path compile() {
        var compiler =
                compiler()
                        .orElseThrow(() ->
                                new IllegalStateException(
                                        "There is no C compiler. Install cc, or name a compiler in the environment variable CC."));
        try (var source = NullProvider.class.getResourceAsStream("/" + SOURCE)) {
            var folder = Files.createTempDirectory("jrdma-null-verbs");
            var file = folder.resolve(SOURCE);
            Files.copy(source, file);
            var library = folder.resolve("libnullverbs.so");
            var process =
                    new ProcessBuilder(
                                    compiler,
                                    "-O2",
                                    "-Wall",
                                    "-Wextra",
                                    "-Werror",
                                    "-shared",
                                    "-fPIC",
                                    "-fvisibility=hidden",
                                    "-o",
                                    library.toString(),
                                    file.toString())
                            .redirectErrorStream(true)
                            .start();
            var output = process.inputReader().readAllAsString();
            if (process.waitFor() != 0) {
                throw new IllegalStateException("Cannot compile %s:%n%s".formatted(file, output));
            }
            for (var path : new Path[] {folder, library, file}) {
                path.toFile().deleteOnExit(); // The JVM deletes the files in reverse order.
            }
            return library;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException("The compilation was interrupted.", e);
        }
    }
}
