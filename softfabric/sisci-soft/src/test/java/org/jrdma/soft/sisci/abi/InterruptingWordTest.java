package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.soft.sisci.abi.ThreeNodes.BYTES;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.soft.sisci.FaultOptions;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests of SISCI interrupt flags: words in a segment of the first node that interrupt it when the
 * second node stores into them.
 */
class InterruptingWordTest {

    private static final int FLAG_OFFSET = 64;

    private ThreeNodes nodes;
    private long segment;
    private MemorySegment own;

    @BeforeEach
    void join() throws Exception {
        nodes = new ThreeNodes(FaultOptions.NONE);
        segment = nodes.first.offer(nodes.firstDescriptor, 7, BYTES);
        own = nodes.first.mapLocal(segment, BYTES).memory();
    }

    @AfterEach
    void leave() throws Exception {
        nodes.close();
    }

    private long register(int flags) {
        var place = nodes.first.place();
        nodes.first.ok(
                "SCIRegisterInterruptFlag", 0, place.address(), segment, FLAG_OFFSET, 0, 0, flags);
        return LibraryCaller.handle(place);
    }

    private String registerError(LibraryCaller process, long handle, int offset, int flags) {
        return process.attempt(
                "SCIRegisterInterruptFlag",
                0,
                process.place().address(),
                handle,
                offset,
                0,
                0,
                flags);
    }

    private LibraryCaller.Mapped map(int flags) {
        var remote = nodes.second.connect(nodes.secondDescriptor, nodes.first.node(), 7);
        return nodes.second.map("SCIMapRemoteSegment", remote, 0, BYTES, flags);
    }

    private String awaitTrigger(long flag) {
        return nodes.first.attempt("SCIWaitForInterrupt", flag, 50, 0);
    }

    @Test
    void shouldWakeUpAThreadThatWaitsForAStore() {
        var flag = register(0);
        var map = map(sisci_h.SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP()).memory();

        map.set(JAVA_INT, FLAG_OFFSET, 5);
        nodes.second.plain("SCIFlush", 0, 0);

        assertThat(awaitTrigger(flag)).isEqualTo("OK");
        assertThat(own.get(JAVA_INT, FLAG_OFFSET)).isEqualTo(5);
        assertThat(awaitTrigger(flag)).isEqualTo("TIMEOUT");
    }

    @Test
    void shouldIncrementEachWordOfACopyAndTriggerAnInterrupt() {
        var flag = register(sisci_h.SCI_FLAG_CONDITIONAL_INTERRUPT());
        var map = map(sisci_h.SCI_FLAG_CONDITIONAL_INTERRUPT_MAP());
        var data = nodes.second.place();

        nodes.second.ok("SCIMemCpy", 0, data.address(), map.handle(), FLAG_OFFSET, 8, 0);

        assertThat(awaitTrigger(flag)).isEqualTo("OK");
        assertThat(own.get(JAVA_INT, FLAG_OFFSET)).isEqualTo(1);
        assertThat(own.get(JAVA_INT, FLAG_OFFSET + 4)).isEqualTo(1);
    }

    @Test
    void shouldNotInterruptWhileTheLinkIsCut() throws Exception {
        var flag = register(sisci_h.SCI_FLAG_CONDITIONAL_INTERRUPT());
        var map = map(sisci_h.SCI_FLAG_CONDITIONAL_INTERRUPT_MAP()).memory();

        nodes.first.fabric().cutLink(0);
        map.set(JAVA_INT, FLAG_OFFSET, 5);
        nodes.second.plain("SCIFlush", 0, 0);
        nodes.first.fabric().restoreLink(0);

        assertThat(awaitTrigger(flag)).isEqualTo("TIMEOUT");
        assertThat(own.get(JAVA_INT, FLAG_OFFSET)).isZero();
        map.set(JAVA_INT, FLAG_OFFSET, 5);
        nodes.second.plain("SCIFlush", 0, 0);
        assertThat(awaitTrigger(flag)).isEqualTo("OK");
    }

    @Test
    void shouldReportAnOverflowOfTheCounter() {
        var flag = register(sisci_h.SCI_FLAG_CONDITIONAL_INTERRUPT());
        var count = nodes.first.place().address();
        own.set(JAVA_INT, FLAG_OFFSET, (1 << 30) - 1);
        assertThat(nodes.first.attempt("SCIGetConditionalInterruptTrigCounter", flag, count, 0))
                .isEqualTo("OK");

        own.set(JAVA_INT, FLAG_OFFSET, 1 << 30);

        assertThat(nodes.first.attempt("SCIGetConditionalInterruptTrigCounter", flag, count, 0))
                .isEqualTo("OVERFLOW");
    }

    @Test
    void shouldPreventTheRemovalOfItsSegment() {
        var flagged = nodes.first.create(nodes.firstDescriptor, 8, BYTES, 0);
        var place = nodes.first.place();
        nodes.first.ok("SCIRegisterInterruptFlag", 0, place.address(), flagged, 0, 0, 0, 0);

        assertThat(nodes.first.attempt("SCIRemoveSegment", flagged, 0)).isEqualTo("BUSY");
        nodes.first.ok("SCIRemoveInterrupt", LibraryCaller.handle(place), 0);
        assertThat(nodes.first.attempt("SCIRemoveInterrupt", LibraryCaller.handle(place), 0))
                .isEqualTo("ILLEGAL_PARAMETER");
        nodes.first.ok("SCIRemoveSegment", flagged, 0);
    }

    @Test
    void shouldRejectInvalidArguments() {
        assertThat(registerError(nodes.first, segment, 2, 0)).isEqualTo("OFFSET_ALIGNMENT");
        assertThat(registerError(nodes.first, segment, (int) BYTES, 0)).isEqualTo("OUT_OF_RANGE");
        assertThat(registerError(nodes.first, segment, -4, 0)).isEqualTo("OUT_OF_RANGE");
        assertThat(registerError(nodes.first, segment, 0, 0x4000_0000)).isEqualTo("ILLEGAL_FLAG");
        assertThat(
                        nodes.second.attempt(
                                "SCIMapRemoteSegment",
                                nodes.second.connect(nodes.secondDescriptor, nodes.first.node(), 7),
                                nodes.second.place().address(),
                                0,
                                BYTES,
                                0,
                                sisci_h.SCI_FLAG_CONDITIONAL_INTERRUPT_MAP()
                                        | sisci_h.SCI_FLAG_READONLY_MAP()))
                .isEqualTo("ILLEGAL_FLAG");
        nodes.first.ok("SCIShareSegment", segment, 0);
        try (var attacher =
                LibraryCaller.in(SoftSisciOptions.in(nodes.folder).node(nodes.first.node()))) {
            var place = attacher.place();
            attacher.ok(
                    "SCIAttachLocalSegment",
                    attacher.open(),
                    place.address(),
                    7,
                    attacher.place().address(),
                    0,
                    0,
                    0);
            assertThat(registerError(attacher, LibraryCaller.handle(place), 0, 0))
                    .isEqualTo("ILLEGAL_OPERATION");
        }
    }
}
