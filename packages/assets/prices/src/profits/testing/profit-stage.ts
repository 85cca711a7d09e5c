import { createChainRegistry } from '@chainstead/chains';
import { type Address, parseAddress, silentLogger, systemClock } from '@chainstead/core';
import { type Database, hexBytes, sql } from '@chainstead/db';
import { type RouteModule, withWait } from '@chainstead/http';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { cover, noBackfill, seedPools, seedSwaps, seedToken, swapRow } from '@chainstead/markets/testing';
import { createNodeReadQueue } from '@chainstead/node-reads';
import { addressOf, createPartitions } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';
import { beforeEach } from 'vitest';
import { createProfitRoutes } from '../profit-routes.ts';

export const eth = createChainRegistry().get('eth');
export const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
export const USDC = parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48');
export const WBTC = parseAddress('0x2260fac5e5542a773aa44fbcfedf7c193bc2c599');
export const CATS = parseAddress(`0x${'11'.repeat(20)}`);
export const DOGS = parseAddress(`0x${'22'.repeat(20)}`);
export const [ANN, BOB, BOT] = [addressOf(0xa1), addressOf(0xb1), addressOf(0xb07)];

/** Newest indexed block. */
export const HEAD = 100_000;

const ofToken = (token: Address) => eth.tokenFeeds.find(({ tokens }) => tokens.includes(token));
const FEEDS = {
  ETH: eth.etherPrice.feed?.aggregators[0] ?? addressOf(0),
  USDC: ofToken(USDC)?.aggregators[0] ?? addressOf(0),
  WBTC: addressOf(0xb7c),
};

const POOLS: Readonly<Record<string, readonly [Address, Address]>> = {
  [addressOf(0x9a1)]: [CATS, USDC],
  [addressOf(0x9a2)]: [CATS, WETH],
  [addressOf(0x9a3)]: [USDC, WETH],
  [addressOf(0x9a4)]: [CATS, DOGS],
  [addressOf(0x9a5)]: [CATS, WBTC],
};

export type Json = Readonly<Record<string, unknown>>;

