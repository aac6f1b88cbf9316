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
 * What is tested: a library, and who else is in the fabric.
 *
 * <p>Unless a program has called {@link #test}, system properties say it: {@code jrdma.tck.library}
 * (system, the default, or the path of a library), and three commands, words between spaces, that
 * end in {@link PeerProcess#main}: {@code jrdma.tck.peer} and {@code jrdma.tck.third} on two other
 * nodes, {@code jrdma.tck.colleague} on this one.
 */
public final class Fabric {

    private static @Nullable Fabric underTest;

    private final Sisci sisci;
    private final Others peer;
    private final Others third;
    private final Others colleague;
    private final Optional<Cable> cable;

    /** A peer, from when a test first needs it. */
    private static final class Others {

        private final Peer.Starter starter;
        private @Nullable Peer started;

        Others(Peer.Starter starter) {
            this.starter = starter;
        }

        synchronized Peer get() throws Exception {
            if (started == null) {
                started = starter.start();
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
        /** Cuts it. */
        void cut() throws FabricException;

        /** Mends it. */
        void mend() throws FabricException;
    }

    /**
     * Says what there is.
     *
     * @param sisci the library
     * @param peer a process on another node
     * @param third a process on yet another node
     * @param colleague another process on this node
     * @param cable empty where nobody but a hand can pull it
     */
    public Fabric(
            Sisci sisci,
            Peer.Starter peer,
            Peer.Starter third,
            Peer.Starter colleague,
            Optional<Cable> cable) {
        this.sisci = sisci;
        this.peer = new Others(peer);
        this.third = new Others(third);
        this.colleague = new Others(colleague);
        this.cable = cable;
    }

    /** Says what the test classes test from now on. */
    public static synchronized void test(Fabric fabric) {
        underTest = fabric;
    }

    /** What the test classes test. */
    public static synchronized Fabric underTest() {
        if (underTest == null) {
            underTest = fromProperties();
        }
        return underTest;
    }

    /** The library. */
    public Sisci sisci() {
        return sisci;
    }

    Peer peer() throws Exception {
        return peer.get();
    }

    Peer third() throws Exception {
        return third.get();
    }

    Peer colleague() throws Exception {
        return colleague.get();
    }

    /** Skips the test where a hand would be needed. */
    Cable cable() {
        return cable.orElseThrow(() -> new TestAbortedException("nobody pulls the cable"));
    }

    /** Those that were started close all that they have, together. */
    List<ResetOf> resets() {
        return List.of(peer::reset, third::reset, colleague::reset);
    }

    /** A reset. */
    @FunctionalInterface
    interface ResetOf {
        void run() throws Exception;
    }

    private static Fabric fromProperties() {
        var library = System.getProperty("jrdma.tck.library", "system");
        try {
            return new Fabric(
                    library.equals("system") ? Sisci.system() : Sisci.load(Path.of(library)),
                    () -> byCommand("peer"),
                    () -> byCommand("third"),
                    () -> byCommand("colleague"),
                    Optional.empty());
        } catch (LibraryNotFoundException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    private static Peer byCommand(String name) throws Exception {
        var command = System.getProperty("jrdma.tck." + name);
        if (command == null) {
            throw new TestAbortedException("jrdma.tck.%s is not set".formatted(name));
        }
        return PeerProcess.start(List.of(command.split(" +")));
    }
}
