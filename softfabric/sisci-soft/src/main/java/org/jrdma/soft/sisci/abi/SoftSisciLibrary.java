package org.jrdma.soft.sisci.abi;

import static org.jrdma.abi.sisci.sisci_h.*;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jrdma.ffi.linkage.UpcallFunction;
import org.jrdma.ffi.linkage.UpcallSymbolLookup;
import org.jrdma.soft.sisci.fabric.FabricProcess;
import org.jrdma.soft.sisci.fabric.SciException;
import org.jspecify.annotations.Nullable;

/**
 * A software libsisci: the symbols of its functions, and the process of the fabric that executes
 * them. The process is a member of the fabric while the library is initialized. Each library acts
 * as a separate process, even if a JVM contains several libraries. Safe for use by multiple
 * threads.
 */
public final class SoftSisciLibrary implements SymbolLookup {

    private static final List<String> FUNCTION_PREFIXES =
            List.of("_SISCI_PUBLIC_FUNC_MT_", "_SISCI_PUBLIC_FUNC_ST_", "");
    private static final String CONSTANT_PREFIX = "_SISCI_PUBLIC_CONST_";

    private final Supplier<FabricProcess> joinFabric;
    private final Handles handles = new Handles();
    private final UpcallSymbolLookup functions;
    private volatile @Nullable FabricProcess process;
    private @Nullable Thread hook;
    private int initializations;

    /**
     * Creates a library that joins a fabric when it is initialized.
     *
     * @param joinFabric the function that joins the fabric
     */
    public SoftSisciLibrary(Supplier<FabricProcess> joinFabric) {
        this.joinFabric = joinFabric;
        var methods = new HashMap<String, Supplier<UpcallFunction>>();
        for (var exports : exports()) {
            for (var method : exports.getClass().getDeclaredMethods()) {
                var exported = method.getAnnotation(Exported.class);
                if (exported != null) {
                    methods.put(exported.value(), () -> function(exports, method, exported));
                }
            }
        }
        functions = new UpcallSymbolLookup(methods);
    }

    private List<Object> exports() {
        return List.of(
                new LibraryExports(this),
                new NodeExports(this),
                new LocalSegmentExports(this),
                new RemoteSegmentExports(this),
                new MapAndSequenceExports(this),
                new DmaExports(this),
                new InterruptExports(this),
                new DeviceExports(this));
    }

    private static UpcallFunction function(Object exports, Method method, Exported exported) {
        try {
            var handle = MethodHandles.lookup().unreflect(method).bindTo(exports);
            return exported.reports() ? ErrorReport.reported(handle) : ErrorReport.silent(handle);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public Optional<MemorySegment> find(String symbol) {
        if (symbol.startsWith(CONSTANT_PREFIX)) {
            return ExportedConstants.find(symbol.substring(CONSTANT_PREFIX.length()));
        }
        for (var prefix : FUNCTION_PREFIXES) {
            if (symbol.startsWith(prefix)) {
                return functions.find(symbol.substring(prefix.length()));
            }
        }
        throw new AssertionError("The empty prefix matches every symbol");
    }

    /**
     * Returns the message of the last failure of a C function on the current thread. It explains
     * the error code.
     */
    public String explanation() {
        return ErrorReport.explanation();
    }

    Handles handles() {
        return handles;
    }

    /**
     * Initializes the library. The first call joins the fabric; further calls are only counted.
     *
     * @throws SciException if the JVM is exiting
     */
    synchronized void initialize() {
        if (process == null) {
            var joined = joinFabric.get();
            try {
                // The program may exit without SCITerminate.
                hook = new Thread(joined::deleteFilesOnExit, "sisci-soft-exit");
                Runtime.getRuntime().addShutdownHook(hook);
            } catch (IllegalStateException _) {
                joined.leave();
                throw new SciException(
                        SCI_ERR_SYSTEM(),
                        "The JVM is exiting, so this process cannot join the fabric.");
            } catch (Throwable e) {
                joined.leave();
                throw e;
            }
            process = joined;
        }
        initializations++;
    }

    /**
     * Terminates the library. The process leaves the fabric when this method was called as often as
     * {@link #initialize}.
     */
    synchronized void terminate() {
        if (process == null || --initializations > 0) {
            return;
        }
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            return; // The JVM is exiting; other shutdown hooks may still use the fabric.
        }
        try {
            process.leave();
        } finally {
            process = null;
            handles.clear();
        }
    }

    /**
     * Returns the process that represents this library in the fabric.
     *
     * @throws SciException if the library is not initialized
     */
    public FabricProcess process() {
        var found = process;
        if (found == null) {
            throw new SciException(
                    SCI_ERR_NOT_INITIALIZED(),
                    "The library is not initialized. Open a node first.");
        }
        return found;
    }
}
