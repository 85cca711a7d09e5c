import { feedsOf } from '@chainstead/chains';
import type { Hash, Log } from '@chainstead/core';
import { type Dataset, type DecodeContext, defineTable } from '@chainstead/sync';
import { type FeedAnswerRow, feedAnswers as table } from '../schema.ts';
import { readingsOfBlocks } from './readings-of-blocks.ts';

/** keccak256 of `AnswerUpdated(int256,uint256,uint256)` (Chainlink). */
export const ANSWER_UPDATED_TOPIC = '0x0559884fd3a460db3073b7fc896cc77986f16e378210ded43186175bf646fc5f' as Hash;

/** All Chainlink aggregators: a feed may change to one whose earlier prices would be missing. */
export const feedAnswers: Dataset<FeedAnswerRow> = {
  name: 'feed-answers',
  topics: (chain) => (feedsOf(chain).length === 0 ? [] : [ANSWER_UPDATED_TOPIC]),
  table: defineTable(table),
  decode,
  projections: [readingsOfBlocks],
};

function decode(logs: readonly Log[], { chain }: DecodeContext): FeedAnswerRow[] {
  if (feedsOf(chain).length === 0) return [];
  return logs.flatMap(({ address, topics, data, blockNumber, transactionIndex, logIndex }) => {
    const [topic0, current, roundId, ...more] = topics;
    if (topic0 !== ANSWER_UPDATED_TOPIC || current === undefined || roundId === undefined || more.length > 0) return [];
    // Another shape is another event of the same name. The data has `updatedAt` alone.
    if (data.length !== WORD_LENGTH) return [];
    const round = BigInt(roundId).toString();
    const answer = BigInt.asIntN(256, BigInt(current)).toString();
    const updatedAt = timeOfUpdate(BigInt(data)).toISOString();
    const place = { blockNumber, transactionIndex, logIndex };
    return [{ aggregator: address, chainId: chain.id, ...place, round, answer, updatedAt }];
  });
}

const WORD_LENGTH = 66;

/** Year 9999, as Postgres and JavaScript know it: any contract may emit the event. */
const LAST_SECOND = 253_402_300_799n;

export function timeOfUpdate(seconds: bigint): Date {
  return new Date(Number(seconds < LAST_SECOND ? seconds : LAST_SECOND) * 1000);
}
