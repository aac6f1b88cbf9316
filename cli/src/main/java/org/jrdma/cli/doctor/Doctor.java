package org.jrdma.cli.doctor;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jrdma.ffi.doctor.Finding;
import org.jrdma.ffi.doctor.LimitChecks;
import org.jrdma.ffi.doctor.MachineFiles;
import org.jrdma.ffi.doctor.NetworkPathChecks;
import org.jrdma.ffi.doctor.RdmaDeviceChecks;

/** Diagnoses common configuration faults of RDMA, SISCI and SuperSockets. */
public final class Doctor {

    private static final List<Function<MachineFiles, Stream<Finding>>> CHECKS =
            List.of(
                    JvmChecks::on,
                    LibraryChecks::on,
                    RdmaDeviceChecks::on,
                    NetworkPathChecks::on,
                    DriverParameterChecks::on,
                    TcpBufferChecks::on,
                    LimitChecks::on,
                    DolphinChecks::on,
                    NtbChecks::on);

    private Doctor() {}

    /** Returns the findings of all checks on this machine, as this process sees the machine. */
    public static List<Finding> examine() {
        return examine(MachineFiles.THIS);
    }

    static List<Finding> examine(MachineFiles machine) {
        return CHECKS.stream().flatMap(check -> check.apply(machine)).toList();
    }
}
