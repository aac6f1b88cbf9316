package org.jrdma.tck.sisci;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jrdma.sisci.Sisci;
import org.jspecify.annotations.Nullable;

/** Another node, or another process of this node. A peer runs in this JVM or in a separate JVM. */
public abstract class Peer implements AutoCloseable {

    /** Only for {@link PeerProcess} and {@link #inThisJvm}. */
    Peer() {}

    /**
     * Runs a task in the peer and waits for its result. If the task throws an exception, this
     * method throws it.
     */
    public abstract <T extends @Nullable Object> T call(PeerTask<T> work) throws Exception;

    /** Runs an action in the peer and waits for its end. */
    public final void run(PeerTask.Action action) throws Exception {
        var _ =
                call(context -> {
                    action.run(context);
                    return true;
                });
    }

    /** Runs a task in the peer without waiting. A peer runs one task at a time. */
    public final <T extends @Nullable Object> CompletableFuture<T> submit(PeerTask<T> work) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return call(work);
                    } catch (Exception e) {
                        throw new CompletionException(e);
                    }
                },
                // A new thread, because the task may block.
                thread -> Thread.ofPlatform().daemon().start(thread));
    }

    /** Returns the node ID of the peer. */
    public final int node() throws Exception {
        return call(context -> context.node().id());
    }

    /** Closes all objects of the peer. */
    public final void reset() throws Exception {
        run(PeerTaskState::close);
    }

    /** Ends the peer. */
    @Override
    public abstract void close();

    /** Returns a peer that runs in this JVM. */
    public static Peer inThisJvm(Sisci sisci) {
        var context = new PeerTaskState(sisci);
        return new Peer() {
            @Override
            public <T extends @Nullable Object> T call(PeerTask<T> work) throws Exception {
                return work.run(context);
            }

            @Override
            public void close() {
                context.close();
            }
        };
    }

    /** Starts peers. */
    @FunctionalInterface
    public interface Starter {
        /** Starts a peer. */
        Peer start() throws Exception;
    }
}
