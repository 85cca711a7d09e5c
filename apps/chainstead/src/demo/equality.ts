import { type Address, ChainsteadError, type Clock } from '@chainstead/core';
import type { DemoChain } from './demo-chain.ts';
import { readNodeTransfers, readServedTransfers, type TransferText } from './wallet-transfers.ts';

/** What the API serves is not what the node says, and did not become it in time. */
export class DemoMismatchError extends ChainsteadError {
  constructor(stage: string, difference: string) {
    super({
      code: 'DEMO_MISMATCH',
      message: `${stage}: what the API serves is not what the node says: ${difference}`,
      facts: { stage },
      retryable: false,
    });
  }
}

export interface EqualityOptions {
  readonly stage: string;
  readonly chain: DemoChain;
  /** Address of the API. */
  readonly api: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

const DEADLINE_MS = 90_000;
const POLL_MS = 250;

/**
 * Waits until every wallet's transfers are served exactly as the node has them. @returns how many transfers were compared
 * @throws DemoMismatchError
 */
export async function awaitEquality(options: EqualityOptions): Promise<number> {
  const { stage, chain, api, clock, signal } = options;
  const expected = await readNodeTransfers(chain.devnet, chain.wallets);
  const deadline = clock.now() + DEADLINE_MS;
  for (;;) {
    signal.throwIfAborted();
    const difference = await findDifference(expected, api);
    if (difference === null) return [...expected.values()].reduce((sum, transfers) => sum + transfers.length, 0);
    if (clock.now() > deadline) throw new DemoMismatchError(stage, difference);
    await clock.sleep(POLL_MS, signal);
  }
}

async function findDifference(
  expected: ReadonlyMap<Address, readonly TransferText[]>,
  api: string,
): Promise<string | null> {
  for (const [wallet, transfers] of expected) {
    const difference = compareTransfers(transfers, await readServedTransfers(api, wallet));
    if (difference !== null) return `${wallet}: ${difference}`;
  }
  return null;
}

/** The first difference between two sorted lists, in words; null when they are equal. */
export function compareTransfers(expected: readonly TransferText[], served: readonly TransferText[]): string | null {
  const missing = expected.find((transfer) => !served.includes(transfer));
  if (missing !== undefined) return `missing ${missing} (${served.length} served, ${expected.length} expected)`;
  const surplus = served.find((transfer) => !expected.includes(transfer));
  if (surplus !== undefined) return `surplus ${surplus} (${served.length} served, ${expected.length} expected)`;
  return served.length === expected.length ? null : `${served.length} served, ${expected.length} expected`;
}
