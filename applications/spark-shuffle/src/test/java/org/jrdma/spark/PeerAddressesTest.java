package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class PeerAddressAndAvoidanceTest {

    private static final InetSocketAddress ADDRESS = new InetSocketAddress("192.0.2.1", 4791);

    private final RdmaDriverPlugin driver = new RdmaDriverPlugin();

    private PeerAddressLookupAndAvoidance directory(String executor, Duration avoidance) {
        return new PeerAddressLookupAndAvoidance(FakePluginContext.of(executor, driver), avoidance);
    }

    private PeerAddressLookupAndAvoidance directory(String executor) {
        return new PeerAddressLookupAndAvoidance(FakePluginContext.of(executor, driver));
    }

    @Test
    void shouldFindTheAddressThatAnotherExecutorHasPublished() throws Exception {
        directory("1").publish(ADDRESS);

        assertThat(directory("2").find("1")).isEqualTo(ADDRESS);
    }

    @Test
    void shouldNotFindAnExecutorThatHasNotPublishedAnAddress() throws Exception {
        directory("1").publish(ADDRESS);

        assertThatThrownBy(() -> directory("2").find("3"))
                .isInstanceOf(PeerAddressLookupAndAvoidance.NotListedException.class)
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

        assertThatThrownBy(() -> new PeerAddressLookupAndAvoidance(plugin).find("1"))
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(PeerAddressLookupAndAvoidance.NotListedException.class)
                .hasMessageContaining("executor 1")
                .hasRootCauseMessage("Connection closed");
    }

    @Test
    void shouldAvoidOnlyTheExecutorThatFailed() {
        var directory = directory("1");
        assertThat(directory.isAvoided("2")).isFalse();

        directory.avoid("2");

        assertThat(directory.isAvoided("2")).isTrue();
        assertThat(directory.isAvoided("3")).isFalse();
    }

    @Test
    void shouldTryAnExecutorThatFailedAgainLater() {
        var directory = directory("1", Duration.ZERO);

        directory.avoid("2");

        assertThat(directory.isAvoided("2")).isFalse();
    }

    @Test
    void shouldAvoidAnExecutorPermanentlyOnlyOnce() {
        var directory = directory("1", Duration.ZERO);

        assertThat(directory.avoidPermanently("2")).isTrue();
        assertThat(directory.avoidPermanently("2")).isFalse();

        assertThat(directory.isAvoided("2")).isTrue();
        assertThat(directory.isAvoided("3")).isFalse();
    }
}
