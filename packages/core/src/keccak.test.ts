import { expect, it } from 'vitest';
import { keccak256, keccak256Hex, writeKeccak256 } from './keccak.ts';

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
