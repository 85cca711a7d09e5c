import type { Chain } from '@chainstead/chains';
import type { ChainId, Hash } from '@chainstead/core';
import { type Database, hexText, sql, type Transaction } from '@chainstead/db';
import { CheckpointMovedError } from './errors.ts';

export interface Checkpoint {
  readonly number: number;
  readonly hash: Hash;
}

export interface ChainState {
  readonly historyStart: number;
  readonly firstFollowed: number;
  readonly checkpoint: Checkpoint | null;
}

/** Null before the chain's first start. */
export async function readChainState(
  source: Pick<Database, 'query'>,
  chainId: ChainId,
): Promise<ChainState | null> {
  const [state] = await source.query<ChainState>(
    sql`SELECT history_start, first_followed, CASE WHEN checkpoint_hash IS NOT NULL
         THEN json_build_object('number', checkpoint, 'hash', ${hexText('checkpoint_hash')}) END AS checkpoint
       FROM sync_chains WHERE chain_id = ${chainId}`,
  );
  return state ?? null;
}

/** The first followed block is fixed once a block was followed. */
export async function saveChainStart(
  database: Database,
  { id, key }: Pick<Chain, 'id' | 'key'>,
  historyStart: number,
  firstFollowed: number,
): Promise<void> {
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, chain_key, history_start, first_followed) VALUES (${id}, ${key}, ${historyStart}, ${firstFollowed})
     ON CONFLICT (chain_id) DO UPDATE SET chain_key = excluded.chain_key,
       history_start = excluded.history_start, updated_at = now(),
       first_followed = CASE WHEN sync_chains.checkpoint IS NULL THEN excluded.first_followed ELSE sync_chains.first_followed END`,
  );
}

/** @throws CheckpointMovedError if it is not at `from`: another process is ahead */
export async function moveCheckpoint(
  transaction: Transaction,
  chain: Chain,
  from: Checkpoint | null,
  to: Checkpoint,
): Promise<void> {
  const moved = await transaction.query(
    sql`UPDATE sync_chains SET checkpoint = ${to.number}, checkpoint_hash = decode(${to.hash.slice(2)}, 'hex'), stall_reason = NULL,
            stop_code = NULL, stop_message = NULL, updated_at = now()
      WHERE chain_id = ${chain.id} AND checkpoint IS NOT DISTINCT FROM ${from?.number ?? null}
        AND checkpoint_hash IS NOT DISTINCT FROM decode(${from?.hash.slice(2) ?? null}, 'hex') RETURNING chain_id`,
  );
  // Invariant: SYNC-PARENT-CHECKPOINT
  if (moved.length !== 1) throw new CheckpointMovedError({ chain: chain.key, expected: from?.number ?? null });
}

export async function storedHash(
  source: Pick<Database, 'query'>,
  chainId: ChainId,
  number: number,
): Promise<Hash | null> {
  const [block] = await source.query<{ hash: Hash }>(
    sql`SELECT ${hexText('block_hash')} AS hash FROM blocks WHERE chain_id = ${chainId} AND block_number = ${number}`,
  );
  return block?.hash ?? null;
}
