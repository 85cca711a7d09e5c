import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import type { ReadDatabase } from '@chainstead/db';
import { type AddressLabel, getLabels } from '@chainstead/pages';
import type { TransactionRecord } from './transaction-record.ts';

export type LabelOf = (address: string | null) => AddressLabel;

export async function labelsOfTransactions(
  database: ReadDatabase,
  chain: Pick<Chain, 'id'>,
  transactions: readonly Pick<TransactionRecord, 'from' | 'to'>[],
): Promise<LabelOf> {
  const addresses = new Set(transactions.flatMap(({ from, to }) => (to === null ? [from] : [from, to])));
  addresses.delete(ZERO_ADDRESS);
  const find = await getLabels(database, chain, Array.from(addresses, parseAddress));
  return (address) => find((address ?? ZERO_ADDRESS) as Address);
}
