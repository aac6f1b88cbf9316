package org.jrdma.cli.doctor;

import java.util.stream.Stream;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.doctor.Finding;
import org.jrdma.ffi.doctor.MachineFiles;
import org.jrdma.sisci.Sisci;

/** Checks of SISCI and SuperSockets. */
final class DolphinChecks {

    private DolphinChecks() {}

    static Stream<Finding> on(MachineFiles machine) {
        return Stream.of(sisci(), superSockets(machine), iommu(machine));
    }

    private static Finding sisci() {
        try {
            return Finding.fine("libsisci", Sisci.system().toString());
        } catch (LibraryNotFoundException e) {
            return Finding.absent("libsisci", e.problem(), e.remedy());
        } catch (IllegalCallerException e) {
            return Finding.unknown("libsisci", "native access is denied");
        }
    }

    private static Finding superSockets(MachineFiles machine) {
        return Stream.of("proc/net/af_ssocks/family", "proc/net/af_sci/family")
                .flatMap(file -> machine.line(file).stream())
                .findFirst()
                .map(family ->
                        Finding.fine(
                                "SuperSockets", "the driver is loaded; address family " + family))
                .orElse(
                        Finding.absent(
                                "SuperSockets",
                                "the driver is not loaded",
                                "Install Dolphin's eXpressWare and run \"systemctl start dis_supersockets\"."));
    }

    /**
     * Reports the state of the IOMMU without an evaluation, because the right setting depends on
     * the adapter.
     */
    private static Finding iommu(MachineFiles machine) {
        var units = machine.names("sys/class/iommu");
        var passThrough = machine.line("proc/cmdline").orElse("").contains("iommu=pt");
        if (units.isEmpty()) {
            return Finding.fine("IOMMU", "off");
        }
        return Finding.fine("IOMMU", passThrough ? "on, pass-through (iommu=pt)" : "on");
    }
}
