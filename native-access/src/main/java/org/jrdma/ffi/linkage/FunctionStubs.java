package org.jrdma.ffi.linkage;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The functions of a library in Java, as symbols. A stub is made when its symbol is first asked
 * for, since making all of them would take longer than most programs' start.
 */
public final class FunctionStubs implements SymbolLookup {

    private final Map<String, Supplier<MethodHandle>> functions;
    private final Map<String, MemorySegment> stubs = new ConcurrentHashMap<>();

    /** Functions by name. Each must let nothing escape, and takes and returns numbers. */
    public FunctionStubs(Map<String, Supplier<MethodHandle>> functions) {
        this.functions = Map.copyOf(functions);
    }

    @Override
    public Optional<MemorySegment> find(String symbol) {
        var function = functions.get(symbol);
        return function == null
                ? Optional.empty()
                : Optional.of(stubs.computeIfAbsent(symbol, _ -> Upcalls.stub(function.get())));
    }
}
