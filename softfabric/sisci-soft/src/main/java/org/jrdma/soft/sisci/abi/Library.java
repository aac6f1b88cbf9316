package org.jrdma.soft.sisci.abi;

import static org.jrdma.abi.sisci.sisci_h.*;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jrdma.ffi.linkage.FunctionStubs;
import org.jrdma.soft.sisci.fabric.Member;
import org.jrdma.soft.sisci.fabric.SciException;
import org.jspecify.annotations.Nullable;

/**
 * The symbols of a libsisci in software. It is in the fabric from its initialisation on until its
 * termination, as a process of its own, even where several are in one JVM. Safe for use by multiple
 * threads.
 */
public final class Library implements SymbolLookup {

    private static final List<String> FUNCTION_PREFIXES =
            List.of("_SISCI_PUBLIC_FUNC_MT_", "_SISCI_PUBLIC_FUNC_ST_", "");
    private static final String CONSTANT_PREFIX = "_SISCI_PUBLIC_CONST_";

    private final Supplier<Member> fabric;
    private final Handles handles = new Handles();
    private final FunctionStubs functions;
    private volatile @Nullable Member member;
    private @Nullable Thread hook;
    private int initialisations;

    /**
     * A library that joins a fabric when it is initialised.
     *
     * @param fabric joins the fabric
     */
    public Library(Supplier<Member> fabric) {
        this.fabric = fabric;
        var methods = new HashMap<String, Supplier<MethodHandle>>();
        for (var exports : exports()) {
            for (var method : exports.getClass().getDeclaredMethods()) {
                var exported = method.getAnnotation(Exported.class);
                if (exported != null) {
                    methods.put(exported.value(), () -> function(exports, method, exported));
                }
            }
        }
        functions = new FunctionStubs(methods);
    }

    private List<Object> exports() {
        return List.of(
                new LibraryExports(this),
                new NodeExports(this),
                new LocalSegmentExports(this),
                new RemoteSegmentExports(this),
                new MapExports(this),
                new DmaExports(this),
                new InterruptExports(this));
    }

    private static MethodHandle function(Object exports, Method method, Exported exported) {
        try {
            var handle = MethodHandles.lookup().unreflect(method).bindTo(exports);
            return exported.reports() ? ErrorCode.reported(handle) : ErrorCode.silent(handle);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public Optional<MemorySegment> find(String symbol) {
        if (symbol.startsWith(CONSTANT_PREFIX)) {
            return Constants.find(symbol.substring(CONSTANT_PREFIX.length()));
        }
        for (var prefix : FUNCTION_PREFIXES) {
            if (symbol.startsWith(prefix)) {
                return functions.find(symbol.substring(prefix.length()));
            }
        }
        throw new AssertionError("the last prefix is of every symbol");
    }

    /** What is to be said of the current thread's last failure beside its number. */
    public String explanation() {
        return ErrorCode.explanation();
    }

    Handles handles() {
        return handles;
    }

    /** Joins the fabric, the first time. */
    synchronized void initialise() {
        if (member == null) {
            member = fabric.get();
            // So that nothing stays behind of a program that ends without saying so.
            hook = new Thread(member::leave, "sisci-soft-leave");
            Runtime.getRuntime().addShutdownHook(hook);
        }
        initialisations++;
    }

    /** Leaves the fabric, the last time. */
    synchronized void terminate() {
        if (member == null || --initialisations > 0) {
            return;
        }
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            return; // the hook does it
        }
        member.leave();
        member = null;
        handles.clear();
    }

    /**
     * This process in the fabric.
     *
     * @throws SciException if the library is not initialised
     */
    public Member member() {
        var found = member;
        if (found == null) {
            throw new SciException(
                    SCI_ERR_NOT_INITIALIZED(),
                    "This library is in no fabric: initialise it first, by opening a node.");
        }
        return found;
    }
}
