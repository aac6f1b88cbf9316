package org.jrdma.nvme.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jrdma.soft.sisci.device.DeviceBus;
import org.jrdma.soft.sisci.device.DeviceIdentity;
import org.jrdma.soft.sisci.device.DeviceModel;

/** Records the exceptions that escape from a model, stops it, and makes its accesses fail. */
public final class FailureRecordingDeviceModel implements DeviceModel {

    private final DeviceModel model;
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final AtomicLong busyPolls = new AtomicLong();
    private boolean stopped;
    private volatile long failingAddress;

    public FailureRecordingDeviceModel(DeviceModel model) {
        this.model = model;
    }

    /** Stops the model without any sign in its registers. Waits for the current poll. */
    public synchronized void stop() {
        stopped = true;
    }

    public synchronized void resume() {
        stopped = false;
    }

    /** Returns the number of polls in which the model had something to do. */
    long busyPolls() {
        return busyPolls.get();
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
    public synchronized boolean poll() {
        try {
            var isBusy = !stopped && model.poll();
            if (isBusy) {
                busyPolls.incrementAndGet();
            }
            return isBusy;
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
