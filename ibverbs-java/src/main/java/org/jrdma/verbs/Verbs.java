package org.jrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.ConfiguredFabric;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.LibraryProvider;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.handle.DeviceHandle;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.DeviceFunctions;
import org.jrdma.verbs.internal.SoftwareFabricLoader;
import org.jrdma.verbs.internal.VerbsContext;
import org.jrdma.verbs.internal.VerbsEnumCodes;
import org.jrdma.verbs.internal.VerbsLibrary;
import org.jrdma.verbs.model.DeviceDescription;
import org.jrdma.verbs.model.DeviceOpenOption;
import org.jrdma.verbs.model.ForkStatus;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A libibverbs library, which lists and opens devices. {@link #system} returns the library that is
 * installed on this machine, {@link #software} the software fabric, {@link #load} a library in a
 * file, and {@link #from} a library that a provider supplies.
 *
 * <p>The library stays loaded until the JVM exits. Several libraries can be in use at once. Safe
 * for use by multiple threads.
 */
public final class Verbs {

    private static @Nullable Verbs system;
    private static @Nullable Verbs software;

    private final VerbsLibrary library;
    private final List<Lifetime> openDevices = new CopyOnWriteArrayList<>();

    private Verbs(VerbsLibrary library) {
        this.library = library;
    }

    /**
     * The libibverbs library that is installed on this machine. Always returns the same object.
     *
     * @throws LibraryNotFoundException if libibverbs is not installed; the message names the
     *     packages to install
     */
    public static synchronized Verbs system() throws LibraryNotFoundException {
        if (system == null) {
            system = new Verbs(new VerbsLibrary(NativeLibrary.open(VerbsLibrary.NAME)));
        }
        return system;
    }

    /**
     * The software fabric: an implementation of libibverbs in Java, which needs no adapter, no
     * kernel module and no privileges. Always returns the same object.
     *
     * @throws LibraryNotFoundException if the software fabric is not on the class path or module
     *     path; the message names the missing dependency
     * @throws IllegalArgumentException if a system property of the software fabric has an invalid
     *     value
     */
    public static synchronized Verbs software() throws LibraryNotFoundException {
        if (software == null) {
            software = new Verbs(new VerbsLibrary(SoftwareFabricLoader.library()));
        }
        return software;
    }

    /**
     * The library that the system property {@code jrdma.fabric} selects: {@link #system()} for
     * {@code system} or if the property is not set, {@link #software()} for {@code software}.
     *
     * @throws LibraryNotFoundException if the selected library is not available
     * @throws IllegalArgumentException if the property has another value
     */
    public static Verbs configured() throws LibraryNotFoundException {
        return switch (ConfiguredFabric.get()) {
            case SYSTEM -> system();
            case SOFTWARE -> software();
        };
    }

    /**
     * Loads a libibverbs library from a file.
     *
     * @throws LibraryNotFoundException if the file cannot be loaded, or lacks a function that every
     *     version of libibverbs has
     */
    public static Verbs load(Path file) throws LibraryNotFoundException {
        return new Verbs(new VerbsLibrary(NativeLibrary.open(file)));
    }

    /**
     * A libibverbs library that a provider supplies.
     *
     * @throws LibraryNotFoundException if the library lacks a function that every version of
     *     libibverbs has
     */
    public static Verbs from(LibraryProvider provider) throws LibraryNotFoundException {
        return new Verbs(new VerbsLibrary(NativeLibrary.from(provider)));
    }

    /**
     * Reports whether the registered memory of this process is protected against the effects of
     * {@code fork}. In C: {@code ibv_is_fork_initialized}.
     */
    public ForkStatus forkStatus() {
        return library.devices()
                .forkStatus()
                .map(VerbsEnumCodes.FORK_STATUS::of)
                .orElse(ForkStatus.UNKNOWN);
    }

    /**
     * The devices of this machine; an empty list if there are none. In C: {@code
     * ibv_get_device_list}, {@code ibv_free_device_list}.
     *
     * @throws VerbsException if the system cannot list the devices
     */
    public List<DeviceDescription> devices() throws VerbsException {
        var devices = new ArrayList<DeviceDescription>();
        library.devices()
                .visit((listed, device) -> {
                    devices.add(describe(listed));
                    return Optional.empty();
                });
        return List.copyOf(devices);
    }

    /**
     * Opens the first device in the list {@link #devices()}, as the example programs of libibverbs
     * do by default. Suitable for machines with one device.
     *
     * @throws VerbsException if there is no device, or the device cannot be opened; the message
     *     contains a fix
     */
    public Device openFirst(DeviceOpenOption... options) throws VerbsException {
        var devices = devices();
        if (devices.isEmpty()) {
            throw new VerbsException("ibv_open_device", fixForNoDevice());
        }
        return open(devices.getFirst().name(), options);
    }

    /**
     * Opens a device by its name. In C: {@code ibv_open_device}.
     *
     * @throws VerbsException if there is no device with this name, or the device cannot be opened;
     *     the message contains a fix
     * @throws IllegalArgumentException if the options contain {@link
     *     DeviceOpenOption#CRITICAL_CALLS} and the library is supplied by a provider
     */
    public Device open(String name, DeviceOpenOption... options) throws VerbsException {
        var critical = List.of(options).contains(DeviceOpenOption.CRITICAL_CALLS);
        if (critical && library.library().isProvided()) {
            throw new IllegalArgumentException(
                    "CRITICAL_CALLS cannot be used with "
                            + library.library()
                            + ", because its functions may be Java upcalls, which would abort the"
                            + " JVM in a critical call");
        }
        var attempt =
                new CheckedCall("ibv_open_device", () -> "for " + name, this::adviceOnOpening);
        var opened =
                BlockingCalls.call(() ->
                        library.devices()
                                .visit((listed, device) ->
                                        listed.name().equals(name)
                                                ? Optional.of(
                                                        device(
                                                                listed,
                                                                library.devices()
                                                                        .open(device, attempt),
                                                                critical))
                                                : Optional.empty()));
        if (opened.isEmpty()) {
            throw noSuchDevice(name);
        }
        return keep(opened.get());
    }

    /**
     * Opens a device that another process has opened, in order to share objects with that process;
     * see {@link Device#importProtectionDomain}. The caller must close the returned device. In C:
     * {@code ibv_import_device}.
     *
     * @param descriptor a duplicate of the other process's {@link Device#commandDescriptor}, for
     *     example received over a Unix socket. The caller keeps ownership and may close it after
     *     this call
     * @throws VerbsException if the descriptor does not belong to a device, or the device cannot be
     *     shared
     */
    public Device importDevice(int descriptor) throws VerbsException {
        var attempt =
                CheckedCall.to(
                        "ibv_import_device", () -> "from descriptor %d".formatted(descriptor));
        var context = BlockingCalls.call(() -> library.devices().importDevice(descriptor, attempt));
        try {
            var listed = library.devices().describe(context);
            return keep(device(listed, context, false));
        } catch (RuntimeException | Error e) {
            try {
                library.devices()
                        .close(
                                context,
                                CheckedCall.to("ibv_close_device", () -> "for an imported device"));
            } catch (VerbsException again) {
                e.addSuppressed(again);
            }
            throw e;
        }
    }

    private Device device(DeviceFunctions.Listed listed, MemorySegment context, boolean critical)
            throws VerbsException {
        return new Device(
                new DeviceHandle(
                        library,
                        describe(listed),
                        Path.of(listed.sysfsPath()),
                        new VerbsContext(context),
                        critical));
    }

    private Device keep(Device device) {
        var lifetime = device.handle().lifetime();
        openDevices.add(lifetime);
        lifetime.onClose(() -> openDevices.remove(lifetime));
        return device;
    }

    /**
     * The lifetimes of the devices that are open, in the order in which they were opened. The
     * lifetimes of objects that were created from a device are dependents of the device's lifetime.
     * Tests use this method to find objects that a program has not closed.
     */
    public List<Lifetime> openDevices() {
        return List.copyOf(openDevices);
    }

    /** Returns the location of the library. */
    @Override
    public String toString() {
        return library.library().toString();
    }

    private static DeviceDescription describe(DeviceFunctions.Listed listed) {
        return new DeviceDescription(
                listed.name(),
                listed.verbsName(),
                listed.index() < 0 ? OptionalInt.empty() : OptionalInt.of(listed.index()),
                listed.guid(),
                VerbsEnumCodes.NODE_TYPE.of(listed.nodeType()),
                VerbsEnumCodes.TRANSPORT_TYPE.of(listed.transportType()));
    }

    private VerbsException noSuchDevice(String name) throws VerbsException {
        var devices = devices();
        var fix =
                devices.isEmpty()
                        ? fixForNoDevice()
                        : "Available devices: "
                                + devices.stream()
                                        .map(DeviceDescription::name)
                                        .collect(Collectors.joining(", "))
                                + ".";
        return new VerbsException(
                "ibv_open_device", "There is no RDMA device named " + name + ". " + fix);
    }

    private static String fixForNoDevice() {
        return "This machine has no RDMA device%s. Load the driver of an adapter, create a software device with \"rdma link add rxe0 type rxe netdev eth0\", or use the software fabric: Verbs.software(), or Verbs.configured() with -Djrdma.fabric=software."
                .formatted(
                        Files.isDirectory(Path.of("/sys/class/infiniband_verbs"))
                                ? ""
                                : ", and the module ib_uverbs is not loaded");
    }

    private String adviceOnOpening(int errno) {
        var explanation = library.library().explanation();
        if (!explanation.isEmpty()) {
            return explanation;
        }
        return switch (errno) {
            case Errno.EACCES, Errno.EPERM ->
                    "The user has no access to the files under /dev/infiniband. Add the user to the"
                            + " group that owns them, or pass the files to the container.";
            case Errno.ENOENT, Errno.ENODEV, Errno.ENXIO ->
                    "The files under /dev/infiniband are missing. Load the kernel module ib_uverbs,"
                            + " or pass the files to the container.";
            default -> "";
        };
    }
}
