import type { AnswerBudget, Hash } from '@chainstead/core';
import { itemTypeOf } from '../item-types.ts';
import { topicOf } from '../matching/event-topic.ts';
import type { EnrichedMatch } from '../payload/render-body.ts';
import type { TriggerResult, WebhookContents } from '../payload/webhook.ts';
import type { StreamTrigger } from '../stream.ts';
import { ANSWER_BYTES_MAX, answerOf, type BlockState } from './block-state.ts';
import { itemsOf, type SelectedItem } from './selector-value.ts';
import { triggerCall, triggerError, triggerResults } from './trigger-call.ts';

/** What becomes of a call that no node answers: the whole reading fails, or the call shows as failed. */
export type Unanswered = 'throw' | 'show';

export interface ReadTriggersOptions {
  readonly state: BlockState;
  readonly unanswered: Unanswered;
  /** Calls for one webhook. What is beyond shows as an error, once for each trigger. */
  readonly callsMax: number;
  /** What webhooks that are made at once share: bytes of answers in flight. */
  readonly budget: AnswerBudget;
}

/** Calls under way together, so that they share batches. */
const CALLS_TOGETHER = 25;
/** Of the results of all triggers in one webhook. */
const RESULT_BYTES_MAX = 4 * ANSWER_BYTES_MAX;
const UNANSWERED = 'no node answered';

/**
 * Results of all triggers for all items of their types, those of one item in the order of the triggers. A call that fails shows
 * as such and stops nothing. @throws what `state` throws when no node answers, unless that is to be shown
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

/** A trigger for an item of its type. */
interface Reading {
  readonly trigger: StreamTrigger;
  readonly item: SelectedItem;
  /** The item's, in its list. */
  readonly place: number;
  /** Beyond what is called for one webhook. */
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
      // Once is enough to tell: there may be many more.
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
