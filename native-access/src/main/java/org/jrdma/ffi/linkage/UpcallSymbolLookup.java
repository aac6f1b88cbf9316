package org.jrdma.ffi.linkage;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The symbols of a library written in Java. A stub is created when its symbol is first looked up,
 * because the creation of all stubs would take longer than the start of most programs.
 */
public final class UpcallSymbolLookup implements SymbolLookup {

    private final Map<String, Supplier<UpcallFunction>> functions;
    private final Map<String, MemorySegment> stubs = new ConcurrentHashMap<>();

    /** Defines the functions of the library by name. */
    public UpcallSymbolLookup(Map<String, Supplier<UpcallFunction>> functions) {
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
