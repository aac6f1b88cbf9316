package org.jrdma.volume.net;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import org.jrdma.volume.model.VolumeException;
import org.junit.jupiter.api.Test;

class UsedPortTest {

    @Test
    void shouldNameTheAddressThatIsInUse() throws IOException {
        try (var other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            var address =
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), other.getLocalPort());
            var options = NodeOptions.of(TransportKind.SOCKETS).socketAddress(address);

            assertThatThrownBy(() -> NodeListener.open(options, new TestRequestHandler()))
                    .isInstanceOf(VolumeException.class)
                    .hasMessage(
                            "Cannot listen over any of the transports [sockets]. sockets:%s:%d: Address already in use.",
                            address.getAddress().getHostAddress(), address.getPort());
        }
    }
}
