package org.jrdma.ffi.linkage;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.function.Supplier;
import org.jrdma.ffi.JavaImplementedLibrary;
import org.jrdma.ffi.Leaks;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.LibraryProvider;
import org.jrdma.ffi.guard.Barrier;
import org.jrdma.ffi.guard.StackSpace;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An open native library, from which symbols are looked up.
 *
 * <p>A library stays open until the JVM exits, because a thread of the library might still execute
 * its code. Safe for use by multiple threads.
 */
public final class NativeLibrary {

    private static final Logger LOG = LoggerFactory.getLogger(NativeLibrary.class);

    private final String description;
    private final @Nullable LibraryProvider provider;
    private final SymbolLookup symbols;

    private NativeLibrary(
            String description, @Nullable LibraryProvider provider, SymbolLookup symbols) {
        this.description = description;
        this.provider = provider;
        this.symbols = symbols;
        LOG.info("Using {}", description);
    }

    /**
     * Opens a library from the dynamic linker's search path or, if it is not found there, from its
     * installation folders. In C: {@code dlopen}.
     *
     * @throws LibraryNotFoundException if the library cannot be opened; the message names the
     *     packages that contain it
     * @throws IllegalArgumentException if a system property of the SDK is invalid
     */
    public static NativeLibrary open(LibraryNameAndInstallation name)
            throws LibraryNotFoundException {
        prepareProcess();
        try {
            var symbols = allowed(() -> SymbolLookup.libraryLookup(name.soname(), Arena.global()));
            return new NativeLibrary(
                    mappedFile(name.soname()).orElse(name.soname()), null, symbols);
        } catch (IllegalArgumentException e) {
            var tried =
                    new StringBuilder("the dynamic linker's search path (" + linkerPath() + ")");
            for (var folder : name.folders()) {
                var file = folder.resolve(name.soname());
                if (Files.exists(file)) {
                    return open(file);
                }
                tried.append(", ").append(file);
            }
            throw new LibraryNotFoundException(
                    "%s could not be opened. Searched: %s.".formatted(name.soname(), tried),
                    name.advice(),
                    e);
        }
    }

    /**
     * Opens a library written in Java that implements the ABI of a C library. The library is a
     * service of type {@link JavaImplementedLibrary}. It is searched with the context class loader
     * of the current thread, and then with the class loader of the SDK: on the threads of some
     * frameworks, the context class loader sees neither the SDK nor its libraries.
     *
     * @param soname the name of the C library
     * @param artifact the name of the artifact with the library, for the message if the library is
     *     missing
     * @param module the name of the module with the library, for the message if the library is
     *     missing
     * @throws LibraryNotFoundException if the library is neither on the class path nor on the
     *     module path
     * @throws IllegalArgumentException if a system property of the library or of the SDK is invalid
     */
    public static NativeLibrary software(String soname, String artifact, String module)
            throws LibraryNotFoundException {
        checkNativeAccess();
        try {
            for (var loader : softwareLoaders()) {
                for (var library : ServiceLoader.load(JavaImplementedLibrary.class, loader)) {
                    if (library.soname().equals(soname)) {
                        return from(library);
                    }
                }
            }
        } catch (ServiceConfigurationError e) {
            if (e.getCause() instanceof IllegalArgumentException invalidProperty) {
                throw invalidProperty;
            }
            if (e.getCause() instanceof VirtualMachineError error) {
                throw error;
            }
            throw e;
        }
        throw new LibraryNotFoundException(
                "Cannot find a software implementation of %s.".formatted(soname),
                "Add the dependency org.jrdma:%s and, on the module path, --add-modules %s."
                        .formatted(artifact, module));
    }

    private static ClassLoader[] softwareLoaders() {
        return new ClassLoader[] {
            Thread.currentThread().getContextClassLoader(), NativeLibrary.class.getClassLoader()
        };
    }

