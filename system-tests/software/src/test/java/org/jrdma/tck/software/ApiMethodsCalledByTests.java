package org.jrdma.tck.software;

import java.io.IOException;
import java.lang.classfile.Annotation;
import java.lang.classfile.AnnotationValue;
import java.lang.classfile.AttributedElement;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.DirectMethodHandleDesc;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jrdma.tck.software.JavaEquivalentsOfCFunctions.JavaName;
import org.jrdma.tck.verbs.Feature;
import org.jrdma.tck.verbs.Profile;

/**
 * Determines from class files which methods of the API are called by tests, directly or through
 * helpers. The tests are those of the conformance kit, which are assigned to the fabrics that they
 * run on, and those that use the recording library.
 */
final class ApiMethodsCalledByTests {

    private static final String KIT = "org/jrdma/tck/verbs/";
    private static final String RECORDED = "org/jrdma/tck/recorded/";
    private static final List<Path> CLASSES =
            List.of(
                    Path.of("../tck/target/classes"),
                    Path.of("target/test-classes").resolve(RECORDED));
    private static final String API = "org/jrdma/verbs/";
    private static final Set<String> TESTS = Set.of("Test", "ParameterizedTest", "RepeatedTest");
    private static final Set<String> REFUSALS = Set.of("assertThatThrownBy", "isThrownBy");
    private static final Set<String> AROUND_TESTS =
            Set.of("BeforeEach", "BeforeAll", "AfterEach", "AfterAll");

    /**
     * A reference to a method or a field in byte code.
     *
     * @param owner the internal name of the referenced class, which may inherit the member
     */
    private record Member(String owner, String name, String descriptor) {}

    /**
     * The part of a method's byte code that matters here.
     *
     * @param uses the methods and fields that the method references
     * @param needs the features without which the test is skipped
     * @param isRefused true if the test runs only on devices without a feature, where the calls are
     *     rejected
     */
    private record Body(Set<Member> uses, Set<Feature> needs, boolean isRefused) {}

    private final Map<Member, Body> bodies = new HashMap<>();
    private final List<Test> tests = new ArrayList<>();

    /**
     * A test method.
     *
     * @param roots the test method and the methods that JUnit calls before and after it
     * @param changesTheMachine true if the test runs only in a guest
     * @param recorded true if the test uses the recording library
     */
    private record Test(List<Member> roots, boolean changesTheMachine, boolean recorded) {}

    private final Set<Member> usedOnKernel = new HashSet<>();
    private final Set<Member> usedOnSoftware = new HashSet<>();
    private final Set<Member> usedOnRecorder = new HashSet<>();

    /** Reads the class files. */
    static ApiMethodsCalledByTests read() throws IOException {
        var result = new ApiMethodsCalledByTests();
        for (var folder : CLASSES) {
            try (var files = Files.walk(folder)) {
                for (var file : files.filter(path -> path.toString().endsWith(".class")).toList()) {
                    result.read(ClassFile.of().parse(file));
                }
            }
        }
        result.tests.forEach(result::follow);
        return result;
    }

    /**
     * Returns true if a test that runs on rxe or siw calls the method {@code name}. If {@code name}
     * is a type, a call of any of its methods is sufficient.
     */
    boolean onKernel(JavaName name) {
        return isAmong(usedOnKernel, name);
    }

    /**
     * Returns true if a test that runs on the software fabric calls the method {@code name}. If
     * {@code name} is a type, a call of any of its methods is sufficient.
     */
    boolean onSoftware(JavaName name) {
        return isAmong(usedOnSoftware, name);
    }

    /**
     * Returns true if a test that uses the recording library calls the method {@code name}. If
     * {@code name} is a type, a call of any of its methods is sufficient.
     */
    boolean onRecorder(JavaName name) {
        return isAmong(usedOnRecorder, name);
    }

    private static boolean isAmong(Set<Member> uses, JavaName name) {
        var type = name.load();
        return uses.stream()
                .filter(use -> name.member().isEmpty() || use.name.equals(name.member()))
                .anyMatch(use -> type.isAssignableFrom(load(use.owner)));
    }

    private static Class<?> load(String internalName) {
        try {
            return Class.forName(internalName.replace('/', '.'));
        } catch (ClassNotFoundException e) {
            throw new AssertionError(
                    "Cannot load a class that tests reference: " + internalName, e);
        }
    }

    private void read(ClassModel type) {
        var owner = type.thisClass().asInternalName();
        var around = new ArrayList<Member>();
        var inside = new ArrayList<MethodModel>();
        for (var method : type.methods()) {
            var name = name(owner, method);
            bodies.put(name, body(method));
            if (isAnnotated(method, AROUND_TESTS) || name.name.endsWith("init>")) {
                around.add(name);
            } else if (isAnnotated(method, TESTS)) {
                inside.add(method);
            }
        }
        for (var test : inside) {
            var roots = new ArrayList<>(around);
            roots.add(name(owner, test));
            tests.add(
                    new Test(
                            roots,
                            changesTheMachine(type) || changesTheMachine(test),
                            owner.startsWith(RECORDED)));
        }
    }

