package org.jrdma.cli.doctor;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jrdma.ffi.doctor.Finding;
import org.jrdma.ffi.doctor.MachineFiles;

/** Checks of the module parameters of adapter drivers whose defaults are too small for servers. */
final class DriverParameterChecks {

    private static final String DEVICES = "sys/class/infiniband";

    /** The exponent of the size of a page, in which the driver of ConnectX-3 counts memory. */
    private static final int PAGE_SHIFT = 12;

    /** The largest exponent of a number of bytes that fits into a long. */
    private static final int MAX_SHIFT = Long.SIZE - 2;

    /** The number of queues with which the drivers of Omni-Path and TrueScale scale with peers. */
    private static final int RECOMMENDED_RECEIVE_QUEUES = 4;

    private DriverParameterChecks() {}

    static Stream<Finding> on(MachineFiles machine) {
        var findings = new ArrayList<Finding>();
        if (hasDevice("mlx4_", machine)) {
            registrableMemory(machine).ifPresent(findings::add);
        }
        for (var driver : List.of("hfi1", "ib_qib")) {
            if (hasDevice(driver.replace("ib_", ""), machine)) {
                findings.add(receiveQueues(driver, machine));
            }
        }
        return findings.stream();
    }

    private static boolean hasDevice(String prefix, MachineFiles machine) {
        return machine.names(DEVICES).stream().anyMatch(name -> name.startsWith(prefix));
    }

    /**
     * Compares the memory that an adapter of the series ConnectX-3 and older can register with the
     * memory of the machine. The table of newer adapters has no such limit.
     */
    private static Optional<Finding> registrableMemory(MachineFiles machine) {
        var entries = number("mlx4_core", "log_num_mtt", machine);
        var perSegment = number("mlx4_core", "log_mtts_per_seg", machine);
        var memory = memoryBytes(machine);
        if (entries.isEmpty() || perSegment.isEmpty() || memory.isEmpty()) {
            return Optional.empty();
        }
        var subject = "mlx4_core";
        if (entries.getAsLong() == 0) { // the driver computes the size from that of the memory
            return Optional.of(Finding.fine(subject, "all memory can be registered"));
        }
        var bits = entries.getAsLong() + perSegment.getAsLong();
        var registrable = 1L << Math.min(PAGE_SHIFT + bits, MAX_SHIFT);
        var seen =
                String.format(
                        Locale.ROOT,
                        "%,d MiB can be registered, and the machine has %,d MiB",
                        registrable >> 20,
                        memory.getAsLong() >> 20);
        return Optional.of(
                registrable >= memory.getAsLong()
                        ? Finding.fine(subject, seen)
                        : Finding.doubtful(
                                subject,
                                seen,
                                "the registration of more memory fails with ENOMEM",
                                "Add \"options mlx4_core log_num_mtt=%d log_mtts_per_seg=%d\" to a file in /etc/modprobe.d, and restart the machine."
                                        .formatted(
                                                bitsFor((memory.getAsLong() >> PAGE_SHIFT) * 2)
                                                        - perSegment.getAsLong(),
                                                perSegment.getAsLong())));
    }

    private static int bitsFor(long count) {
        return Long.SIZE - Long.numberOfLeadingZeros(count - 1);
    }

    private static OptionalLong memoryBytes(MachineFiles machine) {
        return machine.lines("proc/meminfo").stream()
                .filter(line -> line.startsWith("MemTotal:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D+", "")) << 10)
                .findFirst();
    }

    /** Checks the number of queues in which the driver receives packets for verbs. */
    private static Finding receiveQueues(String driver, MachineFiles machine) {
        var queues =
                machine.line(parameter(driver, "krcvqs")).stream()
                        .flatMap(list -> Stream.of(list.split(",", -1)))
                        .filter(number -> number.matches("\\d{1,9}"))
                        .mapToInt(Integer::parseInt)
                        .sum();
        var seen =
                queues == 0
                        ? "the default number of receive queues"
                        : "%d receive queues".formatted(queues);
        return queues >= RECOMMENDED_RECEIVE_QUEUES
                ? Finding.fine(driver, seen)
                : Finding.doubtful(
                        driver,
                        seen,
                        "few processors handle the packets of all peers, which limits the throughput of a server",
                        "Add \"options %s krcvqs=%d\" to a file in /etc/modprobe.d, and restart the machine."
                                .formatted(driver, RECOMMENDED_RECEIVE_QUEUES));
    }

    private static OptionalLong number(String driver, String name, MachineFiles machine) {
        return machine.line(parameter(driver, name)).stream()
                .filter(number -> number.matches("\\d{1,9}"))
                .mapToLong(Long::parseLong)
                .findFirst();
    }

    private static String parameter(String driver, String name) {
        return "sys/module/%s/parameters/%s".formatted(driver, name);
    }
}
