package org.jrdma.stress.fuzz;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.concurrent.Executor;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.jspecify.annotations.Nullable;

/** A callback that the fuzzer passes. It returns, closes other objects, or throws. */
final class Callback implements InvocationHandler {

    /** The exception of a callback. A call that runs the callback may throw it as well. */
    static final class CallbackException extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** An error that a callback throws. */
    static final class CallbackError extends Error {
        private static final long serialVersionUID = 1;
    }

    private final Fuzzer fuzzer;
    private final RandomGenerator random;

    private Callback(Fuzzer fuzzer, RandomGenerator random) {
        this.fuzzer = fuzzer;
        this.random = random;
    }

    static boolean isCallback(Class<?> type) {
        return type.isInterface()
                && !type.isSealed()
                && (type.isAnnotationPresent(FunctionalInterface.class)
                        || type == Runnable.class
                        || type == Executor.class
                        || type.getSimpleName().equals("Handler")
                        || type.getSimpleName().equals("Preparation"));
    }

    static Object of(Class<?> type, Fuzzer fuzzer, long seed) {
        var random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        return Proxy.newProxyInstance(
                Callback.class.getClassLoader(),
                new Class<?>[] {type},
                new Callback(fuzzer, random));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, @Nullable Object[] arguments) {
        if (method.getDeclaringClass() == Object.class) {
            return switch (method.getName()) {
                case "equals" -> proxy == arguments[0];
                case "hashCode" -> System.identityHashCode(proxy);
                default -> "callback";
            };
        }
        for (var argument : arguments == null ? new Object[0] : arguments) {
            fuzzer.keep(argument, random);
            if (argument instanceof Runnable task) {
                task.run();
            }
        }
        switch (random.nextInt(12)) {
            case 0 -> throw new CallbackException();
            case 1 -> throw new CallbackError();
            case 2, 3 -> fuzzer.closeAny(random);
            default -> {}
        }
        return method.getReturnType() == void.class
                ? null
                : new RandomArguments(fuzzer, random).of(method.getGenericReturnType(), 2);
    }
}
