package io.tabletrelay.core;

import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.conditions.ArchConditions.callMethod;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.FileChannel;
import java.time.Instant;
import java.util.ServiceLoader;
import org.jspecify.annotations.NullMarked;

/** The arrows of the house style, section 1. Think hard about their direction before you change this file. */
@AnalyzeClasses(packages = "io.tabletrelay", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchRule arrowsPointDown = layeredArchitecture()
            .consideringOnlyDependenciesInLayers()
            .withOptionalLayers(true)
            .layer("api")
            .definedBy("io.tabletrelay.api..")
            .layer("boot")
            .definedBy("io.tabletrelay.core")
            .layer("server")
            .definedBy("io.tabletrelay.core.server")
            .layer("http")
            .definedBy("io.tabletrelay.core.http")
            .layer("pipe")
            .definedBy("io.tabletrelay.core.pipe")
            .layer("delivery")
            .definedBy("io.tabletrelay.core.delivery")
            .layer("store")
            .definedBy("io.tabletrelay.core.store..")
            .layer("plugin")
            .definedBy("io.tabletrelay.core.plugin")
            .layer("protocol")
            .definedBy("io.tabletrelay.core.protocol")
            .layer("metrics")
            .definedBy("io.tabletrelay.core.metrics")
            .layer("config")
            .definedBy("io.tabletrelay.core.config")
            .layer("client")
            .definedBy("io.tabletrelay.core.client")
            .whereLayer("server")
            .mayOnlyAccessLayers("api", "pipe", "delivery", "protocol", "plugin", "metrics", "config")
            .whereLayer("http")
            .mayOnlyAccessLayers("api", "pipe", "delivery", "plugin", "metrics", "config")
            .whereLayer("pipe")
            .mayOnlyAccessLayers("api", "delivery", "store", "metrics", "config")
            .whereLayer("delivery")
            .mayOnlyAccessLayers("api", "store", "metrics", "config")
            .whereLayer("store")
            .mayOnlyAccessLayers("api", "config")
            .whereLayer("plugin")
            .mayOnlyAccessLayers("api", "config")
            .whereLayer("protocol")
            .mayOnlyAccessLayers("api")
            .whereLayer("metrics")
            .mayOnlyAccessLayers("api")
            .whereLayer("config")
            .mayOnlyAccessLayers("api")
            .whereLayer("client")
            .mayOnlyAccessLayers("api")
            .whereLayer("api")
            .mayNotAccessAnyLayer();

    @ArchTest
    static final ArchRule noCycles =
            slices().matching("io.tabletrelay.core.(*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule noCyclesInTheStore =
            slices().matching("io.tabletrelay.core.(store.*)..").should().beFreeOfCycles();

    @ArchTest
    static final ArchRule onlyStoreKnowsChronicle = confined("net.openhft..", "io.tabletrelay.core.store.log");

    @ArchTest
    static final ArchRule onlyServerKnowsTheWebSocketLibrary =
            confined("org.java_websocket..", "io.tabletrelay.core.server");

    @ArchTest
    static final ArchRule onlyMetricsKnowsDropwizard =
            confined("com.codahale.metrics..", "io.tabletrelay.core.metrics");

    @ArchTest
    static final ArchRule onlyStoreOpensFiles = noClasses()
            .that()
            .resideOutsideOfPackage("io.tabletrelay.core.store..")
            .should()
            .dependOnClassesThat()
            .belongToAnyOf(FileChannel.class);

    @ArchTest
    static final ArchRule onlyPluginDiscovers = noClasses()
            .that()
            .resideOutsideOfPackage("io.tabletrelay.core.plugin")
            .should()
            .dependOnClassesThat()
            .belongToAnyOf(ServiceLoader.class);

    @ArchTest
    static final ArchRule onlyPipeStartsThreads = noClasses()
            .that()
            .resideOutsideOfPackages("io.tabletrelay.core.pipe", "io.tabletrelay.core")
            .should()
            .callConstructor(Thread.class, Runnable.class, String.class)
            .orShould()
            .callConstructor(Thread.class, Runnable.class);

    @ArchTest
    static final ArchRule timeIsPassedIn = noClasses()
            .that()
            .resideInAnyPackage(
                    "io.tabletrelay.core.pipe", "io.tabletrelay.core.delivery", "io.tabletrelay.core.store..")
            .should(callMethod(System.class, "currentTimeMillis").or(callMethod(System.class, "nanoTime")))
            .orShould(callMethod(Instant.class, "now"));

    /** A look-up of a peer's name may take seconds, and would hold up every socket of its thread. */
    @ArchTest
    static final ArchRule nobodyLooksUpPeers = noClasses()
            .should(callMethod(InetSocketAddress.class, "getHostName").or(callMethod(InetAddress.class, "getHostName")))
            .orShould(callMethod(InetAddress.class, "getCanonicalHostName"));

    /** A document left open locks its queue for ever, and one that an exception closes is stored by half. */
    @ArchTest
    static final ArchRule messagesAreWrittenWhole =
            noClasses().should().callMethodWhere(target(nameMatching("writingDocument|acquireWritingDocument")));

    @ArchTest
    static final ArchRule noDumpingGrounds =
            noClasses().should().resideInAnyPackage("..util..", "..impl..", "..common..", "..base..");

    @ArchTest
    static final ArchRule namesSayWhatAThingIs =
            noClasses().should().haveNameMatching(".*(Manager|Helper|Utils?|Impl|Processor)");

    @ArchTest
    static final ArchRule everyPackageIsNullMarked =
            classes().that().areTopLevelClasses().should(liveInANullMarkedPackage());

    private static ArchRule confined(String library, String home) {
        return noClasses()
                .that()
                .resideOutsideOfPackage(home)
                .should()
                .dependOnClassesThat()
                .resideInAPackage(library);
    }

    private static ArchCondition<JavaClass> liveInANullMarkedPackage() {
        return new ArchCondition<>("live in a @NullMarked package") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                boolean marked = type.getPackage().isAnnotatedWith(NullMarked.class);
                events.add(new SimpleConditionEvent(type, marked, type.getPackageName() + " is not @NullMarked"));
            }
        };
    }
}
