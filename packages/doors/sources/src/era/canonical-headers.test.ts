import { expect, test } from 'vitest';
import { openEraFile } from './era-file.ts';
import { createCanonicalHeaders } from './era-files.ts';
import { createEraFolder } from './era-folder.ts';
import { folderOf, mainnet, PROOFS, SEPOLIA_FILE } from './testing/era-files.ts';

const EPOCH = 21;
const FIRST = EPOCH * 8192;

test.skipIf(PROOFS.isMissing)(
  PROOFS.title('a list with the root of a file proves its headers and total difficulties'),
  async () => {
    const folder = createEraFolder(await folderOf(SEPOLIA_FILE), 'sepolia');
    await folder.refresh();
    const [facts] = folder.filesOf(FIRST);
    const file = facts === undefined ? null : await openEraFile(facts, 'blocks');
    const root = await file?.accumulator();
    if (file === null || root === null || root === undefined) throw new RangeError('No file');
    try {
      const hashes = Buffer.concat([Buffer.alloc(32 * EPOCH), root]);
      const none = { hashes: null, roots: null, summaries: null };
      // Before the merge of mainnet, the chain has no other part.
      const epoch = await createCanonicalHeaders(mainnet, { ...none, hashes }).epoch(file);
      expect(epoch?.first).toBe(FIRST);
      expect(epoch?.records).toHaveLength(8192);
      for (const number of [FIRST, FIRST + 1, FIRST + 4_000, FIRST + 8_191])
        expect(epoch?.records[number - FIRST]?.totalDifficulty).toBe(await file.totalDifficulty(number));
      expect(await createCanonicalHeaders(mainnet, none).epoch(file)).toBeNull();
      const other = createCanonicalHeaders(mainnet, { ...none, hashes: Buffer.alloc(32 * 22) });
      await expect(other.epoch(file)).rejects.toThrow('not in the public list');
      const shorter = createCanonicalHeaders(mainnet, { ...none, hashes: Buffer.alloc(32 * EPOCH) });
      await expect(shorter.epoch(file)).rejects.toThrow('not in the public list');
    } finally {
      await file.close();
    }
  },
);
