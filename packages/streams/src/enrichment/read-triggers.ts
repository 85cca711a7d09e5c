import { topicOf } from '../matching/event-topic.ts';
import type { Enrichment } from '../payload/render-body.ts';
import type { TriggerResult, WebhookContents } from '../payload/webhook.ts';
import type { StreamTrigger } from '../stream.ts';
import { type BlockState, isAnswer } from './block-state.ts';
import { itemsOf, type SelectedItem } from './selector-value.ts';
import { triggerCall, triggerError, triggerResults } from './trigger-call.ts';

/** What becomes of a call that no node answers: the whole reading fails, or the call shows as failed. */
export type Unanswered = 'throw' | 'show';

/**
 * Results of all triggers for all items of their types, those of one item in the order of the triggers. A call that fails shows
 * as such and stops nothing. @throws what `state` throws when no node answers, unless that is to be shown
 */
export async function readTriggers(
  triggers: readonly StreamTrigger[],
  contents: WebhookContents,
  state: BlockState,
  unanswered: Unanswered,
): Promise<Enrichment['triggers']> {
  const byType = new Map<StreamTrigger['type'], Map<number, readonly TriggerResult[]>>();
  // All calls set out at once, so that they share batches.
  const readings = triggers.flatMap((trigger) =>
    itemsOf(trigger.type, contents).flatMap((item, place) =>
      concerns(trigger, item) ? [{ trigger, place, results: readOne(trigger, item, state, unanswered) }] : [],
    ),
  );
  const settled = await Promise.allSettled(readings.map(({ results }) => results));
  for (const [index, { trigger, place }] of readings.entries()) {
    const reading = settled[index];
    if (reading?.status !== 'fulfilled') throw reading?.reason;
    const items = byType.get(trigger.type) ?? new Map<number, readonly TriggerResult[]>();
    byType.set(trigger.type, items);
    items.set(place, [...(items.get(place) ?? []), ...reading.value]);
  }
  return Object.fromEntries(byType);
}

function concerns({ type, topic0 }: StreamTrigger, item: SelectedItem): boolean {
  if (type !== 'log' || topic0 === undefined) return true;
  return 'topic0' in item && item.topic0 === topicOf(topic0);
}

const UNANSWERED = 'no node answered';

async function readOne(
  trigger: StreamTrigger,
  item: SelectedItem,
  state: BlockState,
  unanswered: Unanswered,
): Promise<readonly TriggerResult[]> {
  let call: ReturnType<typeof triggerCall>;
  try {
    call = triggerCall(trigger, item);
  } catch (error) {
    return triggerError(error);
  }
  try {
    return triggerResults(trigger, await state.call(call));
  } catch (error) {
    if (isAnswer(error)) return triggerError(error.rpcMessage);
    if (unanswered === 'throw') throw error;
    return triggerError(UNANSWERED);
  }
}
