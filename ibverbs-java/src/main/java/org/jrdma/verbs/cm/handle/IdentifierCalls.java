package org.jrdma.verbs.cm.handle;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.Function;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.IdentifierReader;
import org.jrdma.verbs.internal.IdentifierReader.BoundDevice;
import org.jrdma.verbs.model.TransportType;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * Native calls on an identifier: keeps the identifier open during a call, moves calls that may
 * block away from virtual threads, and names the identifier and its addresses in exceptions.
 */
public final class IdentifierCalls {

    /** A native call. */
    @FunctionalInterface
    public interface Call {
        /** Makes the call. */
        void make(MemorySegment identifier, Attempt attempt) throws VerbsException;
    }

    /** A native call that returns a value. */
    @FunctionalInterface
    public interface Query<T> {
        /** Makes the call. */
        T make(MemorySegment identifier, Attempt attempt) throws VerbsException;
    }

    private final Lifetime lifetime;
    private final NativeIdentifier identifier;

    /** The calls on an identifier with this lifetime. */
    public IdentifierCalls(Lifetime lifetime, NativeIdentifier identifier) {
        this.lifetime = lifetime;
        this.identifier = identifier;
    }

    /** Makes a call. */
    public void run(String function, Call call) throws VerbsException {
        run(attempt(function), call);
    }

    /** Makes a call whose failure is described by {@code attempt}. */
    public void run(Attempt attempt, Call call) throws VerbsException {
        query(
                attempt,
                (address, tried) -> {
                    call.make(address, tried);
                    return this;
                });
    }

    /**
     * Makes a call that needs a device: librdmacm dereferences the device's structure without a
     * check.
     *
     * @throws VerbsException if the identifier has no device
     */
    public void runOnDevice(String function, Call call) throws VerbsException {
        runOnDevice(function, attempt(function), call);
    }

    /** Makes a call that needs a device, and whose failure is described by {@code attempt}. */
    public void runOnDevice(String function, Attempt attempt, Call call) throws VerbsException {
        run(
                attempt,
                (address, tried) -> {
                    if (IdentifierReader.device(address).isEmpty()) {
                        throw new VerbsException(
                                function,
                                "%s has no device yet: resolve an address first."
                                        .formatted(lifetime));
                    }
                    call.make(address, tried);
                });
    }

    /** Makes a call that returns a value. */
    public <T> T query(Attempt attempt, Query<T> query) throws VerbsException {
        lifetime.hold();
        try {
            return PlatformCalls.call(() -> query.make(identifier.address(), attempt));
        } finally {
            lifetime.release();
        }
    }

    /** Reads the native structure. */
    public <T> T read(Function<MemorySegment, T> reader) {
        lifetime.hold();
        try {
            return reader.apply(identifier.address());
        } finally {
            lifetime.release();
        }
    }

    /** The device that the identifier is bound to. */
    public Optional<BoundDevice> device() {
        return read(IdentifierReader::device);
    }

    /** Whether the identifier is bound to an iWARP device. */
    public boolean isWarp() {
        return device().filter(device -> device.transport() == TransportType.IWARP).isPresent();
    }

    /**
     * Reserves the identifier for a call that may block; {@link #finish} must follow. Closing does
     * not wait for that call.
     *
     * @param destroyMayBlockThen whether destroying the identifier may wait for the peer from now
     *     on
     * @throws VerbsException if another thread is in such a call
     */
    public void begin(String function, NativeIdentifier.Call call, boolean destroyMayBlockThen)
            throws VerbsException {
        if (!tryBegin(call, destroyMayBlockThen)) {
            throw new VerbsException(
                    function, lifetime + " is being connected or looked up for by another thread");
        }
    }

    /** Reserves the identifier as {@link #begin} does, if no other thread is in such a call. */
    public boolean tryBegin(NativeIdentifier.Call call, boolean destroyMayBlockThen) {
        if (identifier.begin(call, destroyMayBlockThen)) {
            return true;
        }
        if (lifetime.isClosed()) {
            throw lifetime.closedException();
        }
        return false;
    }

    /** Makes the call that the identifier was reserved for, and ends the reservation. */
    public void finish(Attempt attempt, Call call) throws VerbsException {
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
            failure.addSuppressed(e); // the failure of the call is what the caller asked about
        }
    }

    /** Ends the reservation. */
    public void end() throws VerbsException {
        identifier.end();
    }

    /** An attempt to call a function, described by the identifier and its addresses. */
    public Attempt attempt(String function) {
        return Attempt.to(function, () -> "for " + description());
    }

    /** The identifier with its addresses, where they are known. */
    public String description() {
        try {
            return "%s from %s to %s"
                    .formatted(
                            lifetime,
                            read(IdentifierReader::local).map(Object::toString).orElse("anywhere"),
                            read(IdentifierReader::peer).map(Object::toString).orElse("nowhere"));
        } catch (IllegalStateException _) {
            return lifetime.toString(); // closed meanwhile
        }
    }
}