    private static Member name(String owner, MethodModel method) {
        return new Member(
                owner, method.methodName().stringValue(), method.methodType().stringValue());
    }

    private static Body body(MethodModel method) {
        var uses = new HashSet<Member>();
        var needs = new HashSet<Feature>();
        var isRefused = false;
        // The lambdas for which the method that receives them has not been read yet.
        var lambdas = new ArrayList<Member>();
        var feature = "";
        for (var element : method.code().map(code -> code.elementList()).orElse(List.of())) {
            switch (element) {
                case FieldInstruction field -> {
                    if (field.owner().asInternalName().equals(KIT + "Feature")) {
                        feature = field.name().stringValue();
                    }
                    uses.add(
                            new Member(
                                    field.owner().asInternalName(),
                                    field.name().stringValue(),
                                    field.type().stringValue()));
                }
                case InvokeInstruction call -> {
                    if (!REFUSALS.contains(call.name().stringValue())) {
                        uses.addAll(lambdas);
                        // Otherwise, the lambda is expected to throw an exception, so its calls do
                        // not
                        // count.
                    }
                    lambdas.clear();
                    if (call.name().equalsString("needs")) {
                        needs.add(Feature.valueOf(feature));
                    }
                    isRefused |= call.name().equalsString("needsLackOf");
                    uses.add(
                            new Member(
                                    call.owner().asInternalName(),
                                    call.name().stringValue(),
                                    call.type().stringValue()));
                }
                case InvokeDynamicInstruction lambda ->
                        lambda.bootstrapArgs()
                                .forEach(argument -> {
                                    if (argument instanceof DirectMethodHandleDesc handle) {
                                        lambdas.add(method(handle));
                                    }
                                });
                default -> {}
            }
        }
        uses.addAll(lambdas);
        return new Body(uses, needs, isRefused);
    }

    private static Member method(DirectMethodHandleDesc handle) {
        var owner = handle.owner().descriptorString();
        return new Member(
                owner.substring(1, owner.length() - 1),
                handle.methodName(),
                handle.lookupDescriptor());
    }

    private static List<Annotation> annotations(AttributedElement element) {
        return element.findAttribute(Attributes.runtimeVisibleAnnotations())
                .map(found -> found.annotations())
                .orElse(List.of());
    }

    private static boolean isAnnotated(MethodModel method, Set<String> names) {
        return annotations(method).stream()
                .map(annotation -> annotation.classSymbol().displayName())
                .anyMatch(names::contains);
    }

    /**
     * Returns true if a test class or method is tagged to run only in a guest, and not on the
     * software fabric.
     */
    private static boolean changesTheMachine(AttributedElement element) {
        return annotations(element).stream()
                .filter(annotation -> annotation.classSymbol().displayName().equals("Tag"))
                .flatMap(annotation -> annotation.elements().stream())
                .anyMatch(value ->
                        value.value() instanceof AnnotationValue.OfString text
                                && text.stringValue().equals("machine"));
    }

    /**
     * Follows the calls of a test and its helpers, and adds the called API methods to the sets of
     * the fabrics that run the test.
     */
    private void follow(Test test) {
        var seen = new HashSet<Member>();
        var needs = new HashSet<Feature>();
        var isRefused = new AtomicBoolean();
        var open = new ArrayDeque<>(test.roots);
        while (!open.isEmpty()) {
            var method = open.pop();
            if (seen.add(method)
                    && (method.owner.startsWith(KIT) || method.owner.startsWith(RECORDED))) {
                declarations(method)
                        .forEach(body -> {
                            open.addAll(body.uses);
                            needs.addAll(body.needs);
                            isRefused.compareAndSet(false, body.isRefused);
                        });
            }
        }
        if (isRefused.get()) {
            return;
        }
        seen.removeIf(method -> !method.owner.startsWith(API));
        if (test.recorded) {
            usedOnRecorder.addAll(seen);
            return;
        }
        if (runsOn(Profile.RXE, needs) || runsOn(Profile.SIW, needs)) {
            usedOnKernel.addAll(seen);
        }
        if (runsOn(Profile.SOFTWARE, needs) && !test.changesTheMachine) {
            usedOnSoftware.addAll(seen);
        }
    }

    private static boolean runsOn(Profile profile, Set<Feature> needs) {
        return needs.stream().allMatch(profile::has);
    }

    /**
     * Returns the body of a method. If the method is inherited or abstract, returns the bodies of
     * all methods that the call may execute.
     */
    private Stream<Body> declarations(Member method) {
        var body = bodies.get(method);
        return body != null && !body.uses.isEmpty()
                ? Stream.of(body)
                : bodies.entrySet().stream()
                        .filter(entry -> entry.getKey().name.equals(method.name))
                        .filter(entry -> entry.getKey().descriptor.equals(method.descriptor))
                        .map(Map.Entry::getValue);
    }
}
