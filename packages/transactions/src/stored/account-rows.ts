import type { Chain } from '@chainstead/chains';
import { type Address, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { addressKey } from '@chainstead/db/address-key';
import type { ExecutedTransaction } from '@chainstead/sync';
import { type ApprovalLog, approvalsIn } from '../approvals/read-approvals.ts';
import { decodeEvidence, evidenceOf, type TransactionEvidence } from '../evidence/decode-evidence.ts';
import { evidenceBits } from '../evidence/evidence-bits.ts';
import { mayTell } from '../evidence/may-tell.ts';
import { statusOf } from '../records/transaction-outcome.ts';
import { type AccountTransactionRow, NO_ROLE, ROLES } from './schema.ts';
import { transactionKey } from './transaction-key.ts';

/**
 * The rows of a transaction's accounts: sender, receiver and the contract that it created, each once, and others that its logs say something of
 * that no other table has. None of the zero address, which is nobody's.
 * @param beside others that get a row whatever the logs say of them
 */
export function accountRows(
  executed: ExecutedTransaction,
  blockNumber: number,
  chain: Chain,
  beside: Iterable<Address> = [],
): readonly AccountTransactionRow[] {
  const transactionIndex = executed.index;
  const shared = { chainId: chain.id, transactionKey: transactionKey(executed.hash), blockNumber, transactionIndex };
  const roles = rolesIn(executed);
  const said = saidIn(executed, chain);
  const rowOf = (account: Address, role: number): AccountTransactionRow => ({
    ...shared,
    accountKey: addressKey(account),
    evidence: said.bitsOf(account),
    roles: role,
    account,
  });
  const rows: AccountTransactionRow[] = [];
  for (const [account, role] of roles) rows.push(rowOf(account, role));
  const named = [...said.accounts, ...beside];
  // Of most there is nobody else.
  if (named.length === 0) return rows;
  const others = new Set(named).difference(new Set([ZERO_ADDRESS, ...roles.map(([account]) => account)]));
  return [...rows, ...apart([...others].map((account) => rowOf(account, NO_ROLE)))];
}

/** Rows without a role whose accounts share a key, told apart by numbers below all roles: the key of the table has no other. */
function apart(rows: readonly AccountTransactionRow[]): readonly AccountTransactionRow[] {
  const seen = new Map<string, number>();
  return rows.map((row) => {
    const before = seen.get(row.accountKey) ?? 0;
    seen.set(row.accountKey, before + 1);
    return before === 0 ? row : { ...row, roles: NO_ROLE - before };
  });
}

/** Nothing is created by what failed, whatever address nodes name. */
function rolesIn(executed: ExecutedTransaction): readonly (readonly [Address, number])[] {
  const { from, to, contractAddress } = executed;
  const roles: [Address, number][] = [];
  const add = (account: Address | null, role: number): void => {
    if (account === null || account === ZERO_ADDRESS) return;
    // They are two or three: comparing them takes less than the hashes of a map's keys.
    const known = roles.find(([one]) => one === account);
    if (known === undefined) roles.push([account, role]);
    else known[1] |= role;
  };
  add(from, ROLES.sender);
  add(to, ROLES.receiver);
  if (statusOf(executed) !== 0) add(contractAddress, ROLES.created);
  return roles;
}

/** What the logs of most transactions say of their accounts: that they were read. */
const SAYS_NOTHING = evidenceBits({ evidence: new Set(), approvesTokens: false, approvesOtherwise: false });

interface Said {
  /** Those of which there is something that transfers and approvals of tokens don't tell. */
  readonly accounts: readonly Address[];
  bitsOf(account: Address): number;
}

const SILENT: Said = { accounts: [], bitsOf: () => SAYS_NOTHING };
const NO_EVIDENCE: TransactionEvidence = { ofAccount: new Map(), ofAll: new Set() };

function saidIn({ from, to, logs }: ExecutedTransaction, chain: Chain): Said {
  const may = mayTell(logs);
  if (!may.evidence && !may.approvals) return SILENT;
  const evidence = may.evidence ? decodeEvidence({ from, to, logs }, chain) : NO_EVIDENCE;
  const given = may.approvals ? approvalsIn(logs.map(approvalLog), chain) : [];
  const approvals = Map.groupBy(given, ({ owner }) => owner);
  const isSilentOf = (account: Address): boolean =>
    evidence.ofAll.size === 0 &&
    (evidence.ofAccount.size === 0 || !evidence.ofAccount.has(account)) &&
    (approvals.size === 0 || !approvals.has(account));
  const approves = (account: Address, isOfTokens: boolean): boolean =>
    approvals.get(account)?.some(({ approval: { kind } }) => (kind === 'token') === isOfTokens) ?? false;
  return {
    accounts: [...evidence.ofAccount.keys(), ...[...approvals.keys()].filter((account) => approves(account, false))],
    bitsOf: (account) =>
      isSilentOf(account)
        ? SAYS_NOTHING
        : evidenceBits({
            evidence: evidenceOf(evidence, account),
            approvesTokens: approves(account, true),
            approvesOtherwise: approves(account, false),
          }),
  };
}

function approvalLog({ logIndex: index, address, topics, data }: Log): ApprovalLog {
  return { index, address, topics, data };
}
