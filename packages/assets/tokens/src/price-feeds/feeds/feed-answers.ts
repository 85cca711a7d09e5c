import { feedsOf } from '@chainstead/chains/price-feeds';
import { sql } from '@chainstead/db';
import { defineEvent } from '@chainstead/events/decoding';
import { eventDataset, eventRows, type Projection } from '@chainstead/sync/datasets';
import { feedAnswers as table } from '../schema.ts';

/** Chainlink. Parameters have the names of their columns. */
export const ANSWER_UPDATED = defineEvent(
  'event AnswerUpdated(int256 indexed answer, uint256 indexed round, uint256 updatedAt)',
);

/** Deletes readings of blocks that a reorg or the retention removes. */
export const readingsOfBlocks: Projection = {
  name: 'feed-readings',
  version: 1,
  tables: [],
  added: () => [],
  removed: () => [],
  rolledBack: (chainId, ancestor) => [
    sql`DELETE FROM feed_readings WHERE chain_id = ${chainId} AND block_number > ${ancestor}`,
  ],
  dropped: (chainId, { from, to }) => [
    sql`DELETE FROM feed_readings WHERE chain_id = ${chainId} AND block_number BETWEEN ${from} AND ${to}`,
  ],
};

/** All Chainlink aggregators: a feed may change to one whose earlier prices would be missing. */
export const feedAnswers = eventDataset({
  name: 'feed-answers',
  table,
  isRead: (chain) => feedsOf(chain).length > 0,
  events: [
    eventRows(ANSWER_UPDATED, ({ updatedAt, ...answer }, { address: aggregator }) => ({
      ...{ aggregator, ...answer },
      updatedAt: timeOfUpdate(BigInt(updatedAt)).toISOString(),
    })),
  ],
  projections: [readingsOfBlocks],
});

/** Year 9999, as Postgres and JavaScript know it: any contract may emit the event. */
const LAST_SECOND = 253_402_300_799n;

export function timeOfUpdate(seconds: bigint): Date {
  return new Date(Number(seconds < LAST_SECOND ? seconds : LAST_SECOND) * 1000);
}
