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
 * <p>A program selects the subject with {@link #test}. Otherwise, system properties select it:
 * {@code jrdma.tck.library} is the path of a library, or by default "system"; {@code
 * jrdma.tck.device} is the name of the device, by default rxe0; {@code jrdma.tck.profile} is the
 * name of a {@link Profile}, by default selected by the name of the device.
 *
 * @param verbs the verbs of the library
 * @param deviceName the name of the device
 * @param profile the missing features of the provider and its deviations from the specification
 * @param symbols the symbols of the library, for tests that hide or replace functions
 * @param cable disconnects the link of the device
 * @param manager opens the connection manager that belongs to the library
 */
public record Fabric(
        Verbs verbs,
        String deviceName,
        Profile profile,
        SymbolLookup symbols,
        LinkControl cable,
        Manager manager) {

    private static @Nullable Fabric underTest;

    /** Creates connection managers. */
    @FunctionalInterface
    public interface Manager {
        ConnectionManager open() throws LibraryNotFoundException;
    }

    /** Sets the test subject. */
    public static synchronized void test(Fabric fabric) {
        underTest = fabric;
    }

    /** Returns the test subject. System properties select it if {@link #test} was not called. */
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

    /**
     * Opens the connection manager that belongs to the library. Skips the test if there is none.
     */
    ConnectionManager connections() throws LibraryNotFoundException {
        needs(Feature.CONNECTION_MANAGER);
        return manager.open();
    }

    /**
     * Returns an IPv4 address of the device: the first one in its GID table, or an address of its
     * network interface if no GID contains an IPv4 address, as on iWARP.
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
                .orElseThrow(() -> new IOException(name + " has no IPv4 address"));
    }

    /** Skips the test if the provider lacks the feature, according to the profile. */
    void needs(Feature feature) {
        var reason = profile.lacks().get(feature);
        if (reason != null) {
            throw new Listed("%s lacks %s: %s".formatted(profile, feature, reason));
        }
    }

    /** Skips the test if the provider has the feature, according to the profile. */
    void needsLackOf(Feature feature) {
        if (profile.has(feature)) {
            throw new Listed(
                    "%s has %s, but the test needs a provider without it"
                            .formatted(profile, feature));
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
                    LinkControl::networkInterface,
                    ConnectionManager::system);
        } catch (LibraryNotFoundException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    /**
     * Skips a test for a reason that the profile lists, such as a missing feature. {@link KitMain}
     * never counts it as a failure.
     */
    static final class Listed extends TestAbortedException {

        private static final long serialVersionUID = 1L;

        Listed(String reason) {
            super(reason);
        }
    }
}
