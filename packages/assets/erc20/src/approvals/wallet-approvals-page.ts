import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { addressBytes, expectedTrue, hexBytes, rawSql, rowsAfter, type Sql, sql, where } from '@chainstead/db';
import { digits, hex, int4, int8, packedRows, type RowOf } from '@chainstead/db/packed-rows';
import {
  type CoveredSubject,
  chainPage,
  readSubjectState,
  type SubjectSnapshot,
  subjectCoverage,
  subjectState,
} from '@chainstead/pages';
import { type PackedTokens, readTokens, tokenBook, tokensOf } from '@chainstead/tokens/token-book';
import { erc20WalletApprovals } from './wallet-approvals.ts';

export interface ApprovalPosition {
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
  readonly token: Address;
  readonly spender: Address;
}

export interface WalletApprovalsQuery {
  readonly wallet: Address;
  readonly limit: number;
  readonly after: ApprovalPosition | null;
  /** Excludes approvals after the first request of a run. Null on the first page. */
  readonly pinnedBlock: number | null;
}

export type WalletApproval = RowOf<typeof APPROVALS>;
export type WalletApprovals = Awaited<ReturnType<ReturnType<typeof walletApprovalsPage>['read']>>;

const APPROVALS = packedRows({
  block_number: int8('block_number'),
  transaction_index: int4('transaction_index'),
  log_index: int4('log_index'),
  token: hex<Address>('token', 20),
  spender: hex<Address>('spender', 20),
  /** Base units. */
  value: digits('value'),
  transaction_hash: hex<Hash>('transaction_hash', 32),
});

/** One backward scan of limit + 1 approvals in force (wallet-approvals-page.explain.test.ts). */
export function walletApprovalsPage(chain: Chain, query: WalletApprovalsQuery) {
  const wallet = sql`${addressBytes(query.wallet)}::bytea`;
  const subject: CoveredSubject = {
    kind: 'wallet',
    subject: wallet,
    chainId: chain.id,
    dataset: 'erc20-approvals',
  };
  const conditions = [
    sql`wallet = ${wallet}`,
    sql`chain_id = ${chain.id}`,
    ...pageBounds(query),
    expectedTrue(sql`value > 0`),
  ];
  return chainPage({
    ...{ chain, query, rows: APPROVALS, newest: [] },
    range: { ctes: [subjectCoverage(subject)], complete: rawSql('NULL'), far: [] },
    order: { positionOf },
    scan: sql`SELECT * FROM erc20_wallet_approvals ${where(conditions)} ${NEWEST_FIRST} LIMIT ${query.limit + 1}`,
    labelled: sql`ARRAY(SELECT token FROM page UNION SELECT spender FROM page)`,
    related: {
      coverage: {
        column: subjectState(subject, erc20WalletApprovals),
        read: (snapshot: SubjectSnapshot) => readSubjectState(chain, snapshot, chain.firstBlock).coverage,
      },
      tokenOf: {
        column: tokensOf(sql`SELECT token FROM page`, chain.id),
        read: (packed: PackedTokens) => tokenBook(readTokens(packed)),
      },
    },
  });
}

const KEY = ['block_number', 'transaction_index', 'log_index', 'token', 'spender'];
const NEWEST_FIRST = rawSql(`ORDER BY ${KEY.map((column) => `${column} DESC`).join(', ')}`);

function positionOf(row: WalletApproval): ApprovalPosition {
  const {
    block_number: blockNumber,
    transaction_index: transactionIndex,
    log_index: logIndex,
    token,
    spender,
  } = row;
  return { blockNumber, transactionIndex, logIndex, token, spender };
}

/** The previous page's last row is not above the pinned block, so one bound suffices. */
function pageBounds({ after, pinnedBlock }: WalletApprovalsQuery): readonly Sql[] {
  if (after === null) return pinnedBlock === null ? [] : [sql`block_number <= ${pinnedBlock}::int`];
  const { blockNumber, transactionIndex, logIndex, token, spender } = after;
  const values = [
    ...[blockNumber, transactionIndex, logIndex].map((place) => sql`${place}::int`),
    ...[token, spender].map((address) => sql`${hexBytes(address)}::bytea`),
  ];
  return [rowsAfter('DESC', KEY, values)];
}
