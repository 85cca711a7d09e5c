import { createHash } from 'node:crypto';
import { hexBytes, rawSql, type Sql, sql } from '@chainstead/db';
import {
  boolean,
  digits,
  hex,
  packedRows,
  preciseMoment,
  type RowOf,
  text,
  textOrNull,
} from '@chainstead/db/packed-rows';
import type { RouteModule } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { formatMoveType } from '../move-type/move-type.ts';
import { MoveTypeError, parseMoveType } from '../move-type/parse-move-type.ts';
import { listIn } from './coin-routes.ts';
import {
  addressItem,
  blockHeightItem,
  coinTypeItem,
  listParameter,
  optionalListParameter,
  pathParameter,
} from './list-parameter.ts';
import { type CursorFilter, listRoute } from './list-route.ts';
import { dateParameter, mapped, type NetworkChoice } from './parameter.ts';
import type { IndexColumn, PageScan, ScanKey } from './scan-conditions.ts';

/** docs/api/aptos.md#transfers */
const transferRecordSchema = z
  .object({
    activity_type: z.string().openapi({ example: '0x1::coin::WithdrawEvent' }),
    amount: z.string(),
    block_height: z.string(),
    coin_type: z.string(),
    entry_function_id_str: z.string().nullable(),
    event_account_address: z.string(),
    event_creation_number: z.string().openapi({ description: '-1 for the gas fee of a transaction' }),
    event_sequence_number: z.string(),
    is_gas_fee: z.boolean(),
    is_transaction_success: z.boolean(),
    owner_address: z.string(),
    transaction_timestamp: z.string(),
    transaction_version: z.string(),
  })
  .openapi('AptosCoinTransfer');

const TRANSFER_ROWS = packedRows({
  activity_type: text('activity_type'),
  amount: digits('amount'),
  block_height: digits('block_height'),
  coin_type: text('coin_type'),
  entry_function_id_str: textOrNull('entry_function_id'),
  event_account_address: hex('event_account_address', 32),
  event_creation_number: digits('event_creation_number'),
  event_sequence_number: digits('event_sequence_number'),
  is_gas_fee: boolean('is_gas_fee'),
  is_transaction_success: boolean('is_transaction_success'),
  owner_address: hex('owner_address', 32),
  transaction_timestamp: preciseMoment('transaction_timestamp'),
  transaction_version: digits('transaction_version'),
  event_index: digits('event_index'),
});

/** docs/api/aptos.md#aptos-routes */
export function transferRoutes(networks: NetworkChoice): readonly RouteModule[] {
  const byOwner = walletsRoute('/coins/transfers/wallets', 'getCoinTransfersByOwnerAddresses');
  const byWallet = walletsRoute('/wallets/coins/transfers', 'getCoinTransfersByWalletAddresses');
  // The coin type's is last: it matches other paths as coin types.
  return [byOwner, byWallet, blocksRoute, coinTypeRoute].map((route) => route(networks));
}

const NEWEST_FIRST: readonly IndexColumn[] = [
  { column: 'transaction_version', type: 'bigint' },
  { column: 'event_index', type: 'integer' },
];

const SHARED = {
  record: transferRecordSchema,
  rows: TRANSFER_ROWS,
  placeOf: (row: RowOf<typeof TRANSFER_ROWS>) => [row.transaction_version, row.event_index],
} as const;

const SCAN = { dataset: 'transfers', table: 'aptos_transfers', order: NEWEST_FIRST, direction: 'DESC' } as const;

const dates = {
  from_date: dateParameter('Earliest time, inclusive.'),
  to_date: dateParameter('Latest time, inclusive.'),
};

function walletsRoute(path: string, operationId: string) {
  return listRoute({
    ...SHARED,
    path,
    operationId,
    summary: 'List coin transfers by wallet',
    description: 'Withdrawals, deposits and gas fees of up to 25 wallets in one list, newest first.',
    parameters: {
      owner_addresses: listParameter(addressItem, 'Wallets.'),
      ...dates,
      coin_type_whitelist: mapped(optionalListParameter(coinTypeItem, 'These coins alone.'), hashesOfCoinTypes),
      coin_type_blacklist: mapped(optionalListParameter(coinTypeItem, 'All coins but these.'), hashesOfCoinTypes),
    },
    scanOf: (filter) => ({
      ...SCAN,
      lead: [
        { column: 'owner_address', type: 'bytea', values: listIn(filter, 'owner_addresses') },
        'network',
        ...listKey(filter, 'coin_type_hash', 'coin_type_whitelist'),
      ],
      ...versionBounds(dateIn(filter, 'from_date'), dateIn(filter, 'to_date')),
      conditions: exclusion(filter, 'coin_type_hash', 'coin_type_blacklist'),
    }),
  });
}

