import type { Chain } from '@chainstead/chains';
import { addressBytes, hexText, joinSql, type ReadDatabase, rawSql, sql } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import { MOVED_DELTA } from '../moved-tables.ts';
import { erc20TransfersTable } from '../transfers/row-table.ts';
import type { BalanceSpan, Holding } from './holding.ts';

export interface MovedBlock {
  readonly block: number;
  /** Unix seconds. */
  readonly since: number;
  /** Base units received minus sent. */
  readonly delta: bigint;
}

export interface MovedSum {
  /** Base units received minus sent. */
  readonly sum: bigint;
  readonly moves: number;
}

/** By holding, oldest block first. One range of the primary key per account. */
export async function readMovedBlocks(
  database: ReadDatabase,
  chain: Chain,
  holdings: readonly Holding[],
  { start, end }: BalanceSpan,
): Promise<readonly (readonly MovedBlock[])[]> {
  if (holdings.length === 0) return [];
  const accounts = [...new Set(holdings.map(({ account }) => account))];
  const tokens = [...new Set(holdings.map(({ token }) => token))];
  const rows = await database.select<Holding & { block: number; delta: string; since: number }>(
    sql`WITH moved AS MATERIALIZED (
  SELECT account_key, account, token, block_number, sum(${MOVED_DELTA}) AS delta FROM ${rawSql(erc20TransfersTable.name)}
  WHERE account_key = ANY (${accounts.map(addressKey)}::bigint[]) AND chain_id = ${chain.id}::bigint AND account = ANY (${accounts.map(addressBytes)}::bytea[]) AND token = ANY (${tokens.map(addressBytes)}::bytea[])
    AND block_number > ${start}::bigint AND block_number <= ${end}::bigint
  GROUP BY account_key, account, token, block_number
)
SELECT ${hexText('account')} AS account, ${hexText('token')} AS token, moved.block_number AS block, delta::text,
  extract(epoch FROM block_timestamp)::float8 AS since
FROM moved JOIN blocks ON blocks.chain_id = ${chain.id}::bigint AND blocks.block_number = moved.block_number ORDER BY moved.block_number`,
  );
  const byHolding = Map.groupBy(rows, ({ account, token }) => `${account} ${token}`);
  return holdings.map(({ account, token }) =>
    (byHolding.get(`${account} ${token}`) ?? []).map(({ block, since, delta }) => ({
      ...{ block, since },
      delta: BigInt(delta),
    })),
  );
}

export async function readMovedSums(
  database: ReadDatabase,
  chain: Chain,
  holdings: readonly (Holding & { readonly after: number; readonly to: number })[],
): Promise<readonly MovedSum[]> {
  // Citus refuses an aggregate that depends on another relation: one range per holding.
  const ranges = holdings.flatMap(({ account, token, after, to }, position) => {
    if (after >= to) return [];
    const bytes = sql`${addressBytes(token)}::bytea`;
    return [
      sql`(SELECT ${rawSql(position)} AS position, coalesce(sum(${MOVED_DELTA}), 0)::text AS sum, count(*)::int AS moves FROM ${rawSql(erc20TransfersTable.name)}
  WHERE account_key = ${addressKey(account)}::bigint AND chain_id = ${chain.id}::bigint AND account = ${addressBytes(account)}::bytea
    AND token_key(token) = token_key(${bytes}) AND token = ${bytes} AND block_number > ${after}::bigint AND block_number <= ${to}::bigint)`,
    ];
  });
  const rows =
    ranges.length === 0
      ? []
      : await database.select<{ position: number; sum: string; moves: number }>(joinSql(ranges, ' UNION ALL '));
  const byPosition = new Map(rows.map((row) => [row.position, row]));
  return holdings.map((_, position) => {
    const row = byPosition.get(position);
    return { sum: BigInt(row?.sum ?? 0), moves: row?.moves ?? 0 };
  });
}
