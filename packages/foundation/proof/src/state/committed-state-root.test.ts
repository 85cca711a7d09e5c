import { describe, expect, it } from 'vitest';
import { headerHash } from '../blocks/header-hash.ts';
import { RECORDINGS, readRecordedBlocks } from '../testing/recorded-blocks.ts';
import { committedStateRoot } from './account-proof.ts';

const recorded = readRecordedBlocks().filter(({ block }) => headerHash(block.header.raw) === block.header.hash);

describe.skipIf(RECORDINGS.isMissing)(RECORDINGS.title('the state root of recorded blocks'), () => {
  it("is told once the header's fields hash to the block's hash", () => {
    for (const { folder, block } of recorded)
      expect(committedStateRoot(block.header.raw, block.header.hash), folder).toEqual({
        result: 'verified',
        stateRoot: block.header.raw.stateRoot,
      });
  });

  it('is not told when it, or any other field, is another', () => {
    for (const { folder, block } of recorded.slice(0, 5)) {
      const { raw, hash } = block.header;
      const stateRoot = `${String(raw.stateRoot).slice(0, -1)}${String(raw.stateRoot).endsWith('1') ? '2' : '1'}`;
      expect(committedStateRoot({ ...raw, stateRoot }, hash).result, folder).not.toBe('verified');
      expect(committedStateRoot({ ...raw, gasLimit: '0x1' }, hash).result, folder).not.toBe('verified');
    }
  });

  it('is not told of a header that lacks a field', () => {
    const [first] = recorded;
    if (first === undefined) throw new Error('no block is recorded');
    const { stateRoot: _, ...raw } = first.block.header.raw;
    expect(committedStateRoot(raw, first.block.header.hash)).toEqual({ result: 'unchecked' });
  });
});
