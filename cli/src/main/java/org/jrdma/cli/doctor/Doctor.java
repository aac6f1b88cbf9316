package org.jrdma.cli.doctor;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/** Looks for what commonly breaks RDMA, SISCI and SuperSockets. */
public final class Doctor {

    private static final List<Function<Machine, Stream<Finding>>> CHECKS =
            List.of(
                    JvmChecks::on,
                    LibraryChecks::on,
                    DeviceChecks::on,
                    ConnectionChecks::on,
                    LimitChecks::on,
                    PcieChecks::on);

    private Doctor() {}

    /** Of this machine, as this process sees it. */
    public static List<Finding> examine() {
        return examine(new Machine(Path.of("/")));
    }

    static List<Finding> examine(Machine machine) {
        return CHECKS.stream().flatMap(check -> check.apply(machine)).toList();
    }
}
