import { describe, expect, test } from 'vitest';
import { RECORDINGS, readRecordedBlocks } from '../testing/recorded-blocks.ts';
import { blockSize } from './block-size.ts';
import { committedTransactions } from './prove-transactions.ts';

describe.skipIf(RECORDINGS.isMissing)(RECORDINGS.title('the size of a block'), () => {
  test('is what nodes state, wherever its contents have a known encoding', () => {
    const compared = readRecordedBlocks()
      .filter(({ faithful, block }) => faithful && block.header.raw.size !== undefined)
      .map(({ folder, chain, block: { header, transactions } }) => ({
        folder,
        computed: blockSize(header, committedTransactions(header, transactions, chain)),
        stated: Number(header.raw.size),
      }))
      .filter(({ computed }) => computed !== null);
    expect(compared.length).toBeGreaterThan(10);
    expect(compared.filter(({ computed, stated }) => computed !== stated)).toEqual([]);
  });
});
