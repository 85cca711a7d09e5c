import type { Chain } from '@chainstead/chains';
import type { Address } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { timestampOf } from '@chainstead/testkit';

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
export async function seedAnswers(database: Database, chain: Chain, answers: readonly SeededAnswer[]): Promise<void> {
  for (const {
    aggregator,
    blockNumber,
    transactionIndex = 0,
    logIndex = 0,
    answer,
    time = timestampOf(blockNumber),
  } of answers)
    await database.query(
      `INSERT INTO feed_answers (aggregator, chain_id, block_number, transaction_index, log_index, round, answer, updated_at)
       VALUES ($1, $2, $3, $4, $5, 1, $6, $7)`,
      [
        Buffer.from(aggregator.slice(2), 'hex'),
        chain.id,
        blockNumber,
        transactionIndex,
        logIndex,
        answer,
        new Date(time * 1000),
      ],
    );
}
