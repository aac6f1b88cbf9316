package org.jrdma.verbs.handle;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.linkage.FieldRangeChecks;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.PostAndPollFunctions;
import org.jrdma.verbs.internal.VerbsContext;
import org.jrdma.verbs.internal.VerbsLibrary;
import org.jrdma.verbs.model.DeviceAttributes;
import org.jrdma.verbs.model.DeviceDescription;
import org.jrdma.verbs.model.GidEntry;
import org.jrdma.verbs.model.GidRanking;
import org.jrdma.verbs.model.PortAttributes;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * The state of an open device that objects created from it use. Safe for use by multiple threads.
 */
public final class DeviceHandle {

    private final VerbsLibrary library;
    private final DeviceDescription description;
    private final Path sysfs;
    private final VerbsContext context;
    private final PostAndPollFunctions hotPath;
    private final Lifetime lifetime;
    private final AsyncEventSubjects events;

    /**
     * The API object of this device. This reference keeps it reachable, because every object that
     * was created from the device references this handle.
     */
    @SuppressWarnings("unused")
    private @Nullable NativeObject object;

    /**
     * Creates the handle of a device that was just opened. Closes the device if the creation fails.
     *
     * @param critical true to link the functions of the hot path with {@code
     *     Linker.Option.critical}
     */
    public DeviceHandle(
            VerbsLibrary library,
            DeviceDescription description,
            Path sysfs,
            VerbsContext context,
            boolean critical)
            throws VerbsException {
        this.library = library;
        this.description = description;
        this.sysfs = sysfs;
        this.context = context;
        this.lifetime = lifetime(library, description, context);
        try {
            this.hotPath =
                    PostAndPollFunctions.of(context, critical, library.library().isProvided());
            this.events = new AsyncEventSubjects(context.asyncDescriptor());
        } catch (FabricException e) {
            lifetime.close();
            throw new VerbsException(
                    "ibv_open_device",
                    "Cannot watch the event descriptor of %s: %s"
                            .formatted(description.name(), e.getMessage()));
        } catch (Throwable e) {
            lifetime.close();
            throw e;
        }
        lifetime.onClose(events::close);
    }

    private static Lifetime lifetime(
            VerbsLibrary library, DeviceDescription description, VerbsContext context) {
        var name = "device " + description.name();
        return new Lifetime(
                name,
                List.of(),
                () ->
                        library.devices()
                                .close(
                                        context.address(),
                                        CheckedCall.to("ibv_close_device", () -> "for " + name)));
    }

    /**
     * Sets the API object of this device. Must be called once, before any object is created from
     * the device.
     */
    public void belongsTo(NativeObject device) {
        object = device;
    }

    public VerbsLibrary library() {
        return library;
    }

    public VerbsContext context() {
        return context;
    }

    /**
     * Returns the address of the {@code ibv_context}.
     *
     * @throws IllegalStateException if the device is closed
     */
    public MemorySegment address() {
        if (lifetime.isClosed()) {
            throw lifetime.closedException();
        }
        return context.address();
    }

    public PostAndPollFunctions hotPath() {
        return hotPath;
    }

    public Lifetime lifetime() {
        return lifetime;
    }

    public AsyncEventSubjects events() {
        return events;
    }

    public DeviceDescription description() {
        return description;
    }

    public String name() {
        return description.name();
    }

    public Path sysfs() {
        return sysfs;
    }

    public DeviceAttributes attributes() throws VerbsException {
        return call(() ->
                library.devices().queryDevice(context.address(), attempt("ibv_query_device")));
    }

    public PortAttributes port(int port) throws VerbsException {
        FieldRangeChecks.check("port number", port, 1, 255);
        return call(
                () -> library.devices().queryPort(context, port, attempt("ibv_query_port", port)));
    }

    /** Reads the entries of the GID table of a port that are in use. */
    public List<GidEntry> gids(int port) throws VerbsException {
        return new GidTableReader(this).read(port);
    }

    /** Ranks the entries of the GID table of a port by their suitability as source addresses. */
    public GidRanking chooseGid(int port) throws VerbsException {
        return GidRanking.among(gids(port));
    }

    /** Makes a native call. The device is not closed during the call. */
    public <T> T call(GuardedCalls.Call<T> call) throws VerbsException {
        return GuardedCalls.call(lifetime, call);
    }

    public CheckedCall attempt(String function) {
        return CheckedCall.to(function, () -> "for " + name());
    }

    public CheckedCall attempt(String function, int port) {
        return CheckedCall.to(function, () -> "for port %d of %s".formatted(port, name()));
    }

    @Override
    public String toString() {
        return lifetime.toString();
    }
}
