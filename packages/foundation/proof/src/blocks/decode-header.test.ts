import { describe, expect, it } from 'vitest';
import { encodeList, encodeString } from '../rlp/rlp.ts';
import { RECORDINGS, readRecordedBlocks } from '../testing/recorded-blocks.ts';
import { decodeHeader } from './decode-header.ts';
import { encodeHeader } from './header-hash.ts';

describe('decoding a header', () => {
  it.skipIf(RECORDINGS.isMissing)(RECORDINGS.title('gives the members of recorded headers'), () => {
    let count = 0;
    for (const { block, chain } of readRecordedBlocks()) {
      const encoded = chain.headerHash ? encodeHeader(block.header.raw, block.header.hash) : null;
      if (encoded === null) continue;
      const decoded = decodeHeader(encoded);
      expect(block.header.raw).toMatchObject(decoded?.raw ?? {});
      expect(decoded?.unknownFields).toBe(0);
      expect(encodeHeader(decoded?.raw ?? {}, block.header.hash)).toEqual(encoded);
      count++;
    }
    expect(count).toBeGreaterThan(50);
  });

  it('counts the fields of a fork that it does not know', () => {
    const fields = (count: number) =>
      encodeList(Array.from({ length: count }, () => encodeString(Buffer.from([1]))));
    expect(decodeHeader(fields(14))).toBeNull();
    expect(decodeHeader(fields(25))?.unknownFields).toBe(2);
  });
});
