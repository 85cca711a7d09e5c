import { type Bind, hexBytes } from '@chainstead/db';
import type { RouteModule } from '@chainstead/http';
import { listIn } from './coin-routes.ts';
import { hashesOfCoinTypes } from './coin-type-hashes.ts';
import { dateIn, versionBounds } from './date-bounds.ts';
import {
  addressItem,
  blockHeightItem,
  coinTypeItem,
  listParameter,
  optionalListParameter,
  pathParameter,
} from './list-parameter.ts';
import { type ListRoute, listRoute } from './list-route.ts';
import type { Filter } from './open-page.ts';
import { dateParameter } from './parameter.ts';
import type { NetworkChoice } from './request-network.ts';
import type { IndexColumn, ScanKey } from './scan-conditions.ts';
import { showTransfer, TRANSFER_ROWS, type TransferResult, transferRecordSchema } from './transfer-record.ts';

/** `/coins/transfers/wallets`, `/wallets/coins/transfers`, `/coins/transfers/blocks`, `/coins/transfers/{coin_type}` (docs/provider-contract.md#aptos-routes). */
export function transferRoutes(networks: NetworkChoice): readonly RouteModule[] {
  return [
    listRoute(walletsRoute('/coins/transfers/wallets', 'getCoinTransfersByOwnerAddresses'), networks),
    listRoute(walletsRoute('/wallets/coins/transfers', 'getCoinTransfersByWalletAddresses'), networks),
    listRoute(blocksRoute, networks),
    // Last: the others' paths would be coin types to it.
    listRoute(coinTypeRoute, networks),
  ];
}

const NEWEST_FIRST: readonly IndexColumn[] = [
  { column: 'transaction_version', type: 'bigint' },
  { column: 'event_index', type: 'integer' },
];

const SHARED = {
  record: transferRecordSchema,
  rows: TRANSFER_ROWS,
  show: showTransfer,
  placeOf: (row: TransferResult) => [String(row.transaction_version), String(row.event_index)],
} as const;

const SCAN = {
  dataset: 'transfers',
  table: 'aptos_transfers',
  order: NEWEST_FIRST,
  direction: 'DESC',
} as const;

const dates = {
  from_date: dateParameter('Earliest time, inclusive.'),
  to_date: dateParameter('Latest time, inclusive.'),
};

const walletParameters = {
  owner_addresses: listParameter(addressItem, 'Wallets.'),
  ...dates,
  coin_type_whitelist: optionalListParameter(coinTypeItem, 'These coins alone.'),
  coin_type_blacklist: optionalListParameter(coinTypeItem, 'All coins but these.'),
};

type Shown = ReturnType<typeof showTransfer>;
type NoPath = Record<never, never>;

function walletsRoute(path: string, operationId: string) {
  const route: ListRoute<NoPath, typeof walletParameters, TransferResult, Shown> = {
    ...SHARED,
    path,
    operationId,
    summary: 'Transfers of wallets, newest first',
    description: 'Withdrawals, deposits and gas of up to 25 wallets, merged.',
    pathParameters: {},
    parameters: walletParameters,
    filterOf: (values) => ({
      owner_addresses: values.owner_addresses,
      from_date: values.from_date?.getTime() ?? null,
      to_date: values.to_date?.getTime() ?? null,
      coin_type_whitelist: values.coin_type_whitelist && hashesOfCoinTypes(values.coin_type_whitelist),
      coin_type_blacklist: values.coin_type_blacklist && hashesOfCoinTypes(values.coin_type_blacklist),
    }),
    scanOf: (filter) => ({
      ...SCAN,
      lead: [
        { column: 'owner_address', type: 'bytea', values: listIn(filter, 'owner_addresses') },
        'network',
        ...listKey(filter, 'coin_type_hash', 'coin_type_whitelist'),
      ],
      ...versionBounds(dateIn(filter, 'from_date'), dateIn(filter, 'to_date')),
      conditions: (bind) => exclusion(filter, 'coin_type_hash', 'coin_type_blacklist', bind),
    }),
  };
  return route;
}

const blockParameters = { block_heights: listParameter(blockHeightItem, 'Heights of blocks.') };

const blocksRoute: ListRoute<NoPath, typeof blockParameters, TransferResult, Shown> = {
  ...SHARED,
  path: '/coins/transfers/blocks',
  operationId: 'getCoinTransfersByBlockHeights',
  summary: 'Transfers of blocks, newest first',
  description: 'Withdrawals, deposits and gas of up to 25 blocks.',
  pathParameters: {},
  parameters: blockParameters,
  filterOf: ({ block_heights }) => ({ block_heights }),
  scanOf: (filter) => ({
    ...SCAN,
    lead: ['network', { column: 'block_height', type: 'bigint', values: listIn(filter, 'block_heights') }],
  }),
};

const coinTypePath = { coin_type: pathParameter(coinTypeItem, 'A Move type.') };

const coinTypeRoute: ListRoute<typeof coinTypePath, typeof dates, TransferResult, Shown> = {
  ...SHARED,
  path: '/coins/transfers/{coin_type}',
  operationId: 'getCoinTransfersByCoinType',
  summary: 'Transfers of a coin, newest first',
  description: 'Withdrawals and deposits of a coin; of Aptos coins gas too.',
  pathParameters: coinTypePath,
  parameters: dates,
  filterOf: (values) => ({
    coin_type: hashesOfCoinTypes([values.coin_type]),
    from_date: values.from_date?.getTime() ?? null,
    to_date: values.to_date?.getTime() ?? null,
  }),
  scanOf: (filter) => ({
    ...SCAN,
    lead: ['network', ...listKey(filter, 'coin_type_hash', 'coin_type')],
    ...versionBounds(dateIn(filter, 'from_date'), dateIn(filter, 'to_date')),
  }),
};

/** A scan for each value of a list that may be left out. */
export function listKey(filter: Filter, column: string, name: string): readonly ScanKey[] {
  const values = listIn(filter, name);
  return values.length === 0 ? [] : [{ column, type: 'bytea', values }];
}

/** All values of a column but those of a list that may be left out. */
export function exclusion(filter: Filter, column: string, name: string, bind: Bind): readonly string[] {
  const values = listIn(filter, name);
  return values.length === 0 ? [] : [`row.${column} <> ALL (${bind(values.map(hexBytes))}::bytea[])`];
}
