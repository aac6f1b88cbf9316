package org.jrdma.volume.coordinator;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import org.jrdma.volume.drive.Fence;
import org.jrdma.volume.drive.MemoryDrive;
import org.jrdma.volume.metadata.Journal;
import org.jrdma.volume.metadata.Recovery;
import org.jrdma.volume.metadata.VolumeFormatter;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SessionTableTest {

    private static final Duration TIMEOUT = Duration.ofMillis(200);

    @Test
    @Timeout(60)
    void shouldWaitForHeartbeatsAfterAPauseOfTheCoordinator() throws Exception {
        var drive = new MemoryDrive(1024);
        var superblock = VolumeFormatter.create(drive);
        var recovery = Recovery.read(drive, superblock);
        var journal = Journal.start(drive, superblock, 1, recovery, () -> {});
        var state = new JournaledMetadata(recovery.namespace(), journal);
        state.lock.lock();
        try {
            var sessions = new SessionTable(state, Fence.BY_CLOCK, TIMEOUT, 1, _ -> {});
            var session =
                    sessions.hello(
                            0,
                            (_, _) -> ByteBuffer.wrap(ReplyEncoding.empty()),
                            0,
                            "client",
                            List.of());
            Thread.sleep(TIMEOUT.multipliedBy(2)); // with the lock, so that no heartbeat arrives

            sessions.endSilentSessions();
            assertThat(session.isActive()).isTrue();

            while (session.isActive()) {
                Thread.sleep(TIMEOUT.dividedBy(10));
                sessions.endSilentSessions();
            }
        } finally {
            state.lock.unlock();
        }
    }
}
