package org.jrdma.nvme.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jrdma.soft.sisci.device.DeviceBus;
import org.jrdma.soft.sisci.device.DeviceIdentity;
import org.jrdma.soft.sisci.device.DeviceModel;

/** Records the exceptions that escape from a model, and can stop it. */
public final class WatchedModel implements DeviceModel {

    private final DeviceModel model;
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private volatile boolean stopped;

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
        model.attach(bus);
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
