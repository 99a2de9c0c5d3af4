package io.tabletrelay.core.plugin;

/**
 * A serializer that was found, whether it is in use or not.
 *
 * <p>Threading: immutable.
 *
 * @param sourceType the type it serves; empty if it never got so far as to say
 * @param className its class; empty if it could not even be loaded
 * @param version what its jar's manifest says, or {@code unknown}
 * @param location the jar or folder it comes from, or {@code unknown}
 * @param refusal why it is not in use; empty if it is
 */
public record PluginDescriptor(String sourceType, String className, String version, String location, String refusal) {
    static final String UNKNOWN = "unknown";

    static PluginDescriptor of(Class<?> type) {
        String version = type.getPackage() == null ? null : type.getPackage().getImplementationVersion();
        return new PluginDescriptor("", type.getName(), version == null ? UNKNOWN : version, locationOf(type), "");
    }

    /** A provider that has no class: its entry is wrong. */
    static PluginDescriptor unloadable(String refusal) {
        return new PluginDescriptor("", "", UNKNOWN, UNKNOWN, refusal);
    }

    public boolean inUse() {
        return refusal.isEmpty();
    }

    PluginDescriptor named(String newSourceType) {
        return new PluginDescriptor(newSourceType, className, version, location, refusal);
    }

    PluginDescriptor refused(String newRefusal) {
        return new PluginDescriptor(sourceType, className, version, location, newRefusal);
    }

    private static String locationOf(Class<?> type) {
        var domain = type.getProtectionDomain();
        var source = domain == null ? null : domain.getCodeSource();
        return source == null || source.getLocation() == null
                ? UNKNOWN
                : source.getLocation().toString();
    }
}
