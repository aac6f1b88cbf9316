package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

class PeerAddressesTest {

    private static final InetSocketAddress ADDRESS = new InetSocketAddress("192.0.2.1", 4791);

    private final RdmaDriverPlugin driver = new RdmaDriverPlugin();

    private PeerAddresses addresses(String executor) {
        return new PeerAddresses(FakePluginContext.of(executor, driver));
    }

    @Test
    void shouldFindTheAddressThatAnotherExecutorHasPublished() throws Exception {
        addresses("1").publish(ADDRESS);

        assertThat(addresses("2").find("1")).isEqualTo(ADDRESS);
    }

    @Test
    void shouldNotFindAnExecutorThatHasNotPublishedAnAddress() throws Exception {
        addresses("1").publish(ADDRESS);

        assertThatThrownBy(() -> addresses("2").find("3"))
                .isInstanceOf(PeerAddresses.NotListedException.class)
                .hasMessageContaining("Executor 3");
    }

    @Test
    void shouldReportThatTheDriverDoesNotAnswer() {
        var plugin =
                new FakePluginContext() {
                    @Override
                    public Object ask(Object message) throws IOException {
                        throw new IOException("Connection closed");
                    }
                };

        assertThatThrownBy(() -> new PeerAddresses(plugin).find("1"))
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(PeerAddresses.NotListedException.class)
                .hasMessageContaining("executor 1")
                .hasRootCauseMessage("Connection closed");
    }
}
