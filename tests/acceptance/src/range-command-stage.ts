/** A stage for the range commands: their options, an indexed chain, and rows damaged by hand. */

import { type BlockRange, silentLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import type { RangeCommandOptions } from '@chainstead/sync/ingest';
import type { ChainNode } from '@chainstead/testkit';
import { datasets } from 'chainstead/src/datasets/index.ts';
import { startPool } from './indexed-chain.ts';
import { untilIndexed } from './indexed-tables.ts';
import type { Stage } from './stage.ts';

/** A wait without an end. */
export const never = new AbortController().signal;

/** What the command line hands to the sync engine. */
export async function commandOptions(
  stage: Stage,
  nodes: readonly ChainNode[],
  changed: Partial<RangeCommandOptions> = {},
): Promise<RangeCommandOptions> {
  const { pool, metrics } = await startPool(
    stage.facts,
    nodes.map(({ url }) => url),
  );
  stage.closeLater(() => pool.close());
  return {
    chain: stage.facts,
    pool,
    metrics,
    database: stage.scratch.database,
    datasets,
    logger: silentLogger(),
    clock: systemClock,
    proof: 'strict',
    backfillProof: 'none',
    ...changed,
  };
}

/** The stage's chain indexed and proven from block 1 to its head; nothing runs any more. */
export async function indexedStage(stage: Stage): Promise<ChainNode> {
  const node = await stage.serve();
  const indexer = await stage.index([node]);
  await untilIndexed(stage.scratch.database, stage.facts, stage.chain, { proven: true });
  await indexer.stop();
  return node;
}

/** Blocks of which the table has rows. */
export async function blocksWithRows(stage: Stage): Promise<number[]> {
  const rows = await stage.scratch.database.query<{ blockNumber: number }>(
    sql`SELECT DISTINCT block_number FROM erc20_transfer_sides ORDER BY block_number`,
  );
  return rows.map((row) => row.blockNumber);
}

/** Blocks of a range that have transfers. */
export function blocksWithTransfers(stage: Stage, range: BlockRange): number[] {
  return [...new Set(stage.chain.expectedTransfers(range).map(({ blockNumber }) => blockNumber))];
}

/** Where rows are damaged by hand. */
export const DAMAGED = { from: 100, to: 139 } as const;

/** Deletes, alters and invents rows by hand in three blocks. */
export async function damage(stage: Stage): Promise<void> {
  const { database } = stage.scratch;
  const [first, second, third] = blocksWithTransfers(stage, DAMAGED);
  await database.query(sql`DELETE FROM erc20_transfer_sides WHERE block_number = ${first ?? null}`);
  await database.query(
    sql`UPDATE erc20_transfer_sides SET value = value + 1 WHERE block_number = ${second ?? null}`,
  );
  await database.query(
    sql`INSERT INTO erc20_transfer_sides (account_key, account, chain_id, block_number, transaction_index, log_index, direction,
                                  token, counterparty, value, transaction_hash)
     SELECT account_key, account, chain_id, block_number, transaction_index, log_index + 10000, direction, token,
            counterparty, value, transaction_hash
       FROM erc20_transfer_sides WHERE block_number = ${third ?? null} LIMIT 1`,
  );
}
