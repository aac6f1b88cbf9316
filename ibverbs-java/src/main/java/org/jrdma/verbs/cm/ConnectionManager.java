package org.jrdma.verbs.cm;

import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.LibraryProvider;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.VerbsException;
import org.jrdma.verbs.internal.ConnectionLibrary;
import org.jspecify.annotations.Nullable;

/**
 * librdmacm, as found on this machine or in a provider: where connections come from.
 *
 * <p>It stays open for as long as the JVM runs. Safe for use by several threads.
 */
public final class ConnectionManager {

    private static @Nullable ConnectionManager system;

    private final ConnectionLibrary library;

    private ConnectionManager(ConnectionLibrary library) {
        this.library = library;
    }

    /**
     * The machine's own librdmacm. The same each time.
     *
     * @throws LibraryNotFoundException if it is not installed; the message names the packages
     */
    public static synchronized ConnectionManager system() throws LibraryNotFoundException {
        if (system == null) {
            system =
                    new ConnectionManager(
                            new ConnectionLibrary(NativeLibrary.open(ConnectionLibrary.NAME)));
        }
        return system;
    }

    /**
     * What the system property {@code jrdma.fabric} says, as for {@link
     * org.jrdma.verbs.Verbs#configured()}.
     *
     * @throws LibraryNotFoundException if that is not there; the software fabric has no connection
     *     manager yet
     * @throws IllegalArgumentException if it says something else
     */
    public static ConnectionManager configured() throws LibraryNotFoundException {
        var fabric = System.getProperty("jrdma.fabric", "system");
        return switch (fabric) {
            case "system" -> system();
            case "software" ->
                    throw new LibraryNotFoundException(
                            "There is no connection manager in software yet. Tell the peer your queue pair's endpoint() by other means, and connect() to the peer's.");
            default ->
                    throw new IllegalArgumentException(
                            "jrdma.fabric is \"%s\"; it can be system or software"
                                    .formatted(fabric));
        };
    }

    /**
     * A librdmacm that a provider answers for.
     *
     * @throws LibraryNotFoundException if it lacks a function that every version has
     */
    public static ConnectionManager from(LibraryProvider provider) throws LibraryNotFoundException {
        return new ConnectionManager(new ConnectionLibrary(NativeLibrary.from(provider)));
    }

    /**
     * Makes a channel for programs that take every step themselves. In C: {@code
     * rdma_create_event_channel}.
     *
     * @throws VerbsException if this machine has no RDMA device, or its files are not for this user
     */
    public EventChannel newEventChannel() throws VerbsException {
        return new EventChannel(library);
    }

    /** Where the library was found. */
    @Override
    public String toString() {
        return library.library().toString();
    }
}
