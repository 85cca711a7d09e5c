/**
 * Tables of swaps, states and creations of pools, and of what follows from them: pools with their proofs, and trades.
 *
 * Partitioned tables are split by range of (chain_id, block_number), as `declareStorage` defines: the sync engine creates the partitions. Hash
 * and time of a row's block are in `blocks`.
 */
import { blockRangeIndex } from '@chainstead/db/block-range-index';
import { address, bytea, hash, hexadecimal, int8Text } from '@chainstead/db/column-types';
import { declareStorage, distributedBy, LOCAL } from '@chainstead/db/table-storage';
import { dueColumns, dueIndex } from '@chainstead/jobs/due-columns';
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
  smallint,
  text,
  timestamp,
  uuid,
} from 'drizzle-orm/pg-core';

/** 0: swap, 1: liquidity added, 2: liquidity removed. */
export type SwapKind = 0 | 1 | 2;

// Columns of fixed width come first: no bytes are lost to alignment.
/**
 * Swaps and liquidity changes, one row per event. Amounts are the chain's integers; exchange, prices and values follow from other tables.
 */
export const swaps = pgTable(
  'swaps',
  {
    /** The `poolKey` of `pool`: first column of the primary key, and distribution column on Citus. Pools may share one. */
    poolKey: int8Text('pool_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    logIndex: integer('log_index').notNull(),
    /** Ticks of a change of concentrated liquidity; null: a swap, or liquidity of the whole pool. */
    tickLower: integer('tick_lower'),
    tickUpper: integer('tick_upper'),
    kind: smallint('kind').$type<SwapKind>().notNull(),
    /** Address of the pool, or its 32-byte id at a pool manager. */
    pool: hexadecimal('pool').notNull(),
    /** Contract that holds the pool; null: the pool is a contract. */
    vault: address('vault'),
    /**
     * Named by the event, else guessed from the transfers of the transaction: those of the proven pool count. The zero address is the native
     * token. Null: unknown. Token 0 is the lower address except in Liquidity Book, or the sold token if the order is unknown.
     */
    token0: address('token0'),
    token1: address('token1'),
    /** Base units into the pool; negative out of it. Null: they follow from liquidity, ticks and price. */
    amount0: numeric('amount0'),
    amount1: numeric('amount1'),
    /** Signed change of concentrated liquidity; null: not such a change. */
    liquidityDelta: numeric('liquidity_delta'),
    /** Sender of the transaction. */
    wallet: address('wallet').notNull(),
    /** The single account that gave the sold token and received the bought one; null: none, several, or the same as `wallet`. */
    beneficiary: address('beneficiary'),
    transactionHash: hash('transaction_hash').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.poolKey, table.chainId, table.blockNumber, table.transactionIndex, table.logIndex],
    }),
    index('swaps_by_wallet').on(sql`address_key(wallet)`, table.blockNumber, table.transactionIndex, table.logIndex),
    index('swaps_by_beneficiary')
      .on(sql`address_key(beneficiary)`, table.blockNumber, table.transactionIndex, table.logIndex)
      .where(sql`beneficiary IS NOT NULL`),
    // A busy pool has many swaps between its changes of concentrated liquidity.
    index('swaps_liquidity_changes')
      .on(table.poolKey, table.chainId, table.blockNumber)
      .where(sql`tick_lower IS NOT NULL`),
    blockRangeIndex('swaps', table, 'int4'),
  ],
);

declareStorage(swaps, { writes: 'append', placement: distributedBy('pool', 'pool_key'), isPartitioned: true });

/** One swap or liquidity change. Hexadecimal text is lower case, amounts are decimal digits. */
export type SwapRow = Readonly<typeof swaps.$inferSelect>;

/** State of a pool at the end of each block in which it changed. Concentrated pools: later liquidity changes are in `swaps`, and are added when
 * the state is read. */
