/** A chain that was restarted with its chain id: no reorg leads to its blocks. */
import type { Chain } from '@chainstead/chains';
import { ChainsteadError } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { readChainState } from '../checkpoint.ts';
import { readOldestLinked } from '../coverage/linked-blocks.ts';
import { ChainResetError } from '../errors.ts';

const BLOCK_TIMEOUT_MS = 5_000;

/**
 * Compares the oldest stored block with all upstreams, if no reorg may replace it: deep reorgs leave it. Costs one block of each. Upstreams
 * that lack the block or don't respond say nothing.
 *
 * @param head the block is not above it
 * @throws ChainResetError if no upstream has the stored block, and all that have one have the same
 */
export async function requireNotReset(
  { database, chain, pool }: { readonly database: Database; readonly chain: Chain; readonly pool: UpstreamPool },
  head: number,
  signal: AbortSignal,
): Promise<void> {
  const state = await readChainState(database, chain.id);
  if (state === null || state.checkpoint === null) return;
  const highest = Math.min(head, state.checkpoint.number - chain.reorgDepthMax);
  const stored = await readOldestLinked(database, chain.id, highest);
  if (stored === null) return;
  const { number: block, hash } = stored;
  const names = pool.status().flatMap(({ name, state }) => (state === 'disabled' ? [] : [name]));
  const answers = await Promise.all(names.map((name) => hashAt(pool, block, name, signal)));
  const found = new Set(answers.filter((answer) => answer !== null));
  const [only] = found;
  if (only === undefined || found.size > 1 || only === hash) return;
  const upstreams = names.filter((_, index) => answers[index] !== null);
  throw new ChainResetError({ chain: chain.key, block, stored: hash, found: only, upstreams });
}

/**
 * For a head whose branch is too deep: a restarted chain may end below all stored blocks.
 *
 * @throws ChainResetError if no upstream has reached the oldest stored block
 */
export async function requireStoredReached(
  { database, chain, pool }: { readonly database: Database; readonly chain: Chain; readonly pool: UpstreamPool },
  head: number,
): Promise<void> {
  const stored = await readOldestLinked(database, chain.id, Number.MAX_SAFE_INTEGER);
  const upstreams = pool.status().filter(({ state }) => state !== 'disabled');
  const highest = Math.max(head, ...upstreams.map((upstream) => upstream.head ?? head));
  if (stored === null || highest >= stored.number) return;
  const names = upstreams.map(({ name }) => name);
  const found = `above the head ${highest}`;
  throw new ChainResetError({
    chain: chain.key,
    block: stored.number,
    stored: stored.hash,
    found,
    upstreams: names,
  });
}

async function hashAt(pool: UpstreamPool, block: number, only: string, signal: AbortSignal) {
  try {
    const answer = await pool.getBlock(block, { only, signal, timeoutMs: BLOCK_TIMEOUT_MS });
    return answer?.value.header.hash ?? null;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ChainsteadError) return null;
    throw error;
  }
}
