package org.jrdma.verbs.cm.handle;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.Function;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.IdentifierReader;
import org.jrdma.verbs.internal.IdentifierReader.BoundDevice;
import org.jrdma.verbs.model.TransportType;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * Calls the C functions that take an {@code rdma_cm_id}. The {@code rdma_cm_id} is not destroyed
 * during a call, and the call runs on a platform thread because it may block. The messages of
 * exceptions contain the {@code rdma_cm_id} and its addresses.
 */
public final class IdentifierCalls {

    /** Calls a C function without a result. */
    @FunctionalInterface
    public interface Call {
        /**
         * Calls the C function.
         *
         * @param identifier the address of the {@code struct rdma_cm_id}
         * @param attempt the description of the call for its exception
         */
        void make(MemorySegment identifier, CheckedCall attempt) throws VerbsException;
    }

    /** Calls a C function that returns a value. */
    @FunctionalInterface
    public interface Query<T> {
        /**
         * Calls the C function and returns its result.
         *
         * @param identifier the address of the {@code struct rdma_cm_id}
         * @param attempt the description of the call for its exception
         */
        T make(MemorySegment identifier, CheckedCall attempt) throws VerbsException;
    }

    private final Lifetime lifetime;
    private final NativeIdentifier identifier;

    /**
     * Creates the object that makes the calls on one {@code rdma_cm_id}.
     *
     * @param lifetime the lifetime of the {@code rdma_cm_id}
     */
    public IdentifierCalls(Lifetime lifetime, NativeIdentifier identifier) {
        this.lifetime = lifetime;
        this.identifier = identifier;
    }

    /**
     * Calls a C function without a result.
     *
     * @param function the name of the C function, for the message of a failure
     */
    public void run(String function, Call call) throws VerbsException {
        run(attempt(function), call);
    }

    /**
     * Calls a C function without a result.
     *
     * @param attempt the description of the call, for the message of a failure
     */
    public void run(CheckedCall attempt, Call call) throws VerbsException {
        query(
                attempt,
                (address, described) -> {
                    call.make(address, described);
                    return this;
                });
    }

    /**
     * Calls a C function for which the {@code rdma_cm_id} must be bound to a device. Without a
     * device, the function is not called, because librdmacm would dereference a null pointer.
     *
     * @param function the name of the C function, for the message of a failure
     * @throws VerbsException if the {@code rdma_cm_id} is not bound to a device
     */
    public void runOnDevice(String function, Call call) throws VerbsException {
        runOnDevice(function, attempt(function), call);
    }

    /**
     * Calls a C function for which the {@code rdma_cm_id} must be bound to a device.
     *
     * @param attempt the description of the call, for the message of a failure
     * @throws VerbsException if the {@code rdma_cm_id} is not bound to a device
     */
    public void runOnDevice(String function, CheckedCall attempt, Call call) throws VerbsException {
        run(
                attempt,
                (address, described) -> {
                    if (IdentifierReader.device(address).isEmpty()) {
                        throw new VerbsException(
                                function,
                                "%s is not bound to a device. Resolve an address first."
                                        .formatted(lifetime));
                    }
                    call.make(address, described);
                });
    }

    /**
     * Calls a C function that returns a value.
     *
     * @param attempt the description of the call, for the message of a failure
     */
    public <T> T query(CheckedCall attempt, Query<T> query) throws VerbsException {
        try (var _ = lifetime.held()) {
            return BlockingCalls.call(() -> query.make(identifier.address(), attempt));
        }
    }

    /** Reads from the {@code struct rdma_cm_id}. */
    public <T> T read(Function<MemorySegment, T> reader) {
        try (var _ = lifetime.held()) {
            return reader.apply(identifier.address());
        }
    }

    /**
     * Returns the device to which the {@code rdma_cm_id} is bound; empty if it is not bound to a
     * device.
     */
    public Optional<BoundDevice> device() {
        return read(IdentifierReader::device);
    }

    /** Returns true if the {@code rdma_cm_id} is bound to an iWARP device. */
    public boolean isIwarp() {
        return device().filter(device -> device.transport() == TransportType.IWARP).isPresent();
    }

    /**
     * Reserves the {@code rdma_cm_id} for a call that may block. The caller must call {@link
     * #finish} or {@link #end()} afterwards. Closing the {@code rdma_cm_id} does not wait for this
     * call.
     *
     * @param destroyMayBlockThen true if {@code rdma_destroy_id} may wait for the peer after this
     *     call
     * @throws VerbsException if another thread has reserved the {@code rdma_cm_id}
     */
    public void begin(String function, NativeIdentifier.Call call, boolean destroyMayBlockThen)
            throws VerbsException {
        if (!tryBegin(call, destroyMayBlockThen)) {
            throw new VerbsException(
                    function,
                    "A connect or lookup call of another thread is in progress for " + lifetime);
        }
    }

    /**
     * Reserves the {@code rdma_cm_id} like {@link #begin}, but returns false if another thread has
     * reserved it.
     *
     * @throws IllegalStateException if the {@code rdma_cm_id} is closed
     */
    public boolean tryBegin(NativeIdentifier.Call call, boolean destroyMayBlockThen) {
        if (identifier.begin(call, destroyMayBlockThen)) {
            return true;
        }
        if (lifetime.isClosed()) {
            throw lifetime.closedException();
        }
        return false;
    }

    /**
     * Calls the C function for which the {@code rdma_cm_id} was reserved, and ends the reservation.
     */
    public void finish(CheckedCall attempt, Call call) throws VerbsException {
        VerbsException failure = null;
        try {
            call.make(identifier.address(), attempt);
        } catch (VerbsException e) {
            failure = e;
            throw e;
        } finally {
            end(failure);
        }
    }

    private void end(@Nullable VerbsException failure) throws VerbsException {
        try {
            identifier.end();
        } catch (VerbsException e) {
            if (failure == null) {
                throw e;
            }
            failure.addSuppressed(e); // The caller throws the first failure.
        }
    }

    /** Ends the reservation without calling a C function. */
    public void end() throws VerbsException {
        identifier.end();
    }

    /**
     * Returns a description of a call for its exception. It contains the {@code rdma_cm_id} and its
     * addresses.
     */
    public CheckedCall attempt(String function) {
        return CheckedCall.to(function, () -> "for " + description());
    }

    /** Returns the {@code rdma_cm_id} with its local and its peer address, for messages. */
    public String description() {
        try {
            var local = read(IdentifierReader::local).map(AddressText::of).orElse("none");
            var peer = read(IdentifierReader::peer).map(AddressText::of).orElse("none");
            return "%s (local address %s, peer address %s)".formatted(lifetime, local, peer);
        } catch (IllegalStateException _) {
            return lifetime.toString(); // The addresses cannot be read after the close.
        }
    }
}
