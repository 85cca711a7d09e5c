import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { committedBlock } from '../committed-block.ts';
import type { NodeReadQueue } from '../queue/node-read-queue.ts';
import { StateUnavailableError } from '../state-error.ts';
import { nativeBalancesKind } from './native-balances-kind.ts';
import { type NativeBalances, storedNativeBalances } from './stored-native-balances.ts';

export interface NativeBalancesOptions {
  readonly nodeReads: NodeReadQueue;
  readonly maxAgeMs: number;
}

/** @throws StateUnavailableError (503) if no result came in time, StateNotArchivedError (404) */
export async function getNativeBalances(
  { nodeReads, maxAgeMs }: NativeBalancesOptions,
  database: Database,
  chain: Chain,
  { addresses, toBlock }: { readonly addresses: readonly Address[]; readonly toBlock: number | null },
): Promise<NativeBalances> {
  const newest = toBlock === null ? null : await committedBlock(database, chain);
  const past = toBlock === null || newest === null || toBlock >= newest.number ? null : toBlock;
  if (past === null) {
    const stored = await storedNativeBalances(database, chain, addresses, maxAgeMs);
    if (stored !== null) return stored;
  }
  // Readings of the newest block are stored.
  const sharing = past === null ? 0 : maxAgeMs;
  const question = { addresses: [...addresses], to_block: past };
  const answer = await nodeReads.request(chain, nativeBalancesKind, question, { maxAgeMs: sharing });
  if (answer === null)
    throw new StateUnavailableError(`Balances on ${chain.name} are being read: retry in a moment`);
  return answer;
}
