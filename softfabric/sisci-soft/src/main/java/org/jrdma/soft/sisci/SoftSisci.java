package org.jrdma.soft.sisci;

import java.lang.foreign.SymbolLookup;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.SoftwareLibrary;
import org.jrdma.soft.sisci.abi.Library;
import org.jrdma.soft.sisci.fabric.FaultInjector;
import org.jrdma.soft.sisci.fabric.Member;
import org.jrdma.soft.sisci.fabric.SciException;

/**
 * SISCI in Java, as a libsisci whose nodes need neither an adapter nor a driver nor a privilege.
 * The processes that share a directory are one fabric; what one maps of another's segment is the
 * very memory.
 *
 * <p>Stores into a map of a multicast group are found by comparing with what the map held, up to
 * some hundred microseconds later or at a flush: a store of what the map already holds reaches
 * nobody, whatever the members have stored themselves, and loads from such a map give one's own
 * stores alone. {@code SCIMemCpy} and DMA send whatever they are given.
 *
 * <p>Each object of this class is a process as far as the fabric is concerned, so one JVM can be
 * several nodes. It stays for as long as the JVM runs; it is in the fabric while it is initialised.
 * Safe for use by several threads.
 */
public final class SoftSisci implements SoftwareLibrary {

    private final Library library;

    /** One that joins the fabric that the system properties say, see {@link SoftSisciOptions}. */
    public SoftSisci() {
        this(SoftSisciOptions.configured());
    }

    /** One that joins a fabric. */
    public SoftSisci(SoftSisciOptions options) {
        this.library = new Library(() -> join(options));
    }

    private static Member join(SoftSisciOptions options) {
        var faults = options.faults();
        return Member.join(
                options.fabric(),
                options.isOfThisUser(),
                options.node(),
                options.adapters(),
                new FaultInjector(
                        faults.weakMemory(), faults.delay(), faults.refusals(), faults.mapBytes()));
    }

    /**
     * The id of its node.
     *
     * @throws FabricException if it is not initialised
     */
    public int node() throws FabricException {
        try {
            return library.member().node();
        } catch (SciException e) {
            throw failure(e);
        }
    }

    /**
     * Cuts the link of one of the node's adapters, for all of its processes. When this returns, no
     * store passes that way and loads give all ones; the events of who is connected are on their
     * way, on threads of their programs.
     *
     * @throws FabricException if it is not initialised, or has no such adapter; or if a process of
     *     the fabric does not answer within 5 s, whose stores may pass until it does
     */
    public void cutLink(int adapter) throws FabricException {
        setLink(adapter, false);
    }

    /**
     * Restores a link that was cut.
     *
     * @throws FabricException if it is not initialised, or has no such adapter
     */
    public void restoreLink(int adapter) throws FabricException {
        setLink(adapter, true);
    }

    private void setLink(int adapter, boolean operational) throws FabricException {
        try {
            library.member().setLink(adapter, operational);
        } catch (SciException e) {
            throw failure(e);
        }
    }

    private static FabricException failure(SciException e) {
        return new FabricException(
                "The software fabric refuses with 0x%X. %s".formatted(e.code(), e.getMessage()));
    }

    @Override
    public String name() {
        return "sisci-soft";
    }

    @Override
    public String soname() {
        return "libsisci.so";
    }

    @Override
    public SymbolLookup symbols() {
        return library;
    }

    @Override
    public String explanation() {
        return library.explanation();
    }
}
