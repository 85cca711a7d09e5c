import { expect, test } from 'vitest';
import { jsonBytes } from './run-query.ts';

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

test('a result is written as JSON.stringify writes it', () => {
  const result = {
    data: {
      list: { nodes: [{ a: 'é"\\\u0001\ud800', b: null, c: undefined, d: -1.5, e: true, f: [[], {}, 'x'] }] },
    },
    errors: undefined,
  };
  expect(textOf(jsonBytes(result, 1_000))).toBe(JSON.stringify(result));
});

test('bytes are written as hex', () => {
  expect(textOf(jsonBytes([Buffer.from('00ff', 'hex')], 100))).toBe('["0x00ff"]');
});

test('a result has at most the allowed bytes, with escapes', () => {
  const texts = ['\u0001'.repeat(10)];
  const { length } = JSON.stringify(texts);
  expect(jsonBytes(texts, length)).toHaveLength(length);
  for (const value of [texts, ['é'.repeat(length / 2)], Array.from({ length }, () => 1)])
    expect(() => jsonBytes(value, length - 1)).toThrow(`more than ${length - 1} bytes`);
});