const blocksRoute = listRoute({
  ...SHARED,
  path: '/coins/transfers/blocks',
  operationId: 'getCoinTransfersByBlockHeights',
  summary: 'List coin transfers by block',
  description: 'Withdrawals, deposits and gas fees of up to 25 blocks, newest first.',
  parameters: { block_heights: listParameter(blockHeightItem, 'Heights of blocks.') },
  scanOf: (filter) => ({
    ...SCAN,
    lead: ['network', { column: 'block_height', type: 'bigint', values: listIn(filter, 'block_heights') }],
  }),
});

const APTOS_COIN_HASH = '91ceb1308a98389691e05158b07ed5f079ab78461a6bb8d5a4054b1bb5cb8bb6';

const coinTypeRoute = listRoute({
  ...SHARED,
  path: '/coins/transfers/{coin_type}',
  operationId: 'getCoinTransfersByCoinType',
  summary: 'List transfers of a coin',
  description: 'Withdrawals and deposits of a coin, newest first. Gas fees are included for Aptos Coin.',
  pathParameters: {
    coin_type: mapped(pathParameter(coinTypeItem, 'A Move type.'), (type) => hashesOfCoinTypes([type])),
  },
  parameters: dates,
  scanOf: (filter) => ({
    ...SCAN,
    lead: ['network', ...listKey(filter, 'coin_type_hash', 'coin_type')],
    ...versionBounds(dateIn(filter, 'from_date'), dateIn(filter, 'to_date')),
  }),
});

export function listKey(filter: CursorFilter, column: string, name: string): readonly ScanKey[] {
  const values = listIn(filter, name);
  return values.length === 0 ? [] : [{ column, type: 'bytea', values }];
}

export function exclusion(filter: CursorFilter, column: string, name: string): readonly Sql[] {
  const values = listIn(filter, name);
  return values.length === 0 ? [] : [sql`${rawSql(`row.${column}`)} <> ALL (${values.map(hexBytes)}::bytea[])`];
}

/** Bisects gas rows, which every user transaction has: versions are ordered by time. */
function versionBounds(fromDate: Date | null, toDate: Date | null): Pick<PageScan, 'ctes' | 'lowest' | 'below'> {
  return {
    ctes: (network) => [
      ...(fromDate === null
        ? []
        : [dateBound('from_date', network, sql`probe.transaction_timestamp < ${fromDate}`)]),
      ...(toDate === null ? [] : [dateBound('to_date', network, sql`probe.transaction_timestamp <= ${toDate}`)]),
    ],
    lowest: fromDate === null ? null : sql`(SELECT version FROM from_date)`,
    below: toDate === null ? null : sql`(SELECT version FROM to_date)`,
  };
}

function dateIn(filter: CursorFilter, name: string): Date | null {
  const value = filter[name];
  return typeof value === 'number' ? new Date(value) : null;
}

function dateBound(name: string, network: Sql, isBelow: Sql): Sql {
  const gas = sql`aptos_transfers WHERE network = ${network} AND coin_type_hash = '\\x${rawSql(APTOS_COIN_HASH)}'`;
  return sql`${rawSql(name)} AS MATERIALIZED (
  WITH RECURSIVE steps(low, high) AS (
    SELECT 0::bigint, coalesce((SELECT transaction_version + 1 FROM ${gas} ORDER BY transaction_version DESC LIMIT 1), 0)
    UNION ALL
    SELECT CASE WHEN ${isBelow} THEN probe.transaction_version + 1 ELSE step.low END,
      CASE WHEN ${isBelow} THEN step.high ELSE (step.low + step.high) / 2 END
    FROM steps AS step CROSS JOIN LATERAL (
      SELECT transaction_version, transaction_timestamp FROM ${gas} AND transaction_version >= (step.low + step.high) / 2
      ORDER BY transaction_version LIMIT 1) AS probe
    WHERE step.low < step.high
  )
  SELECT max(low) AS version FROM steps
)`;
}

/** Sorted, unique: of the given type, and of the printed one if it differs. */
export function hashesOfCoinTypes(coinTypes: readonly string[]): readonly string[] {
  const texts = new Set(coinTypes.flatMap((text) => [text, printed(text)]));
  return [...texts].map((text) => createHash('sha256').update(text).digest('hex')).sort();
}

function printed(text: string): string {
  try {
    return formatMoveType(parseMoveType(text));
  } catch (error) {
    if (error instanceof MoveTypeError) return text;
    throw error;
  }
}
