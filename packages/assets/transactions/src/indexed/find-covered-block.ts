import type { Chain } from '@chainstead/chains';
import type { Hash } from '@chainstead/core';
import { hexText, type ReadDatabase, sql } from '@chainstead/db';
import { committedBlock } from '@chainstead/node-reads/requests';
import { type CoveredBlock, findBlockNumber } from '../headers/stored-header.ts';
import type { BlockPlace } from '../reading/read-block.ts';

/** Null as {@link readCoveredBlock}, without a stored header, and for `safe` and `finalized`. */
export async function findCoveredBlock(
  database: ReadDatabase,
  chain: Chain,
  at: BlockPlace,
  datasets: readonly string[],
): Promise<CoveredBlock | null> {
  const number = await numberOf(database, chain, at);
  const block = number === null ? null : await readCoveredBlock(database, chain, number, datasets);
  return typeof at === 'string' && at.startsWith('0x') && block?.hash !== at ? null : block;
}

async function numberOf(database: ReadDatabase, chain: Chain, at: BlockPlace): Promise<number | null> {
  if (typeof at === 'number') return at <= BLOCK_MAX ? at : null;
  if (at === 'earliest') return chain.firstBlock;
  if (at === 'latest') return (await committedBlock(database, chain))?.number ?? null;
  return at === 'safe' || at === 'finalized' ? null : findBlockNumber(database, chain, at);
}

const BLOCK_MAX = 2_147_483_647;

export async function readCoveredBlock(
  database: ReadDatabase,
  chain: Pick<Chain, 'id' | 'confirmations'>,
  number: number,
  datasets: readonly string[],
): Promise<CoveredBlock | null> {
  const [row] = await database.select<{
    hash: Hash;
    timestamp: number;
    levels: readonly string[];
    final: number | null;
  }>(
    sql`SELECT ${hexText('block_hash')} AS hash, extract(epoch FROM block_timestamp)::int8 AS timestamp,
       ARRAY(SELECT proof FROM sync_ranges AS range WHERE range.chain_id = ${chain.id} AND range.dataset = ANY (${datasets}::text[])
         AND ${number} BETWEEN range.first_block AND range.last_block) AS levels,
       (SELECT coalesce(finalized, coalesce(head, checkpoint) - ${chain.confirmations}::int8) FROM sync_chains AS chain WHERE chain.chain_id = ${chain.id}) AS final
     FROM blocks WHERE chain_id = ${chain.id} AND block_number = ${number}`,
  );
  if (row === undefined || row.levels.length < datasets.length || row.levels.includes('unproven')) return null;
  return {
    number,
    hash: row.hash,
    timestamp: row.timestamp,
    proof: row.levels.every((level) => level === 'receipts') ? 'receipts+transactions' : 'none',
    finalized: row.final !== null && number <= row.final,
  };
}
