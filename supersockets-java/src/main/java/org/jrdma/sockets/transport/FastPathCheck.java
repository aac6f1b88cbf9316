package org.jrdma.sockets.transport;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jrdma.ffi.doctor.ConnectionChecks;
import org.jrdma.ffi.doctor.DeviceChecks;
import org.jrdma.ffi.doctor.Finding;
import org.jrdma.ffi.doctor.LimitChecks;
import org.jrdma.ffi.doctor.Machine;
import org.jrdma.ffi.doctor.Verdict;
import org.slf4j.LoggerFactory;

/**
 * What commonly breaks the fast paths of this machine, said once in the log: when a socket of
 * another transport than TCP is first asked for, on a thread of its own. A machine without RDMA
 * devices has nothing to be said of.
 */
public final class FastPathCheck {

    private static final FastPathCheck OF_THIS_MACHINE =
            new FastPathCheck(
                    Machine.THIS,
                    finding -> LoggerFactory.getLogger(FastPathCheck.class).warn(finding));

    private final Machine machine;
    private final Consumer<String> log;
    private final AtomicBoolean begun = new AtomicBoolean();

    FastPathCheck(Machine machine, Consumer<String> log) {
        this.machine = machine;
        this.log = log;
    }

    /** A socket of this transport is about to be made. */
    public static void before(StreamTransport transport) {
        if (transport != FamilyTransport.TCP) {
            OF_THIS_MACHINE.begin();
        }
    }

    void begin() {
        if (!begun.get() && begun.compareAndSet(false, true)) {
            Thread.ofPlatform().name("jrdma-sockets-check").daemon().start(this::run);
        }
    }

    private void run() {
        if (!DeviceChecks.hasDevices(machine)) {
            return;
        }
        Stream.of(
                        DeviceChecks.on(machine),
                        Stream.of(ConnectionChecks.resolver(machine)),
                        ConnectionChecks.ipOverInfiniband(machine),
                        Stream.of(LimitChecks.lockedMemory(machine)))
                .flatMap(findings -> findings)
                .filter(finding ->
                        finding.verdict() == Verdict.BROKEN
                                || finding.verdict() == Verdict.DOUBTFUL)
                .map(FastPathCheck::line)
                .forEach(log);
    }

    private static String line(Finding finding) {
        return "%s: %s; so %s. To mend it: %s"
                .formatted(finding.subject(), finding.seen(), finding.breaks(), finding.remedy());
    }
}
