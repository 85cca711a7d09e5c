/** Damaged era files through the backfill: no wrong row, nothing missing at the end, the file named. */
import type { RecoverSigners } from '@chainstead/proof';
import { createScriptedChain } from '@chainstead/testkit';
import { scratchOfFile, stageOfFile } from '@chainstead/testkit/hooks';
import { describe, expect, test } from 'vitest';
import {
  type EraServed,
  expectNamed,
  type OtherEraFile,
  openEra,
  openSourcedChain,
  SOURCED_BLOCKS,
  SOURCED_RANGE,
  type SourcedFill,
} from '../testing/sourced-chain.ts';
import type { BackfillOptions } from './backfill-options.ts';

const CHAIN_ID = 966_001;
const scratch = scratchOfFile();
const sourced = stageOfFile(() => openSourcedChain(scratch.database, CHAIN_ID));

/** Expects the rows of nodes. */
async function fillFrom(served: EraServed, changes: Partial<BackfillOptions> = {}): Promise<SourcedFill> {
  const fill = await sourced.fill((chain, parts) => openEra(chain, parts, served), changes);
  expect(fill.rows).toEqual(sourced.rowsOfNodes);
  expect(fill.covered).toEqual([SOURCED_RANGE, SOURCED_RANGE]);
  return fill;
}

describe.each(['era1', 'ere', 'e2hs'] as const)('an %s file', (format) => {
  test('is read, without a fault, and its senders are not recovered twice', async () => {
    const recoverSigners: RecoverSigners = async () => expect.unreachable('its reader has recovered them');
    const { warnings, status } = await fillFrom({ format }, { recoverSigners });
    expect(warnings).toEqual([]);
    expect(status?.uses.blocks).toMatchObject({ blocks: SOURCED_BLOCKS, failures: 0 });
  });

  test('of another network', async () => {
    const other = createScriptedChain({ seed: 1, chainId: CHAIN_ID, finalityDepth: 0, isSigned: true });
    other.mine(40);
    expectNamed(await fillFrom({ format, blocks: other.blocksIn({ from: 0, to: 40 }) }), /nodes have/);
  });

  test('that is cut', async () => {
    const { warnings } = await fillFrom({ format, change: (file) => file.subarray(0, -100) });
    expect(warnings[0]?.reason).toMatch(/the index counts/);
  });

  test('with an index that leads beside the last block', async () => {
    // Behind the last offset, ere files have the number of parts too.
    const change = (file: Buffer) => withByte(file, file.length - (format === 'ere' ? 24 : 16));
    const { warnings } = await fillFrom({ format, change });
    expect(warnings.map(({ reason }) => reason).join()).toMatch(/scripted-00000-\w+.*: /);
  });
});

test('an ere file with a wrong number of parts', async () => {
  const { warnings } = await fillFrom({ format: 'ere', change: (file) => withByte(file, file.length - 16) });
  // The bytes where the index would begin decide.
  expect(warnings[0]?.reason).toMatch(/does not end with its index|reserved bytes/);
});

test('an era1 file with a wrong accumulator', async () => {
  expectNamed(await fillFrom({ format: 'era1', change: flipAccumulator }), /accumulator is not that/);
});

describe.each(['era1', 'ere', 'e2hs'] as const)('two %s files of one era', (format) => {
  const abandoned = () => [...sourced.abandoned.values()].filter(({ number }) => number > 0);
  test.each<readonly [string, () => Omit<OtherEraFile, 'hash'>, RegExp]>([
    ['another branch', () => ({ blocks: branch() }), /nodes have/],
    ['a damaged copy', () => ({ change: (file) => withByte(file, Math.floor(file.length / 2)) }), /: /],
    ['a cut file', () => ({ change: (file) => file.subarray(0, file.length / 2) }), /the index counts|outside/],
    ['an empty file', () => ({ change: () => Buffer.alloc(0) }), /outside the file/],
  ])('of which the first is %s: the other is read, the first named', async (_name, other, reason) => {
    for (const proof of ['receipts', 'none'] as const) {
      const others = [{ hash: '00000000', ...other() }];
      const { warnings, status } = await fillFrom({ format, others }, { proof });
      expect(warnings.map((one) => one.reason)).toEqual([expect.stringMatching(reason)]);
      expect(warnings[0]?.reason).toContain('scripted-00000-00000000');
      const uses = Object.values(status?.uses ?? {});
      expect(uses.map(({ failures, until }) => [failures, until])).toEqual([
        [0, null],
        [0, null],
      ]);
      expect(status?.refusals?.map(({ file }) => file.slice(0, 23))).toEqual(['scripted-00000-00000000']);
    }
  });

  test('of which the first is another branch that is longer: only blocks that it has alone come from nodes', async () => {
    const blocks = sourced.stage.scripted.blocksIn({ from: 0, to: 50 });
    const others = [{ hash: '00000000', blocks: branch() }];
    for (const proof of ['receipts', 'none'] as const) {
      const { status } = await fillFrom({ format, blocks, others }, { proof });
      expect(status?.uses[proof === 'receipts' ? 'blocks' : 'logs']).toMatchObject({ blocks: 50, until: null });
    }
  });

  function branch() {
    const genesis = sourced.stage.scripted.blocksIn({ from: 0, to: 0 });
    return [...genesis, ...abandoned()];
  }
});

test('of three files the last holds', async () => {
  const others = [
    { hash: '00000000', change: (file: Buffer) => withByte(file, Math.floor(file.length / 3)) },
    { hash: '00000001', change: (file: Buffer) => withByte(file, Math.floor(file.length / 3)) },
  ];
  const { status } = await fillFrom({ format: 'ere', others });
  expect(status?.refusals).toHaveLength(2);
  expect(status?.uses.blocks).toMatchObject({ failures: 0, blocks: SOURCED_BLOCKS });
});

function withByte(file: Buffer, at: number): Buffer {
  const changed = Buffer.from(file);
  changed[at] = (changed[at] ?? 0) ^ 1;
  return changed;
}

/** Its last byte is in front of the index: a head, the first number, the count and an offset for each block. */
function flipAccumulator(file: Buffer): Buffer {
  const blocks = Number(file.readBigInt64LE(file.length - 8));
  return withByte(file, file.length - (8 + 16 + 8 * blocks) - 1);
}
