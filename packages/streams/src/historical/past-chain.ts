import type { Chain, ProofPolicy } from '@chainstead/chains';
import { type BlockRange, ChainsteadError, type Hash } from '@chainstead/core';
import { type Database, hexText } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { ChainMovedError, type WatchedBlock } from '@chainstead/sync';

/** A chain whose past blocks are read. */
export interface PastChain {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly policy: ProofPolicy;
}

/** The routes offer only chains that are configured. */
export class ChainNotServedError extends ChainsteadError {
  constructor(chain: string) {
    super({
      code: 'CHAIN_NOT_SERVED',
      message: `No upstream of ${chain} is configured here`,
      facts: { chain },
      remedy: 'Add the chain to CHAINS',
      retryable: false,
    });
  }
}

/** @throws ChainNotServedError */
export function chainAmong<One extends PastChain>(chains: readonly One[], { id, key }: Chain): One {
  const found = chains.find(({ chain }) => chain.id === id);
  if (found === undefined) throw new ChainNotServedError(key);
  return found;
}

/** Up to where a chain has been followed. */
export interface FollowedHeight {
  /** The newest block of which matches are made; of later ones they will be. */
  readonly followed: number;
  /** The newest block whose matches are confirmed. */
  readonly confirmed: number;
}

type Reader = Pick<Database, 'query'>;

/** The newest block that was followed; null: none yet. */
export async function readCheckpoint(
  reader: Reader,
  chainId: Chain['id'],
  hold: 'hold' | 'look',
): Promise<number | null> {
  const [row] = await reader.query<{ checkpoint: number | null }>(
    `SELECT checkpoint FROM sync_chains WHERE chain_id = $1 ${hold === 'hold' ? 'FOR SHARE' : ''}`,
    [chainId],
  );
  return row?.checkpoint ?? null;
}

/**
 * From the chain's checkpoint, held in a transaction until it ends, so that no block is taken back meanwhile. A chain that was
 * never followed counts as far as it is settled.
 */
export async function readFollowedHeight(
  reader: Reader,
  { chain, pool }: PastChain,
  hold: 'hold' | 'look',
): Promise<FollowedHeight> {
  const checkpoint = await readCheckpoint(reader, chain.id, hold);
  if (checkpoint !== null) return { followed: checkpoint, confirmed: checkpoint - chain.confirmations };
  const settled = (await pool.getHead()).value.number - chain.reorgDepthMax;
  return { followed: settled, confirmed: settled };
}

/** @throws ChainMovedError when the chain has another block at the height of one of these, as far as its blocks are stored. */
export async function requireCanonical(reader: Reader, chain: Chain, blocks: readonly WatchedBlock[]): Promise<void> {
  const range = rangeOf(blocks);
  const rows = await reader.query<{ block_number: number; hash: Hash }>(
    `SELECT block_number, ${hexText('block_hash')} AS hash FROM blocks
     WHERE chain_id = $1 AND block_number BETWEEN $2 AND $3`,
    [chain.id, range.from, range.to],
  );
  const stored = new Map(rows.map((row) => [row.block_number, row.hash]));
  for (const { header } of blocks) {
    const hash = stored.get(header.number) ?? header.hash;
    if (hash !== header.hash)
      throw new ChainMovedError({
        chain: chain.key,
        what: `block ${header.number} was read as ${header.hash}, not ${hash}`,
      });
  }
}

function rangeOf(blocks: readonly WatchedBlock[]): BlockRange {
  const numbers = blocks.map(({ header }) => header.number);
  return { from: Math.min(...numbers), to: Math.max(...numbers) };
}
