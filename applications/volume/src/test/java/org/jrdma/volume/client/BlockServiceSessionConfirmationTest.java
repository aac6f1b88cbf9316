package org.jrdma.volume.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.MemoryDrive;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.jrdma.volume.protocol.RequestHeader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests which sessions a data server serves, and which writes it forwards. */
@Timeout(60)
class BlockServiceSessionConfirmationTest {

    private static final long OWN_SESSION = 1;
    private static final long OTHER_SESSION = 7;

    /** True if the session of the other client has ended. */
    private final AtomicBoolean hasEnded = new AtomicBoolean();

    private final AtomicBoolean isLost = new AtomicBoolean();

    /** The requests with data that have reached the coordinator. */
    private final List<Operation> forwarded = new ArrayList<>();

    private final ClientSession own;

    BlockServiceSessionConfirmationTest() throws FabricException {
        own = newSession();
    }

    /** A coordinator that knows the session of the data server, and that of another client. */
    private final class Coordinator implements ServerConnector.Connection {

        private final AtomicBoolean isClosed = new AtomicBoolean();

        @Override
        public ByteBuffer call(ByteBuffer request, Duration timeout) throws FabricException {
            if (isClosed.get() || isLost.getAndSet(false)) {
                isClosed.set(true);
                throw new VolumeException("The connection was lost");
            }
            var reply = ReplyEncoding.encoder();
            switch (RequestHeader.decode(new Decoder(request)).operation()) {
                case HELLO -> {
                    reply.writeLong(OWN_SESSION);
                    reply.writeBoolean(false);
                    reply.writeLong(1);
                    reply.writeLong(60_000);
                    reply.writeLong(2);
                    reply.writeLong(3);
                }
                case VALIDATE -> {
                    if (hasEnded.get()) {
                        return ByteBuffer.wrap(
                                ReplyEncoding.failure(
                                        new VolumeException(
                                                Failure.INVALID, "The session has ended")));
                    }
                }
                default -> reply.writeInt(0);
            }
            return ByteBuffer.wrap(reply.bytes());
        }

        @Override
        public String transport() {
            return "memory";
        }

        @Override
        public int maxTransferBytes() {
            return Drive.BLOCK_BYTES;
        }

        @Override
        public ByteBuffer send(ByteBuffer request, MemorySegment source, Duration timeout)
                throws FabricException {
            if (isLost.get()) {
                throw new VolumeException("The connection was lost");
            }
            var header = RequestHeader.decode(new Decoder(request));
            assertThat(header.session()).isEqualTo(OTHER_SESSION);
            forwarded.add(header.operation());
            return ByteBuffer.wrap(ReplyEncoding.empty());
        }

        @Override
        public ByteBuffer receive(ByteBuffer request, MemorySegment target, Duration timeout) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {
            isClosed.set(true);
        }
    }

    private static final class NoFiles implements SessionFileCallbacks {

        @Override
        public List<Report> reports() {
            return List.of();
        }

        @Override
        public void sessionLost() {}

        @Override
        public ByteBuffer recall(ByteBuffer request) {
            return ByteBuffer.wrap(ReplyEncoding.empty());
        }
    }

    private static void write(DriveBlockServer service) throws FabricException {
        write(service, Operation.WRITE_BLOCKS);
    }

    private static void write(DriveBlockServer service, Operation operation)
            throws FabricException {
        write(service, operation, OTHER_SESSION);
    }

    private static void write(DriveBlockServer service, Operation operation, long session)
            throws FabricException {
        try (var arena = Arena.ofConfined()) {
            var request = RequestHeader.of(operation, session).encoder();
            request.writeLong(5);
            ReplyEncoding.decode(
                            service.handle(
                                    ByteBuffer.wrap(request.bytes()),
                                    arena.allocate(Drive.BLOCK_BYTES)))
                    .end();
        }
    }

    private ClientSession newSession() throws FabricException {
        var options =
                new ClientOptions(
                        "server",
                        List.of(List.of("coordinator")),
                        List.of("server"),
                        false,
                        Duration.ofSeconds(5),
                        Duration.ofSeconds(5));
        var retry = new RetryTimeout(options.retryTimeout());
        var deadline = retry.deadline();
        return new ClientSession(
                options,
                (_, _, _) -> new Coordinator(),
                new NoFiles(),
                new VolumeIdentity(Optional.empty(), deadline),
                Optional.empty(),
                retry,
                deadline);
    }

