import { networkOfChain } from '@chainstead/aptos';
import { flags, text, time } from './cells.ts';
import { type DataTable, listTable, type TableSubject } from './data-table.ts';

/** The holdings and activity of an Aptos account. Amounts are in base units: their decimals are in another table. */
export const APTOS_TABLES: readonly DataTable[] = [
  aptosTable({
    name: 'aptos-balances',
    title: 'Coin balances',
    path: '/wallets/coins',
    owner: 'owner_addresses',
    columns: [
      { title: 'Coin', cell: text('coin_type') },
      { title: 'Balance', cell: text('amount'), isNumber: true },
      { title: 'Changed', cell: time('last_transaction_timestamp') },
      { title: 'Version', cell: text('last_transaction_version'), isNumber: true },
    ],
  }),
  aptosTable({
    name: 'aptos-transfers',
    title: 'Coin transfers',
    path: '/wallets/coins/transfers',
    owner: 'owner_addresses',
    columns: [
      { title: 'Time', cell: time('transaction_timestamp') },
      { title: 'Activity', cell: text('activity_type') },
      { title: 'Coin', cell: text('coin_type') },
      { title: 'Amount', cell: text('amount'), isNumber: true },
      { title: 'Function', cell: text('entry_function_id_str') },
      { title: 'Notes', cell: flags({ is_gas_fee: 'gas' }) },
      { title: 'Version', cell: text('transaction_version'), isNumber: true },
    ],
  }),
  aptosTable({
    name: 'aptos-coins',
    title: 'Created coins',
    path: '/coins/creators',
    owner: 'creator_addresses',
    columns: [
      { title: 'Coin', cell: text('coin_type') },
      { title: 'Name', cell: text('name') },
      { title: 'Symbol', cell: text('symbol') },
      { title: 'Decimals', cell: text('decimals'), isNumber: true },
      { title: 'Created', cell: time('transaction_created_timestamp') },
    ],
  }),
];

function aptosTable({
  path,
  owner,
  ...rest
}: Pick<DataTable, 'name' | 'title' | 'columns'> & { readonly path: string; readonly owner: string }): DataTable {
  return {
    ...listTable({ ...rest, path: () => path }),
    target: ({ chain, address }: TableSubject) => ({
      path,
      query: { network: networkOfChain(chain) ?? chain, [owner]: address },
    }),
  };
}
