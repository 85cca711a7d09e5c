import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blockInResult } from './call-key.ts';

const text = (value: unknown, space = 0): Buffer => Buffer.from(JSON.stringify(value, null, space));

test('the block is read out of transactions, receipts, logs and blocks, however they are laid out', () => {
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 40 }), fc.constantFrom(0, 2), (number, space) => {
      const hex = `0x${number.toString(16)}`;
      expect(
        blockInResult(text({ l1BlockNumber: '0x1', blockNumber: hex, input: '0x' }, space), 'blockNumber'),
      ).toBe(number);
      const logs = [{ blockNumber: '0x1' }, { blockNumber: hex, data: '0x' }];
      expect(blockInResult(text(logs, space), 'blockNumber')).toBe(1);
      expect(blockInResult(text(logs, space), 'blockNumber', 'last')).toBe(number);
      const block = { transactions: [{ blockNumber: '0x1' }], number: hex };
      expect(blockInResult(text(block, space), 'number')).toBe(number);
    }),
  );
});

test.each([
  'null',
  '"0x"',
  '{"blockNumber":null}',
  '{"blockNumber":"latest"}',
  '{"blockNumber":"0xfffffffffffffff"}',
  '{"blockNumber"',
])('nothing is read out of %s', (result) => {
  expect(blockInResult(Buffer.from(result), 'blockNumber')).toBeNull();
});
