package io.tabletrelay.core.config;

import io.tabletrelay.api.ErrorCode;
import io.tabletrelay.api.RelayException;
import io.tabletrelay.api.serializer.SourceEvent;
import io.tabletrelay.api.tablet.TabletFamily;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What was chosen for a pipe when it was made, for as long as it is there. A pipe that its first use made has none, and
 * the defaults hold.
 *
 * <p>Threading: immutable.
 *
 * @param values by name; only those that were given
 */
public record PipeSettings(Map<String, String> values) {
    public static final PipeSettings NONE = new PipeSettings(Map.of());

    /** Each setting's values, the default first. */
    private static final Map<String, List<String>> ALLOWED =
            Map.of(TabletFamily.OPTION, List.of(TabletFamily.V2.word(), TabletFamily.V1.word()));

    /** Throws {@link RelayException} with BAD_REQUEST for a setting or value that there is not. */
    public PipeSettings {
        values = Map.copyOf(values);
        values.forEach(PipeSettings::check);
    }

    private static void check(String name, String value) {
        if (!ALLOWED.containsKey(name)) {
            throw new RelayException(
                    ErrorCode.BAD_REQUEST, "no such pipe setting: setting=" + name + "; allowed=" + ALLOWED);
        }
        if (!ALLOWED.get(name).contains(value)) {
            throw new RelayException(
                    ErrorCode.BAD_REQUEST,
                    "no such value of a pipe setting: " + name + "=" + value + "; allowed=" + ALLOWED);
        }
    }

    /** Whether each setting has the same value in both, given or by default. */
    public boolean meansTheSameAs(PipeSettings other) {
        return values.equals(other.values)
                || ALLOWED.entrySet().stream()
                        .allMatch(setting -> value(setting).equals(other.value(setting)));
    }

    private String value(Map.Entry<String, List<String>> setting) {
        return values.getOrDefault(setting.getKey(), setting.getValue().get(0));
    }

    /**
     * Returns the event with the settings among its options.
     *
     * @throws RelayException with BAD_EVENT if one of its options says another value than the setting
     */
    public SourceEvent on(SourceEvent event) {
        ALLOWED.entrySet().forEach(setting -> refuseOther(event, setting.getKey(), value(setting)));
        if (values.isEmpty()) {
            return event;
        }
        Map<String, String> options = new HashMap<>(event.options());
        options.putAll(values);
        return new SourceEvent(event.pipe(), event.bytes(), options);
    }

    private static void refuseOther(SourceEvent event, String name, String value) {
        String option = event.option(name, value);
        if (!option.equals(value)) {
            throw new RelayException(
                    ErrorCode.BAD_EVENT,
                    "event refused, its pipe has another setting: pipe=" + event.pipe() + ", " + name + "=" + option
                            + ", setting=" + value
                            + "; leave that option out, or publish to a pipe made with it");
        }
    }
}
