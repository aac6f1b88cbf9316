package org.jrdma.sockets.sisci;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.file.Path;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.internal.NetworkNamespace;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which requests a wildcard listener accepts if other containers share the node. */
class SisciListenerTest {

    private static final int PORT = 4_711;
    private static final long NAMESPACE = NetworkNamespace.id();
    private static final long OTHER_NAMESPACE = NAMESPACE + 1;

    private SisciListener listener;

    @BeforeEach
    void open(@TempDir Path folder) throws Exception {
        var node = Sisci.from(new SoftSisci(SoftSisciOptions.in(folder)));
        listener = SisciFabric.open(node).listen(at("0.0.0.0", PORT), 10, 4096);
    }

    @AfterEach
    void close() {
        listener.close();
    }

    private static InetSocketAddress at(String address, int port) {
        return new InetSocketAddress(InetAddress.ofLiteral(address), port);
    }

    private ConnectReply replyTo(long namespace, InetSocketAddress target) {
        return listener.replyTo(
                new ConnectRequest(4, 1, 7, namespace, at("192.0.2.7", 50_000), target));
    }

    @Test
    void shouldAcceptRequestsForItsAddresses() throws Exception {
        for (var each : NetworkInterface.networkInterfaces().toList()) {
            for (var address : each.inetAddresses().toList()) {
                assertThat(replyTo(NAMESPACE, new InetSocketAddress(address, PORT)))
                        .isEqualTo(ConnectReply.ACCEPTED);
            }
        }
    }

    @Test
    void shouldRejectRequestsForAnAddressOfAnotherContainer() {
        assertThat(replyTo(NAMESPACE, at("192.0.2.1", PORT))).isEqualTo(ConnectReply.OTHER_ADDRESS);
        assertThat(replyTo(OTHER_NAMESPACE, at("192.0.2.1", PORT)))
                .isEqualTo(ConnectReply.OTHER_ADDRESS);
    }

    @Test
    void shouldRejectRequestsForTheLoopbackAddressOfAnotherContainer() {
        assertThat(replyTo(NAMESPACE, at("127.0.0.1", PORT))).isEqualTo(ConnectReply.ACCEPTED);
        assertThat(replyTo(OTHER_NAMESPACE, at("127.0.0.1", PORT)))
                .isEqualTo(ConnectReply.OTHER_ADDRESS);
        assertThat(replyTo(OTHER_NAMESPACE, at("::1", PORT))).isEqualTo(ConnectReply.OTHER_ADDRESS);
    }

    @Test
    void shouldRejectRequestsForAnotherPort() {
        assertThat(replyTo(NAMESPACE, at("127.0.0.1", PORT + 1)))
                .isEqualTo(ConnectReply.OTHER_ADDRESS);
    }
}
