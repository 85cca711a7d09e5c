import type { Chain, ProofPolicy } from '@chainstead/chains';
import { defineError, type Hash } from '@chainstead/core';
import { type Database, hexText, rawSql, sql } from '@chainstead/db';
import type { UpstreamPool } from '@chainstead/rpc';
import { ReorgedWhileReadingError, type WatchedBlock } from '@chainstead/sync';

export interface PastChain {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly policy: ProofPolicy;
}

export class ChainNotServedError extends defineError('CHAIN_NOT_SERVED', (chain: string) => ({
  message: `No upstream of ${chain} is configured here`,
  facts: { chain },
  remedy: 'Add the chain to CHAINS',
})) {}

/** @throws ChainNotServedError */
export function chainAmong<Served extends PastChain>(chains: readonly Served[], { id, key }: Chain): Served {
  const served = chains.find(({ chain }) => chain.id === id);
  if (served === undefined) throw new ChainNotServedError(key);
  return served;
}

export interface FollowedHeight {
  /** Newest matched block. The follower matches later ones. */
  readonly followed: number;
  readonly confirmed: number;
}

type Reader = Pick<Database, 'query'>;

/** Null: none yet. `hold` locks it until the transaction ends. */
export async function readCheckpoint(
  reader: Reader,
  chainId: Chain['id'],
  hold: 'hold' | 'look',
): Promise<number | null> {
  const [row] = await reader.query<{ checkpoint: number | null }>(
    sql`SELECT checkpoint FROM sync_chains WHERE chain_id = ${chainId} ${rawSql(hold === 'hold' ? 'FOR SHARE' : '')}`,
  );
  return row?.checkpoint ?? null;
}

/** `hold` locks the checkpoint until the transaction ends, so that no block is rolled back. */
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

/** @throws ReorgedWhileReadingError if a different block is stored at a height */
export async function requireCanonical(
  reader: Reader,
  chain: Chain,
  blocks: readonly Pick<WatchedBlock, 'header'>[],
): Promise<void> {
  const numbers = blocks.map(({ header }) => header.number);
  const rows = await reader.query<{ number: number; hash: Hash }>(
    sql`SELECT block_number AS number, ${hexText('block_hash')} AS hash FROM blocks
     WHERE chain_id = ${chain.id} AND block_number BETWEEN ${Math.min(...numbers)} AND ${Math.max(...numbers)}`,
  );
  const stored = new Map(rows.map(({ number, hash }) => [number, hash]));
  for (const { header } of blocks) {
    const hash = stored.get(header.number) ?? header.hash;
    if (hash !== header.hash)
      throw new ReorgedWhileReadingError({
        chain: chain.key,
        what: `block ${header.number} was read as ${header.hash}, not ${hash}`,
      });
  }
}
