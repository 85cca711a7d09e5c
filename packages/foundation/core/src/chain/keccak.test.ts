import { expect, it } from 'vitest';
import { keccak256, keccak256Hex, nativeKeccak, portableKeccak, writeKeccak256 } from './keccak.ts';

const EMPTY = 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470';

it('is Keccak-256 with its original padding, not SHA3-256', () => {
  expect(keccak256(Buffer.alloc(0)).toString('hex')).toBe(EMPTY);
  expect(keccak256Hex(Buffer.from('Transfer(address,address,uint256)'))).toBe(
    '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  );
});

it('writes the same bytes at an offset and nothing around them', () => {
  const target = Buffer.alloc(40, 0xee);
  writeKeccak256(target, 4, Buffer.alloc(0));
  expect(target.toString('hex')).toBe(`eeeeeeee${EMPTY}eeeeeeee`);
});

/** A block of the sponge has 136 bytes. */
const LENGTHS = [0, 1, 31, 32, 64, 135, 136, 137, 271, 272, 273, 10_000];

it.each(LENGTHS)('has the same digest of %i bytes in native code and in JavaScript', (length) => {
  const bytes = Uint8Array.from({ length }, (_, index) => (index * 31 + length) % 256);
  const expected = nativeKeccak.hex(bytes);
  expect(portableKeccak.hex(bytes)).toBe(expected);
  for (const keccak of [nativeKeccak, portableKeccak]) {
    expect(keccak.digest(bytes).toString('hex')).toBe(expected);
    const target = Buffer.alloc(40, 0xee);
    keccak.write(target, 4, bytes);
    expect(target.toString('hex')).toBe(`eeeeeeee${expected}eeeeeeee`);
  }
});
