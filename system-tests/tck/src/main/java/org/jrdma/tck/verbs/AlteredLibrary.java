package org.jrdma.tck.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.LibraryProvider;
import org.jrdma.verbs.Verbs;

/**
 * Wraps the native library under test for a test that hides some of its functions, as if the
 * library were older, or replaces functions by Java methods.
 */
final class AlteredLibrary implements LibraryProvider {

    private static final Arena GLOBAL = Arena.global();

    private final SymbolLookup original = Fabric.underTest().symbols();
    private final Set<String> hidden;
    private final Map<String, MemorySegment> replaced = new HashMap<>();

    private AlteredLibrary(Set<String> hidden) {
        this.hidden = hidden;
    }

    static AlteredLibrary without(String... functions) {
        return new AlteredLibrary(Set.of(functions));
    }

    /** Replaces a function of the library by a Java method. */
    AlteredLibrary replacing(String function, FunctionDescriptor type, MethodHandle handle) {
        replaced.put(function, Linker.nativeLinker().upcallStub(handle, type, GLOBAL));
        return this;
    }

    /** Returns the original function of the library. */
    MethodHandle original(String function, FunctionDescriptor type) {
        return Linker.nativeLinker().downcallHandle(original.findOrThrow(function), type);
    }

    Verbs verbs() throws LibraryNotFoundException {
        return Verbs.from(this);
    }

    @Override
    public String name() {
        return "altered " + Fabric.underTest().verbs();
    }

    @Override
    public SymbolLookup symbols() {
        return name -> {
            if (hidden.contains(name)) {
                return Optional.empty();
            }
            var replacement = replaced.get(name);
            return replacement == null ? original.find(name) : Optional.of(replacement);
        };
    }
}
