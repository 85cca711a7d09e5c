import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BlockSource } from '../block-source.ts';
import { SourceError } from '../source-error.ts';
import { RECORD_TYPES } from './era-damage.ts';
import { openEraSource } from './open-era-source.ts';
import { type EditableRecord, editRecords } from './testing/edit-records.ts';
import {
  ERE_FILE,
  faultOf,
  folderOf,
  folderWith,
  mainnet,
  PROOFS,
  readAll,
  readPages,
  SEPOLIA_FILE,
  sepolia,
  summariesFile,
} from './testing/era-files.ts';

const signal = new AbortController().signal;
const BLOCKS = { from: 19_426_586, to: 19_426_587 };
const ERA1 = 'mainnet-01802-e896b902.era1';
/** In the RLP of a proof. */
const KIND_AT = 3;
const ERA1_BLOCK = { from: 14_764_013, to: 14_764_013 };

async function mainnetFault(name: string, change: (bytes: Buffer) => Buffer, range = BLOCKS) {
  const folder = await folderWith(name, change);
  const source = openEraSource({ folder, chain: mainnet, summariesFile: await summariesFile() });
  return { ...(await faultOf(readAll(source, range))), available: await source.available(signal) };
}

function changed(change: (copy: Buffer) => void): (bytes: Buffer) => Buffer {
  return (bytes) => {
    const copy = Buffer.from(bytes);
    change(copy);
    return copy;
  };
}

