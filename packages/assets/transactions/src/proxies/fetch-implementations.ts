import type { Chain } from '@chainstead/chains';
import { errorText, type Logger, waitingAtMost } from '@chainstead/core';
import type { OnDemandBudget } from '@chainstead/http';
import type { NodeReadQueue } from '@chainstead/node-reads/requests';
import type { RequestedEntry } from '../abis/find-abis.ts';
import { implementationsKind, questionItem } from './contract-implementations.ts';

export interface AskImplementationsOptions {
  readonly nodeReads: NodeReadQueue;
  readonly budget: Pick<OnDemandBudget, 'mayCall'>;
  readonly logger: Logger;
}

const TOGETHER_MAX = 100;
/** Milliseconds. */
const AGAIN_MS = 60_000;
const REMEMBERED_MAX = 20_000;

export function createAskImplementations({
  nodeReads,
  budget,
  logger,
}: AskImplementationsOptions): (chain: Chain, unknown: readonly RequestedEntry[]) => void {
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
    const read = waitingAtMost(0, () =>
      nodeReads.request(chain, implementationsKind, { items: due }, { maxAgeMs: AGAIN_MS }),
    );
    read.catch((error: unknown) => {
      const facts = { chain: chain.key, error: errorText(error) };
      logger.debug(facts, 'Could not request the implementations of contracts');
    });
  };
}
