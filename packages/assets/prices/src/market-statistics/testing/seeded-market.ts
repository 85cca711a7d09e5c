/** Indexed blocks, anchors and tokens of two chains. Blocks are 300 seconds apart, and block 0 begins a day. */
import { type Chain, createChainRegistry } from '@chainstead/chains';
import type { PriceFeed } from '@chainstead/chains/price-feeds';
import { type Address, parseAddress, silentLogger, systemClock } from '@chainstead/core';
import { type Database, hexBytes, sql } from '@chainstead/db';
import type { BalanceRequestSources } from '@chainstead/erc20/requests';
import { createNodeReadQueue } from '@chainstead/node-reads';
import { createSubjectProjections } from '@chainstead/sync/ingest';
import { addressOf, coverBlocks, createPartitions, seedBuilt, storeBlocks } from '@chainstead/testkit';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';

/** The newest block: 9:20 of the second day. */
export const HEAD = 400;
const SECONDS = 300;
export const START = 1_700_006_400;
export const timeOf = (block: number): number => START + block * SECONDS;
export const isoOf = (block: number): string => new Date(timeOf(block) * 1_000).toISOString();

const registry = createChainRegistry();
export const [eth, base] = [registry.get('eth'), registry.get('base')];
export const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
export const USDC = parseAddress('0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48');
export const USDC_OF_BASE = parseAddress('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913');
/** Lower than those above: token 0 of their pools. */
export const CATS = parseAddress(`0x${'11'.repeat(20)}`);
export const DOGS = parseAddress(`0x${'22'.repeat(20)}`);
export const [ALICE, BOB, CAROL] = [0xa11ce, 0xb0b, 0xca401].map(addressOf) as [Address, Address, Address];

/** Empties the tables, and stores blocks with 2,000 dollars per ether and 1 dollar per USDC. */
export async function seedMarket(database: Database): Promise<void> {
  await database.query(
    sql`TRUNCATE pools, pool_states, pool_creations, swaps, trades, blocks, sync_ranges, tokens, feed_answers, erc20_transfer_sides,
       erc20_wallet_tokens, erc20_token_classes, state_questions`,
  );
  for (const chain of [eth, base]) {
    await storeBlocks(database, chain.id, 0, HEAD, { start: START, seconds: SECONDS });
    for (const dataset of ['pool-states', 'swaps', 'feed-answers', 'erc20-transfers'])
      await cover(database, chain, dataset);
    for (const table of ['pool_states', 'swaps', 'erc20_transfer_sides'])
      await createPartitions(database, table, chain.id);
    await seedBuilt(database, chain.id, { name: 'erc20-wallet-tokens', version: 2 });
    const dollars = chain.tokenFeeds.find(({ tokens }) =>
      tokens.some((token) => [USDC, USDC_OF_BASE].includes(token)),
    );
    // A value counts for 25 hours, which are 300 blocks.
    for (const block of [1, 200]) {
      await seedAnswer(database, chain, chain.etherPrice.feed, block, '200000000000');
      await seedAnswer(database, chain, dollars, block, '100000000');
    }
  }
  await seedToken(database, eth, WETH, { symbol: 'WETH', decimals: 18 });
  await seedToken(database, eth, USDC, { symbol: 'USDC', decimals: 6 });
  await seedToken(database, base, USDC_OF_BASE, { symbol: 'USDC', decimals: 6 });
}

async function seedAnswer(
  database: Database,
  chain: Chain,
  feed: PriceFeed | null | undefined,
  blockNumber: number,
  answer: string,
): Promise<void> {
  const [aggregator] = feed?.aggregators ?? [];
  if (aggregator !== undefined)
    await seedAnswers(database, chain, [{ aggregator, blockNumber, answer, time: timeOf(blockNumber) }]);
}

/** Stores the run of a dataset until the newest block. */
export async function cover(database: Database, chain: Chain, dataset: string, first = 0): Promise<void> {
  await database.query(sql`DELETE FROM sync_ranges WHERE chain_id = ${chain.id} AND dataset = ${dataset}`);
  await coverBlocks(database, chain.id, dataset, first, HEAD);
}

export interface SeededToken {
  readonly symbol: string;
  readonly name?: string;
  readonly decimals?: number;
  readonly standard?: string;
  readonly isVerified?: boolean;
  readonly isSpam?: boolean;
  /** Whole tokens. */
  readonly supply?: bigint;
  readonly createdBlock?: number;
}

/** Stores the facts of a token. Nothing of it has to be read again. */
export async function seedToken(
  database: Database,
  chain: Chain,
  token: Address,
  { symbol, name = `${symbol} token`, decimals = 6, supply, ...more }: SeededToken,
): Promise<void> {
  const { standard = 'erc20', isVerified = false, isSpam = false, createdBlock = null } = more;
  await database.query(
    sql`INSERT INTO tokens (address, chain_id, name, symbol, decimals, standard, verified, possible_spam, total_supply, facts_status, supply_read_at,
       creation_sought_at, created_block, created_at, logo)
     VALUES (${hexBytes(token)}, ${chain.id}, ${name}, ${symbol}, ${decimals}, ${standard}, ${isVerified}, ${isSpam}, ${supply === undefined ? null : (supply * 10n ** BigInt(decimals)).toString()}, 'known', now(), now(), ${createdBlock}, ${createdBlock === null ? null : isoOf(createdBlock)}, ${isVerified ? `https://logos.example/${symbol}.png` : null})`,
  );
}

/** Stores CATS, whose transfers determine its balances, and DOGS. */
export async function seedCatsAndDogs(database: Database): Promise<void> {
  await seedToken(database, eth, CATS, { symbol: 'CATS' });
  await seedToken(database, eth, DOGS, { symbol: 'DOGS', decimals: 18 });
  await database.query(
    sql`INSERT INTO erc20_token_classes (token, chain_id, class, since_block) VALUES (${hexBytes(CATS)}, ${eth.id}, 'sum', 1)`,
  );
}

/** Shorter than a test may take. */
export const ON_DEMAND = { waitMs: 200 };

/** Sources of balances without a worker: requested reads stay in `state_questions`. */
export function balancesOf(database: Database): BalanceRequestSources {
  const nodeReads = createNodeReadQueue({
    database,
    chains: [eth, base],
    clock: systemClock,
    logger: silentLogger(),
  });
  return { nodeReads, projections: createSubjectProjections(database), liveMaxAgeMs: 60_000 };
}
