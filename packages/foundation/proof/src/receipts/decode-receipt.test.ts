import { describe, expect, it } from 'vitest';
import { RECORDINGS, readRecordedBlocks } from '../testing/recorded-blocks.ts';
import { mayContain } from './bloom.ts';
import { decodeReceipt, decodeSlimReceipt } from './decode-receipt.ts';
import { encodeReceipt } from './receipt-encoding.ts';

describe('decoding a receipt', () => {
  it.skipIf(RECORDINGS.isMissing)(RECORDINGS.title('reverses the encoding of recorded receipts'), () => {
    let count = 0;
    for (const { block, listed, chain } of readRecordedBlocks()) {
      if (!listed || chain.key !== 'eth') continue;
      for (const receipt of block.receipts) {
        const decoded = decodeReceipt(encodeReceipt(receipt));
        expect(decoded?.type).toBe(receipt.type);
        expect(decoded?.cumulativeGasUsed).toBe(receipt.cumulativeGasUsed);
        expect(decoded?.outcome).toEqual(
          receipt.raw.root === undefined ? { status: receipt.raw.status } : { root: receipt.raw.root },
        );
        expect(decoded?.logs).toEqual(
          receipt.logs.map(({ address, topics, data }) => ({ address, topics, data })),
        );
        const bloom = Buffer.from(decoded?.logsBloom?.slice(2) ?? '', 'hex');
        for (const { address, topics } of receipt.logs)
          expect([address, ...topics].every((value) => mayContain(bloom, value))).toBe(true);
        if (receipt.logs.length === 0) expect(mayContain(bloom, receipt.transactionHash)).toBe(false);
        count++;
      }
    }
    expect(count).toBeGreaterThan(500);
  });

  it.each([
    ['nothing', ''],
    ['a list of three', 'c3010180'],
    ['a status of 2', `f9010b0201b90100${'00'.repeat(256)}c0`],
    ['a short bloom', 'c401018080'],
    ['gas with a leading zero', `f9010d01820001b90100${'00'.repeat(256)}c0`],
  ])('refuses %s', (_, hex) => {
    expect(decodeReceipt(Buffer.from(hex, 'hex'))).toBeNull();
  });

  it('reads the slim form', () => {
    expect(decodeSlimReceipt(Buffer.from('c40201825208c0', 'hex'))).toBeNull();
    expect(decodeSlimReceipt(Buffer.from('c60201825208c0', 'hex'))).toEqual({
      ...{ type: 2, outcome: { status: '0x1' }, cumulativeGasUsed: 21_000n, logsBloom: null, logs: [] },
    });
    expect(decodeSlimReceipt(Buffer.from('c68080825208c0', 'hex'))).toMatchObject({
      type: 0,
      outcome: { status: '0x0' },
    });
  });
});
