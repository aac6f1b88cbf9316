package org.jrdma.stress.fuzz;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.NewObjectInstruction;
import java.lang.classfile.instruction.NewPrimitiveArrayInstruction;
import java.lang.classfile.instruction.NewReferenceArrayInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.jspecify.annotations.Nullable;

/**
 * A Java agent that makes allocations of the libraries fail. It inserts a call of {@link
 * #allocation} or {@link #allocationOfFabric} before each {@code new} and each creation of a lambda
 * in their methods. The inserted call sometimes throws an OutOfMemoryError, in service threads and
 * in the upcalls of the software fabrics.
 */
public final class AllocationFailureAgent {

    /**
     * The mean number of allocations in service threads and upcalls between two injected failures.
     */
    private static final int MEAN_GAP = 30;

    /** The classes in which allocations also fail in the threads of programs. */
    private static final String ALWAYS = "org/jrdma/soft/.*|org/jrdma/ffi/BlockingCalls.*";

    private static final AtomicInteger LEFT = new AtomicInteger();
    private static final AtomicInteger INJECTED = new AtomicInteger();
    private static volatile boolean armed;

    private AllocationFailureAgent() {}

    /** Creates the jar that names this class as an agent. */
    static Path jar(Path folder) throws IOException {
        var manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes()
                .putValue("Premain-Class", AllocationFailureAgent.class.getName());
        Files.createDirectories(folder);
        var file = folder.resolve("failure-agent.jar");
        new JarOutputStream(Files.newOutputStream(file), manifest).close();
        return file;
    }

    public static void premain(String options, Instrumentation instrumentation) {
        instrumentation.addTransformer(
                new ClassFileTransformer() {
                    @Override
                    public byte @Nullable [] transform(
                            ClassLoader loader,
                            String name,
                            Class<?> redefined,
                            ProtectionDomain domain,
                            byte[] bytes) {
                        return name.startsWith("org/jrdma/")
                                        && !name.startsWith("org/jrdma/stress/")
                                ? instrument(bytes, name.matches(ALWAYS))
                                : null;
                    }
                });
    }

    private static byte[] instrument(byte[] bytes, boolean isFabric) {
        var hook = isFabric ? "allocationOfFabric" : "allocation";
        var agent = ClassDesc.of(AllocationFailureAgent.class.getName());
        var type = MethodTypeDesc.of(ConstantDescs.CD_void);
        CodeTransform insert =
                (code, element) -> {
                    if (element instanceof NewObjectInstruction
                            || element instanceof NewReferenceArrayInstruction
                            || element instanceof NewPrimitiveArrayInstruction
                            || element instanceof InvokeDynamicInstruction) {
                        code.invokestatic(agent, hook, type);
                    }
                    code.with(element);
                };
        // The class files are read, because loading a class while it is transformed would fail.
        var hierarchy =
                ClassHierarchyResolver.ofResourceParsing(
                        AllocationFailureAgent.class.getClassLoader());
        var file = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(hierarchy));
        return file.transformClass(
                file.parse(bytes), ClassTransform.transformingMethodBodies(insert));
    }

    /**
     * Starts or ends the injection of failures. In a JVM without this agent, this method has no
     * effect.
     */
    static void arm(boolean on) {
        LEFT.set(MEAN_GAP);
        armed = on;
    }

    /** Returns the number of errors that were thrown. */
    static int injected() {
        return INJECTED.get();
    }

    /** Called before each allocation of a library; it may fail in service threads. */
    public static void allocation() {
        if (armed) {
            var thread = Thread.currentThread().getName();
            // The threads of BlockingCalls make native calls for the threads of programs.
            if (!thread.startsWith("fuzzer") && !thread.startsWith("jrdma-call")) {
                count();
            }
        }
    }

    /** Called before each allocation of a software fabric, which a program calls by upcalls. */
    public static void allocationOfFabric() {
        if (armed) {
            count();
        }
    }

    private static void count() {
        if (LEFT.decrementAndGet() == 0) {
            if (isInitialization(new Throwable().getStackTrace())) {
                // The counter is shared: the failure may hit an allocation of any thread.
                LEFT.set(1);
                return;
            }
            LEFT.set(1 + ThreadLocalRandom.current().nextInt(2 * MEAN_GAP));
            INJECTED.incrementAndGet();
            throw new OutOfMemoryError("injected");
        }
    }

    /**
     * Returns true during the initialization of a class or the linkage of a call site, which must
     * not fail: a failed class or call site stays unusable.
     */
    private static boolean isInitialization(StackTraceElement[] stack) {
        for (var frame : stack) {
            if (frame.getMethodName().equals("<clinit>")
                    || frame.getClassName().startsWith("java.lang.invoke.MethodHandleNatives")) {
                return true;
            }
        }
        return false;
    }
}
