/** Partitions are ranges of (chain_id, block_number). Hash and time of a block are in `blocks`. */
import {
  address,
  bytea,
  chainId,
  hash,
  hexadecimal,
  int8,
  int8Text,
  logPlace,
  moment,
} from '@chainstead/db/column-types';
import { distributedBy, LOCAL, LOG_PLACE, logOrder, storedTable } from '@chainstead/db/table-storage';
import { dueColumns, dueIndex } from '@chainstead/jobs/due-columns';
import { sql } from 'drizzle-orm';
import { boolean, index, integer, jsonb, numeric, smallint, text, uuid } from 'drizzle-orm/pg-core';

/** 0: swap, 1: liquidity added, 2: liquidity removed. */
export type SwapKind = 0 | 1 | 2;

// Columns of fixed width come first: no bytes are lost to alignment.
/** One row per event. Amounts are the chain's integers; values follow from other tables. */
export const swaps = storedTable(
  'swaps',
  {
    /** Distribution column on Citus. Pools may share one. */
    poolKey: int8Text('pool_key').notNull(),
    ...logPlace(),
    /** Ticks of concentrated liquidity; null: a swap, or liquidity of the whole pool. */
    tickLower: integer('tick_lower'),
    tickUpper: integer('tick_upper'),
    kind: smallint('kind').$type<SwapKind>().notNull(),
    /** Address, or 32-byte id at a pool manager. */
    pool: hexadecimal('pool').notNull(),
    /** Null: the pool is a contract. */
    vault: address('vault'),
    /**
     * Named by the event, else guessed from transfers: a proven pool's tokens count. Null: unknown.
     * Zero: native token. Lower address first, except in Liquidity Book; unknown order: sold token.
     */
    token0: address('token0'),
    token1: address('token1'),
    /** Base units into the pool; negative: out of it. Null: by liquidity, ticks and price. */
    amount0: numeric('amount0'),
    amount1: numeric('amount1'),
    /** Signed; null: no change of concentrated liquidity. */
    liquidityDelta: numeric('liquidity_delta'),
    wallet: address('wallet').notNull(),
    /** Gave the sold token and received the bought one; null: none, several, or `wallet`. */
    beneficiary: address('beneficiary'),
    transactionHash: hash('transaction_hash').notNull(),
  },
  {
    writes: 'append',
    placement: distributedBy('pool', 'pool_key'),
    isPartitioned: true,
    key: ['poolKey', ...LOG_PLACE],
    indexes: (table) => [
      index('swaps_by_wallet').on(sql`address_key(wallet)`, ...logOrder(table)),
      index('swaps_by_beneficiary')
        .on(sql`address_key(beneficiary)`, ...logOrder(table))
        .where(sql`beneficiary IS NOT NULL`),
      index('swaps_liquidity_changes')
        .on(table.poolKey, table.chainId, table.blockNumber)
        .where(sql`tick_lower IS NOT NULL`),
    ],
  },
);

/** Hexadecimal text is lower case, amounts are decimal digits. */
export type SwapRow = Readonly<typeof swaps.$inferSelect>;

/** At the end of each block with a change. Readers add later changes of liquidity from `swaps`. */
export const poolStates = storedTable(
  'pool_states',
  {
    poolKey: int8Text('pool_key').notNull(),
    ...logPlace(),
    /** Tick, or active bin of Liquidity Book; null: a pool with reserves. */
    tick: integer('tick'),
    pool: hexadecimal('pool').notNull(),
    /** Base units; null: not a pool with reserves. */
    reserve0: numeric('reserve0'),
    reserve1: numeric('reserve1'),
    /** √(token 1 per token 0 in base units) · 2^96; null: not a concentrated pool. */
    sqrtPriceX96: numeric('sqrt_price_x96'),
    liquidity: numeric('liquidity'),
  },
  {
    writes: 'append',
    placement: distributedBy('pool', 'pool_key'),
    isPartitioned: true,
    key: ['poolKey', 'chainId', 'blockNumber', 'pool'],
  },
);

/** Numbers are decimal digits. */
export type PoolStateRow = Readonly<typeof poolStates.$inferSelect>;

export const poolCreations = storedTable(
  'pool_creations',
  {
    poolKey: int8Text('pool_key').notNull(),
    ...logPlace(),
    /** Parts per million; null: not fixed. 0x800000 in Uniswap v4: the hook sets it. */
    fee: integer('fee'),
    /** Ticks, or basis points between bins; null: neither. */
    tickSpacing: integer('tick_spacing'),
    /** Stable pair of Solidly; null: another kind of pool. */
    isStable: boolean('is_stable'),
    pool: hexadecimal('pool').notNull(),
    /** Emitter: factory, vault or pool manager. Identifies the exchange. */
    factory: address('factory').notNull(),
    /** Null: the event names none (Balancer). The zero address is the native token. */
    token0: address('token0'),
    token1: address('token1'),
    /** The pool calls it at each swap; null: none. */
    hooks: address('hooks'),
    transactionHash: hash('transaction_hash').notNull(),
  },
  { writes: 'append', placement: distributedBy('pool', 'pool_key'), key: ['poolKey', ...LOG_PLACE] },
);

