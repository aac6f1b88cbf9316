package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests objects in a parent domain that has a thread domain. They must work like other objects, and
 * together with objects of the underlying protection domain.
 */
class ThreadDomainTest {

    private final Fabric fabric = Fabric.underTest();
    private Device device;

    @BeforeEach
    void open() throws VerbsException {
        device = fabric.open();
    }

    @AfterEach
    void close() {
        device.close();
    }

    @Test
    void shouldAccessMemoryOfTheUnderlyingDomain() throws VerbsException {
        fabric.needs(Feature.THREAD_DOMAINS);
        fabric.needs(Feature.MOVING_DATA);
        var domain = device.newProtectionDomain();
        var region = domain.newArena(Pair.ALL).region(256);
        region.segment().asSlice(0, 64).fill((byte) 5);
        try (var threads = device.newThreadDomain();
                var parent = domain.newParentDomainUnguarded(threads);
                var completions =
                        device.newCompletionQueue(
                                CompletionQueueOptions.capacity(16).parentDomain(parent));
                var cursor = completions.newCursor(4)) {
            var queuePair =
                    parent.newQueuePair(
                            QueuePairOptions.reliable(completions).sends(4).receives(4));
            queuePair.connect(queuePair.endpoint());
            var write = queuePair.prepareWrite(region.slice(0, 64), region.remote().slice(64, 64));

            assertThat(write.tryPost()).isTrue();

            assertThat(Side.take(cursor, 1).getFirst().completion().isSuccess()).isTrue();
            assertThat(region.segment().asSlice(64, 64).toArray(ValueLayout.JAVA_BYTE))
                    .containsOnly(5);
        }
        assertThat(domain.isOpen()).isTrue();
    }

    @Test
    void shouldUseAddressHandlesAndSharedReceivesOfTheUnderlyingDomain() throws VerbsException {
        fabric.needs(Feature.THREAD_DOMAINS);
        fabric.needs(Feature.DATAGRAMS);
        var side = DatagramSide.active(device);
        var shared = side.domain().newPolledSharedReceiveQueue(4);
        var parent = side.domain().newParentDomainUnguarded(device.newThreadDomain());
        var queuePair =
                parent.newQueuePair(
                        QueuePairOptions.datagrams(side.completions())
                                .sends(4)
                                .sharedReceives(shared));
        queuePair.activate(DatagramSide.QUEUE_KEY);
        var handle = side.domain().newAddressHandle(queuePair.addressOf(queuePair.endpoint()));
        var to = new Destination(handle, queuePair.number(), DatagramSide.QUEUE_KEY);
        assertThat(shared.prepareReceive(side.place(0, 32)).id(1).tryPost()).isTrue();
        side.region().segment().asSlice(32768, 32).fill((byte) 9);

        assertThat(queuePair.prepareSend(side.region().slice(32768, 32), to).id(2).tryPost())
                .isTrue();

        assertThat(Side.take(side.cursor(), 2))
                .extracting(taken -> taken.id())
                .containsExactlyInAnyOrder(1L, 2L);
        assertThat(side.message(0, 32).toArray(ValueLayout.JAVA_BYTE)).containsOnly(9);
    }

    @Test
    void shouldCloseItsChildrenAndBeClosedWithItsOwner() throws VerbsException {
        fabric.needs(Feature.THREAD_DOMAINS);
        var domain = device.newProtectionDomain();
        var threads = device.newThreadDomain();
        var parent = domain.newParentDomainUnguarded(threads);
        var completions =
                device.newCompletionQueue(CompletionQueueOptions.capacity(16).parentDomain(parent));
        var queuePair = parent.newReliableQueuePair(completions);

        threads.close();

        assertThat(parent.isOpen()).isFalse();
        assertThat(completions.isOpen()).isFalse();
        assertThat(queuePair.isOpen()).isFalse();
        assertThat(domain.isOpen()).isTrue();
        assertThatThrownBy(() -> domain.newParentDomainUnguarded(threads))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("thread domain");
        var next = domain.newParentDomainUnguarded(device.newThreadDomain());
        domain.close();
        assertThat(next.isOpen()).isFalse();
    }

    @Test
    void shouldRejectADomainThatIsNotAParentDomain() throws VerbsException {
        var domain = device.newProtectionDomain();
        var options = CompletionQueueOptions.capacity(4);

        assertThatThrownBy(() -> options.parentDomain(domain))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("newParentDomainUnguarded()");
    }

    @Test
    void shouldRefuseDomainsOfAnotherDevice() throws VerbsException {
        fabric.needs(Feature.THREAD_DOMAINS);
        var domain = device.newProtectionDomain();
        var options = CompletionQueueOptions.capacity(4);
        try (var other = fabric.open()) {
            var threads = other.newThreadDomain();
            assertThatThrownBy(() -> domain.newParentDomainUnguarded(threads))
                    .isInstanceOf(IllegalArgumentException.class);
            var parent = other.newProtectionDomain().newParentDomainUnguarded(threads);
            assertThatThrownBy(() -> device.newCompletionQueue(options.parentDomain(parent)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldReportThatThreadDomainsAreNotSupported() {
        fabric.needsLackOf(Feature.THREAD_DOMAINS);

        assertThatThrownBy(() -> device.newThreadDomain())
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_alloc_td")
                .hasMessageContaining(device.name())
                .hasMessageEndingWith("The device does not support thread domains.");
    }
}
