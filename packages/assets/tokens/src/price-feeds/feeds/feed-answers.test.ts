import { createChainRegistry } from '@chainstead/chains';
import { type Hash, type Log, parseHash } from '@chainstead/core';
import {
  addressOf,
  exampleChain,
  fieldsOfRow,
  hashOf,
  readRecordedLogs,
  recordedData,
} from '@chainstead/testkit';
import fc from 'fast-check';
import { encodeAbiParameters, encodeEventTopics, parseAbi, toEventSelector } from 'viem';
import { describe, expect, test } from 'vitest';
import type { FeedAnswerRow } from '../schema.ts';
import { ANSWER_UPDATED, feedAnswers } from './feed-answers.ts';

const { isMissing, title } = recordedData('data/evm');

const ABI = parseAbi(['event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt)']);
const registry = createChainRegistry();
const chain = exampleChain({ etherPrice: registry.get('eth').etherPrice });
const decode = (logs: readonly Log[], of = chain): FeedAnswerRow[] =>
  feedAnswers.decode(logs, { chain: of, timestampOf: (block) => 1_600_000_000 + block });

function answerLog(current: bigint, roundId: bigint, changes: Partial<Log> = {}): Log {
  const topics = encodeEventTopics({ abi: ABI, eventName: 'AnswerUpdated', args: { current, roundId } });
  return {
    address: addressOf(0xa66),
    topics: topics.map(parseHash),
    data: encodeAbiParameters([{ type: 'uint256' }], [1_700_000_000n]),
    blockNumber: 7,
    blockHash: hashOf(1, 7),
    transactionHash: hashOf(2, 7),
    transactionIndex: 3,
    logIndex: 9,
    blockTimestamp: null,
    ...changes,
  };
}

test('the topic is the hash of the event', () => {
  expect(toEventSelector('AnswerUpdated(int256,uint256,uint256)')).toBe(ANSWER_UPDATED.topic);
  expect(feedAnswers.topics(chain)).toEqual([ANSWER_UPDATED.topic]);
});

test('an answer becomes a row, with the column order of the table', () => {
  const [row] = decode([answerLog(200_012_345_678n, 32_938n)]);
  expect(row).toEqual({
    aggregator: addressOf(0xa66),
    chainId: 1,
    blockNumber: 7,
    transactionIndex: 3,
    logIndex: 9,
    round: '32938',
    answer: '200012345678',
    updatedAt: '2023-11-14T22:13:20.000Z',
  });
  if (row === undefined) throw new Error('no row');
  expect(fieldsOfRow(feedAnswers.table.copyLine(row))).toHaveLength(feedAnswers.table.columns.length);
});

test('answers are signed numbers of 256 bits, rounds unsigned ones', () => {
  fc.assert(
    fc.property(fc.bigInt(-(2n ** 255n), 2n ** 255n - 1n), fc.bigInt(0n, 2n ** 256n - 1n), (answer, round) => {
      expect(decode([answerLog(answer, round)])).toMatchObject([
        { answer: answer.toString(), round: round.toString() },
      ]);
    }),
  );
});

test('an update may be of any time, until the year 9999', () => {
  const at = (seconds: bigint) =>
    decode([answerLog(1n, 1n, { data: encodeAbiParameters([{ type: 'uint256' }], [seconds]) })])[0]?.updatedAt;
  expect([0n, 253_402_300_799n, 253_402_300_800n, 2n ** 256n - 1n].map(at)).toEqual([
    '1970-01-01T00:00:00.000Z',
    ...Array.from({ length: 3 }, () => '9999-12-31T23:59:59.000Z'),
  ]);
});

test.each<[string, Partial<Log>]>([
  ['another event', { topics: [hashOf(9, 9), hashOf(0, 1), hashOf(0, 1)] }],
  ['a topic too few', { topics: [ANSWER_UPDATED.topic, hashOf(0, 1)] }],
  ['a topic too many', { topics: [ANSWER_UPDATED.topic, hashOf(0, 1), hashOf(0, 1), hashOf(0, 1)] }],
  ['no topics', { topics: [] as Hash[] }],
  ['no data', { data: '0x' }],
  ['more data', { data: `0x${'0'.repeat(128)}` }],
])('%s is no answer', (_, changes) => {
  expect(decode([answerLog(1n, 1n, changes)])).toEqual([]);
});

test('a chain without a feed keeps none', () => {
  expect(feedAnswers.topics(exampleChain())).toEqual([]);
});

describe.skipIf(isMissing)(title('in recorded blocks'), () => {
  const polygon = registry.get('polygon');

  test.each(['polygon/35779986', 'polygon/35780020'])('every AnswerUpdated of %s is found once', (block) => {
    const logs = readRecordedLogs(block);
    const emitted = logs.filter(({ topics }) => topics[0] === ANSWER_UPDATED.topic);
    expect(emitted.length).toBeGreaterThan(0);
    expect(decode(logs, polygon).map(({ logIndex }) => logIndex)).toEqual(
      emitted.map(({ logIndex }) => logIndex),
    );
  });
});
