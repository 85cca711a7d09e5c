import { type AbiEvent, eventsOf, topicOf } from '../matching/event-topic.ts';
import { abiItemSchema } from '../routes/stream-schema.ts';

export type { AbiEvent };

/** Returns the events of an unchecked ABI and the event of each given topic0. */
export function readAbiEvents(
  abi: unknown,
  topic0: readonly string[],
): { readonly events: readonly AbiEvent[]; readonly given: ReadonlyMap<string, AbiEvent> } {
  const items = (Array.isArray(abi) ? abi : [abi]).flatMap((item) => {
    const parsed = abiItemSchema.safeParse(item);
    return parsed.success ? [parsed.data] : [];
  });
  const events = eventsOf(items);
  const given = new Map<string, AbiEvent>();
  for (const text of topic0) {
    const topic = topicOf(text);
    const event = events.find((one) => one.topic0 === topic);
    if (event !== undefined) given.set(text, event);
  }
  return { events, given };
}
