import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { readBlockRuns } from '@chainstead/data-api';
import { addressBytes, hexText, joinSql, type ReadDatabase, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/address-key';
import { formsOf, SWAPS_DATASET } from '@chainstead/markets';

/** Unix seconds. `-Infinity`: since the chain's first block. Null: swaps of the block are not indexed. */
export async function readSwapsSince(database: ReadDatabase, chain: Chain, block: number): Promise<number | null> {
  const run = (await readBlockRuns(database, chain.id, [SWAPS_DATASET], block)).get(SWAPS_DATASET);
  if (run === undefined) return null;
  if (run.firstBlock <= chain.firstBlock) return Number.NEGATIVE_INFINITY;
  const [row] = await database.select<{ time: number }>(
    sql`SELECT extract(epoch FROM block_timestamp)::float8 AS time FROM blocks
     WHERE chain_id = ${chain.id}::bigint AND block_number >= ${run.firstBlock}::bigint ORDER BY block_number LIMIT 1`,
  );
  return row?.time ?? null;
}

/** Tokens that may have unproven pools: by the guess from transfers, or without a guess all of them. */
export async function readUndecided(
  database: ReadDatabase,
  chain: Chain,
  tokens: readonly Address[],
): Promise<ReadonlySet<Address>> {
  const forms = [...new Set(tokens.flatMap((token) => formsOf(token, chain)))];
  const chainId = sql`${chain.id}::bigint`;
  const [keys, wanted] = [sql`${forms.map(addressKey)}::bigint[]`, sql`${forms.map(addressBytes)}::bytea[]`];
  const ranges = [sql`token0`, sql`token1`].flatMap((side) => [
    sql`(SELECT DISTINCT ${hexText(side)} AS token FROM pools WHERE address_key(${side}) = ANY (${keys}) AND chain_id = ${chainId}
        AND status = 'unproven' AND ${side} = ANY (${wanted}))`,
    sql`(SELECT NULL AS token FROM pools WHERE address_key(${side}) IS NULL AND chain_id = ${chainId} AND status = 'unproven' LIMIT 1)`,
  ]);
  const rows = await database.select<{ token: Address | null }>(joinSql(ranges, ' UNION ALL '));
  const found = new Set(rows.map(({ token }) => token));
  return new Set(tokens.filter((token) => found.has(null) || formsOf(token, chain).some((form) => found.has(form))));
}
