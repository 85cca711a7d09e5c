import { describe, expect, it } from 'vitest';
import { recordedData } from './recorded-data.ts';
import { listRecordedBlocks, readRecordedLogs } from './recorded-logs.ts';

const { isMissing, title } = recordedData('data/evm');

describe.skipIf(isMissing)(title('readRecordedLogs'), () => {
  it('reads numbers that are quantities and numbers that are decimal', () => {
    for (const [block, number] of [
      ['ethereum/15000000', 15_000_000],
      ['partial/arbitrum-receipts/23690050', 23_690_050],
    ] as const) {
      const logs = readRecordedLogs(block);
      expect(logs.length).toBeGreaterThan(0);
      expect(new Set(logs.map(({ blockNumber }) => blockNumber))).toEqual(new Set([number]));
      expect(logs.every(({ logIndex }) => Number.isSafeInteger(logIndex))).toBe(true);
    }
  });

  it('reads every block that is listed', () => {
    const blocks = listRecordedBlocks();
    expect(blocks.length).toBeGreaterThan(100);
    expect(blocks.flatMap(readRecordedLogs).length).toBeGreaterThan(10_000);
  });
});
