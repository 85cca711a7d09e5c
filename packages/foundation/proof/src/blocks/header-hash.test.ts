import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseHash } from '@chainstead/core';
import { recordedData } from '@chainstead/testkit';
import { describe, expect, it, test } from 'vitest';
import { RECORDINGS, readRecordedBlocks } from '../testing/recorded-blocks.ts';
import { checkHeaderHash, encodeHeader, headerHash } from './header-hash.ts';

const recorded = readRecordedBlocks();
const verified = recorded
  .filter(({ chain }) => chain.headerHash)
  .filter(({ block }) => headerHash(block.header.raw));

describe.skipIf(RECORDINGS.isMissing)(RECORDINGS.title('headers of recorded blocks'), () => {
  it('hash to the block hash wherever the chain and the recording allow', () => {
    expect(verified.length).toBeGreaterThan(95);
    for (const { folder, block } of verified) {
      expect(headerHash(block.header.raw), folder).toBe(block.header.hash);
      expect(checkHeaderHash(block.header.raw, block.header.hash), folder).toEqual({ result: 'verified' });
    }
  });

  it('mismatch as soon as any field differs', () => {
    const { raw, hash } = find('ethereum/19529493');
    const fields = Object.keys(raw).filter(
      (name) => !['hash', 'size', 'totalDifficulty', 'uncles', 'withdrawals'].includes(name),
    );
    expect(fields.length).toBeGreaterThanOrEqual(20);
    for (const name of fields) {
      const value = String(raw[name]);
      const altered = `${value.slice(0, -1)}${value.endsWith('1') ? '2' : '1'}`;
      expect(checkHeaderHash({ ...raw, [name]: altered }, hash).result, name).toBe(
        value === '0x' ? 'unchecked' : 'mismatch',
      );
    }
  });

  it('are verified without an optional field that only the JSON has', () => {
    const { raw, hash } = find('ethereum/10000000');
    expect(checkHeaderHash({ ...raw, baseFeePerGas: '0x0' }, hash)).toEqual({ result: 'verified' });
  });

  it('are unchecked when a field of all headers is missing, or one of no known encoding is there', () => {
    const { raw, hash } = find('ethereum/10000000');
    const { difficulty: _, ...without } = raw;
    expect(headerHash(without)).toBeNull();
    expect(checkHeaderHash(without, hash)).toEqual({ result: 'unchecked' });
    expect(checkHeaderHash({ ...raw, gasUsed: '0x1', newField: '0x1' }, hash)).toEqual({ result: 'unchecked' });
    expect(checkHeaderHash({ ...raw, gasUsed: '0x1' }, hash).result).toBe('mismatch');
  });
});

const VECTORS = recordedData('data/proofs/glamsterdam');

test.skipIf(VECTORS.isMissing)(VECTORS.title('headers on both sides of the Amsterdam fork hash'), () => {
  const vectors: { header: Record<string, string>; rlp: string }[] = JSON.parse(
    readFileSync(join(VECTORS.folder, 'headers-across-fork.json'), 'utf8'),
  );
  expect(vectors.map(({ header }) => 'slotNumber' in header)).toEqual([false, true]);
  for (const { header, rlp } of vectors) {
    const hash = parseHash(header.hash);
    expect(checkHeaderHash(header, hash)).toEqual({ result: 'verified' });
    expect(encodeHeader(header, hash)?.toString('hex')).toBe(rlp.slice(2));
    const { [Object.hasOwn(header, 'slotNumber') ? 'slotNumber' : 'requestsHash']: last, ...without } = header;
    expect(last).toBeDefined();
    expect(checkHeaderHash(without, hash).result).toBe('mismatch');
  }
});

function find(folder: string) {
  const found = recorded.find((one) => one.folder === folder);
  if (found === undefined) throw new Error(`${folder} is not among the recorded blocks`);
  return found.block.header;
}
