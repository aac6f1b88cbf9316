package org.jrdma.ffi.linkage;

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
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.LibraryProvider;
import org.jrdma.ffi.SoftwareLibrary;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An open library: the one place where symbols come from.
 *
 * <p>It stays open for as long as the JVM runs, since no one can know that no thread of the
 * library's own still runs in it. Safe for use by several threads.
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
     * Opens a library where the dynamic linker finds it, or else where its installer puts it. In C:
     * {@code dlopen}.
     *
     * @throws LibraryNotFoundException if it cannot be opened; the message names the packages that
     *     hold it
     */
    public static NativeLibrary open(LibraryName name) throws LibraryNotFoundException {
        try {
            var symbols = allowed(() -> SymbolLookup.libraryLookup(name.soname(), Arena.global()));
            return new NativeLibrary(
                    MappedFiles.find(name.soname()).orElse(name.soname()), null, symbols);
        } catch (IllegalArgumentException e) {
            var tried = new StringBuilder("the path of the dynamic linker (" + linkerPath() + ")");
            for (var folder : name.folders()) {
                var file = folder.resolve(name.soname());
                if (Files.exists(file)) {
                    return open(file);
                }
                tried.append(", ").append(file);
            }
            throw new LibraryNotFoundException(
                    "%s could not be opened. Tried: %s. %s"
                            .formatted(name.soname(), tried, name.advice()),
                    e);
        }
    }

    /**
     * A library written in Java that stands in for one in C, found as a service.
     *
     * @param soname the library that it stands in for
     * @param artifact what to add to a build that lacks it
     * @param module what to add on the module path
     * @throws LibraryNotFoundException if there is none on the class path or the module path
     * @throws IllegalArgumentException if a system property of its own makes no sense
     */
    public static NativeLibrary software(String soname, String artifact, String module)
            throws LibraryNotFoundException {
        needPermission();
        try {
            for (var library : ServiceLoader.load(SoftwareLibrary.class)) {
                if (library.soname().equals(soname)) {
                    return from(library);
                }
            }
        } catch (ServiceConfigurationError e) {
            if (e.getCause() instanceof IllegalArgumentException wrongProperty) {
                throw wrongProperty;
            }
            throw e;
        }
        throw new LibraryNotFoundException(
                "No %s in software was found. Add the dependency org.jrdma:%s; on the module path, --add-modules %s too."
                        .formatted(soname, artifact, module));
    }

    /**
     * Opens a library from a file.
     *
     * @throws LibraryNotFoundException if there is no such file, or it is not a library for this
     *     machine
     */
    public static NativeLibrary open(Path file) throws LibraryNotFoundException {
        try {
            var symbols = allowed(() -> SymbolLookup.libraryLookup(file, Arena.global()));
            return new NativeLibrary(file.toString(), null, symbols);
        } catch (IllegalArgumentException e) {
            throw new LibraryNotFoundException(
                    "%s could not be opened: it is missing, not readable, or not a shared library for %s."
                            .formatted(file, System.getProperty("os.arch")),
                    e);
        }
    }

    /** A library whose symbols {@code provider} answers for. */
    public static NativeLibrary from(LibraryProvider provider) {
        needPermission();
        StackRoom.need();
        return new NativeLibrary(provider.name(), provider, provider.symbols());
    }

    /** The address of a symbol, or empty where this library is older than the symbol. */
    public Optional<MemorySegment> find(String symbol) {
        return symbols.find(symbol);
    }

    /**
     * The address of a function that every version of the library has.
     *
     * @throws LibraryNotFoundException if it is missing all the same
     */
    public MemorySegment require(String symbol) throws LibraryNotFoundException {
        try {
            return symbols.findOrThrow(symbol);
        } catch (NoSuchElementException e) {
            throw new LibraryNotFoundException(
                    "%s has no function %s: it is too old, or another library."
                            .formatted(description, symbol),
                    e);
        }
    }

    /**
     * Whether the symbols come from a {@link LibraryProvider}. Its functions may be Java, so they
     * must not be called through a critical handle: that aborts the JVM.
     */
    public boolean isProvided() {
        return provider != null;
    }

    /** What a provider knows of the current thread's last failure; empty where it is nothing. */
    public String explanation() {
        return provider == null ? "" : provider.explanation();
    }

    /** The file it was opened from, or its provider's name. */
    @Override
    public String toString() {
        return description;
    }

    /**
     * For what is about to link functions: that would fail without advice.
     *
     * @throws IllegalCallerException if this JVM denies native access; the message names the option
     */
    public static void needPermission() {
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
}
