package org.jrdma.spark;

import java.lang.foreign.SymbolLookup;
import org.jrdma.ffi.JavaImplementedLibrary;
import org.jrdma.soft.roce.SoftRoce;

/** The software fabric of an executor. Tests can cut its link, and check that packets were lost. */
public final class CuttableLinkFabric implements JavaImplementedLibrary {

    private static final SoftRoce FABRIC = new SoftRoce();

    /** Creates the service; called by the service loader. */
    public CuttableLinkFabric() {}

    static void cutLink() {
        FABRIC.devices().getFirst().linkDown();
    }

    static void restoreLink() {
        FABRIC.devices().getFirst().linkUp();
    }

    /** The number of packets of this executor that were lost on purpose. */
    static long lostPackets() {
        return FABRIC.devices().getFirst().faultCounts().lost();
    }

    @Override
    public String name() {
        return FABRIC.name();
    }

    @Override
    public String soname() {
        return FABRIC.soname();
    }

    @Override
    public SymbolLookup symbols() {
        return FABRIC.symbols();
    }

    @Override
    public String explanation() {
        return FABRIC.explanation();
    }
}
