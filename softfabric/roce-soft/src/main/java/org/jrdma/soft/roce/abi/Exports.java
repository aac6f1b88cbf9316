package org.jrdma.soft.roce.abi;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrdma.ffi.linkage.UpcallFunction;
import org.jrdma.ffi.linkage.UpcallSymbolLookup;

/**
 * A symbol lookup that finds the function pointers of the methods with the annotation {@link
 * Exported}. The creator passes a {@link Lookup} that can access these methods, because they need
 * not be public.
 */
public final class Exports implements SymbolLookup {

    private static final MethodHandle FIND;

    static {
        try {
            FIND =
                    MethodHandles.publicLookup()
                            .findVirtual(
                                    LongFunction.class,
                                    "apply",
                                    MethodType.methodType(Object.class, long.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final UpcallSymbolLookup stubs;

    private Exports(Lookup lookup, Stream<Class<?>> classes, UnaryOperator<MethodHandle> receiver) {
        stubs =
                new UpcallSymbolLookup(
                        marked(classes)
                                .collect(
                                        Collectors.toMap(
                                                Exports::name,
                                                method ->
                                                        () -> function(lookup, method, receiver))));
    }

    /**
     * Returns a lookup for the {@link Exported} static methods of some classes.
     *
     * @param lookup a lookup that can access the methods
     */
    public static Exports of(Lookup lookup, Class<?>... classes) {
        return new Exports(lookup, Stream.of(classes), UnaryOperator.identity());
    }

    /**
     * Returns a lookup for the {@link Exported} instance methods of one object. Each C function
     * calls its method on this object.
     *
     * @param lookup a lookup that can access the methods
     */
    public static Exports ofReceiver(Lookup lookup, Object receiver) {
        return new Exports(
                lookup, Stream.of(receiver.getClass()), function -> function.bindTo(receiver));
    }

    /**
     * Returns a lookup for the {@link Exported} instance methods of a class. The first argument of
     * each C function is an address, and the function calls its method on the object that {@code
     * find} returns for this address.
     *
     * @param lookup a lookup that can access the methods
     */
    public static <T> Exports ofObjects(Lookup lookup, Class<T> type, LongFunction<T> find) {
        var finder = FIND.bindTo(find).asType(MethodType.methodType(type, long.class));
        return new Exports(
                lookup,
                Stream.of(type),
                function -> MethodHandles.filterArguments(function, 0, finder));
    }

    /**
     * Sets the members of a structure that are function pointers. Each member whose name is a
     * symbol of {@code functions} is set to that function; the other members are not changed.
     */
    public static void install(
            SymbolLookup functions, MemorySegment structure, GroupLayout layout) {
        for (var member : layout.memberLayouts()) {
            member.name()
                    .ifPresent(name ->
                            functions
                                    .find(name)
                                    .ifPresent(function -> {
                                        var offset =
                                                layout.byteOffset(PathElement.groupElement(name));
                                        structure.set(ValueLayout.ADDRESS, offset, function);
                                    }));
        }
    }

    private static Stream<Method> marked(Stream<Class<?>> classes) {
        return classes.flatMap(type -> Stream.of(type.getDeclaredMethods()))
                .filter(method -> method.isAnnotationPresent(Exported.class));
    }

    private static String name(Method method) {
        return method.getAnnotation(Exported.class).value();
    }

    private static UpcallFunction function(
            Lookup lookup, Method method, UnaryOperator<MethodHandle> receiver) {
        try {
            return method.getAnnotation(Exported.class)
                    .failure()
                    .guard(receiver.apply(lookup.unreflect(method)));
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public Optional<MemorySegment> find(String symbol) {
        return stubs.find(symbol);
    }
}
