/**
 * Aptos in Postgres. `network` is `mainnet` or `testnet`; versions are ledger versions; amounts are in a coin's base
 * units. Ordered or compared texts have the C collation (byte order), which is set in migrations/: drizzle-kit does not
 * support it.
 */
import { bytea } from '@chainstead/db/column-types';
import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  text,
  timestamp,
} from 'drizzle-orm/pg-core';

const network = () => text('network').notNull();
const version = (name: string) => bigint(name, { mode: 'number' });
/** Move's u64, and u128 for supplies. */
const u128 = (name: string) => numeric(name, { precision: 39, scale: 0 });
const moment = (name: string) => timestamp(name, { withTimezone: true });

/** One row per network: state of its fullnodes, and why ingestion is stopped. */
export const aptosNetworks = pgTable('aptos_networks', {
  network: text('network').primaryKey(),
  /** Ledger's chain id: 1 mainnet, 2 testnet. */
  chainId: integer('chain_id').notNull(),
  /** Configured first version of the history. */
  historyStart: version('history_start').notNull(),
  /** First version that was followed; everything below belongs to the backfill. */
  firstFollowed: version('first_followed').notNull(),
  /** Newest version that a fullnode has returned. */
  head: version('head'),
  /** Oldest version that a fullnode still has. */
  oldest: version('oldest'),
  stopCode: text('stop_code'),
  stopMessage: text('stop_message'),
  stallReason: text('stall_reason'),
  /** Health of the fullnodes, as seen by the ingest process. */
  fullnodes: jsonb('fullnodes'),
  updatedAt: moment('updated_at').notNull().defaultNow(),
});

/** Covered versions by dataset. Disjoint (an exclusion constraint); adjacent ranges are joined. */
export const aptosRanges = pgTable(
  'aptos_ranges',
  {
    network: network(),
    /** coins, transfers or holders. */
    dataset: text('dataset').notNull(),
    firstVersion: version('first_version').notNull(),
    lastVersion: version('last_version').notNull(),
  },
  (table) => [primaryKey({ columns: [table.network, table.dataset, table.firstVersion] })],
);

/**
 * The accumulator root after a version, which commits to all transactions before it; and the fullnode that returned it.
 */
export const aptosRoots = pgTable(
  'aptos_roots',
  {
    network: network(),
    version: version('version').notNull(),
    accumulatorRoot: bytea('accumulator_root').notNull(),
    fullnode: text('fullnode').notNull(),
    /** The other fullnode that returned the same root; null while unconfirmed. */
    confirmedBy: text('confirmed_by'),
  },
  (table) => [primaryKey({ columns: [table.network, table.version] })],
);

/** Every coin, from its first CoinInfo. */
export const aptosCoins = pgTable(
  'aptos_coins',
  {
    network: network(),
    /** SHA-256 of the whole coin type. */
    coinTypeHash: bytea('coin_type_hash').notNull(),
    /** At most 5,000 characters. */
    coinType: text('coin_type').notNull(),
    creatorAddress: bytea('creator_address').notNull(),
    name: text('name').notNull(),
    symbol: text('symbol').notNull(),
    decimals: integer('decimals').notNull(),
    supplyAggregatorTableHandle: bytea('supply_aggregator_table_handle'),
    supplyAggregatorTableKey: bytea('supply_aggregator_table_key'),
    transactionVersion: version('transaction_version').notNull(),
    /** Whole seconds. */
    transactionTimestamp: moment('transaction_timestamp').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.coinTypeHash, table.network] }),
    index('aptos_coins_latest').on(table.network, table.transactionVersion, table.coinTypeHash),
    index('aptos_coins_by_symbol').on(table.network, table.symbol, table.coinTypeHash),
    index('aptos_coins_by_name').on(table.network, table.name, table.coinTypeHash),
    index('aptos_coins_by_creator').on(
      table.network,
      table.creatorAddress,
      table.transactionVersion,
      table.coinTypeHash,
    ),
  ],
);

/** Withdrawals, deposits and gas of user transactions. */
export const aptosTransfers = pgTable(
  'aptos_transfers',
  {
    network: network(),
    ownerAddress: bytea('owner_address').notNull(),
    transactionVersion: version('transaction_version').notNull(),
    /** Position among the transaction's events, from 0; −1: the gas row. Orders the events of one transaction. */
    eventIndex: integer('event_index').notNull(),
    eventAccountAddress: bytea('event_account_address').notNull(),
    /** −1: the gas row. */
    eventCreationNumber: version('event_creation_number').notNull(),
    eventSequenceNumber: u128('event_sequence_number').notNull(),
    activityType: text('activity_type').notNull(),
    amount: u128('amount').notNull(),
    blockHeight: version('block_height').notNull(),
    coinType: text('coin_type').notNull(),
    coinTypeHash: bytea('coin_type_hash').notNull(),
    entryFunctionId: text('entry_function_id'),
    isGasFee: boolean('is_gas_fee').notNull(),
    isTransactionSuccess: boolean('is_transaction_success').notNull(),
    transactionTimestamp: moment('transaction_timestamp').notNull(),
  },
  (table) => [
    primaryKey({
      name: 'aptos_transfers_pk',
      columns: [table.ownerAddress, table.network, table.transactionVersion, table.eventIndex],
    }),
    index('aptos_transfers_by_owner_coin').on(
      table.ownerAddress,
      table.network,
      table.coinTypeHash,
      table.transactionVersion,
      table.eventIndex,
    ),
    index('aptos_transfers_by_block').on(table.network, table.blockHeight, table.transactionVersion, table.eventIndex),
    index('aptos_transfers_by_coin').on(table.network, table.coinTypeHash, table.transactionVersion, table.eventIndex),
  ],
);

/** The balance of a wallet in a coin after a transaction that wrote its CoinStore. */
export const aptosBalanceHistory = pgTable(
  'aptos_balance_history',
  {
    network: network(),
    ownerAddress: bytea('owner_address').notNull(),
    coinTypeHash: bytea('coin_type_hash').notNull(),
    transactionVersion: version('transaction_version').notNull(),
    coinType: text('coin_type').notNull(),
    amount: u128('amount').notNull(),
    transactionTimestamp: moment('transaction_timestamp').notNull(),
  },
  (table) => [
    primaryKey({
      name: 'aptos_balance_history_pk',
      columns: [table.ownerAddress, table.network, table.transactionVersion, table.coinTypeHash],
    }),
    index('aptos_balance_history_by_coin').on(
      table.ownerAddress,
      table.network,
      table.coinTypeHash,
      table.transactionVersion,
    ),
  ],
);

/** The balance of a wallet in a coin: the newest row of its history. */
export const aptosBalances = pgTable(
  'aptos_balances',
  {
    network: network(),
    ownerAddress: bytea('owner_address').notNull(),
    coinTypeHash: bytea('coin_type_hash').notNull(),
    coinType: text('coin_type').notNull(),
    amount: u128('amount').notNull(),
    lastTransactionVersion: version('last_transaction_version').notNull(),
    lastTransactionTimestamp: moment('last_transaction_timestamp').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.ownerAddress, table.network, table.coinTypeHash] }),
    index('aptos_balances_top')
      .on(table.network, table.coinTypeHash, table.amount, table.ownerAddress)
      .where(sql`amount > 0`),
  ],
);
