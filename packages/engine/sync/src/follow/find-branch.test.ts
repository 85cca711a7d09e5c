import type { Chain } from '@chainstead/chains';
import type { BlockRange, Hash } from '@chainstead/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProvenBlock } from '../read/proven-block.ts';
import { findBranch } from './reconcile.ts';

const CHAIN = { key: 'test', reorgDepthMax: 16 } as Chain;
const hashOf = (branch: string, number: number): Hash =>
  `0x${branch}${number.toString(16).padStart(63, '0')}` as Hash;

/** Branch `b` leaves branch `a` above the ancestor. */
function blockOf(branch: 'a' | 'b', number: number, ancestor: number): ProvenBlock {
  const own = (height: number): Hash => hashOf(branch === 'b' && height > ancestor ? 'b' : 'a', height);
  return {
    header: {
      number,
      hash: own(number),
      parentHash: own(number - 1),
      timestamp: number,
      logsBloom: null,
      receiptsRoot: null,
      raw: {},
    },
    block: { header: {} as never, transactionHashes: [], transactions: null },
    receipts: [],
    logs: [],
    internalTransfers: null,
    internalTransactions: null,
    parts: {},
    level: 'receipts',
    reason: null,
    upstream: 'node',
  };
}

function readers(ancestor: number, firstStored: number, missing?: number) {
  return {
    storedHash: async (number: number) =>
      number >= firstStored && number !== missing ? hashOf('a', number) : null,
    isIndexed: async ({ to }: BlockRange) => to >= firstStored,
    readByHash: async (hash: Hash) => blockOf('b', Number.parseInt(hash.slice(3), 16), ancestor),
  };
}

describe('findBranch', () => {
  it('finds the ancestor and every block of the new branch, for any depth within the limit and any new length', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 16 }),
        fc.integer({ min: -15, max: 40 }),
        async (depth, growth) => {
          const checkpoint = 1000;
          const ancestor = checkpoint - depth;
          const tip = Math.max(ancestor + 1, checkpoint + growth);
          const branch = await findBranch(
            CHAIN,
            { number: checkpoint, hash: hashOf('a', checkpoint) },
            blockOf('b', tip, ancestor),
            readers(ancestor, 900),
          );
          expect(branch.ancestor).toBe(ancestor);
          expect(branch.blocks.map((block) => block.header.number)).toEqual(
            Array.from({ length: tip - ancestor }, (_, index) => ancestor + 1 + index),
          );
        },
      ),
    );
  });

  // Invariant: SYNC-REORG-LIMIT
  it('refuses a branch that leaves deeper than the limit, naming what to do', async () => {
    const search = findBranch(
      CHAIN,
      { number: 1000, hash: hashOf('a', 1000) },
      blockOf('b', 1001, 983),
      readers(983, 900),
    );
    await expect(search).rejects.toMatchObject({ code: 'REORG_TOO_DEEP' });
  });

  it('replaces all that is indexed where nothing below it could be the ancestor', async () => {
    const branch = await findBranch(
      CHAIN,
      { number: 1000, hash: hashOf('a', 1000) },
      blockOf('b', 1001, 990),
      readers(990, 995),
    );
    expect(branch.ancestor).toBe(994);
    expect(branch.blocks.map((block) => block.header.number)).toEqual([995, 996, 997, 998, 999, 1000, 1001]);
  });

  it('looks below a block that is not stored for one that is', async () => {
    const branch = await findBranch(
      CHAIN,
      { number: 1000, hash: hashOf('a', 1000) },
      blockOf('b', 1001, 990),
      readers(990, 900, 995),
    );
    expect(branch.ancestor).toBe(990);
  });

  // Invariant: SYNC-REORG-LIMIT
  it('refuses a branch whose tip is below the limit, if no block there is indexed', async () => {
    const checkpoint = { number: 1000, hash: hashOf('a', 1000) };
    const search = findBranch(CHAIN, checkpoint, blockOf('b', 6, -1), readers(-1, 900));
    await expect(search).rejects.toMatchObject({ code: 'REORG_TOO_DEEP' });
  });

  it('refuses a branch that leaves below genesis: it is another chain', async () => {
    const other = {
      ...readers(-1, 0),
      readByHash: async (hash: Hash) => blockOf('b', Number.parseInt(hash.slice(3), 16), -1),
    };
    const search = findBranch(CHAIN, { number: 5, hash: hashOf('a', 5) }, blockOf('b', 6, -1), other);
    await expect(search).rejects.toMatchObject({ code: 'REORG_TOO_DEEP' });
  });

  it('starts over when a parent is gone, since the chain moved meanwhile', async () => {
    const search = findBranch(CHAIN, { number: 1000, hash: hashOf('a', 1000) }, blockOf('b', 1001, 990), {
      ...readers(990, 900),
      readByHash: async () => null,
    });
    await expect(search).rejects.toMatchObject({ code: 'REORGED_WHILE_READING' });
  });
});
