package org.jrdma.cli.doctor;

import java.util.Locale;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.jrdma.ffi.doctor.Finding;
import org.jrdma.ffi.doctor.MachineFiles;

/**
 * Checks of the largest buffers of TCP. A connection transfers at most one buffer per round trip,
 * so a fast interface needs a buffer for the delay of the path.
 */
final class TcpBufferChecks {

    /** The interfaces of slower networks are not examined. */
    private static final long MIN_MEGABITS = 10_000;

    /** A round trip between busy hosts, with queues in switches. */
    private static final long DELAY_MICROS = 500;

    private TcpBufferChecks() {}

    static Stream<Finding> on(MachineFiles machine) {
        return machine.names("sys/class/net").stream()
                .flatMap(name -> {
                    var speed = number(machine.line("sys/class/net/" + name + "/speed").orElse(""));
                    return speed.isPresent() && speed.getAsLong() >= MIN_MEGABITS
                            ? Stream.of("tcp_rmem", "tcp_wmem")
                                    .flatMap(file -> buffer(name, speed.getAsLong(), file, machine))
                            : Stream.empty();
                });
    }

    private static Stream<Finding> buffer(
            String name, long megabits, String file, MachineFiles machine) {
        var sizes = machine.line("proc/sys/net/ipv4/" + file).orElse("").split("\\s+", -1);
        var bytes = number(sizes[sizes.length - 1]);
        if (bytes.isEmpty()) {
            return Stream.empty();
        }
        var subject = "%s %s".formatted(name, file);
        var micros = bytes.getAsLong() * 8 / megabits;
        var seen =
                String.format(
                        Locale.ROOT,
                        "at most %,d bytes, enough for a round trip of %,d us at %,d Mb/s",
                        bytes.getAsLong(),
                        micros,
                        megabits);
        return Stream.of(
                micros >= DELAY_MICROS
                        ? Finding.fine(subject, seen)
                        : Finding.doubtful(
                                subject,
                                seen,
                                "a connection over TCP does not reach the speed of the interface",
                                "sysctl -w net.ipv4.%s=\"4096 131072 %d\""
                                        .formatted(file, megabits * DELAY_MICROS / 8)));
    }

    private static OptionalLong number(String text) {
        return text.matches("\\d{1,15}")
                ? OptionalLong.of(Long.parseLong(text))
                : OptionalLong.empty();
    }
}
