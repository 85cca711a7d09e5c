import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, expectedTrue, hexBytes, hexText, rawSql, rowsAfter, type Sql, sql, where } from '@chainstead/db';
import { subjectColumns, subjectCoverage, subjectHistory } from '@chainstead/pages';
import { erc20WalletApprovals } from './wallet-approvals.ts';

export interface ApprovalKey {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
  readonly token: Address;
  readonly spender: Address;
}

export interface WalletApprovalsQuery {
  readonly wallet: Address;
  readonly limit: number;
  readonly after: ApprovalKey | null;
  /** Excludes approvals after the first request of a run. Null on the first page. */
  readonly pinnedBlock: number | null;
}

/** One backward scan of limit + 1 approvals in force (get-wallet-approvals.explain.test.ts). */
export function walletApprovalsStatement({ id: chainId }: Chain, query: WalletApprovalsQuery): Sql {
  const wallet = sql`${addressBytes(query.wallet)}::bytea`;
  const states = [erc20WalletApprovals];
  const subject = { kind: 'wallet', subject: wallet, chainId, dataset: 'erc20-approvals', states } as const;
  const bounds = [
    sql`wallet = ${wallet}`,
    sql`chain_id = ${chainId}`,
    ...pageBounds(query),
    expectedTrue(sql`value > 0`),
  ];
  return sql`WITH ${subjectCoverage(subject)}, state AS MATERIALIZED (
  SELECT ${subjectColumns(subject)} FROM covered LEFT JOIN ${subjectHistory(subject)}
), approval AS MATERIALIZED (
  SELECT held.value, held.block_number, held.transaction_index, held.log_index, held.transaction_hash, held.token, held.spender,
    token.name, token.symbol, token.decimals, token.logo, token.verified, token.possible_spam
  FROM (SELECT * FROM erc20_wallet_approvals ${where(bounds)} ORDER BY ${newestFirst('')} LIMIT ${query.limit + 1}) AS held
  LEFT JOIN LATERAL (SELECT * FROM tokens WHERE address = held.token AND chain_id = ${chainId} LIMIT 1) AS token ON true
), block AS MATERIALIZED (
  SELECT block_number, block_timestamp FROM blocks WHERE chain_id = ${chainId} AND block_number = ANY (ARRAY(SELECT block_number FROM approval))
)
SELECT state.*,
  approval.value::text, approval.block_number AS "blockNumber", approval.transaction_index AS "transactionIndex",
  approval.log_index AS "logIndex", ${hexText('approval.transaction_hash')} AS "transactionHash", block.block_timestamp AS "blockTimestamp",
  ${hexText('approval.token')} AS token, approval.name, approval.symbol, approval.decimals, approval.logo, approval.verified,
  approval.possible_spam AS "possibleSpam", ${hexText('approval.spender')} AS spender
FROM state LEFT JOIN approval ON true LEFT JOIN block ON block.block_number = approval.block_number
ORDER BY ${newestFirst('approval.')}`;
}

const PLACE = ['block_number', 'transaction_index', 'log_index', 'token', 'spender'];

function newestFirst(prefix: string): Sql {
  return rawSql(PLACE.map((column) => `${prefix}${column} DESC`).join(', '));
}

/** The previous page's last row is not above the pinned block, so one bound suffices. */
function pageBounds({ after, pinnedBlock }: WalletApprovalsQuery): readonly Sql[] {
  if (after === null) return pinnedBlock === null ? [] : [sql`block_number <= ${pinnedBlock}::int`];
  const { blockNumber, transactionIndex, logIndex, token, spender } = after;
  const values = [
    ...[blockNumber, transactionIndex, logIndex].map((place) => sql`${place}::int`),
    ...[token, spender].map((address) => sql`${hexBytes(address)}::bytea`),
  ];
  return [rowsAfter('DESC', PLACE, values)];
}
