package org.jrdma.tck.sisci.software;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Optional;
import org.jrdma.ffi.LibraryProvider;

/**
 * A library whose {@code SCIFlush} skips every other call, starting with the first. {@code
 * putLongRelease} followed by {@code flush} then delivers its stores, but does not order them.
 */
final class FlushSkippingLibrary implements LibraryProvider {

    private static final FunctionDescriptor FLUSH = FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT);

    private final LibraryProvider original;
    private final ThreadLocal<Boolean> skipped = ThreadLocal.withInitial(() -> false);
    private final MethodHandle flush;
    private final MemorySegment stub;

    FlushSkippingLibrary(LibraryProvider original) throws ReflectiveOperationException {
        this.original = original;
        var linker = Linker.nativeLinker();
        this.flush =
                linker.downcallHandle(
                        original.symbols().find("_SISCI_PUBLIC_FUNC_MT_SCIFlush").orElseThrow(),
                        FLUSH);
        this.stub =
                linker.upcallStub(
                        MethodHandles.lookup()
                                .bind(
                                        this,
                                        "flushEverySecondCall",
                                        MethodType.methodType(void.class, long.class, int.class)),
                        FLUSH,
                        Arena.global());
    }

    @SuppressWarnings("unused") // called by C
    private void flushEverySecondCall(long sequence, int flags) {
        skipped.set(!skipped.get());
        if (!skipped.get()) {
            try {
                flush.invokeExact(sequence, flags);
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        }
    }

    @Override
    public String name() {
        return "flush-skipping " + original.name();
    }

    @Override
    public SymbolLookup symbols() {
        return name ->
                name.endsWith("SCIFlush") ? Optional.of(stub) : original.symbols().find(name);
    }
}
