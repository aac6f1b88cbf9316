package org.jrdma.soft.sisci.abi;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.soft.sisci.FaultOptions;
import org.jrdma.soft.sisci.SoftSisciOptions;

/** A DMA queue of a process of the second node, which copies to a segment of the first node. */
final class DmaQueueScenario implements ObjectStateScenario {

    static final Kind KIND =
            new Kind(
                    "DMA queue",
                    List.of("nothing", "idle", "posted", "done", "aborted", "removed"),
                    List.of("create", "start", "abort", "wait", "remove", "disconnect", "close"),
                    DmaQueueScenario::new);

    private static final int ID = 7;
    private static final long BYTES = 8192;
    private final ThreeNodes nodes;
    private final LibraryCaller owner;
    private final long target;
    private LibraryCaller user;
    private long descriptor;
    private long queueDescriptor;
    private long source;
    private long remote;
    private long queue;

    private DmaQueueScenario(ThreeNodes nodes) {
        this.nodes = nodes;
        owner = nodes.first;
        target = owner.offer(owner.open(), ID, BYTES);
    }

    @Override
    public void reach(String state) {
        // The delay keeps the transfer pending until the end of the test.
        var slow = state.equals("posted") || state.equals("aborted");
        user =
                LibraryCaller.in(
                        SoftSisciOptions.in(nodes.folder)
                                .node(nodes.second.node())
                                .faults(FaultOptions.NONE.delay(Duration.ofMinutes(slow ? 1 : 0))));
        descriptor = user.open();
        queueDescriptor = user.open();
        source = user.create(descriptor, ID, BYTES, 0);
        user.ok("SCIPrepareSegment", source, 0, 0);
        remote = user.connect(descriptor, owner.node(), ID);
        continueTo(state);
    }

    private void continueTo(String state) {
        switch (state) {
            case "nothing" -> {}
            case "idle" -> assertThat(attempt("create")).isEqualTo("OK");
            case "posted" -> {
                continueTo("idle");
                assertThat(attempt("start")).isEqualTo("OK");
            }
            case "done" -> {
                continueTo("posted");
                user.ok("SCIWaitForDMAQueue", queue, 5_000, 0);
                assertThat(user.plain("SCIDMAQueueState", queue))
                        .isEqualTo(sisci_h.SCI_DMAQUEUE_DONE());
            }
            case "aborted" -> {
                continueTo("posted");
                user.ok("SCIAbortDMAQueue", queue, 0);
                user.ok("SCIWaitForDMAQueue", queue, 5_000, 0);
                assertThat(user.plain("SCIDMAQueueState", queue))
                        .isEqualTo(sisci_h.SCI_DMAQUEUE_ABORTED());
            }
            case "removed" -> {
                continueTo("idle");
                user.ok("SCIRemoveDMAQueue", queue, 0);
            }
            default -> throw new IllegalArgumentException(state);
        }
    }

    @Override
    public String attempt(String call) {
        return switch (call) {
            case "create" -> {
                var place = user.place();
                var error =
                        user.attempt(
                                "SCICreateDMAQueue", queueDescriptor, place.address(), 0, 1, 0);
                queue = error.equals("OK") ? LibraryCaller.handle(place) : queue;
                yield error;
            }
            case "start" -> start(source, BYTES, 0);
            case "start with an unprepared source" ->
                    start(user.create(descriptor, ID + 1, BYTES, 0), BYTES, 0);
            case "start beyond" -> start(source, BYTES + 4096, 0);
            case "start with two engines" ->
                    start(
                            source,
                            BYTES,
                            sisci_h.SCI_FLAG_DMA_ADAPTER() | sisci_h.SCI_FLAG_DMA_SYSDMA());
            case "abort" -> user.attempt("SCIAbortDMAQueue", queue, 0);
            case "wait" -> user.attempt("SCIWaitForDMAQueue", queue, 1, 0);
            case "remove" -> user.attempt("SCIRemoveDMAQueue", queue, 0);
            case "disconnect" -> user.attempt("SCIDisconnectSegment", remote, 0);
            case "close" -> user.attempt("SCIClose", queueDescriptor, 0);
            default -> throw new IllegalArgumentException(call);
        };
    }

    private String start(long local, long bytes, int flags) {
        return user.attempt("SCIStartDmaTransfer", queue, local, remote, 0, bytes, 0, 0, 0, flags);
    }

    @Override
    public void close() {
        owner.attempt("SCIRemoveSegment", target, sisci_h.SCI_FLAG_FORCE_REMOVE());
        user.close();
    }
}
