package org.jrdma.tck.verbs;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.file.Path;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/**
 * The test subject: a library, a device, and the known deviations of its provider.
 *
 * <p>System properties choose the subject, unless a program calls {@link #test}: {@code
 * jrdma.tck.library} (system, the default, or the path of a library), {@code jrdma.tck.device}
 * (rxe0), {@code jrdma.tck.profile} (by default, the one for the device's name).
 *
 * @param verbs the library
 * @param deviceName the device
 * @param profile the deviations from the specification
 * @param symbols the symbols of the library, for tests that alter it
 * @param cable the cable of the device
 * @param manager the source of the connection manager
 */
public record Fabric(
        Verbs verbs,
        String deviceName,
        Profile profile,
        SymbolLookup symbols,
        Cable cable,
        Manager manager) {

    private static @Nullable Fabric underTest;

    /** The source of a connection manager. */
    @FunctionalInterface
    public interface Manager {
        ConnectionManager open() throws LibraryNotFoundException;
    }

    /** Sets the test subject. */
    public static synchronized void test(Fabric fabric) {
        underTest = fabric;
    }

    /** Returns the test subject. */
    public static synchronized Fabric underTest() {
        if (underTest == null) {
            underTest = fromProperties();
        }
        return underTest;
    }

    /** Opens the device. */
    public Device open() throws VerbsException {
        return verbs.open(deviceName);
    }

    /** Opens the connection manager that belongs to the library. */
    ConnectionManager connections() throws LibraryNotFoundException {
        needs(Feature.CONNECTION_MANAGER);
        return manager.open();
    }

    /**
     * Returns an address of the device, or of its network interface if its GIDs are not addresses.
     */
    static InetAddress address(Device device) throws IOException {
        for (var row : device.gids(1)) {
            var address = row.gid().ipv4();
            if (address.isPresent()) {
                return address.get();
            }
        }
        var name = device.gids(1).getFirst().netDevice();
        return NetworkInterface.getByName(name)
                .inetAddresses()
                .filter(Inet4Address.class::isInstance)
                .findFirst()
                .orElseThrow(() -> new IOException(name + " has no address"));
    }

    /** Skips the test if the profile lists the feature as lacking. */
    void needs(Feature feature) {
        var reason = profile.lacks().get(feature);
        if (reason != null) {
            throw new Listed("%s lacks %s: %s".formatted(profile, feature, reason));
        }
    }

    /** Skips the test if the profile does not list the feature as lacking. */
    void needsLackOf(Feature feature) {
        if (profile.has(feature)) {
            throw new Listed("%s has %s".formatted(profile, feature));
        }
    }

    private static Fabric fromProperties() {
        var library = System.getProperty("jrdma.tck.library", "system");
        var device = System.getProperty("jrdma.tck.device", "rxe0");
        var profile = System.getProperty("jrdma.tck.profile");
        var system = library.equals("system");
        try {
            return new Fabric(
                    system ? Verbs.system() : Verbs.load(Path.of(library)),
                    device,
                    profile == null ? Profile.ofDevice(device) : Profile.valueOf(profile),
                    SymbolLookup.libraryLookup(
                            system ? "libibverbs.so.1" : library, Arena.global()),
                    Cable::networkInterface,
                    ConnectionManager::system);
        } catch (LibraryNotFoundException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    /** A skip with a reason from the profile. */
    static final class Listed extends TestAbortedException {

        private static final long serialVersionUID = 1L;

        Listed(String reason) {
            super(reason);
        }
    }
}
