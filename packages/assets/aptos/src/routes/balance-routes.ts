import { sql } from '@chainstead/db';
import { digits, hex, hexDigits, packedRows, preciseMoment, text } from '@chainstead/db/packed-rows';
import type { RouteModule } from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { listIn } from './coin-routes.ts';
import {
  addressItem,
  coinTypeHashItem,
  listParameter,
  optionalListParameter,
  pathParameter,
} from './list-parameter.ts';
import { listRoute } from './list-route.ts';
import { amountParameter, mapped, type NetworkChoice, versionParameter } from './parameter.ts';
import { type IndexColumn, typedValue } from './scan-conditions.ts';
import { exclusion, listKey } from './transfer-routes.ts';

const shared = { amount: z.string(), coin_type: z.string(), coin_type_hash: z.string() };

/** docs/api/aptos.md#records */
const balanceRecordSchema = z
  .object({
    ...shared,
    last_transaction_timestamp: z.string(),
    last_transaction_version: z.string(),
    owner_address: z.string(),
  })
  .openapi('AptosCoinBalance');

const historicalBalanceRecordSchema = z
  .object({
    ...shared,
    transaction_timestamp: z.string(),
    transaction_version: z.string(),
    owner_address: z.string(),
  })
  .openapi('AptosHistoricalCoinBalance');

const SHARED_COLUMNS = {
  amount: digits('amount'),
  coin_type: text('coin_type'),
  coin_type_hash: hexDigits('coin_type_hash', 32),
  owner_address: hex('owner_address', 32),
} as const;

const BALANCE_ROWS = packedRows({
  ...SHARED_COLUMNS,
  last_transaction_timestamp: preciseMoment('last_transaction_timestamp'),
  last_transaction_version: digits('last_transaction_version'),
});

const HISTORICAL_BALANCE_ROWS = packedRows({
  ...SHARED_COLUMNS,
  transaction_timestamp: preciseMoment('transaction_timestamp'),
  transaction_version: digits('transaction_version'),
});

/** docs/api/aptos.md#aptos-routes */
export function balanceRoutes(networks: NetworkChoice): readonly RouteModule[] {
  return [walletsRoute, historyRoute, topHoldersRoute].map((route) => route(networks));
}

const OWNER: IndexColumn = { column: 'owner_address', type: 'bytea' };
const COIN: IndexColumn = { column: 'coin_type_hash', type: 'bytea' };
const VERSION: IndexColumn = { column: 'transaction_version', type: 'bigint' };
const AMOUNT: IndexColumn = { column: 'amount', type: 'numeric' };

const walletParameters = {
  owner_addresses: listParameter(addressItem, 'Wallets.'),
  coin_type_hash_whitelist: optionalListParameter(coinTypeHashItem, 'These coins alone.'),
  coin_type_hash_blacklist: optionalListParameter(coinTypeHashItem, 'All coins but these.'),
};

const walletsRoute = listRoute({
  path: '/wallets/coins',
  operationId: 'getCoinBalancesByWallets',
  summary: 'List coin balances by wallet',
  description: 'Ordered by wallet, then by coin type hash. A coin that is no longer held has the amount 0.',
  record: balanceRecordSchema,
  rows: BALANCE_ROWS,
  parameters: walletParameters,
  scanOf(filter, after) {
    const [lastOwner = '', lastCoin = ''] = after ?? [];
    // Wallets of earlier pages are not scanned again.
    const owners = listIn(filter, 'owner_addresses').filter((owner) => owner >= lastOwner);
    const coins = listKey(filter, 'coin_type_hash', 'coin_type_hash_whitelist');
    return {
      dataset: 'holders',
      table: 'aptos_balances',
      lead: [{ ...OWNER, values: owners }, 'network', ...coins],
      order: coins.length === 0 ? [COIN] : [],
      direction: 'ASC',
      merge: [OWNER, COIN],
      conditions: exclusion(filter, 'coin_type_hash', 'coin_type_hash_blacklist'),
      ...(coins.length === 0 && {
        placeInScan: (owner) => [
          sql`CASE WHEN ${owner} = ${typedValue(OWNER, lastOwner)} THEN ${typedValue(COIN, lastCoin)} ELSE '\\x' END`,
        ],
      }),
    };
  },
  placeOf: (row) => [row.owner_address, row.coin_type_hash],
});

const historyRoute = listRoute({
  path: '/wallets/coins/history',
  operationId: 'getHistoricalCoinBalancesByWallets',
  summary: 'List historical coin balances by wallet',
  description: 'One row per transaction that wrote a coin store of the wallet, newest first.',
  record: historicalBalanceRecordSchema,
  rows: HISTORICAL_BALANCE_ROWS,
  parameters: walletParameters,
  scanOf: (filter) => ({
    dataset: 'holders',
    table: 'aptos_balance_history',
    lead: [
      { ...OWNER, values: listIn(filter, 'owner_addresses') },
      'network',
      ...listKey(filter, 'coin_type_hash', 'coin_type_hash_whitelist'),
    ],
    order: listIn(filter, 'coin_type_hash_whitelist').length === 0 ? [VERSION, COIN] : [VERSION],
    direction: 'DESC',
    merge: [VERSION, COIN, OWNER],
    conditions: exclusion(filter, 'coin_type_hash', 'coin_type_hash_blacklist'),
  }),
  placeOf: (row) => [row.transaction_version, row.coin_type_hash, row.owner_address],
});

const topHoldersRoute = listRoute({
  path: '/coins/owners/{coin_type_hash}/top-holders',
  operationId: 'getTopHoldersByCoin',
  summary: 'List the top holders of a coin',
  description: 'Ordered by amount, largest first. Wallets with a zero balance are omitted.',
  record: balanceRecordSchema,
  rows: BALANCE_ROWS,
  pathParameters: {
    coin_type_hash: mapped(pathParameter(coinTypeHashItem, 'SHA-256 of a coin type.'), (hash) => [hash]),
  },
  parameters: {
    min_amount: amountParameter('Smallest amount, in base units.'),
    min_version: versionParameter('Earliest version of the last change of a balance.'),
    wallet_whitelist: optionalListParameter(addressItem, 'These wallets alone.'),
    wallet_blacklist: optionalListParameter(addressItem, 'All wallets but these.'),
  },
  scanOf(filter) {
    const coin = listKey(filter, 'coin_type_hash', 'coin_type_hash');
    const owners = listKey(filter, 'owner_address', 'wallet_whitelist');
    const { min_amount: minAmount, min_version: minVersion } = filter;
    return {
      dataset: 'holders',
      table: 'aptos_balances',
      lead: owners.length === 0 ? ['network', ...coin] : [...owners, 'network', ...coin],
      order: owners.length === 0 ? [AMOUNT, OWNER] : [],
      direction: 'DESC',
      merge: [AMOUNT, OWNER],
      conditions: [
        sql`row.amount > 0`,
        ...(typeof minAmount === 'string' ? [sql`row.amount >= ${typedValue(AMOUNT, minAmount)}`] : []),
        ...(typeof minVersion === 'number' ? [sql`row.last_transaction_version >= ${minVersion}`] : []),
        ...exclusion(filter, 'owner_address', 'wallet_blacklist'),
      ],
      ...(typeof minAmount === 'string' && { lowest: typedValue(AMOUNT, minAmount) }),
    };
  },
  placeOf: (row) => [row.amount, row.owner_address],
});
