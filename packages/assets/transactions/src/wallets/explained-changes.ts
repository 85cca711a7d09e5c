import type { Chain } from '@chainstead/chains';
import type { Address, BlockRange } from '@chainstead/core';
import { addressBytes, type Database, expectedTrue, isSpread, rawSql, type Sql, sql } from '@chainstead/db';
import { addressKey, DIRECTION } from '@chainstead/db/column-types';
import { coinChange, type PaidTransaction } from './coin-change.ts';

export interface ExplainedChanges {
  /** Wei, from the range's start to the end of a block. */
  until(block: number): bigint;
  /** Wei, without internal calls. */
  byTransactionsOf(block: number): bigint;
}

/** One snapshot: later writes are not included. */
export async function readExplainedChanges(
  database: Database,
  chain: Pick<Chain, 'id'>,
  account: Address,
  range: BlockRange,
): Promise<ExplainedChanges> {
  const ofAccount = sql`account_key = ${addressKey(account)}::bigint AND ${expectedTrue(sql`account = ${addressBytes(account)}::bytea`)} AND chain_id = ${chain.id}
    AND block_number BETWEEN ${range.from}::bigint AND ${range.to}::bigint`;
  const [paid, inside] = await Promise.all([
    database.query<PaidTransaction & { readonly block: number; readonly roles: number }>(
      paidStatement(chain, ofAccount, await isSpread(database)),
    ),
    database.query<{ block: number; change: string }>(
      sql`SELECT block_number AS block, sum(CASE direction WHEN ${rawSql(DIRECTION.sent)} THEN -value WHEN ${rawSql(DIRECTION.received)} THEN value ELSE 0 END)::text AS change
       FROM internal_transfers WHERE ${ofAccount} GROUP BY block_number`,
    ),
  ]);
  const byTransactions = new Map<number, bigint>();
  for (const { block, roles, ...row } of paid) add(byTransactions, block, coinChange(row, roles, chain));
  const all = new Map(byTransactions);
  for (const { block, change } of inside) add(all, block, BigInt(change));
  const blocks = [...all].toSorted(([left], [right]) => left - right);
  let sum = 0n;
  const sums = blocks.map(([block, change]) => {
    sum += change;
    return { block, sum };
  });
  return {
    until: (block) => sums[countUntil(sums, block) - 1]?.sum ?? 0n,
    byTransactionsOf: (block) => byTransactions.get(block) ?? 0n,
  };
}

function countUntil(sums: readonly { readonly block: number }[], block: number): number {
  let [low, high] = [0, sums.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sums[middle]?.block ?? Number.POSITIVE_INFINITY) <= block) low = middle + 1;
    else high = middle;
  }
  return low;
}

function add(changes: Map<number, bigint>, block: number, change: bigint): void {
  changes.set(block, (changes.get(block) ?? 0n) + change);
}

/** A lookup by the whole key can't become a scan of partitions; Citus does not support it. */
function paidStatement({ id }: Pick<Chain, 'id'>, ofAccount: Sql, isOnCluster: boolean): Sql {
  const place = sql`made.transaction_key = mine.transaction_key AND made.chain_id = ${id}
    AND made.block_number = mine.block_number AND made.transaction_index = mine.transaction_index`;
  const lookup = isOnCluster
    ? sql`JOIN transactions AS made ON ${place}`
    : sql`CROSS JOIN LATERAL (SELECT * FROM transactions AS made WHERE ${place} LIMIT 1) AS made`;
  return sql`WITH mine AS MATERIALIZED (
      SELECT transaction_key, block_number, transaction_index, roles FROM account_transactions WHERE ${ofAccount})
    SELECT mine.block_number AS block, mine.roles, made.type, made.status, made.value::text, made.gas_used::text,
      made.gas_price::text, made.l1_fee::text, made.blob_gas_used::text,
      made.blob_gas_price::text
    FROM mine ${lookup}`;
}
