import type { Chain } from '@chainstead/chains';
import { type Address, waitingAtMost } from '@chainstead/core';
import type { StateKind } from '@chainstead/node-reads';
import type { ReadingContext } from '@chainstead/node-reads/requests';
import { z } from 'zod';

/** `block` is null if no node has it. */
export const tokenCreationKind: StateKind<{ address: string }, { block: number | null }> = {
  name: 'token-creation',
  question: z.object({ address: z.string() }),
  answer: z.object({ block: z.int().nullable() }),
  isSlow: true,
};

/** Milliseconds until a missing or not yet final result is read again. */
const SOUGHT_MS = 300_000;

/** Does not wait: each takes up to thirty calls of an archive node. */
export async function seekTokenCreations(
  { nodeReads }: ReadingContext,
  chain: Chain,
  addresses: readonly Address[],
): Promise<void> {
  const seek = (address: Address) =>
    nodeReads.request(chain, tokenCreationKind, { address }, { maxAgeMs: SOUGHT_MS });
  await waitingAtMost(0, () => Promise.all(addresses.map(seek)));
}
