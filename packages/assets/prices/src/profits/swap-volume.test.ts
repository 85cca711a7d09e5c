/** The volume of a wallet's swaps, with exact values: roles, anchors, unknown values, blocks and coverage. */
import { sql } from '@chainstead/db';
import { cover, seedPools } from '@chainstead/markets/testing';
import { addressOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { readSwapVolume } from './swap-volume.ts';
import {
  ANN,
  BOB,
  BOT,
  CATS,
  cats,
  DOGS,
  dollars,
  eth,
  ether,
  HEAD,
  seedDollars,
  seedStage,
  seedTrades,
  USDC,
} from './testing/profit-stage.ts';

const scratch = scratchOfFile();

beforeEach(() => seedStage(scratch.database));

const volumeOf = (wallet: typeof ANN, lastBlock = HEAD, signal = new AbortController().signal) =>
  readSwapVolume(scratch.database, eth, { wallet, lastBlock, signal });

describe('the volume of swaps', () => {
  test('is the sum of purchases, sales and swaps between anchors, rounded once', async () => {
    await seedDollars(scratch.database, 'ETH', 10, 2_000n);
    await seedTrades(scratch.database, [
      { block: 11, gave: dollars(20.004), got: cats(10) },
      { block: 12, gave: cats(4), got: ether(3) },
      { block: 13, gave: dollars(100.002), got: ether(50) },
    ]);
    // 20.004 + 0.003 * 2000 + 100.002 = 126.006
    expect(await volumeOf(ANN)).toEqual({ cents: 12_601n, isComplete: true });
    expect(await volumeOf(ANN, 12)).toEqual({ cents: 2_600n, isComplete: true });
    expect(await volumeOf(BOB)).toEqual({ cents: 0n, isComplete: true });
  });

  test('belongs to sender and beneficiary, and counts once for both roles', async () => {
    await seedTrades(scratch.database, [
      { block: 11, wallet: BOT, beneficiary: ANN, gave: dollars(7), got: cats(10) },
      { block: 12, wallet: ANN, beneficiary: ANN, gave: dollars(5), got: cats(10) },
    ]);
    expect(await volumeOf(ANN)).toEqual({ cents: 1_200n, isComplete: true });
    expect(await volumeOf(BOT)).toEqual({ cents: 700n, isComplete: true });
  });

  test('has no part of swaps without an anchor, or in pools without a proof', async () => {
    const unproven = addressOf(0xbad);
    await seedPools(scratch.database, eth, [{ pool: unproven, tokens: [CATS, USDC], status: 'unproven' }]);
    await seedTrades(scratch.database, [
      { block: 11, gave: cats(3), got: [5n, DOGS] },
      { block: 12, gave: dollars(900), got: cats(1), pool: unproven },
      { block: 13, gave: dollars(4), got: cats(1) },
    ]);
    expect(await volumeOf(ANN)).toEqual({ cents: 400n, isComplete: true });
  });

  test('is unknown if a swap against an anchor has no value', async () => {
    await seedTrades(scratch.database, [
      { block: 11, gave: dollars(4), got: cats(1) },
      { block: 12, gave: ether(3), got: cats(1) },
    ]);
    expect(await volumeOf(ANN, 11)).toEqual({ cents: 400n, isComplete: true });
    expect(await volumeOf(ANN)).toEqual({ cents: null, isComplete: true });
  });

  test('is unknown if an anchor has no known decimals', async () => {
    await scratch.database.query(sql`DELETE FROM tokens WHERE symbol = 'USDC'`);
    await seedTrades(scratch.database, [{ block: 11, gave: dollars(4), got: cats(1) }]);
    expect(await volumeOf(ANN)).toEqual({ cents: null, isComplete: true });
  });

  test('is unknown without indexed swaps, and incomplete with a gap', async () => {
    await seedTrades(scratch.database, [{ block: 11, gave: dollars(4), got: cats(1) }]);
    await scratch.database.query(sql`UPDATE sync_ranges SET first_block = 5 WHERE dataset = 'swaps'`);
    expect(await volumeOf(ANN)).toEqual({ cents: 400n, isComplete: false });
    await scratch.database.query(sql`DELETE FROM sync_ranges WHERE dataset = 'swaps'`);
    expect(await volumeOf(ANN)).toEqual({ cents: null, isComplete: false });
    await cover(scratch.database, eth, 'swaps', HEAD);
  });

  test('stops with its job', async () => {
    await seedTrades(scratch.database, [{ block: 11, gave: dollars(4), got: cats(1) }]);
    await expect(volumeOf(ANN, HEAD, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
  });
});
