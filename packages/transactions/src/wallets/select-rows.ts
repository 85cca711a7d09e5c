import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { checkSender, checkTransactionHash } from '@chainstead/proof';
import { type DatasetLines, type ExecutedTransaction, linesOfRows, type WholeBlock } from '@chainstead/sync';
import { decodeApproval, decodeErc20Transfer, readNftLogs } from '@chainstead/token-events';
import { internalTransfers, transferRows } from '../internal-transfers/dataset.ts';
import type { InternalTransferRow } from '../internal-transfers/schema.ts';
import { accountRows } from '../stored/account-rows.ts';
import { accountTransactions, committedIn, transactions } from '../stored/datasets.ts';
import type { AccountTransactionRow } from '../stored/schema.ts';
import { transactionRow } from '../stored/transaction-row.ts';

/** Finds which of some accounts are requested. */
export type FindRequested = (accounts: readonly Address[]) => Promise<ReadonlySet<Address>>;

/**
 * Returns rows of transactions that requested wallets take part in, also as sides of transfers, and of internal native
 * token transfers if the blocks come with calls; for proven blocks. Their senders are recovered from signatures: no
 * root contains a sender, and a node could return a false one.
 */
export async function selectRows(
  chain: Chain,
  blocks: readonly WholeBlock[],
  findRequested: FindRequested,
): Promise<readonly DatasetLines[]> {
  const named = await selectBy(chain, blocks, findRequested);
  const checked = blocks.map((block, place) => withSenders(block, named[place]));
  const isAltered = checked.some((block, place) => block !== blocks[place]);
  const selected = isAltered ? await selectBy(chain, checked, findRequested) : named;
  const accountRows = selected.flatMap(({ accounts }) => accounts);
  const insideRows = selected.flatMap(({ inside }) => inside);
  if (accountRows.length === 0 && insideRows.length === 0) return [];
  // Whatever the chain's setting is: it was done above.
  const recovered = { ...chain, transactions: { ...chain.transactions, verifiesSenders: true } };
  const rows = checked.flatMap(({ header, transactions: all }, place) => {
    const indexes = indexesOf(selected[place]);
    return all.filter(({ index }) => indexes.has(index)).map((one) => transactionRow(one, header, recovered));
  });
  return [
    linesOfRows(transactions, rows),
    linesOfRows(accountTransactions, accountRows),
    ...(insideRows.length === 0 ? [] : [linesOfRows(internalTransfers, insideRows)]),
  ];
}

/** The rows of requested accounts in a block. */
interface SelectedRows {
  readonly accounts: readonly AccountTransactionRow[];
  /** Native tokens that moved inside transactions. */
  readonly inside: readonly InternalTransferRow[];
}

/** The rows of requested accounts, by block. */
async function selectBy(
  chain: Chain,
  blocks: readonly WholeBlock[],
  findRequested: FindRequested,
): Promise<readonly SelectedRows[]> {
  const rows = blocks.map((block): SelectedRows => {
    const committed = committedIn(block, chain);
    const hashes = new Set(committed.map(({ hash }) => hash));
    const inside = block.internalTransactions.filter(({ transactionHash }) => hashes.has(transactionHash));
    const rowsInside = transferRows({ ...block, internalTransactions: inside }, chain.id);
    const sidesInside = Map.groupBy(rowsInside, ({ transactionIndex }) => transactionIndex);
    return {
      accounts: committed.flatMap((one) => {
        const paid = (sidesInside.get(one.index) ?? []).map(({ account }) => account);
        return accountRows(one, block.header.number, chain, sidesIn(one, chain).union(new Set(paid)));
      }),
      inside: rowsInside,
    };
  });
  const named = new Set(rows.flatMap(({ accounts, inside }) => [...accounts, ...inside].map(({ account }) => account)));
  if (named.size === 0) return rows;
  const requested = await findRequested([...named]);
  const isRequested = ({ account }: { readonly account: Address }): boolean => requested.has(account);
  return rows.map(({ accounts, inside }) => ({
    accounts: accounts.filter(isRequested),
    inside: inside.filter(isRequested),
  }));
}

/**
 * Returns sides of a transaction's transfers, and owners of approvals: their history shows it. Transactions of other
 * senders may be stored only for them.
 */
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

/** Returns the block with the recovered senders of the rows' transactions; the same one if the node's were correct. */
function withSenders(block: WholeBlock, rows: SelectedRows | undefined): WholeBlock {
  const indexes = indexesOf(rows);
  const corrected = block.transactions.map((one) => (indexes.has(one.index) ? withSender(one) : one));
  return corrected.every((one, place) => one === block.transactions[place])
    ? block
    : { ...block, transactions: corrected };
}

function withSender(transaction: ExecutedTransaction): ExecutedTransaction {
  const check = checkSender(transaction.raw);
  // If it does not hash to its hash, it was signed in another form.
  const isOther = check.result === 'mismatch' && checkTransactionHash(transaction.raw).result === 'verified';
  return isOther ? { ...transaction, from: check.recovered } : transaction;
}

function indexesOf(rows: SelectedRows | undefined): ReadonlySet<number> {
  const { accounts, inside } = rows ?? { accounts: [], inside: [] };
  return new Set([...accounts, ...inside].map(({ transactionIndex }) => transactionIndex));
}
