/** A source that is much slower than nodes, through the backfill. */
import { scratchOfFile, stageOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, it } from 'vitest';
import {
  expectNamed,
  openPortal,
  openSourcedChain,
  SOURCED_BLOCKS,
  SOURCED_RANGE,
  type SourcedFill,
} from '../testing/sourced-chain.ts';

const CHAIN_ID = 967_001;
const scratch = scratchOfFile();
const sourced = stageOfFile(() => openSourcedChain(scratch.database, CHAIN_ID));

function expectTruth({ rows, covered }: SourcedFill): void {
  expect(rows).toEqual(sourced.rowsOfNodes);
  expect(covered).toEqual([SOURCED_RANGE, SOURCED_RANGE]);
}

describe('a source', () => {
  it('that sends a block every two seconds is left alone, its blocks are stored, and nodes read the rest', async () => {
    const fill = await sourced.fill(async (chain, parts) => {
      const source = await openPortal(chain, parts);
      return {
        ...source,
        async *readBlocks(range, options, signal) {
          for await (const block of source.readBlocks(range, options, signal)) {
            await new Promise((resolve) => setTimeout(resolve, 2_000));
            signal.throwIfAborted();
            yield block;
          }
        },
      };
    });
    expectTruth(fill);
    expectNamed(fill, /sent \d+ blocks in \d\.\d s, while nodes read \d+ a second/);
    expect(fill.warnings[0]?.left_alone_ms).toBe(60_000);
    expect(fill.status?.uses.blocks.blocks).toBeGreaterThan(0);
    expect(fill.status?.uses.blocks.blocks).toBeLessThan(SOURCED_BLOCKS);
  });

  it('that sends 200 bytes a second is left alone', async () => {
    const fill = await sourced.fill((chain, parts) => openPortal(chain, parts, { faults: { dripMs: 5 } }));
    expectTruth(fill);
    expectNamed(fill, /sent 0 blocks in/);
  });

  it('that is slow is read nevertheless if nodes do not have its blocks', async () => {
    const { pool } = sourced.stage;
    const pruned = { ...pool, getWholeBlock: async () => null };
    const fill = await sourced.fill(
      async (chain, parts) => {
        const source = await openPortal(chain, parts);
        return {
          ...source,
          async *readBlocks(range, options, signal) {
            await new Promise((resolve) => setTimeout(resolve, 6_000));
            yield* source.readBlocks(range, options, signal);
          },
        };
      },
      { pool: pruned },
    );
    expectTruth(fill);
    expect(fill.warnings).toEqual([]);
    expect(fill.status?.uses.blocks).toMatchObject({ blocks: SOURCED_BLOCKS, failures: 0 });
  });
});
