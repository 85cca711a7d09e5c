import type { Chain } from '@chainstead/chains';
import type { Address, BlockRange } from '@chainstead/core';
import { addressBytes, type Database, hexText, sql, type Transaction } from '@chainstead/db';
import { decodeApproval, decodeErc20Transfer, readNftLogs } from '@chainstead/events/token-events';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import type { SenderReading } from '@chainstead/pages/on-demand';
import { checkSender, checkTransactionHash } from '@chainstead/proof';
import { createKnownContracts, linesOfRows, recordSubjectRange } from '@chainstead/sync';
import type { ExecutedTransaction, InternalTransaction, Subject, WholeBlock } from '@chainstead/sync/datasets';
import { commitSubjectRows } from '@chainstead/sync/ingest';
import { recordProgress } from '@chainstead/sync/requests';
import { internalTransfers, transferRows } from '../internal-transfers/dataset.ts';
import type { InternalTransferRow } from '../internal-transfers/schema.ts';
import { type ReadBlock, readBlock } from '../reading/read-block.ts';
import { accountRows, accountTransactions, committedIn, transactions } from '../stored/datasets.ts';
import type { AccountTransactionRow } from '../stored/schema.ts';
import { transactionRow } from '../stored/transaction-row.ts';
import type { IndexedBranch } from './account-node.ts';

export interface BlockWithCalls {
  readonly block: ReadBlock;
  readonly calls: readonly InternalTransaction[];
}

export interface BlockStore {
  /** @throws StateUnavailableError if no upstream has it, with data that matches its header */
  read(block: number, signal: AbortSignal): Promise<ReadBlock>;
  /** Atomic. @throws StateUnavailableError if the branch was abandoned meanwhile */
  save(found: BlockWithCalls, calls: number, record: (transaction: Transaction) => Promise<void>): Promise<void>;
  settle(searched: readonly BlockRange[], calls: number): Promise<void>;
}

export function createBlockStore(
  { chain, pool, database }: SenderReading,
  subject: Subject,
  branch: IndexedBranch | null,
): BlockStore {
  const dependencies = { chain, database, knownContracts: createKnownContracts() };
  return {
    async read(block, signal) {
      const at = (await branch?.hashAt(block)) ?? block;
      const read = await readBlock({ chain, pool }, { at }, signal);
      if (read === null) throw new StateUnavailableError(`No node of ${chain.name} has block ${block}`);
      return read;
    },
    async save({ block: { header, transactions }, calls: internalTransactions }, calls, recordDone) {
      const block = { header, transactions, internalTransactions };
      // Includes the wallet even if its request has expired by now: the search is for it.
      const requested = async (accounts: readonly Address[]) =>
        new Set([...(await findRequested(database, chain, accounts)), subject.address]);
      await commitSubjectRows(dependencies, {
        ...(branch !== null && { begin: (transaction) => branch.hold(transaction) }),
        blocks: [header],
        parts: await selectRows(chain, [block], requested),
        async record(transaction, rows) {
          await recordProgress(transaction, subject, { calls, rows });
          await recordDone(transaction);
        },
      });
    },
    settle: (searched, calls) =>
      database.transaction(async (transaction) => {
        await branch?.hold(transaction);
        await recordProgress(transaction, subject, { calls, rows: 0 });
        await recordSearched(transaction, subject, searched);
      }),
  };
}

export async function recordSearched(
  transaction: Transaction,
  subject: Subject,
  searched: readonly BlockRange[],
) {
  for (const range of searched) await recordSubjectRange(transaction, subject, accountTransactions.name, range);
}

export async function findRequested(
  source: Pick<Database, 'query'>,
  { id }: Pick<Chain, 'id'>,
  accounts: readonly Address[],
): Promise<ReadonlySet<Address>> {
  const rows = await source.query<{ wallet: Address }>(
    sql`SELECT ${hexText('wallet')} AS wallet FROM tracked_wallets WHERE chain_id = ${id} AND wallet = ANY (${accounts.map(addressBytes)}::bytea[])`,
  );
  return new Set(rows.map(({ wallet }) => wallet));
}

type FindRequested = (accounts: readonly Address[]) => Promise<ReadonlySet<Address>>;

