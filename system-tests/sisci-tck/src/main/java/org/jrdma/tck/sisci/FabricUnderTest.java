package org.jrdma.tck.sisci;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.sisci.Sisci;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/**
 * The fabric under test: a library, and peers on this node and two other nodes.
 *
 * <p>A program can configure the fabric with {@link #use}. Otherwise, system properties configure
 * it. {@code jrdma.tck.library} is {@code system} (the default) or the path of a library. Three
 * other properties are commands, with arguments separated by spaces, that run {@link
 * PeerProcess#main}: {@code jrdma.tck.peer} and {@code jrdma.tck.third} on two other nodes, and
 * {@code jrdma.tck.same-node-peer} on this node.
 */
public final class FabricUnderTest {

    private static @Nullable FabricUnderTest current;

    private final Sisci sisci;
    private final LazyPeer peer;
    private final LazyPeer third;
    private final LazyPeer sameNodePeer;
    private final Optional<Cable> cable;
    private final Optional<Lender> lender;

    /**
     * Starts a peer when a test first needs it, and waits until the peer runs, so that the start of
     * a JVM does not count towards the time of a later call.
     */
    private static final class LazyPeer {

        private final Peer.Starter starter;
        private @Nullable Peer started;

        LazyPeer(Peer.Starter starter) {
            this.starter = starter;
        }

        synchronized Peer get() throws Exception {
            if (started == null) {
                var peer = starter.start();
                peer.run(_ -> {});
                started = peer;
            }
            return started;
        }

        synchronized void reset() throws Exception {
            if (started != null) {
                started.reset();
            }
        }
    }

    /** The link of this node's first adapter. */
    public interface Cable {
        /** Cuts the link. */
        void cut() throws FabricException;

        /** Restores the link. */
        void restore() throws FabricException;
    }

    /**
     * Lends devices with the registers of {@code EduDevice} in sisci-soft, from a node that is none
     * of the other nodes.
     */
    public interface Lender {
        /** Lends a new device, and returns its fabric device id. */
        long lend() throws FabricException;

        /** Withdraws a device, which may still be borrowed. */
        void withdraw(long device) throws FabricException;
    }

    /**
     * Creates a fabric under test.
     *
     * @param sisci the library
     * @param peer starts a process on another node
     * @param third starts a process on a third node
     * @param sameNodePeer starts another process on this node
     * @param cable the cable; empty if the tests cannot cut the link
     * @param lender the lender; empty if no node can lend devices
     */
    public FabricUnderTest(
            Sisci sisci,
            Peer.Starter peer,
            Peer.Starter third,
            Peer.Starter sameNodePeer,
            Optional<Cable> cable,
            Optional<Lender> lender) {
        this.sisci = sisci;
        this.peer = new LazyPeer(peer);
        this.third = new LazyPeer(third);
        this.sameNodePeer = new LazyPeer(sameNodePeer);
        this.cable = cable;
        this.lender = lender;
    }

    /** Sets the fabric that the tests use. */
    public static synchronized void use(FabricUnderTest fabric) {
        current = fabric;
    }

    /** Returns the fabric that the tests use. */
    public static synchronized FabricUnderTest current() {
        if (current == null) {
            current = fromProperties();
        }
        return current;
    }

    /** Returns the library under test. */
    public Sisci sisci() {
        return sisci;
    }

    Peer peer() throws Exception {
        return peer.get();
    }

    Peer third() throws Exception {
        return third.get();
    }

    Peer sameNodePeer() throws Exception {
        return sameNodePeer.get();
    }

    /** Returns the cable. Skips the test if this fabric does not support cutting the link. */
    Cable cable() {
        return cable.orElseThrow(
                () -> new TestAbortedException("This fabric does not support cutting a link."));
    }

    /** Returns the lender. Skips the test if this fabric has none. */
    Lender lender() {
        return lender.orElseThrow(
                () -> new TestAbortedException("No node of this fabric lends devices."));
    }

    /** Returns tasks that reset the started peers. The tasks can run in parallel. */
    List<Reset> resets() {
        return List.of(peer::reset, third::reset, sameNodePeer::reset);
    }

    /** A task that resets a peer. */
    @FunctionalInterface
    interface Reset {
        void run() throws Exception;
    }

    private static FabricUnderTest fromProperties() {
        var library = System.getProperty("jrdma.tck.library", "system");
        try {
            return new FabricUnderTest(
                    library.equals("system") ? Sisci.system() : Sisci.load(Path.of(library)),
                    () -> byCommand("peer"),
                    () -> byCommand("third"),
                    () -> byCommand("same-node-peer"),
                    Optional.empty(),
                    Optional.empty());
        } catch (LibraryNotFoundException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    private static Peer byCommand(String name) throws Exception {
        var command = System.getProperty("jrdma.tck." + name);
        if (command == null) {
            throw new TestAbortedException(
                    "The system property jrdma.tck.%s is not set.".formatted(name));
        }
        return PeerProcess.start(List.of(command.split(" +")));
    }
}
