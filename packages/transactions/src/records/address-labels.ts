import { type AddressLabel, type LabelEntry, labelsOf, readLabels } from '@chainstead/answers';
import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { addressBytes, type ReadDatabase } from '@chainstead/db';
import type { TransactionRecord } from './transaction-record.ts';

/** Finds the label of an address. */
export type LabelOf = (address: string | null) => AddressLabel;

/** The labels of senders and recipients. Nobody and nothing is behind the zero address. */
export async function labelsOfTransactions(
  database: ReadDatabase,
  chain: Pick<Chain, 'id'>,
  transactions: readonly Pick<TransactionRecord, 'from' | 'to'>[],
): Promise<LabelOf> {
  const addresses = new Set(transactions.flatMap(({ from, to }) => (to === null ? [from] : [from, to])));
  addresses.delete(ZERO_ADDRESS);
  const [row] = await database.select<{ labels: readonly LabelEntry[] | null }>(
    `SELECT ${labelsOf('$1::bytea[]', '$2::bigint')} AS labels`,
    [[...addresses].map((address) => addressBytes(parseAddress(address))), chain.id],
  );
  const find = readLabels(row?.labels ?? null);
  return (address) => find((address ?? ZERO_ADDRESS) as Address);
}
