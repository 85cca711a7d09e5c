import { type EventTopic, eventsOf, topicOf } from '../matching/compile-stream.ts';
import { abiItemSchema } from '../routes/stream-schema.ts';

export type { EventTopic };

export function readAbiEvents(
  abi: unknown,
  topic0: readonly string[],
): { readonly events: readonly EventTopic[]; readonly given: ReadonlyMap<string, EventTopic> } {
  const items = (Array.isArray(abi) ? abi : [abi]).flatMap((item) => {
    const parsed = abiItemSchema.safeParse(item);
    return parsed.success ? [parsed.data] : [];
  });
  const events = eventsOf(items);
  const byTopic = new Map<string | null, EventTopic>(events.map((event) => [event.topic0, event]));
  const given = topic0.flatMap((text) => {
    const event = byTopic.get(topicOf(text));
    return event === undefined ? [] : [[text, event] as const];
  });
  return { events, given: new Map(given) };
}
