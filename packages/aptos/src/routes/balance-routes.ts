import type { RouteModule } from '@chainstead/http';
import {
  BALANCE_COLUMNS,
  type BalanceResult,
  balanceRecordSchema,
  HISTORICAL_BALANCE_COLUMNS,
  historicalBalanceRecordSchema,
  showBalance,
  showHistoricalBalance,
} from './balance-record.ts';
import { listIn } from './coin-routes.ts';
import {
  addressItem,
  coinTypeHashItem,
  listParameter,
  optionalListParameter,
  pathParameter,
} from './list-parameter.ts';
import { type ListRoute, listRoute } from './list-route.ts';
import { type Bind, bindPlace } from './page-statement.ts';
import { amountParameter, versionParameter } from './parameter.ts';
import type { NetworkChoice } from './request-network.ts';
import { exclusion, listKey } from './transfer-routes.ts';

/** `/wallets/coins`, `/wallets/coins/history` and `/coins/owners/{coin_type_hash}/top-holders` (interface 3.2). */
export function balanceRoutes(networks: NetworkChoice): readonly RouteModule[] {
  return [listRoute(walletsRoute, networks), listRoute(historyRoute, networks), listRoute(topHoldersRoute, networks)];
}

const walletParameters = {
  owner_addresses: listParameter(addressItem, 'Wallets.'),
  coin_type_hash_whitelist: optionalListParameter(coinTypeHashItem, 'These coins alone.'),
  coin_type_hash_blacklist: optionalListParameter(coinTypeHashItem, 'All coins but these.'),
};

type Shown = ReturnType<typeof showBalance>;
type NoPath = Record<never, never>;

const walletsRoute: ListRoute<NoPath, typeof walletParameters, BalanceResult, Shown> = {
  path: '/wallets/coins',
  operationId: 'getCoinBalancesByWallets',
  summary: 'Coins of wallets',
  description: 'By wallet, then by hash of the coin type. A coin that is no longer held has the amount 0.',
  record: balanceRecordSchema,
  show: showBalance,
  pathParameters: {},
  parameters: walletParameters,
  filterOf: walletFilter,
  scanOf(filter, after) {
    const [lastOwner = '', lastCoin = ''] = after ?? [];
    return {
      dataset: 'holders',
      table: 'aptos_balances',
      select: BALANCE_COLUMNS,
      keys: [
        // Wallets that earlier pages have shown are not scanned again.
        {
          column: 'owner_address',
          type: 'bytea',
          values: listIn(filter, 'owner_addresses').filter((owner) => owner >= lastOwner),
        },
        ...listKey(filter, 'coin_type_hash', 'coin_type_hash_whitelist'),
      ],
      order: [
        { column: 'owner_address', type: 'bytea' },
        { column: 'coin_type_hash', type: 'bytea' },
      ],
      direction: 'ASC',
      conditions: (bind) => exclusion(filter, 'coin_type_hash', 'coin_type_hash_blacklist', bind),
      ...(after !== null && {
        beyond: (bind: Bind, [owner]: readonly string[]) =>
          `coin_type_hash > CASE WHEN ${owner} = ${bindPlace(bind, 'bytea', lastOwner)} THEN ${bindPlace(bind, 'bytea', lastCoin)} ELSE '\\x'::bytea END`,
      }),
    };
  },
  placeOf: (row) => [row.owner_address, row.coin_type_hash],
};

const historyRoute: ListRoute<
  NoPath,
  typeof walletParameters,
  BalanceResult,
  ReturnType<typeof showHistoricalBalance>
> = {
  path: '/wallets/coins/history',
  operationId: 'getHistoricalCoinBalancesByWallets',
  summary: 'What wallets held, newest first',
  description: 'A row for each transaction that wrote a wallet’s coin store.',
  record: historicalBalanceRecordSchema,
  show: showHistoricalBalance,
  pathParameters: {},
  parameters: walletParameters,
  filterOf: walletFilter,
  scanOf: (filter) => ({
    dataset: 'holders',
    table: 'aptos_balance_history',
    select: HISTORICAL_BALANCE_COLUMNS,
    keys: [
      { column: 'owner_address', type: 'bytea', values: listIn(filter, 'owner_addresses') },
      ...listKey(filter, 'coin_type_hash', 'coin_type_hash_whitelist'),
    ],
    // Within a transaction a wallet's coins are ordered by hash, then wallets.
    order: [
      { column: 'transaction_version', type: 'bigint' },
      { column: 'coin_type_hash', type: 'bytea' },
      { column: 'owner_address', type: 'bytea' },
    ],
    direction: 'DESC',
    conditions: (bind) => exclusion(filter, 'coin_type_hash', 'coin_type_hash_blacklist', bind),
  }),
  placeOf: (row) => [String(row.version), row.coin_type_hash, row.owner_address],
};

function walletFilter(values: { readonly [Name in keyof typeof walletParameters]: readonly string[] | null }) {
  const { owner_addresses, coin_type_hash_whitelist, coin_type_hash_blacklist } = values;
  return { owner_addresses, coin_type_hash_whitelist, coin_type_hash_blacklist };
}

const coinPath = { coin_type_hash: pathParameter(coinTypeHashItem, 'SHA-256 of a coin type.') };

const holderParameters = {
  min_amount: amountParameter('Smallest amount, in base units.'),
  min_version: versionParameter('Earliest version of the last change of a balance.'),
  wallet_whitelist: optionalListParameter(addressItem, 'These wallets alone.'),
  wallet_blacklist: optionalListParameter(addressItem, 'All wallets but these.'),
};

const topHoldersRoute: ListRoute<typeof coinPath, typeof holderParameters, BalanceResult, Shown> = {
  path: '/coins/owners/{coin_type_hash}/top-holders',
  operationId: 'getTopHoldersByCoin',
  summary: 'Holders of a coin, largest first',
  description: 'Wallets that hold none are left out.',
  record: balanceRecordSchema,
  show: showBalance,
  pathParameters: coinPath,
  parameters: holderParameters,
  filterOf: ({ coin_type_hash, min_amount, min_version, wallet_whitelist, wallet_blacklist }) => ({
    coin_type_hash: [coin_type_hash],
    min_amount,
    min_version,
    wallet_whitelist,
    wallet_blacklist,
  }),
  scanOf: (filter) => ({
    dataset: 'holders',
    table: 'aptos_balances',
    select: BALANCE_COLUMNS,
    keys: [
      ...listKey(filter, 'coin_type_hash', 'coin_type_hash'),
      ...listKey(filter, 'owner_address', 'wallet_whitelist'),
    ],
    order: [
      { column: 'amount', type: 'numeric' },
      { column: 'owner_address', type: 'bytea' },
    ],
    direction: 'DESC NULLS LAST',
    conditions: (bind) => [
      'amount > 0',
      ...(typeof filter.min_amount === 'string' ? [`amount >= ${bind(filter.min_amount)}::numeric`] : []),
      ...(typeof filter.min_version === 'number' ? [`last_transaction_version >= ${bind(filter.min_version)}`] : []),
      ...exclusion(filter, 'owner_address', 'wallet_blacklist', bind),
    ],
  }),
  placeOf: (row) => [row.amount, row.owner_address],
};
