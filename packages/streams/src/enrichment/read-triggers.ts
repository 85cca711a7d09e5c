import type { AnswerBudget, Hash } from '@chainstead/core';
import { itemTypeOf } from '../item-types.ts';
import { topicOf } from '../matching/event-topic.ts';
import type { EnrichedMatch } from '../payload/render-body.ts';
import type { StreamTrigger } from '../stream.ts';
import type { TriggerResult, WebhookContents } from '../webhook.ts';
import { ANSWER_BYTES_MAX, answerOf, type BlockState } from './block-state.ts';
import { itemsOf, type SelectedItem } from './selector-value.ts';
import { triggerCall, triggerError, triggerResults } from './trigger-call.ts';

/** Handling of a call without a response: the whole read fails, or the call shows as failed. */
export type Unanswered = 'throw' | 'show';

export interface ReadTriggersOptions {
  readonly state: BlockState;
  readonly unanswered: Unanswered;
  /** Maximum calls for one webhook. Calls beyond that show an error, once per trigger. */
  readonly callsMax: number;
  /** Response bytes in flight, shared by webhooks that are built concurrently. */
  readonly budget: AnswerBudget;
}

/** Calls sent together, so that they share batches. */
const CALLS_TOGETHER = 25;
/** Maximum bytes of all trigger results in one webhook. */
const RESULT_BYTES_MAX = 4 * ANSWER_BYTES_MAX;
const UNANSWERED = 'no node answered';

/**
 * Returns the results of all triggers for all items of their types; those of one item are in trigger order. A failed
 * call shows as failed and stops nothing.
 * @throws the errors of `state` if no node responds, unless errors are to be shown
 */
export async function readTriggers(
  triggers: readonly StreamTrigger[],
  contents: WebhookContents,
  options: ReadTriggersOptions,
): Promise<EnrichedMatch['triggers']> {
  const { budget, callsMax } = options;
  const byType = new Map<StreamTrigger['type'], Map<number, readonly TriggerResult[]>>();
  const readings = planReadings(triggers, contents, callsMax);
  let bytesLeft = RESULT_BYTES_MAX;
  for (let at = 0; at < readings.length; at += CALLS_TOGETHER) {
    const together = readings.slice(at, at + CALLS_TOGETHER);
    await budget.run(async () => {
      const answers = await Promise.all(together.map((reading) => answer(reading, options)));
      budget.observe(answers.reduce((sum, given) => sum + ('data' in given ? given.data.length : 0), 0));
      for (const [index, { trigger, place }] of together.entries()) {
        const given = answers[index] ?? { failure: UNANSWERED };
        const { results, bytes } =
          'data' in given
            ? triggerResults(trigger, given.data, Math.min(ANSWER_BYTES_MAX, bytesLeft))
            : { results: triggerError(given.failure), bytes: 0 };
        bytesLeft -= bytes;
        const items = byType.get(trigger.type) ?? new Map<number, readonly TriggerResult[]>();
        byType.set(trigger.type, items);
        items.set(place, [...(items.get(place) ?? []), ...results]);
      }
    });
  }
  return Object.fromEntries(byType);
}

/** One trigger applied to one item. */
interface Reading {
  readonly trigger: StreamTrigger;
  readonly item: SelectedItem;
  /** Index of the item in its list. */
  readonly place: number;
  /** Whether it exceeds the call limit of one webhook. */
  readonly isSurplus: boolean;
}

function planReadings(triggers: readonly StreamTrigger[], contents: WebhookContents, callsMax: number): Reading[] {
  const readings: Reading[] = [];
  let calls = 0;
  for (const trigger of triggers) {
    const topic0 = trigger.topic0 === undefined ? null : topicOf(trigger.topic0);
    for (const [place, item] of itemsOf(trigger.type, contents).entries()) {
      if (!concerns(trigger, topic0, item)) continue;
      const isSurplus = calls >= callsMax;
      readings.push({ trigger, item, place, isSurplus });
      // One error is enough: there may be many more.
      if (isSurplus) break;
      calls += 1;
    }
  }
  return readings;
}

function concerns({ type, topic0 }: StreamTrigger, topic: Hash | null, item: SelectedItem): boolean {
  if (topic0 === undefined || itemTypeOf(type).hasTopic0 !== true) return true;
  return 'topic0' in item && item.topic0 === topic;
}

type Given = { readonly data: Awaited<ReturnType<BlockState['call']>> } | { readonly failure: unknown };

async function answer({ trigger, item, isSurplus }: Reading, options: ReadTriggersOptions): Promise<Given> {
  const { state, unanswered, callsMax } = options;
  if (isSurplus) return { failure: `only ${callsMax} calls are made for the webhook of a block` };
  let call: ReturnType<typeof triggerCall>;
  try {
    call = triggerCall(trigger, item);
  } catch (error) {
    return { failure: error };
  }
  try {
    return { data: await state.call(call) };
  } catch (error) {
    const text = answerOf(error);
    if (text !== null) return { failure: text };
    if (unanswered === 'throw') throw error;
    return { failure: UNANSWERED };
  }
}
