import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import { addressBytes, type Database, sql } from '@chainstead/db';
import { timestampOf } from '@chainstead/testkit';
import type { FeedReadingStatus } from '../feeds/feed-quotes.ts';

export interface SeededAnswer {
  readonly aggregator: Address;
  readonly blockNumber: number;
  readonly transactionIndex?: number;
  readonly logIndex?: number;
  /** In units of the feed. */
  readonly answer: string;
  /** Unix seconds of the update. Default: the time of the seeded block. */
  readonly time?: number;
}

/** Writes prices of a feed's aggregators. Coverage is the caller's. */
export async function seedAnswers(
  database: Database,
  chain: Chain,
  answers: readonly SeededAnswer[],
): Promise<void> {
  for (const {
    aggregator,
    blockNumber,
    transactionIndex = 0,
    logIndex = 0,
    answer,
    time = timestampOf(blockNumber),
  } of answers)
    await database.query(
      sql`INSERT INTO feed_answers (aggregator, chain_id, block_number, transaction_index, log_index, round, answer, updated_at)
       VALUES (${Buffer.from(aggregator.slice(2), 'hex')}, ${chain.id}, ${blockNumber}, ${transactionIndex}, ${logIndex}, 1, ${answer}, ${new Date(time * 1000)})`,
    );
}

export interface SeededReading {
  readonly feed: Address;
  readonly block: number;
  readonly status?: FeedReadingStatus;
  readonly aggregator?: Address;
  readonly round?: string;
  /** In units of 1e-8. */
  readonly answer?: string;
  /** Unix seconds of the update. Default: the time of the seeded block. */
  readonly time?: number;
}

/** Writes readings of feeds. Coverage is the caller's. */
export async function seedReadings(
  database: Database,
  chain: Chain,
  readings: readonly SeededReading[],
): Promise<void> {
  for (const {
    feed,
    block,
    status = 'answer',
    aggregator,
    round = '1',
    answer,
    time = timestampOf(block),
  } of readings) {
    const hasAnswer = status === 'answer';
    await database.query(
      sql`INSERT INTO feed_readings (feed, chain_id, block_number, status, aggregator, round, answer, decimals, updated_at)
       VALUES (${addressBytes(feed)}, ${chain.id}, ${block}, ${status}, ${hasAnswer ? addressBytes(aggregator ?? feed) : null}, ${hasAnswer ? round : null}, ${hasAnswer ? (answer ?? '100000000') : null}, ${hasAnswer ? 8 : null}, ${hasAnswer ? new Date(time * 1000) : null})`,
    );
  }
}