describe.skipIf(PROOFS.isMissing)(PROOFS.title('damaged era files'), () => {
  test('a file that is cut is refused by name, others are read', async () => {
    const fault = await mainnetFault(ERE_FILE, (bytes) => bytes.subarray(0, -100));
    expect(fault).toMatchObject({ fault: 'wrong', available: [] });
    expect(fault.what).toContain(ERE_FILE);
    expect(fault.what).not.toContain('/');
  });

  test.each([
    [
      'an index one byte off',
      (copy: Buffer) => copy.writeUInt8((copy[copy.length - 80] ?? 0) + 1, copy.length - 80),
    ],
    ['no version', (copy: Buffer) => copy.writeUInt8(0, 0)],
    ['reserved bytes', (copy: Buffer) => copy.writeUInt8(1, 8 + 6)],
    ['a record that is too long', (copy: Buffer) => copy.writeUInt32LE(60_000_000, 8 + 2)],
    ['a record beyond the file', (copy: Buffer) => copy.writeUInt32LE(40_000_000, 8 + 2)],
    ['too many blocks', (copy: Buffer) => copy.writeUInt32LE(8193, copy.length - 8)],
    ['no blocks', (copy: Buffer) => copy.writeUInt32LE(0, copy.length - 8)],
    ['too many parts', (copy: Buffer) => copy.writeUInt32LE(6, copy.length - 16)],
    ['a place outside the file', (copy: Buffer) => copy.writeInt32LE(-2, copy.length - 16 - 64 + 4)],
  ])('%s is found', async (_, change) => {
    expect(await mainnetFault(ERE_FILE, changed(change))).toMatchObject({ fault: 'wrong' });
  });

  test('a name of another epoch or network is refused or not read', async () => {
    const otherEpoch = await folderWith(ERE_FILE, (bytes) => bytes, 'mainnet-02372-f8e2f40d.ere');
    const source = openEraSource({ folder: otherEpoch, chain: mainnet });
    expect(await source.available(signal)).toEqual([]);
    const inEpoch = { from: 2372 * 8192, to: 2372 * 8192 };
    expect(await faultOf(readAll(source, inEpoch))).toMatchObject({ fault: 'wrong' });
    const other = openEraSource({ folder: await folderOf(SEPOLIA_FILE), chain: mainnet });
    expect(await other.available(signal)).toEqual([]);
  });

  test('a whole file of another network under a name of this one is not in the public list', async () => {
    const folder = await folderWith(SEPOLIA_FILE, (bytes) => bytes, 'mainnet-00021-b8814b14.era1');
    const source = openEraSource({ folder, chain: mainnet });
    const fault = await faultOf(readAll(source, { from: 172_032, to: 172_033 }));
    expect(fault).toMatchObject({ fault: 'wrong' });
    expect(fault.what).toContain('not in the public list');
  });

  test.each([
    [ERA1, mainnet, ERA1_BLOCK, 8 * 4],
    [SEPOLIA_FILE, sepolia, { from: 172_100, to: 172_100 }, 8 * 8195],
  ])('an accumulator of other blocks is found in %s', async (name, chain, range, indexBytes) => {
    const folder = await folderWith(
      name,
      changed((copy) =>
        copy.writeUInt8((copy[copy.length - indexBytes - 1] ?? 0) ^ 1, copy.length - indexBytes - 1),
      ),
    );
    const fault = await faultOf(readAll(openEraSource({ folder, chain }), range));
    expect(fault).toMatchObject({ fault: 'wrong' });
    expect(fault.what).toContain('the accumulator is not that of the blocks');
  });

  test('a wrong proof, one of another block and one of another kind are found', async () => {
    const bend = async (change: (last: Buffer, first: Buffer) => Buffer): Promise<string> => {
      const edit = (records: readonly EditableRecord[]): void => {
        const [first, last] = records.filter(({ type }) => type === RECORD_TYPES.proof);
        if (first !== undefined && last !== undefined) last.content = change(last.content, first.content);
      };
      const fault = await mainnetFault(ERE_FILE, (bytes) => editRecords(bytes, edit));
      expect(fault).toMatchObject({ fault: 'wrong' });
      return fault.what;
    };
    expect(await bend(changed((last) => last.writeUInt8((last[100] ?? 0) ^ 1, 100)))).toContain('is wrong');
    expect(await bend((_, first) => first)).toContain('of kind 2 instead of 3');
    expect(await bend(changed((last) => last.writeUInt8(1, KIND_AT)))).toContain('of kind 1 instead of 3');
    const ofOther = changed((last) => last.fill(7, last.length - 840 + 13 * 32, last.length - 8));
    expect(await bend(ofOther)).toContain('is wrong');
    expect(await bend(() => Buffer.from('c0', 'hex'))).toContain('another form');
  });

  test('a list of summaries that is missing is refused, one that ends earlier proves nothing', async () => {
    const folder = await folderOf(ERE_FILE);
    const missing = openEraSource({ folder, chain: mainnet, summariesFile: join(folder, 'none') });
    expect(await faultOf(readAll(missing, BLOCKS))).toMatchObject({ fault: 'refused' });
    const blocks = await readAll(openEraSource({ folder, chain: mainnet }), BLOCKS);
    expect(blocks.map(({ isCanonical }) => isCanonical)).toEqual([false, false]);
  });

  test('changed bytes end in no error but that of the source', async () => {
    const summaries = await summariesFile();
    const change = fc.array(
      fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 1, max: 255 })),
      {
        ...{ minLength: 1, maxLength: 5 },
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(ERA1, 'mainnet-01802-720704f3.ere'), change, async (name, places) => {
        const bend = changed((copy) => {
          for (const [share, value] of places) {
            const at = Math.floor(share * (copy.length - 1));
            copy[at] = (copy[at] ?? 0) ^ value;
          }
        });
        const folder = await folderWith(name, bend);
        const source = openEraSource({ folder, chain: mainnet, summariesFile: summaries });
        await endsAsSource(source);
      }),
      { numRuns: 40 },
    );
  });

  test('changed contents with right checksums end in no error but that of the source', async () => {
    const change = fc.tuple(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1 }),
    );
    await fc.assert(
      fc.asyncProperty(change, async ([part, places]) => {
        const edit = (records: readonly EditableRecord[]): void => {
          const content = records[part]?.content ?? Buffer.alloc(1);
          for (const [at, value] of places) content[at % content.length] = value;
        };
        const folder = await folderWith(ERA1, (bytes) => editRecords(bytes, edit));
        await endsAsSource(openEraSource({ folder, chain: mainnet }));
      }),
      { numRuns: 40 },
    );
  });

  test('a header, body or receipts of another block are found', async () => {
    const swap = (type: number) => (bytes: Buffer) =>
      editRecords(bytes, (records) => {
        const [first, second] = records.filter((record) => record.type === type);
        if (first !== undefined && second !== undefined) second.content = first.content;
      });
    expect((await mainnetFault(ERE_FILE, swap(RECORD_TYPES.header))).what).toContain('another header');
    expect((await mainnetFault(ERE_FILE, swap(RECORD_TYPES.slimReceipts))).what).toContain('37 transactions');
  });
});

/** Reads blocks and logs. Errors of other classes fail the test. */
async function endsAsSource(source: BlockSource): Promise<void> {
  const reads = [readAll(source, ERA1_BLOCK), readPages(source, { range: ERA1_BLOCK, topics: [] })];
  for (const end of await Promise.allSettled(reads))
    if (end.status === 'rejected') expect(end.reason).toBeInstanceOf(SourceError);
}
