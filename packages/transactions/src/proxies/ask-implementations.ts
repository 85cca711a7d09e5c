import type { Chain } from '@chainstead/chains';
import { errorText, type Logger } from '@chainstead/core';
import type { OnDemandBudget } from '@chainstead/http';
import type { StateQuestions } from '@chainstead/state';
import { type AskedImplementation, implementationsKind, questionItem } from './contract-implementations.ts';

export interface AskImplementationsOptions {
  readonly questions: StateQuestions;
  /** Says whether requests may cause node calls. */
  readonly budget: Pick<OnDemandBudget, 'mayCall'>;
  readonly logger: Logger;
}

/** Contracts of one page. Others are asked about when it is looked at again. */
const TOGETHER_MAX = 100;
/** The same is not asked again sooner. Milliseconds. */
const AGAIN_MS = 60_000;
/** Questions that are remembered. One takes some hundred bytes. */
const REMEMBERED_MAX = 20_000;

/** Has workers find out whose code contracts act by. No request waits for it. */
export function createAskImplementations({
  questions,
  budget,
  logger,
}: AskImplementationsOptions): (chain: Chain, unknown: readonly AskedImplementation[]) => void {
  const askedAt = new Map<string, number>();

  function isDue(key: string, now: number): boolean {
    if (now - (askedAt.get(key) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return false;
    if (askedAt.size >= REMEMBERED_MAX) askedAt.clear();
    askedAt.set(key, now);
    return true;
  }

  return (chain, unknown) => {
    if (!budget.mayCall) return;
    const now = performance.now();
    const items = unknown.slice(0, TOGETHER_MAX).map(questionItem);
    const due = items.filter((item) => isDue(`${chain.id} ${item}`, now)).toSorted();
    if (due.length === 0) return;
    questions
      .ask(chain, implementationsKind, { items: due }, { waitMs: 0, maxAgeMs: AGAIN_MS })
      .catch((error: unknown) =>
        logger.debug(
          { chain: chain.key, error: errorText(error) },
          'Nobody could be asked whose code contracts act by',
        ),
      );
  };
}
