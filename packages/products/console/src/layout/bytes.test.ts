import { expect, test } from 'vitest';
import { byteText } from './numbers.ts';

test.each([
  [0, '0 bytes'],
  [999, '999 bytes'],
  [1_000, '1.0 kB'],
  [123_456, '123 kB'],
  [12_345_678, '12.3 MB'],
  [5e15, '5000 TB'],
  [-1_200_000, '−1.2 MB'],
])('%i bytes are %s', (bytes, text) => {
  expect(byteText(bytes)).toBe(text);
});
