/** A chain for prices against ether at 2,000 dollars. Blocks are 300 seconds apart, so a window has six. */

import type { Chain } from '@chainstead/chains';
import { type Address, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { type Database, rawSql, sql } from '@chainstead/db';
import { wrappedNativeOf } from '@chainstead/markets/requests';
import { coverBlocks, storeBlocks, storeToken } from '@chainstead/testkit';
import { seedAnswers } from '@chainstead/tokens/price-feeds/testing';

/** Token 0 of a pool against wrapped ether: its address is lower. */
export const CATS = parseAddress(`0x${'11'.repeat(20)}`);
export const HEAD = 400;
/** One cat is worth 0.0004 ether: 4e8 wei per unit, whose root is 20,000. */
export const SQRT_PRICE = 20_000n << 96n;
/** Virtual reserves of 250,000 cats and 100 ether. */
export const LIQUIDITY = 5n * 10n ** 15n;
export const INSUFFICIENT = { message: 'Insufficient liquidity in pools to calculate the price' };

const SECONDS = 300;
const START = 1_700_000_000;
const TABLES = [
  ...[
    'pools',
    'pool_states',
    'pool_creations',
    'swaps',
    'tick_liquidity',
    'bin_changes',
    'bin_reserves',
    'blocks',
    'sync_ranges',
    'tokens',
    'feed_answers',
  ],
  ...['projections', 'erc20_transfer_sides', 'erc20_wallet_tokens', 'erc20_token_classes', 'state_questions'],
];

/** Stores the blocks, the tokens with their decimals, and two values of the ether feed. Indexes the datasets from block 0 on. */
export async function seedEtherChain(
  database: Database,
  chain: Chain,
  datasets: readonly string[],
): Promise<void> {
  await database.query(sql`TRUNCATE ${rawSql(TABLES.join())}`);
  await storeBlocks(database, chain.id, 0, HEAD, { start: START, seconds: SECONDS });
  for (const dataset of datasets) await coverBlocks(database, chain.id, dataset, 0, HEAD);
  const [aggregator] = chain.etherPrice.feed?.aggregators ?? [];
  if (aggregator === undefined) throw new RangeError(`${chain.name} has no ether feed`);
  // A value counts for 25 hours, which are 300 blocks.
  for (const blockNumber of [1, 200])
    await seedAnswers(database, chain, [
      { aggregator, blockNumber, answer: '200000000000', time: START + blockNumber * SECONDS },
    ]);
  for (const [token, decimals] of [
    [CATS, 6],
    [wethOf(chain), 18],
  ] as const)
    await storeToken(database, chain.id, token, { name: 'Token', symbol: 'T', decimals, facts_status: 'known' });
}

/** Wrapped ether. */
export function wethOf(chain: Chain): Address {
  return wrappedNativeOf(chain) ?? ZERO_ADDRESS;
}

/** Makes these ranges the only indexed blocks of a dataset. */
export async function coverOnly(
  database: Database,
  chain: Chain,
  dataset: string,
  ...runs: readonly (readonly [number, number])[]
): Promise<void> {
  await database.query(sql`DELETE FROM sync_ranges WHERE dataset = ${dataset}`);
  for (const [first, last] of runs) await coverBlocks(database, chain.id, dataset, first, last);
}