export const poolStates = pgTable(
  'pool_states',
  {
    /** The `poolKey` of `pool`: first column of the primary key, and distribution column on Citus. Pools may share one. */
    poolKey: int8Text('pool_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    /** The log that set the state. */
    logIndex: integer('log_index').notNull(),
    /** Tick of a concentrated pool, or active bin of a Liquidity Book pair; null: a pool with reserves. */
    tick: integer('tick'),
    /** Address of the pool, or its 32-byte id at a pool manager. */
    pool: hexadecimal('pool').notNull(),
    /** Reserves in base units; null: not such a pool. */
    reserve0: numeric('reserve0'),
    reserve1: numeric('reserve1'),
    /** Square root of token 1 per token 0 in base units, times 2^96, and liquidity in range; null: not a concentrated pool. */
    sqrtPriceX96: numeric('sqrt_price_x96'),
    liquidity: numeric('liquidity'),
  },
  (table) => [
    primaryKey({ columns: [table.poolKey, table.chainId, table.blockNumber, table.pool] }),
    blockRangeIndex('pool_states', table, 'int4'),
  ],
);

declareStorage(poolStates, { writes: 'append', placement: distributedBy('pool', 'pool_key'), isPartitioned: true });

/** State of a pool at the end of a block. Numbers are decimal digits. */
export type PoolStateRow = Readonly<typeof poolStates.$inferSelect>;

/** Pools that known factories and pool managers announced, one row per event. */
export const poolCreations = pgTable(
  'pool_creations',
  {
    /** The `poolKey` of `pool`: first column of the primary key, and distribution column on Citus. Pools may share one. */
    poolKey: int8Text('pool_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    logIndex: integer('log_index').notNull(),
    /** Parts per million; null: not fixed by the creation. 0x800000 in Uniswap v4: the hook sets it. */
    fee: integer('fee'),
    /** Ticks, or basis points between bins; null: neither. */
    tickSpacing: integer('tick_spacing'),
    /** Whether it is a stable pair of Solidly; null: another kind of pool. */
    isStable: boolean('is_stable'),
    /** Address of the pool, or its 32-byte id at a pool manager. */
    pool: hexadecimal('pool').notNull(),
    /** Emitter of the event: a factory, vault or pool manager. It identifies the exchange. */
    factory: address('factory').notNull(),
    /** Null: the event names no tokens (Balancer). The zero address is the native token. */
    token0: address('token0'),
    token1: address('token1'),
    /** Contract that the pool calls at each swap; null: none. */
    hooks: address('hooks'),
    transactionHash: hash('transaction_hash').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.poolKey, table.chainId, table.blockNumber, table.transactionIndex, table.logIndex],
    }),
    blockRangeIndex('pool_creations', table, 'int4'),
  ],
);

declareStorage(poolCreations, { writes: 'append', placement: distributedBy('pool', 'pool_key') });

/** One creation event. Hexadecimal text is lower case. */
export type PoolCreationRow = Readonly<typeof poolCreations.$inferSelect>;

/** `disproved`: no factory of a known exchange acknowledges it. */
export type PoolStatus = 'unproven' | 'proven' | 'disproved';

/** `creation`: event of the factory. `address`: hash of factory, tokens and parameters. `factory`: its answer at a block. */
export type PoolProofKind = 'creation' | 'address' | 'factory';

const due = dueColumns('');

/**
 * Why prices leave a pool at a pool manager out. `untradable`: its hook can refuse swaps, or its fee is too high, so that no trade corrects its price.
 * `crowded`: enough unusual pools of the same tokens were proven before.
 */
export type LeftOut = 'untradable' | 'crowded';

