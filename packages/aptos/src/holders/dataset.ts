import { readCoinStore } from '../coins/coin-store.ts';
import { createCoinTypes } from '../coins/coin-type.ts';
import type { AptosDataset, AptosSlice, DecodedRows } from '../dataset.ts';
import { wholeSeconds } from '../rows/whole-seconds.ts';
import type { BalanceRow } from './balance-row.ts';
import { insertBalances } from './insert-balances.ts';

/**
 * Coin balances of wallets: the amount in every `CoinStore` that a genesis or user transaction writes, including failed
 * ones (they pay gas), and 0 in one that it deletes. The newest version is a wallet's balance, in any order of arrival.
 */
export const holders: AptosDataset = {
  name: 'holders',
  tables: ['aptos_balance_history', 'aptos_balances'],
  markers: ['::coin::CoinStore'],
  needsBlockHeights: false,
  derive(slice): DecodedRows {
    const rows = deriveBalances(slice);
    return { count: rows.length, write: (transaction) => insertBalances(transaction, rows) };
  },
};

/** Returns one row per store and transaction, sorted by wallet, coin and version. */
export function deriveBalances({ network, transactions }: AptosSlice): BalanceRow[] {
  const describe = createCoinTypes();
  const rows = new Map<string, BalanceRow>();
  for (const { type, version, timestamp, changes } of transactions) {
    if (type !== 'user_transaction' && type !== 'genesis_transaction') continue;
    for (const change of changes) {
      const store = readCoinStore(change);
      if (store === null) continue;
      const coinType = describe(store.coinType);
      rows.set(`${store.owner}${coinType.hash}${version}`, {
        network,
        ownerAddress: store.owner,
        coinType,
        transactionVersion: version,
        amount: store.amount,
        transactionTimestamp: wholeSeconds(timestamp),
      });
    }
  }
  return [...rows.values()].sort(byWalletAndCoin);
}

function byWalletAndCoin(a: BalanceRow, b: BalanceRow): number {
  if (a.ownerAddress !== b.ownerAddress) return a.ownerAddress < b.ownerAddress ? -1 : 1;
  if (a.coinType.hash !== b.coinType.hash) return a.coinType.hash < b.coinType.hash ? -1 : 1;
  return a.transactionVersion - b.transactionVersion;
}
