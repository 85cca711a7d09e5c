/** A pool of cats against ether on a chain whose blocks are all indexed, for tests of stored candles. */
import { createChainRegistry } from '@chainstead/chains';
import { parseAddress } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { addressOf } from '@chainstead/testkit';
import { cover, seedPools, seedToken } from '../../swap-lists/testing/seeded-swaps.ts';

export const eth = createChainRegistry().get('eth');
export const WETH = parseAddress('0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2');
export const CATS = parseAddress(`0x${'11'.repeat(20)}`);
export const POOL = addressOf(0x9a1);
/** Aggregator of the ether feed. */
export const FEED = eth.etherPrice.feed?.aggregators[0] ?? addressOf(0);

/** Empties the tables, and stores the tokens, the pool and the indexed blocks. @param settled newest final block */
export async function seedEtherPool(database: Database, last: number, settled: number): Promise<void> {
  await database.query(
    sql`TRUNCATE swaps, trades, pools, blocks, sync_ranges, sync_chains, tokens, feed_answers, feed_readings, candle_spans, stale_candles, pool_candles`,
  );
  await seedToken(database, eth, CATS, 'CATS', 18);
  await seedToken(database, eth, WETH, 'WETH', 18);
  for (const dataset of ['swaps', 'feed-answers']) await cover(database, eth, dataset, last);
  await database.query(
    sql`INSERT INTO sync_chains (chain_id, history_start, first_followed, checkpoint, finalized) VALUES (${eth.id}, 0, 0, ${last}, ${settled})`,
  );
  await seedPools(database, eth, [{ pool: POOL, tokens: [CATS, WETH] }]);
}
