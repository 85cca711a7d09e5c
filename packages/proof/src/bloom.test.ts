import type { Address, Hash } from '@chainstead/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bloomMayContain, bloomSaturation, logsBloom } from './bloom.ts';
import { hexToBytes } from './hex-bytes.ts';
import { committedReceipts } from './receipts-root.ts';
import { readRecordedBlocks } from './testing/recorded-blocks.ts';

const recorded = readRecordedBlocks();

const bytesHex = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
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
  it.runIf(recorded.length > 0)('equals the header of every recorded block that was recorded whole', () => {
    for (const { folder, block } of recorded.filter(({ listed }) => listed)) {
      const { number: blockNumber, hash: blockHash } = block.header;
      const receipts = committedReceipts(block.receipts, { encoding: 'ethereum', blockNumber, blockHash });
      const bloom = `0x${logsBloom(receipts.flatMap((receipt) => receipt.logs)).toString('hex')}`;
      expect(bloom, folder).toBe(block.header.logsBloom);
    }
  });

  it('contains every address and topic of its logs', () => {
    fc.assert(
      fc.property(logs, (some) => {
        const bloom = logsBloom(some);
        for (const log of some)
          for (const value of [log.address, ...log.topics]) expect(bloomMayContain(bloom, value)).toBe(true);
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

describe('bloomMayContain', () => {
  it('is false for everything in an empty bloom and true for everything in a full one', () => {
    fc.assert(
      fc.property(bytesHex(20), (value) => {
        expect(bloomMayContain(Buffer.alloc(256), value as Address)).toBe(false);
        expect(bloomMayContain(Buffer.alloc(256, 0xff), value as Address)).toBe(true);
      }),
    );
  });

  it('needs all three bits', () => {
    const address = '0x0f572e5295c57f15886f9b263e2f6d2d6c7b5ec6' as Address;
    const bloom = logsBloom([{ address, topics: [] }]);
    for (const [at, byte] of bloom.entries())
      for (let bit = 0; bit < 8; bit++)
        if ((byte & (1 << bit)) !== 0) {
          const less = Buffer.from(bloom);
          less[at] = byte & ~(1 << bit);
          expect(bloomMayContain(less, address)).toBe(false);
        }
    expect(bloomSaturation(bloom)).toBe(3 / 2048);
  });
});

describe('bloomSaturation', () => {
  it('is the share of set bits', () => {
    expect(bloomSaturation(Buffer.alloc(256))).toBe(0);
    expect(bloomSaturation(Buffer.alloc(256, 0xff))).toBe(1);
    expect(bloomSaturation(hexToBytes(`0x${'0f'.repeat(256)}`))).toBe(0.5);
  });
});