/** Recovers senders: no root contains them, and nodes may return false ones. */
export async function selectRows(chain: Chain, blocks: readonly WholeBlock[], findRequested: FindRequested) {
  const named = await selectBy(chain, blocks, findRequested);
  const checked = blocks.map((block, index) => withSenders(block, named[index]));
  const isAltered = checked.some((block, index) => block !== blocks[index]);
  const selected = isAltered ? await selectBy(chain, checked, findRequested) : named;
  const accountRows = selected.flatMap(({ accounts }) => accounts);
  const insideRows = selected.flatMap(({ inside }) => inside);
  if (accountRows.length === 0 && insideRows.length === 0) return [];
  // Whatever the chain's setting is: it was done above.
  const recovered = { ...chain, transactions: { ...chain.transactions, verifiesSenders: true } };
  const rows = checked.flatMap(({ header, transactions: all }, position) => {
    const indexes = indexesOf(selected[position]);
    const chosen = all.filter(({ index }) => indexes.has(index));
    return chosen.map((transaction) => transactionRow(transaction, header, recovered));
  });
  return [
    linesOfRows(transactions, rows),
    linesOfRows(accountTransactions, accountRows),
    ...(insideRows.length === 0 ? [] : [linesOfRows(internalTransfers, insideRows)]),
  ];
}

interface SelectedRows {
  readonly accounts: readonly AccountTransactionRow[];
  readonly inside: readonly InternalTransferRow[];
}

async function selectBy(chain: Chain, blocks: readonly WholeBlock[], findRequested: FindRequested) {
  const rows = blocks.map((block): SelectedRows => {
    const committed = committedIn(block, chain);
    const hashes = new Set(committed.map(({ hash }) => hash));
    const inside = block.internalTransactions.filter(({ transactionHash }) => hashes.has(transactionHash));
    const rowsInside = transferRows({ ...block, internalTransactions: inside }, chain.id);
    const sidesInside = Map.groupBy(rowsInside, ({ transactionIndex }) => transactionIndex);
    return {
      accounts: committed.flatMap((transaction) => {
        const paid = (sidesInside.get(transaction.index) ?? []).map(({ account }) => account);
        const sides = sidesIn(transaction, chain).union(new Set(paid));
        return accountRows(transaction, block.header.number, chain, sides);
      }),
      inside: rowsInside,
    };
  });
  const named = new Set(
    rows.flatMap(({ accounts, inside }) => [...accounts, ...inside].map(({ account }) => account)),
  );
  if (named.size === 0) return rows;
  const requested = await findRequested([...named]);
  const isRequested = ({ account }: { readonly account: Address }): boolean => requested.has(account);
  return rows.map(({ accounts, inside }) => ({
    accounts: accounts.filter(isRequested),
    inside: inside.filter(isRequested),
  }));
}

/** Their history shows transfers and approvals of others, which may be stored only for them. */
function sidesIn({ logs }: ExecutedTransaction, chain: Chain): ReadonlySet<Address> {
  const sides = new Set<Address>();
  for (const log of logs) {
    const transfer = decodeErc20Transfer(log, chain);
    if (transfer !== null) sides.add(transfer.from).add(transfer.to);
    const approval = decodeApproval(log);
    if (approval?.type === 'erc20Approval') sides.add(approval.owner);
  }
  for (const read of readNftLogs(logs, chain)) if (!('reason' in read)) sides.add(read.from).add(read.to);
  return sides;
}

function withSenders(block: WholeBlock, rows: SelectedRows | undefined): WholeBlock {
  const indexes = indexesOf(rows);
  const corrected = block.transactions.map((transaction) => {
    if (!indexes.has(transaction.index)) return transaction;
    const check = checkSender(transaction.raw);
    // If it does not hash to its hash, it was signed in another form.
    const isOther = check.result === 'mismatch' && checkTransactionHash(transaction.raw).result === 'verified';
    return isOther ? { ...transaction, from: check.recovered } : transaction;
  });
  const isSame = corrected.every((transaction, index) => transaction === block.transactions[index]);
  return isSame ? block : { ...block, transactions: corrected };
}

function indexesOf(rows: SelectedRows | undefined): ReadonlySet<number> {
  const { accounts, inside } = rows ?? { accounts: [], inside: [] };
  return new Set([...accounts, ...inside].map(({ transactionIndex }) => transactionIndex));
}