/** The profit routes of a test file, with a newly seeded stage before each test. */
export function profitRoutesOfFile() {
  const scratch = scratchOfFile();
  const api = madeForFile(() => exampleApi(scratch.database, profitRoutesOf(scratch.database)));
  beforeEach(() => seedStage(scratch.database));
  const get = async (path: string): Promise<{ readonly status: number; readonly body: Json }> => {
    const response = await api.request(`/api/v2.2/${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
    return { status: response.status, body: (await response.json()) as Json };
  };
  return { scratch, get };
}

/** The profit routes over a database. No worker reads nodes: requested reads stay in `state_questions`. */
export function profitRoutesOf(database: Database, retainedFrom = 0): readonly RouteModule[] {
  const nodeReads = createNodeReadQueue({ database, chains: [eth], clock: systemClock, logger: silentLogger() });
  const onDemandBackfill = { ...noBackfill.onDemandBackfill, retainedFrom: async () => retainedFrom };
  return [withWait({ waitMs: 0 }, [createProfitRoutes({ onDemandBackfill, nodeReads })])];
}

/** Tokens, proven pools and coverage, with USDC at one dollar. */
export async function seedStage(database: Database): Promise<void> {
  await database.query(
    sql`TRUNCATE erc20_transfer_sides, swaps, trades, pools, blocks, sync_ranges, tokens, feed_answers, feed_readings, state_questions, trader_sums`,
  );
  for (const [token, symbol, decimals] of [
    [CATS, 'CATS', 6],
    [DOGS, 'DOGS', 18],
    [WETH, 'WETH', 18],
    [USDC, 'USDC', 6],
    [WBTC, 'WBTC', 8],
  ] as const)
    await seedToken(database, eth, token, symbol, decimals);
  for (const dataset of ['swaps', 'feed-answers']) await cover(database, eth, dataset, HEAD);
  await seedPools(
    database,
    eth,
    Object.entries(POOLS).map(([pool, tokens]) => ({ pool: pool as Address, tokens })),
  );
  await database.query(
    sql`INSERT INTO price_feed_phases (feed, chain_id, aggregator, decimals) VALUES (${hexBytes(ofToken(WBTC)?.proxy ?? '')}, ${eth.id}, ${hexBytes(FEEDS.WBTC)}, 8) ON CONFLICT DO NOTHING`,
  );
  await seedDollars(database, 'USDC', 0, 1n);
}

/** Stores the price of a token from a block on, for 25 hours. */
export async function seedDollars(
  database: Database,
  token: keyof typeof FEEDS,
  blockNumber: number,
  dollars: bigint,
): Promise<void> {
  await seedAnswers(database, eth, [{ aggregator: FEEDS[token], blockNumber, answer: `${dollars * 10n ** 8n}` }]);
}

/** A swap: the wallet gives an amount of one token for one of another. Base units. */
export interface Swapped {
  readonly block: number;
  readonly wallet?: Address;
  readonly beneficiary?: Address | null;
  readonly gave: readonly [bigint, Address];
  readonly got: readonly [bigint, Address];
  /** Default: the pool of both tokens. */
  readonly pool?: Address;
  /** Default: its own. */
  readonly transaction?: number;
}

/** Stores swaps. */
export async function seedTrades(database: Database, swapped: readonly Swapped[]): Promise<void> {
  const rows = swapped.map(({ block, wallet = ANN, beneficiary = null, gave, got, pool, transaction }, place) => {
    const [token0, token1] = gave[1] < got[1] ? [gave[1], got[1]] : [got[1], gave[1]];
    const known = Object.entries(POOLS).find(([, tokens]) => tokens[0] === token0 && tokens[1] === token1)?.[0];
    const amountOf = (token: Address) => (token === gave[1] ? `${gave[0]}` : `${-got[0]}`);
    return swapRow(eth, {
      ...{
        pool: pool ?? ((known ?? addressOf(0)) as Address),
        token0,
        token1,
        blockNumber: block,
        ...{ transactionIndex: transaction ?? place, logIndex: transaction === undefined ? 0 : place },
      },
      ...{ wallet, beneficiary, amount0: amountOf(token0), amount1: amountOf(token1) },
    });
  });
  await seedSwaps(database, eth, rows);
}

/** Amounts in base units. */
export const cats = (amount: number): readonly [bigint, Address] => [BigInt(Math.round(amount * 1e6)), CATS];
export const dollars = (amount: number): readonly [bigint, Address] => [BigInt(Math.round(amount * 1e6)), USDC];
/** @param amount thousandths */
export const ether = (amount: number): readonly [bigint, Address] => [BigInt(amount) * 10n ** 15n, WETH];

export interface Moved {
  readonly block: number;
  readonly transaction?: number;
  readonly wallet?: Address;
  readonly counterparty: Address;
  readonly sent?: readonly [bigint, Address];
  readonly received?: readonly [bigint, Address];
}

/** Stores a wallet's side of transfers. */
export async function seedMoves(database: Database, moved: readonly Moved[]): Promise<void> {
  await database.transaction((on) => createPartitions(on, 'erc20_transfer_sides', eth.id));
  for (const [log, { block, transaction = 0, wallet = ANN, counterparty, sent, received }] of moved.entries()) {
    const [value, token] = sent ?? received ?? [0n, CATS];
    await database.query(
      sql`INSERT INTO erc20_transfer_sides (account_key, chain_id, block_number, transaction_index, log_index, direction, account, token, counterparty, value, transaction_hash)
       VALUES (address_key(${hexBytes(wallet)}), ${eth.id}, ${block}, ${transaction}, ${log}, ${sent === undefined ? 1 : 0}, ${hexBytes(wallet)}, ${hexBytes(token)}, ${hexBytes(counterparty)}, ${String(value)}, ${hexBytes(`0x${'0'.repeat(64)}`)})`,
    );
  }
}
