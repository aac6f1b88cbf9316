package org.jrdma.soft.sisci.fabric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import org.jrdma.soft.sisci.host.SignalSocket;
import org.jrdma.soft.sisci.host.SystemCalls;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RemoteInterruptDuringLeaveTest {

    /** The response may arrive before the process leaves, and be handled afterwards. */
    @Test
    void shouldCloseASocketThatArrivesWhileTheProcessLeaves(@TempDir Path folder) throws Exception {
        var faults = new FaultInjector(false, Duration.ZERO, 0, Long.MAX_VALUE);
        var process = FabricProcess.join(folder, false, 0, 1, faults);
        var descriptor = process.open();
        var local = process.interrupts().create(descriptor, false, 0, 0, null, 0);
        var remote = RemoteInterrupt.connect(descriptor, false, process.node(), 0, local.number());
        var sockets = SignalSocket.open();

        process.leave();

        assertThatThrownBy(() -> remote.signalBy(sockets.sender()))
                .isInstanceOf(SciException.class);
        assertThat(SignalSocket.receive(sockets.receiver())).as("the end of the socket").isZero();
        SystemCalls.close(sockets.receiver());
    }
}
