import { networkOfChain } from '@chainstead/aptos';
import { type Column, flags, text, time } from './cells.ts';
import { type DataTable, listTable, type TableSubject } from './data-table.ts';

/** In base units: decimals are in another table. */
export const APTOS_TABLES: readonly DataTable[] = [
  aptosTable('aptos-balances', 'Coin balances', '/wallets/coins', 'owner_addresses', [
    { title: 'Coin', cell: text('coin_type') },
    { title: 'Balance', cell: text('amount'), isNumber: true },
    { title: 'Changed', cell: time('last_transaction_timestamp') },
    { title: 'Version', cell: text('last_transaction_version'), isNumber: true },
  ]),
  aptosTable('aptos-transfers', 'Coin transfers', '/wallets/coins/transfers', 'owner_addresses', [
    { title: 'Time', cell: time('transaction_timestamp') },
    { title: 'Activity', cell: text('activity_type') },
    { title: 'Coin', cell: text('coin_type') },
    { title: 'Amount', cell: text('amount'), isNumber: true },
    { title: 'Function', cell: text('entry_function_id_str') },
    { title: 'Notes', cell: flags({ is_gas_fee: 'gas' }) },
    { title: 'Version', cell: text('transaction_version'), isNumber: true },
  ]),
  aptosTable('aptos-coins', 'Created coins', '/coins/creators', 'creator_addresses', [
    { title: 'Coin', cell: text('coin_type') },
    { title: 'Name', cell: text('name') },
    { title: 'Symbol', cell: text('symbol') },
    { title: 'Decimals', cell: text('decimals'), isNumber: true },
    { title: 'Created', cell: time('transaction_created_timestamp') },
  ]),
];

function aptosTable(name: string, title: string, path: string, owner: string, columns: readonly Column[]): DataTable {
  const target = ({ chain, address }: TableSubject) => {
    return { path, query: { network: networkOfChain(chain) ?? chain, [owner]: address } };
  };
  return { ...listTable(name, title, () => path, columns), target };
}
