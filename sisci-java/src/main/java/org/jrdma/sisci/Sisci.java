package org.jrdma.sisci;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.ffi.ConfiguredFabric;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.LibraryProvider;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.sisci.internal.SisciFunctionGroups;
import org.jrdma.sisci.internal.SisciLibrary;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;

/**
 * A SISCI library (libsisci). It opens nodes.
 *
 * <p>The library stays loaded until the JVM exits. It is initialized when the first node is opened,
 * and terminated when the last node is closed. Safe for use by multiple threads.
 */
public final class Sisci {

    private static @Nullable Sisci system;
    private static @Nullable Sisci software;

    /**
     * The number of open nodes of each library, by {@link
     * org.jrdma.sisci.internal.SisciLibrary#identity}. Two objects for the same library share the
     * number, so that the library is initialized only once.
     */
    private static final Map<Long, Users> USERS = new ConcurrentHashMap<>();

    private final SisciFunctionGroups functions;
    private final Users users;

    private static final class Users {
        int openNodes;
    }

    private Sisci(NativeLibrary library) throws LibraryNotFoundException {
        this.functions = new SisciFunctionGroups(new SisciLibrary(library));
        this.users = USERS.computeIfAbsent(functions.library().identity(), _ -> new Users());
    }

    /**
     * Returns the libsisci that is installed on this machine.
     *
     * @throws LibraryNotFoundException if no libsisci is installed; the message lists the places
     *     that were searched
     */
    public static synchronized Sisci system() throws LibraryNotFoundException {
        if (system == null) {
            system = new Sisci(NativeLibrary.open(SisciLibrary.NAME));
        }
        return system;
    }

    /**
     * Returns the software fabric: a libsisci written in Java, which needs no adapter, driver or
     * privileges. Each call returns the same object.
     *
     * @throws LibraryNotFoundException if the software fabric is not on the class path or module
     *     path; the message names the missing dependency
     * @throws IllegalArgumentException if a system property of the software fabric has an invalid
     *     value
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
     * Returns the library that the system property {@code jrdma.fabric} selects: {@link #system()}
     * for {@code system} or if the property is not set, {@link #software()} for {@code software}.
     *
     * @throws LibraryNotFoundException if the selected library is not found
     * @throws IllegalArgumentException if the property has another value
     */
    public static Sisci configured() throws LibraryNotFoundException {
        return switch (ConfiguredFabric.get()) {
            case SYSTEM -> system();
            case SOFTWARE -> software();
        };
    }

    /**
     * Loads a libsisci from a file.
     *
     * @throws LibraryNotFoundException if the file is not a libsisci, or is a libsisci of version 1
     */
    public static Sisci load(Path file) throws LibraryNotFoundException {
        return new Sisci(NativeLibrary.open(file));
    }

    /**
     * Returns a libsisci whose symbols come from a provider.
     *
     * @throws LibraryNotFoundException if a function that every version has is missing, or if the
     *     library is version 1
     */
    public static Sisci from(LibraryProvider provider) throws LibraryNotFoundException {
        return new Sisci(NativeLibrary.from(provider));
    }

    /**
     * Opens this node through adapter 0, the only adapter of most machines. In C: {@code
     * SCIInitialize}, {@code SCIOpen}, {@code SCIGetLocalNodeId}.
     *
     * @throws SisciException if there is no such adapter, or the driver is not loaded
     */
    public Node open() throws SisciException {
        return open(0);
    }

    /**
     * Opens this node through one of its adapters, like {@link #open()}. Objects created from the
     * node use that adapter.
     *
     * @param adapter the number of the adapter, from 0
     * @throws SisciException if there is no such adapter, or the driver is not loaded
     */
    public Node open(int adapter) throws SisciException {
        enter();
        try {
            return Node.open(functions, adapter, this::leave);
        } catch (Throwable e) {
            leave();
            throw e;
        }
    }

    /** Returns the version of the API that the library implements. In C: {@code SCI_Q_API}. */
    public String version() throws SisciException {
        return text(functions.nodes()::version);
    }

    /** Returns the vendor of the library. In C: {@code SCI_Q_VENDORID}. */
    public String vendor() throws SisciException {
        return text(functions.nodes()::vendor);
    }

    private String text(SisciObject.Call<String, SisciException> query) throws SisciException {
        enter();
        try {
            return query.run();
        } finally {
            leave();
        }
    }

    /** Returns the file of the library, or the name of its provider. */
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