/** One row per pool, proven or not. Everything but the key and guessed tokens is null until it is proven. */
export const pools = pgTable(
  'pools',
  {
    /** The `poolKey` of `pool`: first column of the primary key, and distribution column on Citus. Pools may share one. */
    poolKey: int8Text('pool_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Address of the pool, or its 32-byte id at a pool manager. */
    pool: hexadecimal('pool').notNull(),
    /** Contract that holds the pool and emitted its events; null: the pool is a contract. */
    vault: address('vault'),
    status: text('status').$type<PoolStatus>().notNull().default('unproven'),
    proof: text('proof').$type<PoolProofKind>(),
    /** Block of the proof; null: the proof needs none. A reorg of that block makes the pool due again. */
    proofBlock: integer('proof_block'),
    /** Exchange and emitter of its creation event: a factory, vault or pool manager. */
    exchange: text('exchange'),
    factory: address('factory'),
    /** Guessed from transfers until the pool is proven. The zero address is the native token. Null: unknown, or more than two tokens. */
    token0: address('token0'),
    token1: address('token1'),
    /** Parts per million; null: not fixed. 0x800000 in Uniswap v4: the hook sets it. */
    fee: integer('fee'),
    /** Ticks, or basis points between bins; null: neither. */
    tickSpacing: integer('tick_spacing'),
    /** Whether it is a stable pair of Solidly; null: another kind of pool. */
    isStable: boolean('is_stable'),
    /** Contract that the pool calls at each swap; null: none. */
    hooks: address('hooks'),
    /** Whether its swaps are trades. False: its hook may change amounts, and is not trusted. */
    isCounted: boolean('is_counted').notNull().default(false),
    /** Whether they are only because `TRUSTED_HOOKS` lists its hook. */
    isTrusted: boolean('is_trusted').notNull().default(false),
    /** Null: prices consider it, if it is proven and counted. */
    leftOut: text('left_out').$type<LeftOut>(),
    ...due,
    /** A new pool is due at once. */
    dueAt: due.dueAt.defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.poolKey, table.chainId, table.pool] }),
    dueIndex('pools_due', table),
    // Pools of two tokens: anyone may create any number of pools of one of them.
    index('pools_by_token0')
      .on(sql`address_key(token0)`, table.chainId, sql`address_key(token1)`)
      .where(sql`status = 'proven'`),
    index('pools_by_token1')
      .on(sql`address_key(token1)`, table.chainId, sql`address_key(token0)`)
      .where(sql`status = 'proven'`),
    // Anyone may create any number of pools of the same tokens at a pool manager, but few of them are considered.
    index('pools_priced_by_token0')
      .on(sql`address_key(token0)`, table.chainId, sql`address_key(token1)`)
      .where(sql`status = 'proven' AND is_counted AND left_out IS NULL`),
    index('pools_priced_by_token1')
      .on(sql`address_key(token1)`, table.chainId, sql`address_key(token0)`)
      .where(sql`status = 'proven' AND is_counted AND left_out IS NULL`),
    index('pools_unproven_by_token0').on(sql`address_key(token0)`, table.chainId).where(sql`status = 'unproven'`),
    index('pools_unproven_by_token1').on(sql`address_key(token1)`, table.chainId).where(sql`status = 'unproven'`),
    // Pools that follow a changed setting: TRUSTED_HOOKS.
    index('pools_by_hook')
      .on(table.chainId, table.isCounted, table.hooks)
      .where(sql`status = 'proven' AND (is_trusted OR NOT is_counted)`),
    index('pools_proof_blocks').on(table.chainId, table.proofBlock).where(sql`proof_block IS NOT NULL`),
  ],
);

declareStorage(pools, { writes: 'counter', placement: distributedBy('pool', 'pool_key') });

