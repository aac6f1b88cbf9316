package org.jrdma.sisci;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.LibraryProvider;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.sisci.internal.SisciFunctions;
import org.jrdma.sisci.internal.SisciLibrary;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;

/**
 * libsisci, as found on this machine, in a file, or in a provider: where nodes come from.
 *
 * <p>It stays open for as long as the JVM runs. It is initialised when the first node is opened,
 * and terminated when the last is closed. Safe for use by several threads.
 */
public final class Sisci {

    private static @Nullable Sisci system;
    private static @Nullable Sisci software;

    /** By library: however often one was opened, it is initialised once. */
    private static final Map<Long, Users> USERS = new ConcurrentHashMap<>();

    private final SisciFunctions functions;
    private final Users users;

    private static final class Users {
        int openNodes;
    }

    private Sisci(NativeLibrary library) throws LibraryNotFoundException {
        this.functions = new SisciFunctions(new SisciLibrary(library));
        this.users = USERS.computeIfAbsent(functions.library().identity(), _ -> new Users());
    }

    /**
     * The machine's own libsisci.
     *
     * @throws LibraryNotFoundException if it is not installed; the message says where it was looked
     *     for
     */
    public static synchronized Sisci system() throws LibraryNotFoundException {
        if (system == null) {
            system = new Sisci(NativeLibrary.open(SisciLibrary.NAME));
        }
        return system;
    }

    /**
     * SISCI in software: a libsisci written in Java, which needs no adapter, no driver and no
     * privilege. The same each time.
     *
     * @throws LibraryNotFoundException if there is none on the class path or the module path; the
     *     message says what to add
     * @throws IllegalArgumentException if a system property of its own makes no sense
     */
    public static synchronized Sisci software() throws LibraryNotFoundException {
        if (software == null) {
            software =
                    new Sisci(
                            NativeLibrary.software(
                                    SisciLibrary.NAME.soname(),
                                    "sisci-soft",
                                    "org.jrdma.soft.sisci"));
        }
        return software;
    }

    /**
     * What the system property {@code jrdma.fabric} says: {@link #system()} for {@code system} or
     * where it is not set, {@link #software()} for {@code software}.
     *
     * @throws LibraryNotFoundException if that is not there
     * @throws IllegalArgumentException if it says something else
     */
    public static Sisci configured() throws LibraryNotFoundException {
        var fabric = System.getProperty("jrdma.fabric", "system");
        return switch (fabric) {
            case "system" -> system();
            case "software" -> software();
            default ->
                    throw new IllegalArgumentException(
                            "jrdma.fabric is \"%s\"; it can be system or software"
                                    .formatted(fabric));
        };
    }

    /**
     * A libsisci in a file.
     *
     * @throws LibraryNotFoundException if there is none in it, or one of version 1
     */
    public static Sisci load(Path file) throws LibraryNotFoundException {
        return new Sisci(NativeLibrary.open(file));
    }

    /**
     * A libsisci that a provider answers for.
     *
     * @throws LibraryNotFoundException if it lacks a function that every version has, or is of
     *     version 1
     */
    public static Sisci from(LibraryProvider provider) throws LibraryNotFoundException {
        return new Sisci(NativeLibrary.from(provider));
    }

    /**
     * Opens this node by adapter 0, which is the only one of most machines. In C: {@code
     * SCIInitialize}, {@code SCIOpen}, {@code SCIGetLocalNodeId}.
     *
     * @throws SisciException if there is no such adapter, or the driver is not loaded
     */
    public Node open() throws SisciException {
        return open(0);
    }

    /**
     * Opens this node by one of its adapters: what is made from it goes that way. As {@link
     * #open()}.
     *
     * @param adapter the adapter's number; they count from 0
     */
    public Node open(int adapter) throws SisciException {
        enter();
        try {
            return Node.open(functions, adapter, this::leave);
        } catch (SisciException | RuntimeException e) {
            leave();
            throw e;
        }
    }

    /** The version of the API that the library has. In C: {@code SCI_Q_API}. */
    public String version() throws SisciException {
        return text(functions.nodes()::version);
    }

    /** Who made the library. In C: {@code SCI_Q_VENDORID}. */
    public String vendor() throws SisciException {
        return text(functions.nodes()::vendor);
    }

    @FunctionalInterface
    private interface Question {
        String ask() throws SisciException;
    }

    private String text(Question question) throws SisciException {
        enter();
        try {
            return question.ask();
        } finally {
            leave();
        }
    }

    /** Where the library was found. */
    @Override
    public String toString() {
        return functions.library().toString();
    }

    private void enter() throws SisciException {
        synchronized (users) {
            if (users.openNodes == 0) {
                functions.nodes().initialize();
            }
            users.openNodes++;
        }
    }

    private void leave() {
        synchronized (users) {
            users.openNodes--;
            if (users.openNodes == 0) {
                functions.nodes().terminate();
            }
        }
    }
}
