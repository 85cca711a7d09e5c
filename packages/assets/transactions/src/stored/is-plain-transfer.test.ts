import { expect, test } from 'vitest';
import { isPlainTransfer } from './is-plain-transfer.ts';

const transfer = {
  from: `0x${'a1'.repeat(20)}`,
  to: `0x${'b2'.repeat(20)}`,
  value: '5',
  input: '0x',
  gasUsed: '21000',
};

test.each([
  ['a transfer to an account without code', {}, true],
  ['a transfer as quantities of a node', { value: '0x5', gasUsed: '0x5208' }, true],
  ['a transfer that creates the account', { gasUsed: '204600' }, true],
  ['a call without value that uses as much gas', { value: '0' }, false],
  ['a transfer to oneself', { to: `0x${'A1'.repeat(20)}` }, false],
  ['a creation', { to: null }, false],
  ['a transfer with input', { input: '0x00' }, false],
  ['a transfer that runs code', { gasUsed: '23100' }, false],
])('%s is recognized: %o is %s', (_, parts, expected) => {
  expect(isPlainTransfer({ ...transfer, ...parts })).toBe(expected);
});
