package org.jrdma.soft.sisci.device;

import java.util.List;

/**
 * A PCIe device in software. A borrower accesses its BARs with ordinary loads and stores, which the
 * device cannot intercept: the device polls the BARs in {@link #poll()}. Therefore a register works
 * differently from a register of hardware in one respect: a load has no side effect.
 *
 * <p>All methods except {@link #identity()} and {@link #barBytes()} are called by one thread at a
 * time, the thread of the {@link DeviceHost} or a thread that holds its lock. They must not wait
 * for borrowers. Every word in a BAR and in the memory of a borrower is written by another process
 * at any time: read it once, and check it before use.
 */
public interface DeviceModel {

    /** Returns the identity of this device, which does not change. */
    DeviceIdentity identity();

    /**
     * Returns the sizes of the BARs in bytes. The index is the number of the BAR. There are at most
     * six. A size is a multiple of 4,096, or 0 if the BAR does not exist.
     */
    List<Integer> barBytes();

    /**
     * Connects this device to its bus, and sets its registers to their initial values. Called once,
     * before all other calls.
     */
    void attach(DeviceBus bus);

    /**
     * Handles changed registers and queues. Does a bounded amount of work, because no memory can be
     * unmapped meanwhile.
     *
     * @return true if there was something to do
     */
    boolean poll();

    /**
     * Releases the state of this device for a borrower that has ended or has returned this device.
     * The memory of the borrower is no longer accessible. After this call, another borrower may get
     * the number.
     *
     * @param borrower the number of the borrower
     */
    void detached(int borrower);

    /** Resets this device, because no borrower is left. */
    void reset();
}
