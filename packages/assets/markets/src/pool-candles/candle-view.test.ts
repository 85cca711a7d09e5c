import { hexBytes, sql } from '@chainstead/db';
import { addressOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { packPrices } from './candle-record.ts';

const scratch = scratchOfFile();
const POOL = addressOf(0x77);
const price = (numerator: bigint, denominator: bigint) => ({ numerator, denominator });
const unknown = { prices: null, isPriced: false };
const DEEP = price(2n ** 200n + 1n, 10n ** 40n);

test('the view of candles has the prices of stored, valid spans', async () => {
  const { database } = scratch;
  const prices = {
    4: { open: price(3n, 2n), high: price(7n, 1n), low: price(1n, 3_000_000_000_000n), close: DEEP },
    5: { open: price(5n, 4n), high: price(5n, 4n), low: price(5n, 4n), close: price(5n, 4n) },
    6: null,
    7: null,
    8: null,
  };
  for (const [start, given] of Object.entries(prices)) {
    const packed = packPrices({ usd: { prices: given, isPriced: true }, native: unknown });
    await database.query(
      sql`INSERT INTO pool_candles (pool_key, chain_id, start, swaps, buys, sells, hours, is_valued, is_quoted_in0, pool, buy_volume, sell_volume, prices)
       VALUES (1, 1, ${Number(start)}, 3, 2, 1, 1, true, false, ${hexBytes(POOL)}, 1500000000000000000000000, 500000000000000000000000, ${packed})`,
    );
    // Hour 7 is being stored, and hour 8 is stale.
    await database.query(
      sql`INSERT INTO candle_spans (chain_id, hours, start, first_block, last_block, prices_from_block, settings, is_stored, claim)
       VALUES (1, 1, ${Number(start)}, 1, 2, 1, '', ${start !== '7'}, gen_random_uuid())`,
    );
  }
  await database.query(
    sql`INSERT INTO stale_candles (pool_key, chain_id, hours, start, pool) VALUES (1, 1, 1, 8, ${hexBytes(POOL)})`,
  );
  const rows = await database.query(
    sql`SELECT start_time, open::text, high::text, low::float8, close::float8, volume_usd, swaps FROM analytics.pool_candles ORDER BY start_hour`,
  );
  const shared = { volumeUsd: '2', swaps: 3 };
  expect(rows).toEqual([
    {
      startTime: new Date(4 * 3_600_000),
      open: '1.5',
      high: '7',
      low: 1 / 3e12,
      close: expect.any(Number),
      ...shared,
    },
    { startTime: new Date(5 * 3_600_000), open: '1.25', high: '1.25', low: 1.25, close: 1.25, ...shared },
    { startTime: new Date(6 * 3_600_000), open: null, high: null, low: null, close: null, ...shared },
  ]);
  expect(rows[0]?.close).toBeCloseTo(Number(DEEP.numerator) / 1e40, 8);
});
