package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Collections;
import org.jrdma.abi.rdma.rdma_addr;
import org.jrdma.abi.rdma.rdma_cm_event;
import org.jrdma.abi.rdma.rdma_cm_id;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.rdma_route;
import org.jrdma.abi.rdma.sockaddr_in;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.verbs.cm.CmException;
import org.jrdma.verbs.cm.ConnectionManager;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections in one call, as far as they go without a peer; the rest is in the kit. */
@Timeout(30)
class ConnectionManagerTest {

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final InetSocketAddress PEER =
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 7471);

    private FakeLibrary library;
    private ConnectionManager connections;

    @BeforeEach
    void open() throws Exception {
        library = new FakeLibrary();
        connections = ConnectionManager.from(library);
    }

    private static MemorySegment event(int type, int status, MemorySegment identifier) {
        var event = rdma_cm_event.allocate(Arena.global());
        rdma_cm_event.event(event, type);
        rdma_cm_event.status(event, status);
        rdma_cm_event.id(event, identifier);
        return event;
    }

    @Test
    void shouldSayWhatFailedForWhichAddressAndLeaveNothingOpen() {
        library.watching(
                "rdma_resolve_addr",
                arguments ->
                        library.tell(
                                event(
                                        rdma_h.RDMA_CM_EVENT_ADDR_ERROR(),
                                        -Errno.ENODEV,
                                        (MemorySegment) arguments[0])));

        assertThatExceptionOfType(CmException.class)
                .isThrownBy(() -> connections.resolve(PEER, PATIENCE))
                .withMessageContaining("No way to the address " + PEER)
                .withMessageContaining("no RDMA device leads there: ENODEV (19). \"rdma link\"")
                .satisfies(e -> assertThat(e.code()).isEqualTo(Errno.ENODEV))
                .satisfies(e -> assertThat(e.function()).isEqualTo("rdma_resolve_addr"))
                .satisfies(e -> assertThat(e.event()).isPresent());

        // The polling thread may still look for more events.
        assertThat(library.calls).containsOnlyOnce("rdma_create_id", "rdma_destroy_id");
    }

    @Test
    void shouldEndAtItsDeadlineAndLeaveNothingOpen() {
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> connections.resolve(PEER, Duration.ofMillis(20)))
                .withMessageContaining("No way to the address " + PEER);

        assertThat(library.calls).endsWith("rdma_destroy_id");
    }

    @Test
    void shouldRefuseRequestsThatNobodyHasTakenWhenItsListenerIsClosed() throws Exception {
        var identifier = new MemorySegment[1];
        library.watching(
                "rdma_bind_addr",
                arguments -> {
                    identifier[0] =
                            FakeLibrary.memory(arguments[0], rdma_cm_id.layout().byteSize());
                    var local =
                            rdma_addr.src_storage(rdma_route.addr(rdma_cm_id.route(identifier[0])));
                    local.copyFrom(
                            FakeLibrary.memory(arguments[1], sockaddr_in.layout().byteSize()));
                });
        var listener = connections.listen(PEER);
        assertThat(listener.localAddress()).isEqualTo(PEER);
        for (var count = 0; count < 3; count++) {
            var request =
                    event(
                            rdma_h.RDMA_CM_EVENT_CONNECT_REQUEST(),
                            0,
                            rdma_cm_id.allocate(Arena.global()));
            rdma_cm_event.listen_id(request, identifier[0]);
            library.tell(request);
        }
        listener.next(PATIENCE).close();

        listener.close();

        while (Collections.frequency(library.calls, "rdma_destroy_id") < 4) {
            Thread.sleep(1); // as long as the polling thread is at it
        }
        assertThatIllegalStateException()
                .isThrownBy(() -> listener.next(PATIENCE))
                .withMessageContaining("closed");
    }

    @Test
    void shouldCloseAListenerThatCannotListen() {
        library.answering("rdma_listen", -1, Errno.EINVAL);

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> connections.listen(PEER))
                .withMessageContaining("rdma_listen");

        assertThat(library.calls).endsWith("rdma_destroy_id");
    }

    @Test
    void shouldSayWhereTheSoftwareFabricIs() {
        var before = System.getProperty("jrdma.fabric");
        try {
            System.setProperty("jrdma.fabric", "software");
            assertThatExceptionOfType(LibraryNotFoundException.class)
                    .isThrownBy(ConnectionManager::configured)
                    .withMessageContaining("org.jrdma:roce-soft");
            System.setProperty("jrdma.fabric", "hardware");
            assertThatIllegalArgumentException()
                    .isThrownBy(ConnectionManager::configured)
                    .withMessageContaining("hardware");
        } finally {
            if (before == null) {
                System.clearProperty("jrdma.fabric");
            } else {
                System.setProperty("jrdma.fabric", before);
            }
        }
    }
}
