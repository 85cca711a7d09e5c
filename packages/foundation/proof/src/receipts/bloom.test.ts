import { type Address, type Hash, keccak256 } from '@chainstead/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hexToBytes } from '../rlp/rlp-text.ts';
import { RECORDINGS, readRecordedBlocks } from '../testing/recorded-blocks.ts';
import { logsBloom } from './bloom.ts';
import { committedReceipts } from './receipts-root.ts';

const recorded = readRecordedBlocks();

const bytesHex = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
const logs = fc.array(
  fc.record({
    address: bytesHex(20).map((text) => text as Address),
    topics: fc.array(
      bytesHex(32).map((text) => text as Hash),
      { maxLength: 4 },
    ),
  }),
  { maxLength: 20 },
);

describe('logsBloom', () => {
  it.skipIf(RECORDINGS.isMissing)(
    RECORDINGS.title('equals the header of every recorded block that was recorded whole'),
    () => {
      for (const { folder, block } of recorded.filter(({ listed }) => listed)) {
        const { number: blockNumber, hash: blockHash } = block.header;
        const receipts = committedReceipts(block.receipts, { encoding: 'ethereum', blockNumber, blockHash });
        const bloom = `0x${logsBloom(receipts.flatMap((receipt) => receipt.logs)).toString('hex')}`;
        expect(bloom, folder).toBe(block.header.logsBloom);
      }
    },
  );

  it('sets the three bits of every address and topic of its logs, and no others', () => {
    fc.assert(
      fc.property(logs, (some) => {
        const expected = Buffer.alloc(256);
        for (const log of some)
          for (const value of [log.address, ...log.topics]) {
            const hash = keccak256(hexToBytes(value));
            for (const at of [0, 2, 4]) {
              const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047;
              expected[255 - (bit >> 3)] = (expected[255 - (bit >> 3)] ?? 0) | (1 << (bit & 7));
            }
          }
        expect(logsBloom(some).equals(expected)).toBe(true);
      }),
    );
  });

  it('is the union of the blooms of its parts, in any order', () => {
    fc.assert(
      fc.property(logs, logs, (left, right) => {
        const union = logsBloom(left).map((byte, at) => byte | (logsBloom(right)[at] ?? 0));
        expect(logsBloom([...right, ...left]).equals(union)).toBe(true);
      }),
    );
  });

  it('stays right when more values pass than are remembered', () => {
    const address = '0x1111111111111111111111111111111111111111' as Address;
    const before = logsBloom([{ address, topics: [] }]);
    for (let index = 0; index < 70_000; index++)
      logsBloom([{ address: `0x${index.toString(16).padStart(40, '0')}` as Address, topics: [] }]);
    expect(logsBloom([{ address, topics: [] }]).equals(before)).toBe(true);
  });
});
