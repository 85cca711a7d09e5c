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

/** Finds out which of some accounts are asked for. */
export type FindAsked = (accounts: readonly Address[]) => Promise<ReadonlySet<Address>>;

/**
 * Rows of the transactions that wallets which were asked for take part in, also as sides of transfers, and of coins that moved inside where the blocks
 * come with calls; of blocks that are proven. Who sent those is recovered from their
 * signatures: no root holds a sender, and a node could name another.
 */
export async function selectRows(
  chain: Chain,
  blocks: readonly WholeBlock[],
  findAsked: FindAsked,
): Promise<readonly DatasetLines[]> {
  const named = await selectBy(chain, blocks, findAsked);
  const checked = blocks.map((block, place) => withSenders(block, named[place]));
  const isAltered = checked.some((block, place) => block !== blocks[place]);
  const selected = isAltered ? await selectBy(chain, checked, findAsked) : named;
  const accountRows = selected.flatMap(({ accounts }) => accounts);
  const insideRows = selected.flatMap(({ inside }) => inside);
  if (accountRows.length === 0 && insideRows.length === 0) return [];
  // Whatever the chain's setting is: it was done above.
  const recovered = { ...chain, transactions: { ...chain.transactions, provesSenders: true } };
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

/** The rows of a block that accounts which are asked for have. */
interface SelectedRows {
  readonly accounts: readonly AccountTransactionRow[];
  /** Of coins that moved inside transactions. */
  readonly inside: readonly InternalTransferRow[];
}

/** The rows of accounts that are asked for, by block. */
async function selectBy(
  chain: Chain,
  blocks: readonly WholeBlock[],
  findAsked: FindAsked,
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
  const asked = await findAsked([...named]);
  const isAsked = ({ account }: { readonly account: Address }): boolean => asked.has(account);
  return rows.map(({ accounts, inside }) => ({ accounts: accounts.filter(isAsked), inside: inside.filter(isAsked) }));
}

/** Sides of a transaction's transfers, and who approved something: their history shows it. Others' transactions may be stored for them alone. */
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

/** The block with those who really sent the transactions of the rows; the same one where the node named them. */
function withSenders(block: WholeBlock, rows: SelectedRows | undefined): WholeBlock {
  const indexes = indexesOf(rows);
  const corrected = block.transactions.map((one) => (indexes.has(one.index) ? withSender(one) : one));
  return corrected.every((one, place) => one === block.transactions[place])
    ? block
    : { ...block, transactions: corrected };
}

function withSender(transaction: ExecutedTransaction): ExecutedTransaction {
  const check = checkSender(transaction.raw);
  // What does not hash to its hash was signed in another form.
  const isOther = check.result === 'mismatch' && checkTransactionHash(transaction.raw).result === 'verified';
  return isOther ? { ...transaction, from: check.recovered } : transaction;
}

function indexesOf(rows: SelectedRows | undefined): ReadonlySet<number> {
  const { accounts, inside } = rows ?? { accounts: [], inside: [] };
  return new Set([...accounts, ...inside].map(({ transactionIndex }) => transactionIndex));
}
