package org.jrdma.nvme.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jrdma.soft.sisci.device.DeviceBus;
import org.jrdma.soft.sisci.device.DeviceIdentity;
import org.jrdma.soft.sisci.device.DeviceModel;

/** Records the exceptions that escape from a model, stops it, and makes its accesses fail. */
public final class WatchedModel implements DeviceModel {

    private final DeviceModel model;
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private volatile boolean stopped;
    private volatile long failingAddress;

    public WatchedModel(DeviceModel model) {
        this.model = model;
    }

    /** Stops the model without any sign in its registers. */
    public void stop() {
        stopped = true;
    }

    public void resume() {
        stopped = false;
    }

    /** Lets writes to an address throw an OutOfMemoryError. */
    void failWritesTo(long address) {
        failingAddress = address;
    }

    public void assertNoFailure() {
        assertThat(failures).isEmpty();
    }

    @Override
    public DeviceIdentity identity() {
        return model.identity();
    }

    @Override
    public List<Integer> barBytes() {
        return model.barBytes();
    }

    @Override
    public void attach(DeviceBus bus) {
        model.attach(new FailingBus(bus));
    }

    private final class FailingBus implements DeviceBus {

        private final DeviceBus bus;

        FailingBus(DeviceBus bus) {
            this.bus = bus;
        }

        @Override
        public MemorySegment bar(int number) {
            return bus.bar(number);
        }

        @Override
        public int borrowerAt(long address) {
            return bus.borrowerAt(address);
        }

        @Override
        public boolean read(long address, MemorySegment target) {
            return bus.read(address, target);
        }

        @Override
        public boolean write(long address, MemorySegment source) {
            if (address == failingAddress) {
                throw new OutOfMemoryError("simulated");
            }
            return bus.write(address, source);
        }

        @Override
        public boolean signal(long address, int data) {
            return bus.signal(address, data);
        }
    }

    @Override
    public boolean poll() {
        try {
            return !stopped && model.poll();
        } catch (Throwable e) {
            failures.add(e);
            throw e;
        }
    }

    @Override
    public void detached(int borrower) {
        try {
            model.detached(borrower);
        } catch (Throwable e) {
            failures.add(e);
            throw e;
        }
    }

    @Override
    public void reset() {
        try {
            model.reset();
        } catch (Throwable e) {
            failures.add(e);
            throw e;
        }
    }
}
