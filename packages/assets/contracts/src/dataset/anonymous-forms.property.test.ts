/** Anonymous events that may be added together: no log of the one, as viem encodes it, is decoded as the other. */
import { parseHash } from '@chainstead/core';
import { hashOf } from '@chainstead/testkit';
import fc from 'fast-check';
import { type AbiParameter, encodeAbiParameters } from 'viem';
import { expect, it, test } from 'vitest';
import { type EventTable, eventItem, eventTable } from '../tables/event-table.ts';
import { mayBeConfused } from '../tables/form-at-log.ts';
import { logDecoder } from './decode-parameters.ts';
import { encoded, type Given, randomParameters } from './testing/random-parameters.ts';

function tableOf(parameters: readonly AbiParameter[], indexed: number): EventTable {
  const words = Array.from({ length: indexed }, (_, index) => ({
    name: `w${index}`,
    type: 'bytes32',
    isIndexed: true,
  }));
  const inputs = parameters.map(({ name = '', ...type }) => ({ ...type, name, isIndexed: false }));
  return eventTable(
    'vault',
    'quiet',
    eventItem({
      ...{ name: 'Quiet', signature: '', topic0: hashOf(1, 1), isAnonymous: true },
      // viem's tuples have names that may be missing; those of the generator are never.
      inputs: [...words, ...(inputs as EventTable['abi']['inputs'])],
    }),
  );
}

const logOf = (given: readonly Given[], indexed: number) => ({
  topics: Array.from({ length: indexed }, (_, index) => parseHash(hashOf(2, index))),
  data: encoded(given),
});
const parametersOf = (given: readonly Given[]) => given.map(({ parameter }) => parameter);

test('logs of distinct events are decoded by their own alone', () => {
  const indexed = fc.integer({ min: 0, max: 1 });
  fc.assert(
    fc.property(randomParameters, randomParameters, indexed, indexed, (one, other, topics, otherTopics) => {
      const [own, foreign] = [tableOf(parametersOf(one), topics), tableOf(parametersOf(other), otherTopics)];
      const log = logOf(one, topics);
      expect(logDecoder(own)(log)).toHaveLength(topics + one.length);
      expect(mayBeConfused(own, foreign)).toBe(mayBeConfused(foreign, own));
      expect(mayBeConfused(own, own)).toBe(true);
      if (!mayBeConfused(own, foreign)) expect(logDecoder(foreign)(log)).toBeNull();
    }),
    { numRuns: 400 },
  );
});

const list = (type: string, value: unknown) => ({ type: [{ name: 'a', type }], value: [value] });
it.each([
  ['a word', list('uint256', 1n), 1],
  ['a list of three words', list('uint256[3]', [1n, 2n, 3n]), 3],
  ['empty bytes', list('bytes', '0x'), 2],
  ['two empty texts in a list', list('string[2]', ['', '']), 5],
  ['an empty list of lists', list('uint256[2][]', []), 2],
])('the smallest data of %s has known words', (_what, { type, value }, words) => {
  const [table, data] = [tableOf(type, 0), encodeAbiParameters(type, value)];
  expect((data.length - 2) / 64).toBe(words);
  const wordsOnly = (count: number) =>
    tableOf(
      Array.from({ length: count }, (_, index) => ({ name: `n${index}`, type: 'uint256' })),
      0,
    );
  expect([words - 1, words].map((count) => mayBeConfused(table, wordsOnly(count)))).toEqual([false, true]);
});
