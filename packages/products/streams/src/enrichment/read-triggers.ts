import { type AnswerBudget, getOrCompute, type Hex } from '@chainstead/core';
import { itemTypeOf } from '../item-types.ts';
import { topicOf } from '../matching/event-topic.ts';
import type { EnrichedMatch } from '../payload/render-body.ts';
import type { StreamTrigger } from '../stream.ts';
import type { TriggerResult, WebhookContents } from '../webhook.ts';
import { ANSWER_BYTES_MAX, answerOf, type BlockState } from './block-state.ts';
import { itemsOf, type SelectedItem } from './selector-value.ts';
import { triggerCall, triggerError, triggerResults } from './trigger-call.ts';

/** A call without a response fails the whole read, or shows as failed. */
export type Unanswered = 'throw' | 'show';

export interface ReadTriggersOptions {
  readonly state: BlockState;
  readonly unanswered: Unanswered;
  /** For one webhook. Calls beyond that show an error, once per trigger. */
  readonly callsMax: number;
  readonly budget: AnswerBudget;
  readonly inTurn: InTurn;
}

/** Keys take turns with their parts of a webhook's calls. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

export const CALLS_TOGETHER = 25;
const RESULT_BYTES_MAX = 4 * ANSWER_BYTES_MAX;
const UNANSWERED = 'no node answered';

export async function readTriggers(
  triggers: readonly StreamTrigger[],
  contents: WebhookContents,
  options: ReadTriggersOptions,
): Promise<EnrichedMatch['triggers']> {
  const { budget, callsMax, inTurn } = options;
  const byType = new Map<StreamTrigger['type'], Map<number, readonly TriggerResult[]>>();
  const readings = planReadings(triggers, contents, callsMax);
  let bytesLeft = RESULT_BYTES_MAX;
  for (let at = 0; at < readings.length; at += CALLS_TOGETHER) {
    const together = readings.slice(at, at + CALLS_TOGETHER);
    const read = async (): Promise<void> => {
      const answers = await Promise.all(together.map((reading) => answer(reading, options)));
      budget.observe(answers.reduce((sum, { data }) => sum + (data?.length ?? 0), 0));
      for (const [number, { trigger, index }] of together.entries()) {
        const { data, failure } = answers[number] ?? { failure: UNANSWERED };
        const { results, bytes } =
          data === undefined
            ? { results: triggerError(failure), bytes: 0 }
            : triggerResults(trigger, data, Math.min(ANSWER_BYTES_MAX, bytesLeft));
        bytesLeft -= bytes;
        const items = getOrCompute(byType, trigger.type, () => new Map());
        items.set(index, [...(items.get(index) ?? []), ...results]);
      }
    };
    await inTurn(() => budget.run(read));
  }
  return Object.fromEntries(byType);
}

interface Reading {
  readonly trigger: StreamTrigger;
  readonly item: SelectedItem;
  readonly index: number;
  readonly isSurplus: boolean;
}

function planReadings(
  triggers: readonly StreamTrigger[],
  contents: WebhookContents,
  callsMax: number,
): Reading[] {
  const readings: Reading[] = [];
  let calls = 0;
  for (const trigger of triggers) {
    const topic0 = trigger.topic0 === undefined ? null : topicOf(trigger.topic0);
    const hasTopic = topic0 !== null && itemTypeOf(trigger.type).hasTopic0 === true;
    for (const [index, item] of itemsOf(trigger.type, contents).entries()) {
      if (hasTopic && !('topic0' in item && item.topic0 === topic0)) continue;
      const isSurplus = calls >= callsMax;
      readings.push({ trigger, item, index, isSurplus });
      if (isSurplus) break;
      calls += 1;
    }
  }
  return readings;
}

/** Calls of `readTriggers`, at most. */
export function triggerCalls(
  triggers: readonly StreamTrigger[],
  contents: WebhookContents,
  callsMax: number,
): number {
  return planReadings(triggers, contents, callsMax).filter(({ isSurplus }) => !isSurplus).length;
}

interface CallAnswer {
  readonly data?: Hex;
  readonly failure?: unknown;
}

async function answer({ trigger, item, isSurplus }: Reading, options: ReadTriggersOptions): Promise<CallAnswer> {
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
