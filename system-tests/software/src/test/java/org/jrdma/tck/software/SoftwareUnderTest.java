package org.jrdma.tck.software;

import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.soft.roce.SoftRoce;
import org.jrdma.tck.verbs.Fabric;
import org.jrdma.tck.verbs.LinkControl;
import org.jrdma.tck.verbs.Profile;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Configures the conformance kit to test the software fabric. JUnit's launcher loads this class as
 * a service.
 */
public final class SoftwareUnderTest implements LauncherSessionListener {

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        var library = SoftRoce.onLoopback(1);
        var device = library.devices().getFirst();
        LinkControl cable =
                _ -> {
                    device.linkDown();
                    return device::linkUp;
                };
        try {
            var connections = ConnectionManager.from(library);
            Fabric.test(
                    new Fabric(
                            Verbs.from(library),
                            device.name(),
                            Profile.SOFTWARE,
                            library.symbols(),
                            cable,
                            () -> connections));
        } catch (LibraryNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }
}