export type PoolCreationRow = Readonly<typeof poolCreations.$inferSelect>;

/** `disproved`: no factory of a known exchange acknowledges it. */
export type PoolStatus = 'unproven' | 'proven' | 'disproved';

/** `creation`: event. `address`: hash of factory, tokens, parameters. `factory`: a getter. */
export type PoolProofKind = 'creation' | 'address' | 'factory';

const due = dueColumns('');

/** `untradable`: hook or fee keeps trades from correcting it. `crowded`: others came first. */
export type LeftOut = 'untradable' | 'crowded';

/** Proven or not. Until proven, all but the key and guessed tokens is null. */
export const pools = storedTable(
  'pools',
  {
    poolKey: int8Text('pool_key').notNull(),
    chainId: chainId(),
    pool: hexadecimal('pool').notNull(),
    /** Holds the pool and emitted its events; null: the pool is a contract. */
    vault: address('vault'),
    status: text('status').$type<PoolStatus>().notNull().default('unproven'),
    proof: text('proof').$type<PoolProofKind>(),
    /** Null: the proof needs none. A reorg of the block makes the pool due again. */
    proofBlock: integer('proof_block'),
    exchange: text('exchange'),
    factory: address('factory'),
    /** Guessed until proven. The zero address is the native token. Null: unknown, or over two. */
    token0: address('token0'),
    token1: address('token1'),
    /** Facts as in `pool_creations`. */
    fee: integer('fee'),
    tickSpacing: integer('tick_spacing'),
    isStable: boolean('is_stable'),
    hooks: address('hooks'),
    /** False: its hook may change amounts, and is not trusted. */
    isCounted: boolean('is_counted').notNull().default(false),
    /** Counted only because `TRUSTED_HOOKS` lists its hook. */
    isTrusted: boolean('is_trusted').notNull().default(false),
    /** Null: prices consider it, if proven and counted. */
    leftOut: text('left_out').$type<LeftOut>(),
    ...due,
    dueAt: due.dueAt.defaultNow(),
  },
  {
    writes: 'counter',
    placement: distributedBy('pool', 'pool_key'),
    key: ['poolKey', 'chainId', 'pool'],
    indexes: (table) => [
      dueIndex('pools_due', table),
      index('pools_by_token0')
        .on(sql`address_key(token0)`, table.chainId, sql`address_key(token1)`)
        .where(sql`status = 'proven'`),
      index('pools_by_token1')
        .on(sql`address_key(token1)`, table.chainId, sql`address_key(token0)`)
        .where(sql`status = 'proven'`),
      // Anyone may create any number of them at a pool manager, but few are considered.
      index('pools_priced_by_token0')
        .on(sql`address_key(token0)`, table.chainId, sql`address_key(token1)`)
        .where(sql`status = 'proven' AND is_counted AND left_out IS NULL`),
      index('pools_priced_by_token1')
        .on(sql`address_key(token1)`, table.chainId, sql`address_key(token0)`)
        .where(sql`status = 'proven' AND is_counted AND left_out IS NULL`),
      index('pools_unproven_by_token0')
        .on(sql`address_key(token0)`, table.chainId)
        .where(sql`status = 'unproven'`),
      index('pools_unproven_by_token1')
        .on(sql`address_key(token1)`, table.chainId)
        .where(sql`status = 'unproven'`),
      index('pools_by_hook')
        .on(table.chainId, table.isCounted, table.hooks)
        .where(sql`status = 'proven' AND (is_trusted OR NOT is_counted)`),
      index('pools_proof_blocks').on(table.chainId, table.proofBlock).where(sql`proof_block IS NOT NULL`),
    ],
  },
);

/** Swaps of proven pools by token. Amounts and wallets are in `swaps`. */
export const trades = storedTable(
  'trades',
  {
    poolKey: int8Text('pool_key').notNull(),
    ...logPlace(),
    token0Key: int8Text('token0_key').notNull(),
    token1Key: int8Text('token1_key').notNull(),
  },
  {
    writes: 'append',
    placement: distributedBy('pool', 'pool_key'),
    key: ['poolKey', ...LOG_PLACE],
    indexes: (table) => [
      index('trades_by_token0').on(table.token0Key, table.chainId, ...logOrder(table)),
      index('trades_by_token1').on(table.token1Key, table.chainId, ...logOrder(table)),
    ],
  },
);

