import type { Chain } from '@chainstead/chains';
import { isSponsored } from '@chainstead/chains/fees';
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { addressKey } from '@chainstead/db/column-types';
import { forgetWalletCounts } from '@chainstead/pages';
import { committedTransactions } from '@chainstead/proof';
import { type Dataset, defineTable, type ExecutedTransaction, type WholeBlock } from '@chainstead/sync/datasets';
import { approvalsIn } from '../approvals/read-approvals.ts';
import { decodeEvidence, evidenceOf, type TransactionEvidence } from '../evidence/decode-evidence.ts';
import { evidenceBits, mayReport } from '../evidence/token-evidence.ts';
import { statusOf } from '../records/transaction-record.ts';
import {
  type AccountTransactionRow,
  accountTransactions as accountTable,
  NO_ROLE,
  ROLES,
  type TransactionRow,
  transactions as transactionTable,
} from './schema.ts';
import { transactionKey } from './transaction-key.ts';
import { transactionRow } from './transaction-row.ts';

export const transactions: Dataset<TransactionRow> = {
  name: 'transactions',
  topics: () => [],
  table: defineTable(transactionTable),
  decode: () => [],
  wholeBlocks: {
    reads,
    decode: (block, { chain }) =>
      committedIn(block, chain).map((transaction) => transactionRow(transaction, block.header, chain)),
  },
};

export const accountTransactions: Dataset<AccountTransactionRow> = {
  name: 'account-transactions',
  topics: () => [],
  table: defineTable(accountTable),
  decode: () => [],
  wholeBlocks: {
    reads,
    decode: (block, { chain }) =>
      committedIn(block, chain).flatMap((transaction) => accountRows(transaction, block.header.number, chain)),
  },
  projections: [forgetWalletCounts('account-transactions', [accountTable.account])],
};

function reads({ transactions: { mode } }: Chain): readonly 'transactions'[] {
  return mode === 'all' ? ['transactions'] : [];
}

export function committedIn(
  { header, transactions: all }: WholeBlock,
  chain: Chain,
): readonly ExecutedTransaction[] {
  const listed = all.map(({ raw }) => raw);
  const committed = committedTransactions(header, listed, chain);
  if (committed.length === all.length) return all;
  const own = new Set(committed);
  return all.filter(({ raw }) => own.has(raw));
}

/** Each account once, also those with evidence that no other table has. `related` need none. */
export function accountRows(
  executed: ExecutedTransaction,
  blockNumber: number,
  chain: Chain,
  related: Iterable<Address> = [],
): readonly AccountTransactionRow[] {
  const transactionIndex = executed.index;
  const shared = {
    chainId: chain.id,
    transactionKey: transactionKey(executed.hash),
    blockNumber,
    transactionIndex,
  };
  const roles = rolesIn(executed, chain);
  const logs = readEvidence(executed, chain);
  const rowOf = (account: Address, role: number): AccountTransactionRow => ({
    ...{ ...shared, accountKey: addressKey(account), evidence: logs.bitsOf(account), roles: role, account },
  });
  const rows = roles.map(([account, role]) => rowOf(account, role));
  const named = [...logs.accounts, ...related];
  if (named.length === 0) return rows;
  const others = new Set(named).difference(new Set([ZERO_ADDRESS, ...roles.map(([account]) => account)]));
  return [...rows, ...apart([...others].map((account) => rowOf(account, NO_ROLE)))];
}

/** Accounts that share a key need distinct numbers, below all roles. */
function apart(rows: readonly AccountTransactionRow[]): readonly AccountTransactionRow[] {
  const seen = new Map<string, number>();
  return rows.map((row) => {
    const before = seen.get(row.accountKey) ?? 0;
    seen.set(row.accountKey, before + 1);
    return before === 0 ? row : { ...row, roles: NO_ROLE - before };
  });
}

/** Failed transactions create nothing, whatever nodes say. */
function rolesIn(executed: ExecutedTransaction, { id }: Chain): readonly (readonly [Address, number])[] {
  const { from, to, contractAddress } = executed;
  const roles: [Address, number][] = [];
  const add = (account: Address | null, role: number): void => {
    if (account === null || account === ZERO_ADDRESS) return;
    const entry = roles.find(([other]) => other === account);
    if (entry === undefined) roles.push([account, role]);
    else entry[1] |= role;
  };
  add(from, isSponsored(executed, id) ? ROLES.sender | ROLES.sponsored : ROLES.sender);
  add(to, ROLES.receiver);
  if (statusOf(executed) !== 0) add(contractAddress, ROLES.created);
  return roles;
}

const SAYS_NOTHING = evidenceBits({ evidence: new Set(), approvesTokens: false, approvesOtherwise: false });

interface LogsEvidence {
  readonly accounts: readonly Address[];
  bitsOf(account: Address): number;
}

const SILENT: LogsEvidence = { accounts: [], bitsOf: () => SAYS_NOTHING };
const NO_EVIDENCE: TransactionEvidence = { ofAccount: new Map(), ofAll: new Set() };

function readEvidence({ from, to, logs }: ExecutedTransaction, chain: Chain): LogsEvidence {
  const may = mayReport(logs);
  if (!may.evidence && !may.approvals) return SILENT;
  const evidence = may.evidence ? decodeEvidence({ from, to, logs }, chain) : NO_EVIDENCE;
  const approvalLogs = may.approvals ? logs.map((log) => ({ ...log, index: log.logIndex })) : [];
  const approvals = Map.groupBy(approvalsIn(approvalLogs, chain), ({ owner }) => owner);
  const isSilentOf = (account: Address): boolean =>
    evidence.ofAll.size === 0 &&
    (evidence.ofAccount.size === 0 || !evidence.ofAccount.has(account)) &&
    (approvals.size === 0 || !approvals.has(account));
  const approves = (account: Address, isOfTokens: boolean): boolean =>
    approvals.get(account)?.some(({ approval: { kind } }) => (kind === 'token') === isOfTokens) ?? false;
  return {
    accounts: [
      ...evidence.ofAccount.keys(),
      ...[...approvals.keys()].filter((account) => approves(account, false)),
    ],
    bitsOf(account) {
      if (isSilentOf(account)) return SAYS_NOTHING;
      const [approvesTokens, approvesOtherwise] = [approves(account, true), approves(account, false)];
      return evidenceBits({ evidence: evidenceOf(evidence, account), approvesTokens, approvesOtherwise });
    },
  };
}
