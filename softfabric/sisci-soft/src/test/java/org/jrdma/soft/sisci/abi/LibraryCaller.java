package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;

/**
 * Calls libsisci like a C program: through the symbols, with the types of the header. Each object
 * is a separate process of the fabric, which leaves the fabric when the object is closed.
 */
final class LibraryCaller implements AutoCloseable {

    private static final String PREFIX = "_SISCI_PUBLIC_FUNC_MT_";
    private static final Map<FunctionDescriptor, MethodHandle> HANDLES = new ConcurrentHashMap<>();

    private final SoftSisci fabric;
    private final SymbolLookup library;
    private final Arena arena = Arena.ofAuto();
    private final ThreadLocal<Integer> error = ThreadLocal.withInitial(() -> 0);

    LibraryCaller(SoftSisciOptions options) {
        fabric = new SoftSisci(options);
        library = fabric.symbols();
    }

    /** Creates a process that has joined the fabric. */
    static LibraryCaller in(SoftSisciOptions options) {
        var process = new LibraryCaller(options);
        process.ok("SCIInitialize", 0);
        return process;
    }

    SoftSisci fabric() {
        return fabric;
    }

    /**
     * Calls a C function that has an argument for the error code. Returns the result, or 0 if the
     * function has no result.
     */
    long call(String function, Object... arguments) {
        var all = new ArrayList<>(Arrays.asList(arguments));
        var code = arena.allocate(JAVA_INT);
        code.set(JAVA_INT, 0, -1);
        all.add(code.address());
        var result = raw(function, all);
        error.set(code.get(JAVA_INT, 0));
        return result;
    }

    /** Calls a C function without an argument for the error code. */
    long plain(String function, Object... arguments) {
        return raw(function, Arrays.asList(arguments));
    }

    private long raw(String function, List<Object> arguments) {
        try {
            var descriptor =
                    (FunctionDescriptor)
                            sisci_h.class.getMethod(function + "$descriptor").invoke(null);
            var layouts = descriptor.argumentLayouts();
            var converted = new ArrayList<Object>();
            converted.add(library.findOrThrow(PREFIX + function));
            for (var i = 0; i < layouts.size(); i++) {
                var number = ((Number) arguments.get(i)).longValue();
                converted.add(
                        switch (layouts.get(i)) {
                            case AddressLayout _ -> (Object) MemorySegment.ofAddress(number);
                            case MemoryLayout layout when layout.byteSize() == Integer.BYTES ->
                                    (int) number;
                            default -> number;
                        });
            }
            var result =
                    HANDLES.computeIfAbsent(descriptor, Downcalls::plain)
                            .invokeWithArguments(converted);
            return switch (result) {
                case null -> 0;
                case MemorySegment pointer -> pointer.address();
                case Number number -> number.longValue();
                default -> throw new AssertionError(result);
            };
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the error code of the last call on this thread. */
    int error() {
        return error.get();
    }

    /** Returns the name of the error code of the last call, without the prefix SCI_ERR_. */
    String errorName() {
        return nameOf(error());
    }

    static String nameOf(int code) {
        return Arrays.stream(sisci_h.class.getMethods())
                .filter(method -> method.getName().startsWith("SCI_ERR_"))
                .filter(method -> !method.getName().equals("SCI_ERR_MASK"))
                .filter(method -> value(method.getName()) == code)
                .map(method -> method.getName().substring("SCI_ERR_".length()))
                .sorted()
                .findFirst()
                .orElseGet(() -> "0x%X".formatted(code));
    }

    private static int value(String constant) {
        try {
            return (int) sisci_h.class.getMethod(constant).invoke(null);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(constant, e);
        }
    }

    /** Calls a C function that must succeed, and returns its result. */
    long ok(String function, Object... arguments) {
        var result = call(function, arguments);
        if (error() != 0) {
            throw new AssertionError("%s: %s".formatted(function, errorName()));
        }
        return result;
    }

    /** Calls a C function that may fail, and returns the name of the error. */
    String attempt(String function, Object... arguments) {
        call(function, arguments);
        return errorName();
    }

    /** Returns a constant that the library exports. */
    int constant(String name) {
        return Downcalls.memoryAt(library.findOrThrow("_SISCI_PUBLIC_CONST_" + name), Integer.BYTES)
                .get(JAVA_INT, 0);
    }

    /** Allocates memory for a pointer, a size or a number. */
    MemorySegment place() {
        return arena.allocate(JAVA_LONG);
    }

    static long handle(MemorySegment place) {
        return place.get(JAVA_LONG, 0);
    }

    long open() {
        var place = place();
        ok("SCIOpen", place.address(), 0);
        return handle(place);
    }

    int node() {
        var place = place();
        ok("SCIGetLocalNodeId", 0, place.address(), 0);
        return place.get(ValueLayout.JAVA_INT, 0);
    }

    long create(long descriptor, int id, long bytes, int flags) {
        var place = place();
        ok("SCICreateSegment", descriptor, place.address(), id, bytes, 0, 0, flags);
        return handle(place);
    }

    /** Creates a segment to which other processes can connect. */
    long offer(long descriptor, int id, long bytes) {
        var segment = create(descriptor, id, bytes, 0);
        ok("SCIPrepareSegment", segment, 0, 0);
        ok("SCISetSegmentAvailable", segment, 0, 0);
        return segment;
    }

    long connect(long descriptor, int node, int id) {
        return connect(descriptor, node, id, 0);
    }

    long connect(long descriptor, int node, int id, int flags) {
        var place = place();
        ok("SCIConnectSegment", descriptor, place.address(), node, id, 0, 0, 0, -1, flags);
        return handle(place);
    }

    /** A map and its memory. */
    record Mapped(long handle, MemorySegment memory) {}

    Mapped mapLocal(long segment, long bytes) {
        return map("SCIMapLocalSegment", segment, 0, bytes, 0);
    }

    Mapped mapRemote(long segment, long bytes) {
        return map("SCIMapRemoteSegment", segment, 0, bytes, 0);
    }

    Mapped map(String function, long segment, long offset, long bytes, int flags) {
        var place = place();
        var address = ok(function, segment, place.address(), offset, bytes, 0, flags);
        return new Mapped(
                handle(place), Downcalls.memoryAt(MemorySegment.ofAddress(address), bytes));
    }

    long sequence(Mapped map) {
        var place = place();
        ok("SCICreateMapSequence", map.handle(), place.address(), 0);
        return handle(place);
    }

    /** Waits for an event of a local segment and returns its reason. */
    int localEvent(long segment) {
        return (int) ok("SCIWaitForLocalSegmentEvent", segment, 0, 0, 5_000, 0);
    }

    /** Waits for an event of a remote segment and returns its reason. */
    int remoteEvent(long segment) {
        return (int) ok("SCIWaitForRemoteSegmentEvent", segment, place().address(), 5_000, 0);
    }

    @Override
    public void close() {
        plain("SCITerminate");
    }
}
