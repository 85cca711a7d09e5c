import type { Chain } from '@chainstead/chains';
import { errorText, type Logger } from '@chainstead/core';
import type { OnDemandBudget } from '@chainstead/http';
import type { NodeReadQueue } from '@chainstead/node-reads';
import { implementationsKind, questionItem, type RequestedImplementation } from './contract-implementations.ts';

export interface AskImplementationsOptions {
  readonly nodeReads: NodeReadQueue;
  /** Checks whether requests may cause node calls. */
  readonly budget: Pick<OnDemandBudget, 'mayCall'>;
  readonly logger: Logger;
}

/** Contracts of one page. Others are queued at its next request. */
const TOGETHER_MAX = 100;
/** Minimum interval between identical reads. Milliseconds. */
const AGAIN_MS = 60_000;
/** Number of remembered reads. Each takes some hundred bytes. */
const REMEMBERED_MAX = 20_000;

/** Queues implementation reads for workers. No request waits for them. */
export function createAskImplementations({
  nodeReads,
  budget,
  logger,
}: AskImplementationsOptions): (chain: Chain, unknown: readonly RequestedImplementation[]) => void {
  const lastRequestedAt = new Map<string, number>();

  function isDue(key: string, now: number): boolean {
    if (now - (lastRequestedAt.get(key) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) return false;
    if (lastRequestedAt.size >= REMEMBERED_MAX) lastRequestedAt.clear();
    lastRequestedAt.set(key, now);
    return true;
  }

  return (chain, unknown) => {
    if (!budget.mayCall) return;
    const now = performance.now();
    const items = unknown.slice(0, TOGETHER_MAX).map(questionItem);
    const due = items.filter((item) => isDue(`${chain.id} ${item}`, now)).toSorted();
    if (due.length === 0) return;
    nodeReads
      .request(chain, implementationsKind, { items: due }, { waitMs: 0, maxAgeMs: AGAIN_MS })
      .catch((error: unknown) =>
        logger.debug(
          { chain: chain.key, error: errorText(error) },
          'Could not request the implementations of contracts',
        ),
      );
  };
}