/** Swaps of proven pools by the tokens that they trade. Amounts and wallets are in `swaps`. */
export const trades = pgTable(
  'trades',
  {
    /** Key of the swap in `swaps`. */
    poolKey: int8Text('pool_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    blockNumber: integer('block_number').notNull(),
    transactionIndex: integer('transaction_index').notNull(),
    logIndex: integer('log_index').notNull(),
    /** The `addressKey` of each token. */
    token0Key: int8Text('token0_key').notNull(),
    token1Key: int8Text('token1_key').notNull(),
  },
  (table) => [
    primaryKey({
      columns: [table.poolKey, table.chainId, table.blockNumber, table.transactionIndex, table.logIndex],
    }),
    index('trades_by_token0').on(
      table.token0Key,
      table.chainId,
      table.blockNumber,
      table.transactionIndex,
      table.logIndex,
    ),
    index('trades_by_token1').on(
      table.token1Key,
      table.chainId,
      table.blockNumber,
      table.transactionIndex,
      table.logIndex,
    ),
    blockRangeIndex('trades', table, 'int4'),
  ],
);

declareStorage(trades, { writes: 'append', placement: distributedBy('pool', 'pool_key') });

/**
 * Candles and figures of pools by hour and by day (UTC), derived from final swaps. A row is valid if `candle_spans` has its span and
 * `stale_candles` does not have it. A pool without a row had no swap in a stored span.
 */
export const poolCandles = pgTable(
  'pool_candles',
  {
    /** The `poolKey` of `pool`: first column of the primary key, and distribution column on Citus. Pools may share one. */
    poolKey: int8Text('pool_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Start of the span, in hours since the epoch. */
    start: integer('start').notNull(),
    /** Number of swaps, with those that are no trade (packages/assets/markets/src/trades/trade-direction.ts). */
    swaps: integer('swaps').notNull(),
    /** Number of trades that buy, and that sell, the base token. */
    buys: integer('buys').notNull(),
    sells: integer('sells').notNull(),
    /** Width: 1 or 24. */
    hours: smallint('hours').notNull(),
    /** Decimals of the tokens in this row's figures; null: unknown. */
    decimals0: smallint('decimals0'),
    decimals1: smallint('decimals1'),
    /** Whether the price of the quote token is known for every swap. */
    isValued: boolean('is_valued').notNull(),
    /** Address of the pool, or its 32-byte id at a pool manager. */
    pool: hexadecimal('pool').notNull(),
    /** Sums of the values in 1e-24 US dollars; null: one is unknown. */
    buyVolume: numeric('buy_volume'),
    sellVolume: numeric('sell_volume'),
    /** Open, high, low and close in both currencies as exact fractions (packages/assets/markets/src/pool-candles/candle-prices.ts). */
    prices: bytea('prices').notNull(),
    /** Addresses of distinct senders, 20 bytes each; null: not stored. */
    buyers: bytea('buyers'),
    sellers: bytea('sellers'),
  },
  (table) => [
    primaryKey({
      columns: [table.poolKey, table.chainId, table.hours, table.start, table.pool],
    }),
    index('pool_candles_by_start').using('brin', table.chainId, table.start.op('int4_minmax_multi_ops')),
  ],
);

declareStorage(poolCandles, { writes: 'append', placement: distributedBy('pool', 'pool_key') });

/** Hours and days whose candles are stored for all proven pools, or are being stored. See `VALID_SPAN` for those that may be used. */
export const candleSpans = pgTable(
  'candle_spans',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    /** Width: 1 or 24. */
    hours: smallint('hours').notNull(),
    /** In hours since the epoch. */
    start: integer('start').notNull(),
    /** All blocks of the span are among these. */
    firstBlock: bigint('first_block', { mode: 'number' }).notNull(),
    lastBlock: bigint('last_block', { mode: 'number' }).notNull(),
    /** Prices in the span follow from no earlier block. */
    pricesFromBlock: bigint('prices_from_block', { mode: 'number' }).notNull(),
    /**
     * Sum of the hashes of price rows that were added to those blocks since the span was claimed, less those that were removed. Other than 0: the
     * span is invalid. Rows that a reindex removes and adds again cancel out.
     */
    priceChanges: numeric('price_changes').notNull().default('0'),
    /** Hash of the price settings; rows of other settings are invalid. */
    settings: text('settings').notNull(),
    /** False: a worker is storing it. */
    isStored: boolean('is_stored').notNull().default(false),
    claim: uuid('claim').notNull(),
    claimedAt: timestamp('claimed_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.chainId, table.hours, table.start] }),
    index('candle_spans_by_first_block').on(table.chainId, table.hours, table.firstBlock),
    index('candle_spans_by_last_block').on(table.chainId, table.hours, table.lastBlock),
    index('candle_spans_by_prices').on(table.chainId, table.hours, table.pricesFromBlock),
  ],
);

declareStorage(candleSpans, { writes: 'counter', placement: LOCAL });

/** Pools of stored hours and days whose swaps changed since. */
export const staleCandles = pgTable(
  'stale_candles',
  {
    poolKey: int8Text('pool_key').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    hours: smallint('hours').notNull(),
    start: integer('start').notNull(),
    pool: hexadecimal('pool').notNull(),
    /** Another one after each change. */
    revision: uuid('revision').notNull().defaultRandom(),
    checkedAt: timestamp('checked_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({
      columns: [table.poolKey, table.chainId, table.hours, table.start, table.pool],
    }),
    index('stale_candles_by_check').on(table.chainId, table.checkedAt),
  ],
);

declareStorage(staleCandles, { writes: 'queue', placement: LOCAL });

/** Sums of a trader's swaps up to a settled block, for the next sums to continue from. Deleted when these swaps, or prices that value them, change. */
export const traderSums = pgTable(
  'trader_sums',
  {
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    trader: address('trader').notNull(),
    /** Hash of the question and of the settings that values follow from. */
    scope: text('scope').notNull(),
    /** The sums are of swaps up to this block at most. */
    lastBlock: bigint('last_block', { mode: 'number' }).notNull(),
    /** Null: none are stored yet. */
    sums: jsonb('sums'),
    claim: uuid('claim').notNull(),
    usedAt: timestamp('used_at', { withTimezone: true }).notNull().defaultNow(),
  },
  (table) => [
    primaryKey({ columns: [table.trader, table.chainId, table.scope] }),
    index('trader_sums_by_block').on(table.chainId, table.lastBlock),
  ],
);

declareStorage(traderSums, { writes: 'counter', placement: LOCAL });
