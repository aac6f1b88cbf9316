package org.jrdma.cli.doctor;

import java.util.stream.Stream;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.doctor.Finding;
import org.jrdma.ffi.doctor.MachineFiles;
import org.jrdma.ffi.doctor.RdmaDeviceChecks;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;

/** Checks of the RDMA libraries. */
final class LibraryChecks {

    private LibraryChecks() {}

    static Stream<Finding> on(MachineFiles machine) {
        return Stream.of(
                check("libibverbs", Verbs::system, machine),
                check("librdmacm", ConnectionManager::system, machine));
    }

    @FunctionalInterface
    interface Library {
        Object open() throws LibraryNotFoundException;
    }

    /**
     * Checks that a library can be opened. A missing library is a fault only if the kernel has RDMA
     * devices.
     */
    static Finding check(String name, Library library, MachineFiles machine) {
        try {
            return Finding.fine(name, library.open().toString());
        } catch (LibraryNotFoundException e) {
            return RdmaDeviceChecks.hasDevices(machine)
                    ? Finding.broken(
                            name,
                            e.problem(),
                            "programs cannot use the RDMA devices of the kernel",
                            e.remedy())
                    : Finding.absent(name, e.problem(), e.remedy());
        } catch (IllegalCallerException e) {
            return Finding.unknown(name, "native access is denied");
        }
    }
}
