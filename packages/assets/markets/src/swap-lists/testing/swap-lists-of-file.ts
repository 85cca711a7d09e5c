/** The routes of swap lists, over Ethereum with two tokens and a pair of them. */

import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { addressOf } from '@chainstead/testkit';
import { madeForFile, scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach } from 'vitest';
import { createMarketRoutes } from '../../market-routes.ts';
import type { SwapRow } from '../../tables/schema.ts';
import { noBackfill } from './no-backfill.ts';
import { cover, seedPools, seedSwaps, seedToken, swapRow } from './seeded-swaps.ts';

export const eth = createChainRegistry().get('eth');
export const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
export const CATS = parseAddress(`0x${'11'.repeat(20)}`);
export const [PAIR, ALICE, BOB] = [addressOf(0x9a1), addressOf(0xa11ce), addressOf(0xb0b)];
export const TOKENS = [CATS, WETH] as const;
export const CAT = 10n ** 6n;
export const ETHER = 10n ** 18n;
/** Amounts of swaps of the pair. */
export const BUY = { amount0: `${-1_500n * CAT}`, amount1: `${ETHER / 2n}` };
export const SELL = { amount0: `${3n * CAT}`, amount1: `${-ETHER}` };

export interface SwapList {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>> & {
    readonly result: readonly Readonly<Record<string, unknown>>[];
  };
}

/** Returns the routes for the tests of a file. Each test begins without swaps and pools, and with blocks 0 to 100 indexed. */
export function swapListsOfFile() {
  const scratch = scratchOfFile();
  const api = madeForFile(() => exampleApi(scratch.database, createMarketRoutes(noBackfill)));
  beforeEach(async () => {
    await scratch.database.query(
      sql`TRUNCATE swaps, trades, pools, pool_states, blocks, sync_ranges, tokens, erc20_transfer_sides`,
    );
    await seedToken(scratch.database, eth, CATS, 'CATS', 6);
    await seedToken(scratch.database, eth, WETH, 'WETH', 18);
    await cover(scratch.database, eth, 'swaps', 100);
  });
  return {
    scratch,
    async get(path: string): Promise<SwapList> {
      const response = await api.request(`/api/v2.2${path}`, { headers: { 'x-api-key': EXAMPLE_KEY } });
      return { status: response.status, body: (await response.json()) as SwapList['body'] };
    },
    seedPair: () => seedPools(scratch.database, eth, [{ pool: PAIR, tokens: TOKENS }]),
    seed: (...rows: readonly SwapRow[]) => seedSwaps(scratch.database, eth, rows),
  };
}

/** A swap of the pair. */
export function swap(given: Partial<SwapRow> & Pick<SwapRow, 'blockNumber'>): SwapRow {
  return swapRow(eth, { pool: PAIR, token0: CATS, token1: WETH, ...given });
}
