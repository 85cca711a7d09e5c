import type { Address, Hash, Log } from '@chainstead/core';
import { copyHex } from '@chainstead/db';
import type { Dataset, DecodeContext } from '@chainstead/sync';

/** keccak256 of `AnswerUpdated(int256,uint256,uint256)` (Chainlink's aggregators of every kind; current and roundId indexed). */
export const ANSWER_UPDATED_TOPIC = '0x0559884fd3a460db3073b7fc896cc77986f16e378210ded43186175bf646fc5f' as Hash;

/** One answer, as the table holds it (schema.ts). */
export interface FeedAnswerRow {
  readonly aggregator: Address;
  readonly chainId: number;
  readonly blockNumber: number;
  readonly transactionIndex: number;
  readonly logIndex: number;
  /** The aggregator's own round, decimal digits. */
  readonly round: string;
  /** In units of the feed's decimals; negative where the feed says so. */
  readonly answer: string;
  /** ISO 8601 UTC with whole seconds. */
  readonly blockTimestamp: string;
}

/**
 * Answers of Chainlink aggregators, on chains whose ETH/USD feed is known. Those of all feeds are kept: which aggregators answer
 * for ether changes, and what was not kept could not be found again when one turns out to.
 */
export const feedAnswers: Dataset<FeedAnswerRow> = {
  name: 'feed-answers',
  topics: (chain) => (chain.etherPrice.feed === null ? [] : [ANSWER_UPDATED_TOPIC]),
  table: 'feed_answers',
  columns: [
    'aggregator',
    'chain_id',
    'block_number',
    'transaction_index',
    'log_index',
    'round',
    'answer',
    'block_timestamp',
  ],
  key: ['aggregator', 'chain_id', 'block_number', 'transaction_index', 'log_index'],
  decode,
  copyLine: (row) =>
    [
      copyHex(row.aggregator),
      row.chainId,
      row.blockNumber,
      row.transactionIndex,
      row.logIndex,
      row.round,
      row.answer,
      row.blockTimestamp,
    ].join('\t'),
};

function decode(logs: readonly Log[], { chain, timestampOf }: DecodeContext): FeedAnswerRow[] {
  if (chain.etherPrice.feed === null) return [];
  return logs.flatMap((log) => {
    const [topic0, current, round, ...more] = log.topics;
    if (topic0 !== ANSWER_UPDATED_TOPIC || current === undefined || round === undefined || more.length > 0) return [];
    // `updatedAt` alone is in the data; a log of another shape is another event of the same name.
    if (log.data.length !== WORD_LENGTH) return [];
    return [
      {
        aggregator: log.address,
        chainId: chain.id,
        blockNumber: log.blockNumber,
        transactionIndex: log.transactionIndex,
        logIndex: log.logIndex,
        round: BigInt(round).toString(),
        answer: BigInt.asIntN(256, BigInt(current)).toString(),
        blockTimestamp: new Date(timestampOf(log.blockNumber) * 1000).toISOString(),
      },
    ];
  });
}

/** `0x` and 32 bytes. */
const WORD_LENGTH = 66;
