package io.tabletrelay.api.serializer;

/**
 * Turns a source's bytes into payloads. Found by {@link java.util.ServiceLoader}; needs a public constructor without
 * arguments.
 *
 * <p>Rules:
 *
 * <ol>
 *   <li>The same bytes and options give the same payloads, whatever came before.
 *   <li>The input is read, never written, and not kept after the call.
 *   <li>Bytes that are not a whole, valid event of the type are refused with {@link BadEventException}, which says
 *       where; a truncated input never passes.
 *   <li>Nothing else is thrown, and nothing is added to the sink after a refusal.
 *   <li>Calls run on a thread of the relay's serializer pool and return without waiting for anything.
 * </ol>
 *
 * <p>Threading: as {@link #threadSafe()} says.
 */
public interface EventSerializer extends AutoCloseable {
    /** The version of this SPI that the plugin was compiled against. */
    int SPI_VERSION = 1;

    /** Returns the {@link #SPI_VERSION} constant as the plugin saw it when it was compiled. */
    int spiVersion();

    /** The name publishers give, e.g. {@code csv}: lower-case letters, digits and dashes. */
    String sourceType();

    /** True: one instance serves every pipe on many threads. False: each pipe gets its own, called by one thread at a time. */
    boolean threadSafe();

    /** Called once, before anything else. */
    default void open(SerializerContext context) {}

    /**
     * Adds what consumers shall get for this event: nothing (it is filtered and counted), one payload, or several.
     *
     * @throws BadEventException if the bytes are not a valid event of this type; nothing is stored then
     */
    void serialize(SourceEvent event, PayloadSink sink) throws BadEventException;

    /** Called once, after the last {@link #serialize} has returned. */
    @Override
    default void close() {}
}
