/** Tables `tracked_wallets`, `wallet_scan_state` and `subject_ranges`, under the chain's commit lock. */
import type { BlockRange, ChainId } from '@chainstead/core';
import { rawSql, type Sql, sql, type Transaction } from '@chainstead/db';
import { accountTransactions } from '../stored/datasets.ts';

/** Wallets without a request for this long are deleted. */
const FORGOTTEN_AFTER = sql`interval '30 days'`;
/** Per commit. */
const FORGOTTEN_AT_ONCE = 100;

/** The chain's blocks below `from` were committed before. Returns whether any wallet is requested. */
export async function beginWatching(transaction: Transaction, chainId: ChainId, from: number): Promise<boolean> {
  const [row] = await transaction.query<{ isAny: boolean }>(
    sql`WITH begun AS (UPDATE tracked_wallets SET since_block = ${from} WHERE chain_id = ${chainId} AND since_block IS NULL RETURNING 1)
     SELECT EXISTS (SELECT FROM tracked_wallets WHERE chain_id = ${chainId}) AS "isAny", (SELECT count(*) FROM begun) AS begun`,
  );
  return row?.isAny ?? false;
}

export async function extendRun(transaction: Transaction, chainId: ChainId, { from, to }: BlockRange): Promise<void> {
  const extended = await transaction.query(
    sql`UPDATE wallet_scan_state SET last_block = ${to} WHERE chain_id = ${chainId} AND last_block = ${from}::bigint - 1 RETURNING 1 AS extended`,
  );
  if (extended.length > 0) return;
  await transaction.query(keepSearched('tracked_wallets', chainId));
  await transaction.query(
    sql`UPDATE tracked_wallets SET since_block = ${from} WHERE chain_id = ${chainId} AND since_block < ${from}`,
  );
  await transaction.query(
    sql`INSERT INTO wallet_scan_state (chain_id, first_block, last_block) VALUES (${chainId}, ${from}, ${to})
     ON CONFLICT (chain_id) DO UPDATE SET first_block = excluded.first_block, last_block = excluded.last_block`,
  );
}

/** The replacements of removed blocks will be searched for every wallet. */
export async function cutRun(transaction: Transaction, chainId: ChainId, ancestor: number): Promise<void> {
  await transaction.query(
    sql`UPDATE tracked_wallets SET since_block = ${ancestor}::bigint + 1 WHERE chain_id = ${chainId} AND since_block > ${ancestor}::bigint + 1`,
  );
  await transaction.query(
    sql`UPDATE wallet_scan_state SET first_block = least(first_block, ${ancestor}::bigint + 1), last_block = ${ancestor} WHERE chain_id = ${chainId} AND last_block > ${ancestor}`,
  );
}

/** Transactions and known ranges of the wallets stay. */
export async function forgetUnrequested(transaction: Transaction, chainId: ChainId): Promise<void> {
  const isOld = sql`chain_id = ${chainId} AND asked_at < now() - ${FORGOTTEN_AFTER}`;
  const gone = sql`DELETE FROM tracked_wallets WHERE ${isOld}
    AND wallet IN (SELECT wallet FROM tracked_wallets WHERE ${isOld} ORDER BY asked_at LIMIT ${rawSql(FORGOTTEN_AT_ONCE)})
    RETURNING chain_id, wallet, since_block`;
  await transaction.query(sql`WITH gone AS (${gone}) ${keepSearched('gone', chainId)}`);
}

/** For wallets whose run ends. `wallets`: a relation like `tracked_wallets`. */
function keepSearched(wallets: string, chainId: ChainId): Sql {
  return sql`INSERT INTO subject_ranges (chain_id, kind, subject, dataset, first_block, last_block)
    SELECT chain_id, 'wallet', wallet, ${accountTransactions.name}, greatest(since_block, first_block), last_block
      FROM ${rawSql(wallets)} JOIN wallet_scan_state USING (chain_id)
     WHERE chain_id = ${chainId} AND since_block IS NOT NULL AND greatest(since_block, first_block) <= last_block
    ON CONFLICT DO NOTHING`;
}
