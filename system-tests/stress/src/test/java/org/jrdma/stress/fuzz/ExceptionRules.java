package org.jrdma.stress.fuzz;

import java.io.InterruptedIOException;
import java.nio.BufferUnderflowException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.jrdma.ffi.FabricException;
import org.jrdma.stress.fuzz.Callback.CallbackError;
import org.jrdma.stress.fuzz.Callback.CallbackException;

/** Counts the exceptions of random calls, and reports those that the API does not document. */
final class ExceptionRules {

    /** The exceptions that the classes of jrdma throw to report a mistake of the caller. */
    private static final List<Class<? extends Throwable>> REPORTING_MISTAKES =
            List.of(
                    IllegalArgumentException.class,
                    IllegalStateException.class,
                    UnsupportedOperationException.class,
                    WrongThreadException.class);

    /** The methods that the JVM implements for a record. */
    private static final List<String> RECORD_METHODS = List.of("toString", "hashCode", "equals");

    private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> findings = new ConcurrentHashMap<>();
    private final boolean heapIsFull;
    private final boolean memoryMayRunOut;
    private final boolean stackMayRunOut;
    private final boolean descriptorsMayRunOut;
    private final ApiSurface surface;

    /**
     * @param options the options of the run, such as the resource that the run exhausts
     */
    ExceptionRules(ApiSurface surface, List<String> options) {
        this.surface = surface;
        this.heapIsFull = options.contains("heap");
        this.memoryMayRunOut = heapIsFull || options.contains("inject");
        this.stackMayRunOut = options.contains("stack");
        this.descriptorsMayRunOut = options.contains("descriptors");
    }

    void count(String name) {
        counts.computeIfAbsent(name, _ -> new LongAdder()).increment();
    }

    /** Returns the number of exceptions of a type. */
    long count(Class<? extends Throwable> type) {
        var adder = counts.get(type.getSimpleName());
        return adder == null ? 0 : adder.sum();
    }

    /** Classifies an exception of a call as documented, or reports it as a finding. */
    void judge(String call, Throwable thrown, List<Class<?>> declared, boolean passedNull) {
        count(thrown.getClass().getSimpleName());
        if (!isDocumented(thrown, declared, passedNull)) {
            add(call + " ends with " + thrown.getClass().getSimpleName(), thrown);
        } else if (thrown instanceof FabricException
                && (thrown.getMessage() == null || thrown.getMessage().isBlank())) {
            add(call + " has no message", thrown);
        }
    }

    private boolean isDocumented(Throwable thrown, List<Class<?>> declared, boolean passedNull) {
        if (thrown instanceof NullPointerException) {
            return passedNull;
        }
        if (isLackOfMemory(thrown)) {
            return memoryMayRunOut;
        }
        if (thrown instanceof StackOverflowError) {
            return stackMayRunOut;
        }
        if (thrown instanceof BootstrapMethodError) {
            return stackMayRunOut && isThrownByRecord(thrown);
        }
        if (thrown instanceof NoClassDefFoundError) {
            return descriptorsMayRunOut; // The JVM opens a file to read a class.
        }
        if (thrown instanceof CallbackException || thrown instanceof CallbackError) {
            return true;
        }
        if (REPORTING_MISTAKES.stream().anyMatch(type -> type.isInstance(thrown))) {
            return isThrownByJrdma(thrown) || isDeliberate(thrown);
        }
        if (thrown instanceof IndexOutOfBoundsException
                || thrown instanceof BufferUnderflowException) {
            return isDeliberate(thrown);
        }
        return !(thrown instanceof RuntimeException || thrown instanceof Error)
                && (declared.stream().anyMatch(type -> type.isInstance(thrown))
                        || thrown instanceof InterruptedIOException);
    }

    /**
     * Returns true for an OutOfMemoryError, and for another error with an OutOfMemoryError as its
     * cause. If the heap is full, the JVM may fail to link a method of a record or to initialize a
     * class, and then does not try this again.
     */
    private boolean isLackOfMemory(Throwable thrown) {
        return thrown instanceof OutOfMemoryError
                || (heapIsFull
                        && (thrown instanceof BootstrapMethodError
                                || isOfUninitializedClass(thrown)))
                || (thrown instanceof Error
                        && thrown.getCause() != null
                        && isLackOfMemory(thrown.getCause()));
    }

