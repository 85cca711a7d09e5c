import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { decodeApproval, decodeErc20Transfer, readNftLogs } from '@chainstead/events/token-events';
import { checkSender, checkTransactionHash } from '@chainstead/proof';
import { linesOfRows } from '@chainstead/sync';
import type { ExecutedTransaction, WholeBlock } from '@chainstead/sync/datasets';
import { internalTransfers, transferRows } from '../internal-transfers/dataset.ts';
import type { InternalTransferRow } from '../internal-transfers/schema.ts';
import { accountRows } from '../stored/account-rows.ts';
import { accountTransactions, committedIn, transactions } from '../stored/datasets.ts';
import type { AccountTransactionRow } from '../stored/schema.ts';
import { transactionRow } from '../stored/transaction-row.ts';

export type FindRequested = (accounts: readonly Address[]) => Promise<ReadonlySet<Address>>;

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
