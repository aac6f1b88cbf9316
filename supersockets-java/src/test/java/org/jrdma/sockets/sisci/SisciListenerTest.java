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

/** Whom a listener at all addresses lets in, where other containers share the node. */
class SisciListenerTest {

    private static final int PORT = 4_711;
    private static final long HERE = NetworkNamespace.id();
    private static final long ELSEWHERE = HERE + 1;

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
    void shouldLetInWhoWantsAnAddressOfItsOwn() throws Exception {
        for (var each : NetworkInterface.networkInterfaces().toList()) {
            for (var address : each.inetAddresses().toList()) {
                assertThat(replyTo(HERE, new InetSocketAddress(address, PORT)))
                        .isEqualTo(ConnectReply.ACCEPTED);
            }
        }
    }

    @Test
    void shouldRefuseWhoWantsAnAddressOfAnotherContainer() {
        assertThat(replyTo(HERE, at("192.0.2.1", PORT))).isEqualTo(ConnectReply.OTHER_ADDRESS);
        assertThat(replyTo(ELSEWHERE, at("192.0.2.1", PORT))).isEqualTo(ConnectReply.OTHER_ADDRESS);
    }

    @Test
    void shouldRefuseWhoWantsTheLoopbackOfAnotherContainer() {
        assertThat(replyTo(HERE, at("127.0.0.1", PORT))).isEqualTo(ConnectReply.ACCEPTED);
        assertThat(replyTo(ELSEWHERE, at("127.0.0.1", PORT))).isEqualTo(ConnectReply.OTHER_ADDRESS);
        assertThat(replyTo(ELSEWHERE, at("::1", PORT))).isEqualTo(ConnectReply.OTHER_ADDRESS);
    }

    @Test
    void shouldRefuseWhoWantsAnotherPort() {
        assertThat(replyTo(HERE, at("127.0.0.1", PORT + 1))).isEqualTo(ConnectReply.OTHER_ADDRESS);
    }
}
