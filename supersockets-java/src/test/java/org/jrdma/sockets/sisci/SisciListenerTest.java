package org.jrdma.sockets.sisci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.ChildJvm;
import org.jrdma.sockets.bypass.BypassConnector;
import org.jrdma.sockets.bypass.BypassListener;
import org.jrdma.sockets.internal.ReadinessWaiting;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests which requests a wildcard listener accepts if other containers share the node. */
@Timeout(30)
class SisciListenerTest {

    private static final int PORT = 4_711;
    private static final int FLOOD = 20_000;
    private static final int ABSENT_SEGMENT = 0x7fff_0000;

    /** The time after which a client uses TCP. */
    private static final Duration TIMEOUT = BypassConnector.TIMEOUT;

    private static final InetSocketAddress LOCAL = at("127.0.0.1", 50_000);
    private static final InetSocketAddress OTHER_HOST = at("192.0.2.7", 50_000);

    private static final List<String> IN_OTHER_NAMESPACE =
            List.of("unshare", "--net", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh");

    private SisciStreamNode streamNode;
    private SisciListener listener;
    private RawClient client;

    @TempDir private Path folder;

    @BeforeEach
    void open() throws Exception {
        streamNode = SisciStreamNode.open(Sisci.from(new SoftSisci(SoftSisciOptions.in(folder))));
        listener = streamNode.listen(at("0.0.0.0", PORT), 10, 4096);
        client = new RawClient(streamNode, at("127.0.0.1", PORT));
    }

    @AfterEach
    void close() {
        listener.close();
    }

    private static InetSocketAddress at(String address, int port) {
        return new InetSocketAddress(InetAddress.ofLiteral(address), port);
    }

    private ConnectReply replyTo(InetSocketAddress client, InetSocketAddress target) {
        return listener.replyTo(new ConnectRequest(4, 1, 7, 0, client, target));
    }

    @Test
    void shouldAcceptRequestsForItsAddresses() throws Exception {
        for (var each : NetworkInterface.networkInterfaces().toList()) {
            for (var address : each.inetAddresses().toList()) {
                assertThat(replyTo(LOCAL, new InetSocketAddress(address, PORT)))
                        .isEqualTo(ConnectReply.ACCEPTED);
            }
        }
    }

    @Test
    void shouldRejectRequestsForAnAddressOfAnotherContainer() {
        assertThat(replyTo(LOCAL, at("192.0.2.1", PORT))).isEqualTo(ConnectReply.OTHER_ADDRESS);
        assertThat(replyTo(OTHER_HOST, at("192.0.2.1", PORT)))
                .isEqualTo(ConnectReply.OTHER_ADDRESS);
    }

    @Test
    void shouldRejectRequestsOfOtherHostsForALoopbackAddress() {
        assertThat(replyTo(LOCAL, at("127.0.0.1", PORT))).isEqualTo(ConnectReply.ACCEPTED);
        assertThat(replyTo(OTHER_HOST, at("127.0.0.1", PORT)))
                .isEqualTo(ConnectReply.OTHER_ADDRESS);
        assertThat(replyTo(OTHER_HOST, at("::1", PORT))).isEqualTo(ConnectReply.OTHER_ADDRESS);
    }

    @Test
    void shouldRejectRequestsForAnotherPort() {
        assertThat(replyTo(LOCAL, at("127.0.0.1", PORT + 1))).isEqualTo(ConnectReply.OTHER_ADDRESS);
    }

    /** A neighbor that shares the fabric directory can send any request. */
    @Test
    void shouldNotAcceptAClientThatForgesItsAddress() throws Exception {
        var other = InetAddress.ofLiteral("127.0.0.2");
        var cookie = client.cookie(other);

        for (var forged : new long[] {0, 1, -1, cookie}) {
            var _ = client.request(LOCAL, forged);
        }
        var proved = new InetSocketAddress(other, 50_000);
        var _ = client.request(proved, cookie);

        assertThat(nextArrival().remote()).isEqualTo(proved);
        assertThat(listener.poll()).isNull();
    }

    /** Containers can share the fabric directory without sharing their addresses. */
    @Test
    @Timeout(90)
    void shouldNotAcceptAClientThatClaimsAnAddressOfAnotherNetworkNamespace() throws Exception {
        var isRoot = System.getProperty("user.name").equals("root");
        assertThat(isRoot || !"true".equals(System.getenv("CI"))).as("CI runs as root.").isTrue();
        assumeTrue(isRoot, "Only root can create network namespaces.");
        var program =
                ChildJvm.of(
                        ForeignNamespaceClient.class,
                        List.of("--enable-native-access=ALL-UNNAMED"),
                        "" + folder,
                        "127.0.0.1",
                        "" + PORT);
        program.command().addAll(0, IN_OTHER_NAMESPACE);
        var output = folder.resolve("output");
        var process = program.redirectOutput(output.toFile()).start();
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        var proved = at("127.0.0.1", 50_001);
        var _ = client.request(proved, client.cookie(proved.getAddress()));

        assertThat(output).content().contains("No cookie: ").endsWith("sent\n");
        assertThat(nextArrival().remote()).isEqualTo(proved);
        assertThat(listener.poll()).isNull();
    }

    /** The client gives up before it connects to the segment of the listener. */
    @Test
    @Timeout(90)
    void shouldResetAnAcceptedStreamIfItsClientGivesUp() throws Exception {
        var stream = client.request(LOCAL, client.cookie(LOCAL.getAddress()));
        var accepted = nextArrival().stream();

        stream.abandon();

        var waiting = new ReadinessWaiting(accepted, SocketCalls.POLLIN, 0);
        assertThat(waiting.await(Deadline.after(Duration.ofSeconds(40)))).isTrue();
        assertThat(accepted.receive(MemorySegment.ofArray(new byte[1]), 1))
                .isEqualTo(-Errno.ECONNRESET);
    }

    private BypassListener.Arrival nextArrival() throws Exception {
        var waiting = new ReadinessWaiting(listener, SocketCalls.POLLIN, 0);
        assertThat(waiting.await(Deadline.after(TIMEOUT))).isTrue();
        return listener.poll();
    }

    /** A client may send any number of requests that name segments that do not exist. */
    @Tag("slow")
    @Test
    void shouldAcceptAClientDuringAFloodOfRequestsForAbsentSegments() throws Exception {
        var cookie = client.cookie(LOCAL.getAddress());
        try (var interrupt = client.connectInterrupt()) {
            for (var i = 0; i < FLOOD; i++) {
                interrupt.trigger(client.encoded(LOCAL, cookie, ABSENT_SEGMENT), TIMEOUT);
            }
        }

        var _ = client.request(LOCAL, cookie);

        assertThat(nextArrival().remote()).isEqualTo(LOCAL);
    }
}
