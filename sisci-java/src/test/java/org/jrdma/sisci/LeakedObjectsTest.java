package org.jrdma.sisci;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import org.jrdma.sisci.FakeLibrary.Kind;
import org.jrdma.sisci.model.DmaState;
import org.jrdma.sisci.smartio.BorrowMode;
import org.jrdma.sisci.smartio.SmartIo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that the leak of each kind of object is detected and reported. An object is detected only
 * if nothing that the SDK retains refers to it, such as destructors and callbacks.
 */
@Timeout(30)
class LeakedObjectsTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private static final List<String> ALL =
            List.of(
                    "WARN org.jrdma.ffi.Leaks - node 4 was never closed",
                    " - segment 7 of node 4 was never closed",
                    " - segment 7 of node 4 from node 4 was never closed",
                    " - map of 4,096 bytes of segment 7 of node 4 was never closed",
                    " - map of 4,096 bytes of segment 7 of node 4 from node 4 was never closed",
                    " - sequence of map of 4,096 bytes of segment 7 of node 4 from node 4 was never",
                    " - DMA queue of 4 entries of node 4 was never closed",
                    " - DMA channel (ANY) of node 4 was never closed",
                    " - interrupt 17 of node 4 was never closed",
                    " - interrupt 17 of node 4 from node 4 was never closed",
                    " - data interrupt 17 of node 4 was never closed",
                    " - data interrupt 17 of node 4 from node 4 was never closed",
                    " - device 3b:02.1 as requester of node 4 was never closed",
                    " - device 0x801 borrowed by node 4 was never closed",
                    " - BAR 0 of device 0x801 borrowed by node 4 was never closed",
                    " - mapping of 4,096 bytes of segment 7 of node 4 for device 0x801 borrowed");

    private final PrintStream originalErr = System.err;
    private final ByteArrayOutputStream log = new ByteArrayOutputStream();

    @BeforeEach
    void captureLog() {
        System.setErr(new PrintStream(log, true, UTF_8)); // slf4j-simple writes to standard error
    }

    @AfterEach
    void releaseLog() {
        System.setErr(originalErr);
    }

    @Test
    void shouldDetectEveryKindOfLeakedObject() throws Exception {
        leakObjects();

        for (var i = 0; i < 100 && !ALL.stream().allMatch(log.toString(UTF_8)::contains); i++) {
            System.gc();
            Thread.sleep(10); // time for the cleaner thread, which a test cannot await
        }

        assertThat(log.toString(UTF_8)).contains(ALL);
    }

    private static void leakObjects() throws Exception {
        var node = new FakeLibrary(Kind.WITH_CONSTANTS).sisci.open();
        var segment = node.newSegment(7, 4096);
        segment.offer();
        segment.map().putLong(0, 1);
        node.connect(4, 7, TIMEOUT).map().newSequence().flush();
        assertThat(node.newDmaQueue(4).state()).isEqualTo(DmaState.IDLE);
        assertThat(node.requestDmaChannel(DmaChannel.Engine.ANY).isOpen()).isTrue();
        node.connectInterrupt(4, node.newInterrupt().number(), TIMEOUT).trigger();
        node.connectDataInterrupt(4, node.newDataInterrupt().number(), TIMEOUT)
                .trigger(new byte[] {1});
        assertThat(node.registerRequester(0x3b, 0x11).isOpen()).isTrue();
        var device = SmartIo.of(node).borrow(0x801, BorrowMode.SHARED);
        assertThat(device.bar(0).isOpen()).isTrue();
        assertThat(device.map(segment).isOpen()).isTrue();
    }
}
