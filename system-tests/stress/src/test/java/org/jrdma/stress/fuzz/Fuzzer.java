package org.jrdma.stress.fuzz;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.channels.Pipe;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.jrdma.ffi.NativeObject;
import org.jspecify.annotations.Nullable;

/** One thread of the fuzzer, which makes random calls and checks their results. */
final class Fuzzer implements Runnable {

    private static final int SEED_INTERVAL = 400;

    /** The state that the threads of a run share. */
    record Shared(
            ApiSurface surface,
            Target target,
            ObjectPool pool,
            ExceptionRules findings,
            AtomicLong callsLeft,
            boolean deep) {}

    /** A call in progress, for the watchdog. */
    record Current(
            Thread thread,
            Executable call,
            @Nullable Object receiver,
            long since,
            AtomicBoolean closing) {}

    private final Shared shared;
    private final CallTrace trace;
    private final RandomGenerator random;
    private final RandomArguments values;

    /**
     * The objects that usually only this thread uses. Some of them are confined to the thread that
     * created them.
     */
    private final ObjectPool own = new ObjectPool();

    private volatile @Nullable Current current;

    Fuzzer(Shared shared, CallTrace trace, long seed) {
        this.shared = shared;
        this.trace = trace;
        this.random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        this.values = new RandomArguments(this, random);
    }

    @Nullable Current current() {
        return current;
    }

    ApiSurface surface() {
        return shared.surface;
    }

    Target target() {
        return shared.target;
    }

    @Override
    public void run() {
        while (shared.callsLeft.getAndDecrement() > 0) {
            try {
                step();
            } catch (Throwable e) {
                shared.findings.judge("the fuzzer", e, List.of(), false);
            }
        }
        own.drain().forEach(this::close);
    }

    private void step() {
        if (random.nextInt(SEED_INTERVAL) == 0) {
            seed();
        }
        if (random.nextInt(30) == 0) {
            touchMemory();
        }
        var receiver = random.nextInt(8) == 0 ? null : pooled(Object.class, random);
        if (receiver == null || !surface().has(receiver)) {
            var creators = surface().creators();
            call(creators.get(random.nextInt(creators.size())), null);
            return;
        }
        var methods = surface().methods(receiver);
        Method method;
        do {
            method = methods.get(random.nextInt(methods.size()));
            // If roots were closed as often, most objects would be closed before they are used.
        } while (method.getName().equals("close")
                && shared.target.isRoot(receiver)
                && random.nextInt(10) != 0);
        call(method, receiver);
    }

    /**
     * Creates connected objects before other threads use the target. Fails if this is impossible,
     * because the run would then test little more than rejections.
     */
    void seedUndisturbed() throws Exception {
        shared.target.seed(object -> keep(object, random));
    }

    /** Creates connected objects that random calls would rarely create. */
    private void seed() {
        try {
            shared.target.seed(object -> keep(object, random));
        } catch (Throwable e) {
            // Other threads close objects during this method; verify() tests that the libraries
            // work.
            shared.findings.judge("seed", e, List.of(Exception.class), false);
        }
        Thread.interrupted();
    }

    private void call(Executable call, @Nullable Object receiver) {
        var arguments = values.arguments(call);
        var passedNull = values.passedNull();
        var name = ApiSurface.name(call);
        trace.record(call, receiver, arguments);
        if (random.nextInt(100) == 0) {
            Thread.currentThread().interrupt();
        }
        current =
                new Current(
                        Thread.currentThread(),
                        call,
                        receiver,
                        System.nanoTime(),
                        new AtomicBoolean());
        try {
            var result =
                    shared.deep && random.nextInt(4) == 0
                            ? atEndOfStack(
                                    call, receiver, arguments, new int[] {random.nextInt(200)})
                            : invoke(call, receiver, arguments);
            shared.findings.count(name);
            if (call.getName().equals("close")
                    && receiver instanceof NativeObject o
                    && o.isOpen()) {
                shared.findings.add(o + " is open after its close", new AssertionError());
            }
            if (passedNull && receiver == null) {
                close(result); // A record may contain the null, so later calls must not use it.
            } else {
                keep(result, random);
            }
        } catch (InvocationTargetException e) {
            shared.findings.judge(
                    name, e.getCause(), List.of(call.getExceptionTypes()), passedNull);
        } catch (StackOverflowError e) {
            shared.findings.count("stack overflow outside of the call");
        } finally {
            current = null;
            Thread.interrupted();
        }
    }

