package io.tabletrelay.harness.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.tabletrelay.api.Durability;
import io.tabletrelay.core.client.RelayHttp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * Cuts on one file system, from its making to the check of everything that happened on it.
 *
 * <p>Threading: used by the test's thread.
 */
final class PowerSeries implements AutoCloseable {
    private static final long MEBIBYTES = 512;
    private static final int DRAIN_WINDOW_EVENTS = 1_000;
    private static final List<String> MOUNT_OPTIONS =
            List.of("", "data=writeback", "commit=1", "nodelalloc", "data=writeback,commit=1");
    private static final BatchProducer.Load LARGE = new BatchProducer.Load(2, 24 << 10, 60, 3);
    private static final BatchProducer.Load MANY = new BatchProducer.Load(256, 0, 40, 0);
    private static final BatchProducer.Load FIRST = new BatchProducer.Load(1, 100, 3, 0);

    private final Path home;
    private final Random random;
    private final PowerStatistics statistics;
    private final LoopFileSystem disk;
    private final ReportedLosses reported = new ReportedLosses();
    private final List<PowerPipe> pipes = new ArrayList<>();
    private final List<PowerPipe> retired = new ArrayList<>();
    private final List<FloorWatch> floors = new ArrayList<>();
    private List<PowerPipe> young = List.of();
    private int starts;

    PowerSeries(Path home, Random random, PowerStatistics statistics) throws IOException {
        this.home = home;
        this.random = random;
        this.statistics = statistics;
        disk = LoopFileSystem.make(home, MOUNT_OPTIONS.get(random.nextInt(MOUNT_OPTIONS.size())), MEBIBYTES);
        disk.mount();
        for (Durability durability : Durability.values()) {
            pipes.add(new PowerPipe("large-" + durability.word(), durability, LARGE, 2, reported));
            pipes.add(new PowerPipe("many-" + durability.word(), durability, MANY, 2, reported));
        }
    }

    /** One run of the relay, and the cut that ends it. Returns false if the file system has no room for another. */
    boolean cut(int number) throws Exception {
        CutPlan plan = CutPlan.next(random);
        try (PowerSwitch power = PowerSwitch.at(disk.mountPoint(), home);
                PoweredRelay relay = start(plan.windowEvents())) {
            begin(relay, plan);
            floors.add(new FloorWatch(relay.http(), pipes));
            if (plan.judgesFirst()) {
                pipes.forEach(pipe -> pipe.judge(relay.http()));
            }
            relay.process().runFor(Duration.ofMillis(plan.delayMillis()));
            power.writeBack(random.nextBoolean() ? plan.writeBack() : PowerSwitch.WriteBack.NOTHING, random.nextInt());
            new CutMoment(data(), pipes, random).await(plan.moment(), relay, young);
            power.writeBack(random.nextBoolean() ? plan.writeBack() : PowerSwitch.WriteBack.NOTHING, random.nextInt());
            pipes.forEach(PowerPipe::check);
            pipes.forEach(PowerPipe::powerIsGoing);
            relay.powerIsGoing();
            power.cut();
            runOnFor(relay, plan.afterMillis());
        } catch (Throwable e) {
            stopAll();
            throw new AssertionError("cut=" + number + ", start=" + starts + ", " + plan, e);
        }
        stopAll();
        statistics.cut(plan);
        disk.unmount();
        disk.mount();
        keepWhatIsLeft();
        return Files.getFileStore(disk.mountPoint()).getUsableSpace() > (MEBIBYTES << 20) / 3;
    }

    /** A relay without a disk may end by itself: that is no fault. */
    private static void runOnFor(PoweredRelay relay, int millis) throws InterruptedException {
        try {
            relay.process().runFor(Duration.ofMillis(millis));
        } catch (IllegalStateException ended) {
            System.out.println("relay ended after the power did: " + ended.getMessage());
        }
    }

    private PoweredRelay start(int windowEvents) throws Exception {
        starts++;
        return PoweredRelay.start(
                data(), windowEvents, home.resolve("relay-" + String.format("%03d", starts) + ".log"), reported);
    }

    private Path data() {
        return disk.mountPoint().resolve("data");
    }

    private void begin(PoweredRelay relay, CutPlan plan) throws Exception {
        RelayHttp http = relay.http();
        checkList(relay);
        retire();
        if (plan.moment() == CutPlan.Moment.BIRTH) {
            addYoung();
        }
        for (PowerPipe pipe : pipes) {
            if (pipe.isMade()) {
                pipe.restarted(http);
            } else if (!young.contains(pipe)) {
                pipe.make(http);
            }
            if (!young.contains(pipe)) {
                pipe.start(http, relay.process()::wsPort, starts, plan.windowEvents(), random);
            }
        }
    }

    private void addYoung() {
        List<PowerPipe> added = new ArrayList<>();
        for (Durability durability : Durability.values()) {
            added.add(new PowerPipe("young-" + starts + "-" + durability.word(), durability, FIRST, 1, reported));
        }
        pipes.addAll(added);
        young = List.copyOf(added);
    }

    /** Pipes that were young when the power went have been judged, or are not there. */
    private void retire() {
        young = List.of();
        List<PowerPipe> done = pipes.stream()
                .filter(pipe -> pipe.name().startsWith("young-") && pipe.isJudged())
                .toList();
        pipes.removeAll(done);
        retired.addAll(done);
    }

    /** Every pipe whose making was confirmed is there, and none that nobody made. */
    private void checkList(PoweredRelay relay) throws IOException {
        Set<String> listed = PipeList.of(relay.process().http());
        Set<String> made = new HashSet<>();
        Set<String> known = new HashSet<>();
        for (PowerPipe pipe : all()) {
            known.add(pipe.name());
            if (pipe.isMade()) {
                made.add(pipe.name());
            }
        }
        assertThat(listed).as("pipes after a cut").containsAll(made);
        assertThat(known).as("pipes that were ever asked for").containsAll(listed);
    }

    private List<PowerPipe> all() {
        List<PowerPipe> all = new ArrayList<>(pipes);
        all.addAll(retired);
        return all;
    }

    /** Drains every pipe and checks all that happened to it. */
    void finish() throws Exception {
        try (PoweredRelay relay = start(DRAIN_WINDOW_EVENTS)) {
            checkList(relay);
            for (PowerPipe pipe : all()) {
                if (pipe.isMade()) {
                    pipe.restarted(relay.http());
                    pipe.startConsumer(relay.process()::wsPort, DRAIN_WINDOW_EVENTS, random);
                }
            }
            for (PowerPipe pipe : all()) {
                if (pipe.isMade()) {
                    pipe.judge(relay.http());
                    pipe.checkAll(pipe.drain(relay.http()));
                }
            }
        } finally {
            stopAll();
        }
        all().forEach(statistics::finished);
    }

    /** After the relay is gone. */
    private void stopAll() throws InterruptedException {
        for (FloorWatch watch : floors) {
            watch.end();
            statistics.floorsSeen(watch.seen());
        }
        floors.clear();
        for (PowerPipe pipe : all()) {
            pipe.stopped();
        }
    }

    /** The data folder as the cut left it, before a relay has seen it. */
    private void keepWhatIsLeft() throws IOException {
        Path left = home.resolve("left-by-the-last-cut");
        Command.run("rm", "-rf", left.toString());
        Command.run("cp", "-a", "--sparse=always", data().toString(), left.toString());
    }

    @Override
    public void close() {
        disk.close();
    }
}
