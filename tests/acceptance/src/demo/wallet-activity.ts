import type { Address } from '@chainstead/core';
import type { ExpectedTrade } from '@chainstead/testkit';
import { z } from 'zod';
import { type DemoApi, readAllPages, readApi } from './demo-api.ts';
import { categoryOf } from './node-categories.ts';
import type { NodeTransaction } from './node-transactions.ts';

const transactionRow = z.object({
  hash: z.string(),
  block_number: z.string(),
  block_hash: z.string(),
  transaction_index: z.string(),
  block_timestamp: z.string(),
  from_address: z.string(),
  to_address: z.string().nullable(),
  receipt_contract_address: z.string().nullable(),
  value: z.string(),
  nonce: z.string(),
  gas: z.string(),
  gas_price: z.string(),
  receipt_gas_used: z.string(),
  receipt_cumulative_gas_used: z.string(),
  receipt_status: z.string().nullable(),
  input: z.string(),
});

/** The transactions of accounts: those that they sent or received, or were created by. */
export function expectedTransactions(chain: readonly NodeTransaction[], accounts: readonly Address[]): string[] {
  return accounts.flatMap((account) =>
    chain
      .filter(({ from, to, created }) => [from, to, created].includes(account))
      .map(({ facts }) => transactionText(account, facts)),
  );
}

/** The same as the API lists them, page by page. @throws DemoApiError */
export async function readServedTransactions(api: DemoApi, accounts: readonly Address[]): Promise<string[]> {
  const texts: string[] = [];
  for (const account of accounts) {
    const rows = await readAllPages(api, account, transactionRow);
    texts.push(...rows.map((row) => transactionText(account, factsOf(row))));
  }
  return texts;
}

/** Transactions by their hash, each as the node has it. */
export function expectedByHash(chain: readonly NodeTransaction[]): string[] {
  return chain.map(({ facts }) => transactionText('by hash', facts));
}

/** The same as the API reads them through from the node. @throws DemoApiError */
export async function readServedByHash(api: DemoApi, chain: readonly NodeTransaction[]): Promise<string[]> {
  const texts: string[] = [];
  for (const { hash } of chain)
    texts.push(transactionText('by hash', factsOf(await readApi(api, `transaction/${hash}`, transactionRow))));
  return texts;
}

/** Wallet history: every transaction in which wallets took part, with its category for them. */
export function expectedHistory(
  chain: readonly NodeTransaction[],
  wallets: readonly Address[],
  trades: readonly ExpectedTrade[],
): string[] {
  return wallets.flatMap((wallet) =>
    chain
      .filter((transaction) => hadPart(transaction, wallet))
      .map((transaction) => `${wallet} ${transaction.hash}: ${categoryOf(transaction, wallet, trades)}`),
  );
}

const historyRow = z.object({ hash: z.string(), category: z.string() });

/** The same from the API, page by page. @throws DemoApiError */
export async function readServedHistory(api: DemoApi, wallets: readonly Address[]): Promise<string[]> {
  const texts: string[] = [];
  for (const wallet of wallets) {
    const rows = await readAllPages(api, `wallets/${wallet}/history`, historyRow);
    texts.push(...rows.map(({ hash, category }) => `${wallet} ${hash}: ${category}`));
  }
  return texts;
}

function hadPart({ from, to, created, moves, approvals }: NodeTransaction, wallet: Address): boolean {
  return (
    [from, to, created].includes(wallet) ||
    moves.some((move) => move.from === wallet || move.to === wallet) ||
    approvals.some(({ owner }) => owner === wallet)
  );
}

function factsOf(row: z.infer<typeof transactionRow>): string[] {
  return [
    ...[row.hash, row.block_number, row.block_hash, row.transaction_index, row.block_timestamp],
    ...[
      row.from_address,
      row.to_address,
      row.receipt_contract_address,
      row.value,
      row.nonce,
      row.gas,
      row.gas_price,
    ],
    ...[row.receipt_gas_used, row.receipt_cumulative_gas_used, row.receipt_status, row.input],
  ].map(String);
}

function transactionText(of: string, facts: readonly string[]): string {
  return `${of}: ${facts.join(' ')}`;
}
