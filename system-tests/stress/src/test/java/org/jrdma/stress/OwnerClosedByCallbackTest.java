package org.jrdma.stress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.Device;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests callbacks of a close that close the owner of the object. The provider ends the process if
 * an object is destroyed after its owner.
 */
@Timeout(60)
class OwnerClosedByCallbackTest {

    private static final int ROUNDS = 200;

    /** The object whose callback closes its device. */
    enum Kind {
        QUEUE_PAIR,
        REGION,
        COMPLETION_QUEUE,
        DOMAIN
    }

    /** A device with one object of each kind. */
    private record OpenObjects(Device device, Map<Kind, NativeObject> children) {

        static OpenObjects open() throws Exception {
            var device = NullProviderDevice.open();
            var domain = device.newProtectionDomain();
            var region = domain.newArena(LOCAL_WRITE).region(64);
            var completions = device.newCompletionQueue(8);
            var queuePair = domain.newQueuePair(reliable(completions));
            return new OpenObjects(
                    device,
                    Map.of(
                            Kind.QUEUE_PAIR, queuePair,
                            Kind.REGION, region,
                            Kind.COMPLETION_QUEUE, completions,
                            Kind.DOMAIN, domain));
        }

        NativeObject child(Kind kind) {
            return Objects.requireNonNull(children.get(kind));
        }

        void assertThatAllAreClosed() {
            assertThat(device.isOpen()).isFalse();
            assertThat(children.values()).noneMatch(NativeObject::isOpen);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldDestroyAllObjectsBeforeTheDevice(Kind kind) throws Exception {
        var objects = OpenObjects.open();
        objects.child(kind).onClose(objects.device::close);

        objects.child(kind).close();

        objects.assertThatAllAreClosed();
        NullProviderDevice.open().close(); // The provider still works.
    }

    @ParameterizedTest
    @EnumSource
    void shouldDestroyAllObjectsBeforeTheDeviceIfACallbackThrowsAnError(Kind kind)
            throws Exception {
        var objects = OpenObjects.open();
        objects.child(kind)
                .onClose(() -> {
                    throw new AssertionError("thrown by the callback, on purpose");
                });

        objects.device.close();

        objects.assertThatAllAreClosed();
        NullProviderDevice.open().close();
    }

    @ParameterizedTest
    @EnumSource
    void shouldNotDeadlockIfAnotherThreadClosesTheDevice(Kind kind) throws Exception {
        for (var round = 0; round < ROUNDS; round++) {
            var objects = OpenObjects.open();
            objects.child(kind).onClose(objects.device::close);
            var start = new CyclicBarrier(2);
            var closed = new CompletableFuture<Void>();
            Thread.ofPlatform()
                    .daemon()
                    .start(() -> {
                        try {
                            start.await();
                            objects.device.close();
                            closed.complete(null);
                        } catch (Throwable e) {
                            closed.completeExceptionally(e);
                        }
                    });
            start.await();

            objects.child(kind).close();

            closed.get(30, TimeUnit.SECONDS);
            objects.assertThatAllAreClosed();
        }
    }
}