    static @Nullable Object invoke(
            Executable call, @Nullable Object receiver, @Nullable Object[] arguments)
            throws InvocationTargetException {
        try {
            return call instanceof Constructor<?> constructor
                    ? constructor.newInstance(arguments)
                    : ((Method) call).invoke(receiver, arguments);
        } catch (IllegalAccessException | InstantiationException e) {
            throw new LinkageError(call.toString(), e);
        }
    }

    /**
     * Makes a call when the stack of the thread is almost full, so that the call may overflow it.
     */
    @SuppressWarnings("InfiniteRecursion") // The recursion ends at the end of the stack.
    private static @Nullable Object atEndOfStack(
            Executable call, @Nullable Object receiver, @Nullable Object[] arguments, int[] frames)
            throws InvocationTargetException {
        try {
            return atEndOfStack(call, receiver, arguments, frames);
        } catch (StackOverflowError e) {
            if (frames[0]-- > 0) {
                throw e;
            }
            frames[0] = Integer.MAX_VALUE; // If the call overflows the stack, it is not repeated.
        }
        return invoke(call, receiver, arguments);
    }

    /** Adds a result to the objects that later calls use. */
    void keep(@Nullable Object object, RandomGenerator by) {
        switch (object) {
            case null -> {}
            case Optional<?> optional -> optional.ifPresent(each -> keep(each, by));
            case Pipe pipe -> { // Has no close(), unlike its channels.
                keep(pipe.source(), by);
                keep(pipe.sink(), by);
            }
            case Collection<?> all -> all.stream().limit(3).forEach(each -> keep(each, by));
            case CompletableFuture<?> future -> {
                var _ = future.whenComplete((each, _) -> keep(each, by));
                if (by.nextBoolean()) {
                    future.cancel(true);
                }
            }
            default -> {
                if (surface().has(object) || object instanceof MemorySegment) {
                    var pool = by == random && by.nextInt(3) == 0 ? own : shared.pool;
                    var replaced = pool.put(object, by);
                    if (replaced != null) {
                        close(replaced);
                    }
                }
            }
        }
    }

    void close(@Nullable Object object) {
        if (object instanceof AutoCloseable closeable) {
            try {
                closeable.close();
            } catch (Throwable e) {
                shared.findings.judge(
                        object.getClass().getSimpleName() + ".close",
                        e,
                        List.of(IOException.class),
                        false);
            }
        }
    }

    @Nullable Object pooled(Class<?> type, RandomGenerator by) {
        var first = by == random && by.nextBoolean() ? own.any(type, by) : null;
        return first != null ? first : shared.pool.any(type, by);
    }

    /** Closes a random object. Used by callbacks. */
    void closeAny(RandomGenerator by) {
        var object =
                shared.pool.any(by.nextBoolean() ? NativeObject.class : AutoCloseable.class, by);
        if (object != null && surface().has(object)) {
            close(object);
        }
    }

    /** Writes to a segment that the API has returned and that may have been closed. */
    private void touchMemory() {
        if (pooled(MemorySegment.class, random) instanceof MemorySegment memory) {
            try {
                memory.set(ValueLayout.JAVA_BYTE, random.nextLong(memory.byteSize() + 1), (byte) 1);
            } catch (IndexOutOfBoundsException
                    | IllegalStateException
                    | IllegalArgumentException
                    | WrongThreadException
                    | UnsupportedOperationException _) {
                shared.findings.count("rejected store");
            }
        }
    }
}
