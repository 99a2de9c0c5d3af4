package io.tabletrelay.core.config;

import io.tabletrelay.api.Durability;
import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.api.serializer.SourceEvent;
import io.tabletrelay.api.tablet.TabletFamily;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What was chosen for a pipe when it was made, for as long as it is there. What was not chosen is as the relay has it; a
 * pipe that its first use made has chosen nothing.
 *
 * <p>Threading: immutable.
 *
 * @param values by name; only those that were given
 */
public record PipeSettings(Map<String, String> values) {
    public static final PipeSettings NONE = new PipeSettings(Map.of());

    public static final String DURABILITY = "durability";
    public static final String MAX_BYTES = "max-bytes";
    public static final String WHEN_FULL = "when-full";
    public static final String BLOCK_TIMEOUT = "block-timeout";
    public static final String ON_DAMAGE = "on-damage";
    public static final String RETAIN = "retain";

    private static final String RETAIN_ACKED = "acked";

    /** Each setting, and how its value is read; what is read is equal where the values mean the same. */
    private static final Map<String, Function<String, Object>> READERS = Map.of(
            TabletFamily.OPTION,
            value -> word(Stream.of(TabletFamily.values()), TabletFamily::word, value),
            DURABILITY,
            value -> word(Stream.of(Durability.values()), Durability::word, value),
            MAX_BYTES,
            PipeSettings::maxBytes,
            WHEN_FULL,
            value -> word(Stream.of(WhenFull.values()), WhenFull::word, value),
            BLOCK_TIMEOUT,
            value -> new FullConfig(WhenFull.BLOCK, SettingText.time(value)).blockTimeout(),
            ON_DAMAGE,
            value -> word(Stream.of(OnDamage.values()), OnDamage::word, value),
            RETAIN,
            PipeSettings::retention);

    /** Throws {@link RelayException} with BAD_REQUEST for a setting or value that there is not. */
    public PipeSettings {
        values = Map.copyOf(values);
        values.forEach(PipeSettings::read);
    }

    private static Object read(String name, String value) {
        Function<String, Object> reader = READERS.get(name);
        if (reader == null) {
            throw new RelayException(
                    ErrorCode.BAD_REQUEST,
                    "no such pipe setting: setting=" + name + "; allowed=" + new TreeSet<>(READERS.keySet()));
        }
        try {
            return reader.apply(value);
        } catch (IllegalArgumentException e) {
            throw new RelayException(
                    ErrorCode.BAD_REQUEST,
                    "no such value of a pipe setting: " + name + "=" + value + "; " + e.getMessage(),
                    e);
        }
    }

    private static <T> T word(Stream<T> all, Function<T, String> wordOf, String value) {
        TreeSet<String> allowed = new TreeSet<>();
        for (T each : all.toList()) {
            if (wordOf.apply(each).equals(value)) {
                return each;
            }
            allowed.add(wordOf.apply(each));
        }
        throw new IllegalArgumentException("allowed=" + allowed);
    }

    private static long maxBytes(String value) {
        long bytes = SettingText.bytes(value);
        if (bytes > 0 && bytes < 4 * StoreConfig.LEAST_SEGMENT_BYTES) {
            throw new IllegalArgumentException("it must be 4MiB or more, or 0 for no limit");
        }
        return bytes;
    }

    /** {@code acked}, an age, a size, or both with a comma between them. */
    private static RetentionConfig retention(String value) {
        if (value.equals(RETAIN_ACKED)) {
            return RetentionConfig.ACKED;
        }
        Duration age = Duration.ZERO;
        long bytes = 0;
        String[] limits = value.toLowerCase(Locale.ROOT).split(",", -1);
        boolean bothAlike = limits.length == 2 && SettingText.isTime(limits[0]) == SettingText.isTime(limits[1]);
        if (limits.length > 2 || bothAlike) {
            throw new IllegalArgumentException("write it like acked, 7d, 50GiB or 7d,50GiB");
        }
        for (String limit : limits) {
            if (SettingText.isTime(limit)) {
                age = SettingText.time(limit);
            } else {
                bytes = SettingText.bytes(limit);
            }
        }
        return new RetentionConfig(age, bytes);
    }

    /** Whether the same was chosen in both; a tablet format not chosen is v2. */
    public boolean meansTheSameAs(PipeSettings other) {
        return READERS.keySet().stream().allMatch(name -> Objects.equals(get(name), other.get(name)));
    }

    /** Whether a serializer makes the same payloads for a pipe with either. */
    public boolean preparesEventsAs(PipeSettings other) {
        return family().equals(other.family());
    }

    /** What the pipe's store is like where the relay's is this. */
    public StoreConfig over(StoreConfig relay) {
        long maxBytes = chosen(MAX_BYTES, relay.maxBytes());
        return new StoreConfig(
                relay.segmentBytesWithin(maxBytes),
                relay.maxEventBytes(),
                maxBytes,
                relay.maxEvents(),
                relay.diskReserveBytes(),
                chosen(DURABILITY, relay.durability()),
                relay.commit(),
                new FullConfig(
                        chosen(WHEN_FULL, relay.whenFull().policy()),
                        chosen(BLOCK_TIMEOUT, relay.whenFull().blockTimeout())),
                chosen(ON_DAMAGE, relay.onDamage()),
                chosen(RETAIN, relay.retention()));
    }

    private @Nullable Object get(String name) {
        String value = values.get(name);
        if (value == null) {
            return name.equals(TabletFamily.OPTION) ? TabletFamily.V2 : null;
        }
        return read(name, value);
    }

    /** Each name's reader brings values of one type. */
    @SuppressWarnings("unchecked")
    private <T> T chosen(String name, T otherwise) {
        Object value = get(name);
        return value == null ? otherwise : (T) value;
    }

    private TabletFamily family() {
        return chosen(TabletFamily.OPTION, TabletFamily.V2);
    }

    /**
     * Returns the event with what its serializer must know of the settings among its options.
     *
     * @throws RelayException with BAD_EVENT if one of its options says another value than the setting
     */
    public SourceEvent on(SourceEvent event) {
        String family = family().word();
        String option = event.option(TabletFamily.OPTION, family);
        if (!option.equals(family)) {
            throw new RelayException(
                    ErrorCode.BAD_EVENT,
                    "event refused, its pipe has another setting: pipe=" + event.pipe() + ", " + TabletFamily.OPTION
                            + "=" + option + ", setting=" + family
                            + "; leave that option out, or publish to a pipe made with it");
        }
        if (!values.containsKey(TabletFamily.OPTION)) {
            return event;
        }
        Map<String, String> options = new HashMap<>(event.options());
        options.put(TabletFamily.OPTION, family);
        return new SourceEvent(event.pipe(), event.bytes(), options);
    }
}