/**
 * By hour and day (UTC), from final swaps. Valid: in `candle_spans`, not in `stale_candles`.
 * A pool without a row had no swap in a stored span.
 */
export const poolCandles = storedTable(
  'pool_candles',
  {
    poolKey: int8Text('pool_key').notNull(),
    chainId: chainId(),
    /** Hours since the epoch. */
    start: integer('start').notNull(),
    /** Includes swaps that are no trade (trades/trade-direction.ts). */
    swaps: integer('swaps').notNull(),
    buys: integer('buys').notNull(),
    sells: integer('sells').notNull(),
    /** Width: 1 or 24. */
    hours: smallint('hours').notNull(),
    /** For the tokens in this row's figures; null: unknown. */
    decimals0: smallint('decimals0'),
    decimals1: smallint('decimals1'),
    /** The quote token's price is known for every swap. */
    isValued: boolean('is_valued').notNull(),
    /** Prices are of token 1, in terms of token 0. For readers in SQL. */
    isQuotedIn0: boolean('is_quoted_in0').notNull(),
    pool: hexadecimal('pool').notNull(),
    /** 1e-24 US dollars; null: a value is unknown. */
    buyVolume: numeric('buy_volume'),
    sellVolume: numeric('sell_volume'),
    /** Format: pool-candles/candle-prices.ts. */
    prices: bytea('prices').notNull(),
    /** Distinct senders, 20 bytes each; null: not stored. */
    buyers: bytea('buyers'),
    sellers: bytea('sellers'),
  },
  {
    writes: 'append',
    placement: distributedBy('pool', 'pool_key'),
    key: ['poolKey', 'chainId', 'hours', 'start', 'pool'],
    indexes: (table) => [
      index('pool_candles_by_start').using('brin', table.chainId, table.start.op('int4_minmax_multi_ops')),
    ],
  },
);

/** Spans that are stored, or being stored, for all proven pools. Usable ones: `VALID_SPAN`. */
export const candleSpans = storedTable(
  'candle_spans',
  {
    chainId: chainId(),
    hours: smallint('hours').notNull(),
    start: integer('start').notNull(),
    firstBlock: int8('first_block').notNull(),
    lastBlock: int8('last_block').notNull(),
    /** Prices follow from no earlier block. */
    pricesFromBlock: int8('prices_from_block').notNull(),
    /**
     * Sum of hashes of price rows that were added since the claim, less removed ones: a reindex
     * cancels out. Other than 0: the span is invalid.
     */
    priceChanges: numeric('price_changes').notNull().default('0'),
    /** Hash of price settings; others are invalid. */
    settings: text('settings').notNull(),
    /** False: a worker is storing it. */
    isStored: boolean('is_stored').notNull().default(false),
    claim: uuid('claim').notNull(),
    claimedAt: moment('claimed_at').notNull().defaultNow(),
  },
  {
    writes: 'counter',
    placement: LOCAL,
    key: ['chainId', 'hours', 'start'],
    indexes: (table) => [
      index('candle_spans_by_first_block').on(table.chainId, table.hours, table.firstBlock),
      index('candle_spans_by_last_block').on(table.chainId, table.hours, table.lastBlock),
      index('candle_spans_by_prices').on(table.chainId, table.hours, table.pricesFromBlock),
    ],
  },
);

export const staleCandles = storedTable(
  'stale_candles',
  {
    poolKey: int8Text('pool_key').notNull(),
    chainId: chainId(),
    hours: smallint('hours').notNull(),
    start: integer('start').notNull(),
    pool: hexadecimal('pool').notNull(),
    revision: uuid('revision').notNull().defaultRandom(),
    checkedAt: moment('checked_at').notNull().defaultNow(),
  },
  {
    writes: 'queue',
    placement: LOCAL,
    key: ['poolKey', 'chainId', 'hours', 'start', 'pool'],
    indexes: (table) => [index('stale_candles_by_check').on(table.chainId, table.checkedAt)],
  },
);

/** Sums up to a settled block, to continue from. Changes of these swaps or prices delete them. */
export const traderSums = storedTable(
  'trader_sums',
  {
    chainId: chainId(),
    trader: address('trader').notNull(),
    /** Hash of the question, and of settings that values follow from. */
    scope: text('scope').notNull(),
    /** The sums are of swaps up to this block at most. */
    lastBlock: int8('last_block').notNull(),
    sums: jsonb('sums'),
    claim: uuid('claim').notNull(),
    usedAt: moment('used_at').notNull().defaultNow(),
  },
  {
    writes: 'counter',
    placement: LOCAL,
    key: ['trader', 'chainId', 'scope'],
    indexes: (table) => [index('trader_sums_by_block').on(table.chainId, table.lastBlock)],
  },
);
