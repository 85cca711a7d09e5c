import { expect, it } from 'vitest';
import { hexByteLength, hexToBytes, InvalidHexBytesError, writeHexBytes } from './rlp-text.ts';

it.each([
  ['0x', []],
  ['0x00', [0]],
  ['0xAbcd', [0xab, 0xcd]],
])('reads %s', (text, bytes) => {
  expect(hexByteLength(text)).toBe(bytes.length);
  expect([...hexToBytes(text)]).toEqual(bytes);
});

it.each(['', '0', '0x0', '1x00', '00', 'x000', '0xzz', '0x0g'])('refuses %j', (text) => {
  expect(() => hexToBytes(text)).toThrow(InvalidHexBytesError);
});

it('writes exactly the requested bytes and returns the offset after them', () => {
  const target = Buffer.alloc(4, 0xff);
  expect(writeHexBytes(target, 1, '0x0102', 2)).toBe(3);
  expect([...target]).toEqual([0xff, 1, 2, 0xff]);
  expect(() => writeHexBytes(target, 1, '0x0102', 3)).toThrow('"0x0102" is not 3 bytes in hexadecimal');
  expect(() => writeHexBytes(target, 3, '0x0102', 2)).toThrow(InvalidHexBytesError);
});
