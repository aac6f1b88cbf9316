package org.jrdma.sisci.access;

import java.lang.invoke.MethodHandles;
import java.util.Objects;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteSegment;
import org.jrdma.sisci.SisciObject;
import org.jrdma.sisci.internal.ObjectHandle;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;

/**
 * Gives the other packages of this module access to non-public members of {@code org.jrdma.sisci}.
 */
public abstract class SisciPackageInternals {

    private static @Nullable SisciPackageInternals registered;

    /**
     * Initializes {@link Node} when the accessor is first used. The static initializer of {@link
     * Node} calls {@link #open}.
     */
    private static final class Holder {
        static final SisciPackageInternals ACCESS = initialize();

        private static SisciPackageInternals initialize() {
            try {
                MethodHandles.lookup().ensureInitialized(Node.class);
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
            return Objects.requireNonNull(registered);
        }
    }

    protected SisciPackageInternals() {}

    /** Registers the implementation. Called by the static initializer of {@link Node}. */
    public static void open(SisciPackageInternals access) {
        registered = access;
    }

    public static SisciPackageInternals get() {
        return Holder.ACCESS;
    }

    public abstract ObjectHandle handle(SisciObject object);

    /**
     * Connects to a BAR or a device segment of a borrowed device. The caller must {@linkplain
     * org.jrdma.ffi.Lifetime#hold hold} the lifetime of the device, which owns the result.
     *
     * @param id the number of the BAR, or the id of the device segment
     */
    public abstract RemoteSegment connect(ObjectHandle device, int id, int memoryType, String name)
            throws SisciException;
}
