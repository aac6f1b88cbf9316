package org.jrdma.sockets.transport;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jrdma.ffi.doctor.Finding;
import org.jrdma.ffi.doctor.LimitChecks;
import org.jrdma.ffi.doctor.MachineFiles;
import org.jrdma.ffi.doctor.NetworkPathChecks;
import org.jrdma.ffi.doctor.RdmaDeviceChecks;
import org.jrdma.ffi.doctor.Verdict;
import org.slf4j.LoggerFactory;

/**
 * Checks this machine for common problems that can make its fast transports slow or unusable, and
 * logs them. The check runs once, on a thread of its own, when a socket of a transport other than
 * TCP is first opened. Nothing is checked on a machine without RDMA devices.
 */
public final class MachineWarnings {

    private static final MachineWarnings THIS_MACHINE =
            new MachineWarnings(
                    MachineFiles.THIS,
                    finding -> LoggerFactory.getLogger(MachineWarnings.class).warn(finding));

    private final MachineFiles machine;
    private final Consumer<String> log;
    private final AtomicBoolean started = new AtomicBoolean();

    MachineWarnings(MachineFiles machine, Consumer<String> log) {
        this.machine = machine;
        this.log = log;
    }

    /**
     * Starts the check, unless it was started before. Does nothing if the transport is TCP. Called
     * before a socket of {@code transport} is opened.
     */
    public static void before(StreamTransport transport) {
        if (transport != KernelTransport.TCP) {
            THIS_MACHINE.start();
        }
    }

    void start() {
        if (!started.get() && started.compareAndSet(false, true)) {
            Thread.ofPlatform().name("jrdma-sockets-check").daemon().start(this::run);
        }
    }

    private void run() {
        if (!RdmaDeviceChecks.hasDevices(machine)) {
            return;
        }
        Stream.of(
                        RdmaDeviceChecks.on(machine),
                        Stream.of(NetworkPathChecks.resolver(machine)),
                        NetworkPathChecks.ipOverInfiniband(machine),
                        Stream.of(LimitChecks.lockedMemory(machine)))
                .flatMap(findings -> findings)
                .filter(finding ->
                        finding.verdict() == Verdict.BROKEN
                                || finding.verdict() == Verdict.DOUBTFUL)
                .map(MachineWarnings::line)
                .forEach(log);
    }

    private static String line(Finding finding) {
        return "%s: %s, so %s. To fix it: %s"
                .formatted(finding.subject(), finding.seen(), finding.breaks(), finding.fix());
    }
}
