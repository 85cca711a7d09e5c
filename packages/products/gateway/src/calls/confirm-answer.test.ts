import { expect, test } from 'vitest';
import { isSameAnswer } from './confirm-answer.ts';

const HASH = `0x${'ab'.repeat(32)}`;

test.each<[string, string, string, boolean]>([
  ['equal bytes', '"0x5"', '"0x5"', true],
  ['values that differ', '"0x5"', '"0x6"', false],
  ['members in another order', '{"a":1,"b":[2]}', '{"b":[2],"a":1}', true],
  [
    'a block with more members',
    `{"hash":"${HASH}","parentHash":"0x1"}`,
    `{"hash":"${HASH}","parentHash":"0x1","size":"0x2"}`,
    true,
  ],
  ['two texts that are no JSON', '{"a"', '{"b"', false],
  // A comparison of such depth would exceed the stack.
  [
    'lists nested too deep',
    '['.repeat(400_000) + ']'.repeat(400_000),
    `${'['.repeat(400_000)}1${']'.repeat(400_000)}`,
    false,
  ],
])('results of two upstreams are compared: %s', (_what, one, other, isSame) => {
  expect(isSameAnswer(Buffer.from(one), Buffer.from(other))).toBe(isSame);
});
