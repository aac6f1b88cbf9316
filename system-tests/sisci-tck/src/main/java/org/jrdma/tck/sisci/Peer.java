package org.jrdma.tck.sisci;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jrdma.sisci.Sisci;
import org.jspecify.annotations.Nullable;

/** Another node, or another process of this one: in this JVM, or in its own. */
public abstract class Peer implements AutoCloseable {

    /** For {@link PeerProcess}, and for {@link #inThisJvm}. */
    Peer() {}

    /** Has it do something, and waits for the result; what it throws is thrown here. */
    public abstract <T extends @Nullable Object> T ask(Work<T> work) throws Exception;

    /** Has it do something, and waits for its end. */
    public final void tell(Work.Deed deed) throws Exception {
        var _ =
                ask(party -> {
                    deed.run(party);
                    return true;
                });
    }

    /** Has it do something, and does not wait. It can do one thing at a time. */
    public final <T extends @Nullable Object> CompletableFuture<T> start(Work<T> work) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return ask(work);
                    } catch (Exception e) {
                        throw new CompletionException(e);
                    }
                },
                thread -> Thread.ofPlatform().daemon().start(thread)); // it may take long
    }

    /** The id of its node. */
    public final int node() throws Exception {
        return ask(party -> party.node().id());
    }

    /** Closes all that it has. */
    public final void reset() throws Exception {
        tell(Party::close);
    }

    /** Ends it. */
    @Override
    public abstract void close();

    /** One that is part of this JVM. */
    public static Peer inThisJvm(Sisci sisci) {
        var party = new Party(sisci);
        return new Peer() {
            @Override
            public <T extends @Nullable Object> T ask(Work<T> work) throws Exception {
                return work.run(party);
            }

            @Override
            public void close() {
                party.close();
            }
        };
    }

    /** What can start one. */
    @FunctionalInterface
    public interface Starter {
        /** Starts one. */
        Peer start() throws Exception;
    }
}