    /**
     * Returns true if the JVM had no memory to initialize a class earlier. The messages are those
     * of the JVM, which does not keep the OutOfMemoryError itself, and which may also lack the
     * memory for a cause.
     */
    private static boolean isOfUninitializedClass(Throwable thrown) {
        return thrown instanceof NoClassDefFoundError
                && String.valueOf(thrown.getMessage()).startsWith("Could not initialize class ")
                && (thrown.getCause() == null
                        || String.valueOf(thrown.getCause().getMessage())
                                .startsWith("Exception " + OutOfMemoryError.class.getName()));
    }

    /**
     * Returns true if the JVM could not link a method that it implements for a record. It links the
     * method at the first call, for which the stack may not suffice, and does not try this again.
     */
    private static boolean isThrownByRecord(Throwable thrown) {
        return Stream.of(thrown.getStackTrace())
                .filter(frame -> frame.getClassName().startsWith("org.jrdma."))
                .findFirst()
                .filter(frame -> RECORD_METHODS.contains(frame.getMethodName()))
                .isPresent();
    }

    private static boolean isThrownByJrdma(Throwable thrown) {
        var stack = thrown.getStackTrace();
        return stack.length != 0 && stack[0].getClassName().startsWith("org.jrdma.");
    }

    /**
     * Returns true if the exception is the result of an argument check: it was thrown by Objects or
     * ByteBuffer, or by another class of the JDK that a class of the API or the fuzzer has called.
     * Exceptions that internal classes cause in the JDK are defects.
     */
    private boolean isDeliberate(Throwable thrown) {
        var caller = "";
        for (var frame : thrown.getStackTrace()) {
            if (frame.getClassName().startsWith("org.jrdma.stress.")) {
                break; // Thrown by a class of the JDK that the fuzzer has called.
            }
            if (frame.getClassName().startsWith("org.jrdma.")) {
                return caller.equals("java.util.Objects")
                        || caller.equals("java.nio.ByteBuffer") // wrap()
                        || surface.isApi(frame.getClassName());
            }
            caller = frame.getClassName();
        }
        return true;
    }

    /** Reports a defect. For the first defect of each kind, also prints the stack trace. */
    void add(String what, Throwable thrown) {
        var finding = what + place(thrown);
        var first = !findings.containsKey(finding);
        findings.computeIfAbsent(finding, _ -> new LongAdder()).increment();
        if (first) {
            synchronized (this) {
                System.out.println("FINDING " + finding);
                thrown.printStackTrace(System.out);
            }
        }
    }

    private static String place(Throwable thrown) {
        for (var frame : thrown.getStackTrace()) {
            if (frame.getClassName().startsWith("org.jrdma.")) {
                return " at "
                        + frame.getClassName()
                        + "."
                        + frame.getMethodName()
                        + ":"
                        + frame.getLineNumber();
            }
        }
        return "";
    }

    private static boolean isThrownByLibrary(Throwable thrown) {
        return Stream.of(thrown.getStackTrace())
                .map(StackTraceElement::getClassName)
                .anyMatch(name ->
                        name.startsWith("org.jrdma.") && !name.startsWith("org.jrdma.stress."));
    }

    boolean isEmpty() {
        return findings.isEmpty();
    }

    void print(boolean verbose) {
        var sorted = new TreeMap<String, Long>();
        counts.forEach((name, count) -> sorted.put(name, count.sum()));
        sorted.forEach((name, count) -> {
            if (verbose || !name.contains(".")) {
                System.out.printf(Locale.ROOT, "%,12d %s%n", count, name);
            }
        });
        findings.forEach((name, count) -> System.out.printf("%dx FINDING %s%n", count.sum(), name));
    }

    /** Reports exceptions that end threads. */
    void watchThreads() {
        Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> {
            if (thrown instanceof CallbackException || thrown instanceof CallbackError) {
                count("callback ended " + thread.getName().replaceAll("\\d+", "N"));
            } else if (memoryMayRunOut && isLackOfMemory(thrown) && !isThrownByLibrary(thrown)) {
                count(
                        "thread of the JDK or of the fuzzer ended "
                                + thread.getName().replaceAll("\\d+", "N"));
            } else {
                add(
                        "Thread %s ends with %s"
                                .formatted(
                                        thread.getName().replaceAll("\\d+", "N"),
                                        thrown.getClass().getSimpleName()),
                        thrown);
            }
        });
    }
}