    /**
     * Opens a library from a file.
     *
     * @throws LibraryNotFoundException if the file does not exist or is not a library for this
     *     machine
     */
    public static NativeLibrary open(Path file) throws LibraryNotFoundException {
        prepareProcess();
        try {
            var symbols = allowed(() -> SymbolLookup.libraryLookup(file, Arena.global()));
            return new NativeLibrary(file.toString(), null, symbols);
        } catch (IllegalArgumentException e) {
            throw new LibraryNotFoundException(
                    "%s could not be opened: it is missing, not readable, or not a shared library for %s."
                            .formatted(file, System.getProperty("os.arch")),
                    "",
                    e);
        }
    }

    /** Opens a library whose symbols come from a provider. */
    public static NativeLibrary from(LibraryProvider provider) {
        checkNativeAccess();
        prepareProcess();
        StackSpace.enable();
        return new NativeLibrary(provider.name(), provider, provider.symbols());
    }

    /** Runs the steps that must precede the creation of the first native object. */
    private static void prepareProcess() {
        Leaks.checkProperty();
        Barrier.checkProperty();
        StackSpace.initialize();
    }

    /**
     * Looks up a symbol. The result is empty if the library does not contain the symbol, for
     * example because the library is too old.
     */
    public Optional<MemorySegment> find(String symbol) {
        return symbols.find(symbol);
    }

    /**
     * Looks up a function that every version of the library has.
     *
     * @throws LibraryNotFoundException if the function is missing
     */
    public MemorySegment require(String symbol) throws LibraryNotFoundException {
        try {
            return symbols.findOrThrow(symbol);
        } catch (NoSuchElementException e) {
            throw new LibraryNotFoundException(
                    "%s has no function %s. It is too old, or it is a different library."
                            .formatted(description, symbol),
                    "",
                    e);
        }
    }

    /**
     * Returns true if the symbols come from a {@link LibraryProvider}. The functions of a provider
     * may be Java code. They must not be called through a {@linkplain Downcalls#critical critical}
     * handle, because a critical call that enters Java aborts the JVM.
     */
    public boolean isProvided() {
        return provider != null;
    }

    /**
     * Returns the provider's message about the current thread's last failed call; empty if there is
     * no provider or no message.
     */
    public String explanation() {
        return provider == null ? "" : provider.explanation();
    }

    /** Returns the file that the library was opened from, or the name of the provider. */
    @Override
    public String toString() {
        return description;
    }

    /**
     * Checks that native access is enabled. Bindings call this method before they link functions,
     * because the exception of a failed link does not name the fix.
     *
     * @throws IllegalCallerException if this JVM denies native access; the message names the option
     */
    public static void checkNativeAccess() {
        allowed(() -> MemorySegment.NULL.reinterpret(0));
    }

    private static <T> T allowed(Supplier<T> restricted) {
        try {
            return restricted.get();
        } catch (IllegalCallerException e) {
            var module = NativeLibrary.class.getModule();
            throw new IllegalCallerException(
                    "This JVM denies native access. Start java with --enable-native-access=%s."
                            .formatted(module.isNamed() ? module.getName() : "ALL-UNNAMED"),
                    e);
        }
    }

    private static String linkerPath() {
        var path = System.getenv("LD_LIBRARY_PATH");
        return path == null ? "LD_LIBRARY_PATH is not set" : "LD_LIBRARY_PATH is " + path;
    }

    /**
     * Returns the path of the mapped file whose name begins with {@code soname}. The path shows
     * which of several installed libraries was opened. The dynamic linker maps {@code libx.so.1} as
     * {@code libx.so.1.14.44}.
     */
    private static Optional<String> mappedFile(String soname) {
        try {
            // Not Files.lines, which throws an exception for a name that is not UTF-8.
            var maps = new String(Files.readAllBytes(Path.of("/proc/self/maps")), UTF_8);
            return maps.lines()
                    .filter(line -> line.indexOf('/') >= 0)
                    .map(line -> line.substring(line.indexOf('/')))
                    .filter(path -> path.substring(path.lastIndexOf('/') + 1).startsWith(soname))
                    .findFirst();
        } catch (IOException e) {
            return Optional.empty(); // The path is only informative, and /proc may be hidden.
        }
    }
}
