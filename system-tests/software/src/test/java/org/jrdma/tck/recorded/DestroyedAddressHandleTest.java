package org.jrdma.tck.recorded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.verbs.QueuePairOptions.datagrams;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PolledDatagramQueuePair;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests that a destroyed address handle is never passed to the provider. */
class DestroyedAddressHandleTest {

    private static final int ROUNDS = 100;

    /**
     * The maximum number of chains that a round posts, so that the recorder can store their
     * requests.
     */
    private static final int CHAINS = 200;

    @RegisterExtension private final Recorder recorder = Recorder.begin();
    private Device device;
    private ProtectionDomain domain;
    private CompletionQueue completions;
    private PolledDatagramQueuePair queuePair;
    private MemoryRegion memory;

    @BeforeEach
    void open() throws Exception {
        device = recorder.open();
        domain = device.newProtectionDomain();
        completions = device.newCompletionQueue(16);
        queuePair = domain.newQueuePair(datagrams(completions).sends(4).receives(4));
        queuePair.activate(1);
        memory = domain.newArena(Access.LOCAL_WRITE).region(64);
        recorder.calls();
    }

    @AfterEach
    void close() {
        device.close();
    }

    private Destination peer() throws VerbsException {
        return new Destination(
                domain.newAddressHandle(queuePair.addressOf(Gid.NONE, 0x11)), 0x123, 1);
    }

    private PreparedRequest.Chain chain(Destination first, Destination second) {
        return queuePair.prepareChain(
                queuePair.prepareSend(memory.slice(), first),
                queuePair.prepareSend(memory.slice(), second));
    }

    @Test
    void shouldPostNothingOfAChainWithAClosedAddressHandle() throws Exception {
        var first = peer();
        var second = peer();
        var chain = chain(first, second);
        assertThat(chain.tryPost()).isTrue();
        var request = " {addr=0x%x length=64 lkey=0x11}".formatted(memory.startAddress());
        assertThat(recorder.calls())
                .endsWith(
                        "ibv_post_send qp=qp1 opcode=2 send_flags=0x2 ah=ah1 remote_qpn=0x123 remote_qkey=0x1"
                                + request,
                        "ibv_post_send qp=qp1 opcode=2 send_flags=0x2 ah=ah2 remote_qpn=0x123 remote_qkey=0x1"
                                + request);
        var free = queuePair.freeSends();

        second.address().close();

        assertThatIllegalStateException()
                .isThrownBy(chain::tryPost)
                .withMessageContaining("address handle");
        assertThat(recorder.calls()).containsExactly("ibv_destroy_ah ah=ah2");
        assertThat(queuePair.freeSends()).isEqualTo(free);
    }

    @Test
    void shouldNotPostWithAnAddressHandleThatAnotherThreadDestroys() throws Exception {
        for (var round = 0; round < ROUNDS; round++) {
            var peer = peer();
            var posting = new CountDownLatch(1);
            var poster = new CompletableFuture<Integer>();
            var thread =
                    Thread.ofPlatform()
                            .start(() -> {
                                try {
                                    poster.complete(postUntilClosed(peer, posting));
                                } catch (Throwable e) {
                                    poster.completeExceptionally(e);
                                }
                            });

            posting.await();
            peer.address().close();

            assertThat(poster.get(20, TimeUnit.SECONDS)).isPositive();
            thread.join(); // The slots are freed, so that the next round can use the queue pair.
            assertThat(recorder.calls()).noneMatch(call -> call.contains("ah=unknown"));
        }
    }

    /** Posts chains until the address handle is closed, and returns the number of posted chains. */
    private int postUntilClosed(Destination peer, CountDownLatch posting) throws VerbsException {
        var chain = chain(peer, peer);
        var posted = 0;
        try (var cursor = completions.newCursor(16)) {
            while (posted < CHAINS) {
                if (chain.tryPost()) {
                    posted++;
                    posting.countDown();
                }
                cursor.poll();
                while (cursor.next()) {
                    assertThat(cursor.isSuccess()).isTrue();
                }
            }
        } catch (IllegalStateException e) {
            assertThat(e).hasMessageContaining("address handle");
        }
        return posted;
    }
}
