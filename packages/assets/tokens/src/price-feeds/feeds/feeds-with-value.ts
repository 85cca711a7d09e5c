import type { Address, ChainId } from '@chainstead/core';
import { type Database, hexText, sql } from '@chainstead/db';

export async function readFeedsWithValue(
  database: Pick<Database, 'query'>,
  chainId: ChainId,
): Promise<ReadonlySet<Address>> {
  const rows = await database.query<{ feed: Address }>(
    sql`SELECT DISTINCT ${hexText('phase.feed')} AS feed FROM price_feed_phases AS phase WHERE phase.chain_id = ${chainId} AND (
       EXISTS (SELECT FROM feed_answers AS answer WHERE answer.aggregator = phase.aggregator AND answer.chain_id = phase.chain_id)
       OR EXISTS (SELECT FROM feed_readings AS reading
         WHERE reading.feed = phase.feed AND reading.chain_id = phase.chain_id AND reading.status = 'answer'))`,
  );
  return new Set(rows.map(({ feed }) => feed));
}
