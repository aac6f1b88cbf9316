package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jrdma.soft.sisci.device.DeviceBus;
import org.jrdma.soft.sisci.device.DeviceIdentity;
import org.jrdma.soft.sisci.device.DeviceModel;

/** A device model whose actions a test determines, and which records the calls of its methods. */
final class ScriptedDevice implements DeviceModel {

    static final int BAR_BYTES = 8192;

    private final DeviceIdentity identity;
    private final Queue<Runnable> requests = new ConcurrentLinkedQueue<>();

    /** The calls of {@link #detached} and {@link #reset}. */
    final List<String> calls = new CopyOnWriteArrayList<>();

    private DeviceBus bus;

    ScriptedDevice(int vendor, int device, String name) {
        identity = new DeviceIdentity(vendor, device, 0x010802, 3, 4, 5, name);
    }

    /** Reads 8 bytes by DMA. Returns -1 if the access is refused. */
    long read(long address) throws Exception {
        return request(used -> {
            var target = Arena.ofAuto().allocate(JAVA_LONG);
            return used.read(address, target) ? target.get(JAVA_LONG, 0) : -1;
        });
    }

    /** Writes 8 bytes by DMA. Returns false if the access is refused. */
    boolean write(long address, long value) throws Exception {
        return request(used -> used.write(address, Arena.ofAuto().allocateFrom(JAVA_LONG, value)));
    }

    boolean signal(long address, int data) throws Exception {
        return request(used -> used.signal(address, data));
    }

    /** Lets the next poll last until the latch is released. Returns when that poll has begun. */
    void block(CountDownLatch latch) throws Exception {
        var begun = new CountDownLatch(1);
        requests.add(() -> {
            begun.countDown();
            awaitUninterruptibly(latch);
        });
        assertThat(begun.await(5, TimeUnit.SECONDS)).isTrue();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    long readBar(int number, long offset) throws Exception {
        return request(used -> used.bar(number).get(JAVA_LONG, offset));
    }

    /** Makes the device use its bus, and returns the result. Requires a borrower. */
    private <T> T request(Function<DeviceBus, T> use) throws Exception {
        var result = new CompletableFuture<T>();
        requests.add(() -> result.complete(use.apply(bus)));
        return result.get(5, TimeUnit.SECONDS);
    }

    @Override
    public DeviceIdentity identity() {
        return identity;
    }

    /** Returns the sizes of BAR 0 and BAR 2. */
    @Override
    public List<Integer> barBytes() {
        return List.of(BAR_BYTES, 0, 4096);
    }

    @Override
    public void attach(DeviceBus newBus) {
        bus = newBus;
    }

    @Override
    public boolean poll() {
        var request = requests.poll();
        if (request == null) {
            return false;
        }
        request.run();
        return true;
    }

    @Override
    public void detached(int borrower) {
        calls.add("detached " + borrower);
    }

    @Override
    public void reset() {
        calls.add("reset");
    }
}
