import { expect, it } from 'vitest';
import { MALFORMED_REASONS, NFT_TRANSFER_KINDS } from './nft-transfer.ts';

it.each([
  ['kind', NFT_TRANSFER_KINDS],
  ['reason', MALFORMED_REASONS],
])('each %s is stored as another number', (_, numbers) => {
  const stored = Object.values(numbers);
  expect(new Set(stored).size).toBe(stored.length);
});