    @AfterEach
    void closeSession() {
        own.close(true);
    }

    @Test
    void shouldConfirmSessionsAgainAfterItHasConnectedToACoordinator() throws FabricException {
        var service = new DriveBlockServer(new MemoryDrive(10), 0, own);
        write(service);
        hasEnded.set(true);
        write(service); // the coordinator would have revoked the session before it ended

        var term = own.term();
        startTerm();
        assertThat(own.term()).isGreaterThan(term);
        assertThatThrownBy(() -> write(service)).hasMessageContaining("The session has ended");
        assertThat(forwarded).isEmpty();
    }

    private void startTerm() throws FabricException {
        isLost.set(true);
        var _ = own.call(Operation.CAPACITY, _ -> {});
    }

    private static void revoke(DriveBlockServer service) {
        var request = RequestHeader.of(Operation.REVOKE, OWN_SESSION).encoder();
        request.writeLong(OTHER_SESSION);
        var reply = service.handleRevocation(ByteBuffer.wrap(request.bytes()));
        assertThatCode(() -> ReplyEncoding.decode(reply)).doesNotThrowAnyException();
    }

    @Test
    void shouldForgetTheSessionsOfEarlierTerms() throws FabricException {
        var service = new DriveBlockServer(new MemoryDrive(10), 0, own);
        write(service);
        revoke(service);
        write(service, Operation.WRITE_BLOCKS, 8);
        write(service, Operation.WRITE_BLOCKS, 9);
        assertThatThrownBy(() -> write(service)).hasMessageContaining("does not serve");
        assertThat(service.sessions()).isEqualTo(3);

        startTerm();
        write(service, Operation.WRITE_BLOCKS, 9);
        assertThat(service.sessions()).isEqualTo(1);
    }

    @Test
    void shouldWaitForARequestOfAnEarlierTermWhenItsSessionIsRevoked() throws Exception {
        var isWriting = new CountDownLatch(1);
        var permission = new CountDownLatch(1);
        var isFirst = new AtomicBoolean(true);
        var hasWritten = new AtomicBoolean();
        var drive =
                new LocalCluster.CutDrive(new MemoryDrive(10)) {
                    @Override
                    public void write(long block, MemorySegment source) throws VolumeException {
                        if (isFirst.getAndSet(false)) {
                            isWriting.countDown();
                            try {
                                permission.await();
                            } catch (InterruptedException e) {
                                throw new VolumeException("Interrupted", e);
                            }
                            hasWritten.set(true);
                        }
                    }
                };
        try {
            var service = new DriveBlockServer(drive, 0, own);
            var pending =
                    new FutureTask<>(() -> {
                        write(service);
                        return true;
                    });
            Thread.ofPlatform().start(pending);
            isWriting.await();
            startTerm();
            write(service, Operation.WRITE_BLOCKS, 8);
            var hadWritten = new AtomicBoolean();
            var revocation =
                    Thread.ofPlatform()
                            .start(() -> {
                                revoke(service);
                                hadWritten.set(hasWritten.get());
                            });
            while (revocation.isAlive() && revocation.getState() != Thread.State.WAITING) {
                Thread.sleep(5);
            }
            permission.countDown();
            revocation.join();

            assertThat(hadWritten).isTrue();
            assertThat(pending.get()).isTrue();
        } finally {
            permission.countDown();
        }
    }

    @Test
    void shouldForwardWritesThatTheDriveRefusesOnlyOnce() throws FabricException {
        var service = new DriveBlockServer(new ReservedDrive(new MemoryDrive(10)), 0, own);
        write(service);
        assertThat(forwarded).containsExactly(Operation.FORWARDED_WRITE);

        assertThatThrownBy(() -> write(service, Operation.FORWARDED_WRITE))
                .hasMessageContaining("conflict with a reservation");
        assertThat(forwarded).hasSize(1);
    }

    /**
     * After a reply, the client would repeat the write, and the first one could take effect later.
     */
    @Test
    void shouldNotReplyIfAForwardedWriteHasNoReply() throws FabricException {
        var service = new DriveBlockServer(new ReservedDrive(new MemoryDrive(10)), 0, own);
        write(service);
        isLost.set(true);
        assertThatThrownBy(() -> write(service)).isInstanceOf(MissingReplyException.class);
    }
}
