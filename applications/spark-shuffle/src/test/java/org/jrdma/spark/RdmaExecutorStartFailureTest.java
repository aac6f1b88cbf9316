package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RdmaExecutorStartFailureTest {

    private static final String FABRIC = "jrdma.fabric";

    private final String fabric = System.getProperty(FABRIC, "");

    @BeforeEach
    void selectFabric() {
        System.setProperty(FABRIC, "software");
    }

    @AfterEach
    void restoreFabric() {
        if (fabric.isEmpty()) {
            System.clearProperty(FABRIC);
        } else {
            System.setProperty(FABRIC, fabric);
        }
    }

    @Test
    void shouldStopListeningIfTheDriverDoesNotAnswer() throws InterruptedException {
        var plugin =
                new FakePluginContext() {
                    @Override
                    public Object ask(Object message) throws IOException {
                        throw new IOException("The driver does not answer");
                    }
                };

        assertThatThrownBy(() ->
                        RdmaExecutor.start(
                                plugin,
                                new ShuffleMetrics(),
                                ChannelSettings.of(ChannelSettings.newToken())))
                .hasMessageContaining("does not answer");

        while (isListening()) {
            Thread.sleep(10);
        }
    }

    @Test
    void shouldRejectASubnetInWhichNoDeviceHasAnAddress() {
        var plugin = new FakePluginContext();
        plugin.conf().set("spark.jrdma.shuffle.address", "198.51.100.0/24");

        assertThatThrownBy(() ->
                        RdmaExecutor.start(
                                plugin,
                                new ShuffleMetrics(),
                                ChannelSettings.of(ChannelSettings.newToken())))
                .hasMessageContaining("198.51.100.0/24");
    }

    private static boolean isListening() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().equals("jrdma-shuffle-listener"));
    }
}
