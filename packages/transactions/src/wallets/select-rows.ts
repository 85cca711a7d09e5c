import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { checkSender, checkTransactionHash } from '@chainstead/proof';
import { type DatasetLines, type ExecutedTransaction, linesOfRows, type WholeBlock } from '@chainstead/sync';
import { decodeApproval, decodeErc20Transfer, readNftLogs } from '@chainstead/token-events';
import { accountRows } from '../stored/account-rows.ts';
import { accountTransactions, committedIn, transactions } from '../stored/datasets.ts';
import type { AccountTransactionRow } from '../stored/schema.ts';
import { transactionRow } from '../stored/transaction-row.ts';

/** Finds out which of some accounts are asked for. */
export type FindAsked = (accounts: readonly Address[]) => Promise<ReadonlySet<Address>>;

/**
 * Rows of the transactions that wallets which were asked for take part in, also as sides of transfers, of blocks that are proven. Who sent those is recovered from their
 * signatures: no root holds a sender, and a node could name another.
 */
export async function selectRows(
  chain: Chain,
  blocks: readonly WholeBlock[],
  findAsked: FindAsked,
): Promise<readonly DatasetLines[]> {
  const named = await selectBy(chain, blocks, findAsked);
  const checked = blocks.map((block, place) => withSenders(block, named[place] ?? []));
  const isAltered = checked.some((block, place) => block !== blocks[place]);
  const selected = isAltered ? await selectBy(chain, checked, findAsked) : named;
  const accountRows = selected.flat();
  if (accountRows.length === 0) return [];
  // Whatever the chain's setting is: it was done above.
  const recovered = { ...chain, transactions: { ...chain.transactions, provesSenders: true } };
  const rows = checked.flatMap(({ header, transactions: all }, place) => {
    const indexes = indexesOf(selected[place] ?? []);
    return all.filter(({ index }) => indexes.has(index)).map((one) => transactionRow(one, header, recovered));
  });
  return [linesOfRows(transactions, rows), linesOfRows(accountTransactions, accountRows)];
}

/** The rows of accounts that are asked for, by block. */
async function selectBy(
  chain: Chain,
  blocks: readonly WholeBlock[],
  findAsked: FindAsked,
): Promise<readonly (readonly AccountTransactionRow[])[]> {
  const rows = blocks.map((block) =>
    committedIn(block, chain).flatMap((one) => accountRows(one, block.header.number, chain, sidesIn(one, chain))),
  );
  const accounts = new Set(rows.flatMap((ofBlock) => ofBlock.map(({ account }) => account)));
  if (accounts.size === 0) return rows;
  const asked = await findAsked([...accounts]);
  return rows.map((ofBlock) => ofBlock.filter(({ account }) => asked.has(account)));
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
function withSenders(block: WholeBlock, rows: readonly AccountTransactionRow[]): WholeBlock {
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

function indexesOf(rows: readonly AccountTransactionRow[]): ReadonlySet<number> {
  return new Set(rows.map(({ transactionIndex }) => transactionIndex));
}
