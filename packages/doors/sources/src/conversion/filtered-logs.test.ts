import { atDepth, createScriptedChain } from '@chainstead/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readLogs } from '../testing/read-all.ts';
import { poolOver, type SourceKind, sourceOver } from '../testing/source-stage.ts';

const RANGE = { from: 0, to: 60 };

test.each<SourceKind>(['portal', 'hypersync'])('filtered logs of a %s are those of eth_getLogs', async (kind) => {
  const chain = createScriptedChain({ seed: 63, finalityDepth: 0, wallets: 10 });
  chain.mine(RANGE.to);
  const pool = await poolOver(chain);
  const { source } = await sourceOver(kind, chain, { pageBlocks: 7 });
  const { logs: all } = await pool.getLogs({ range: RANGE, topics: [] });
  const topicsAt = (at: number) => [...new Set(all.flatMap(({ topics }) => topics[at] ?? []))];
  const someOf = (at: number) => fc.subarray(topicsAt(at), { minLength: 1, maxLength: 4 });
  const position = (at: number) => fc.option(someOf(at), { nil: null });
  const query = fc.record({
    range: fc
      .tuple(fc.nat(RANGE.to), fc.nat(RANGE.to))
      .map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) })),
    topics: fc.option(someOf(0), { nil: [] }),
    indexed: fc.oneof(
      fc.constant([]),
      fc.tuple(position(1)),
      fc.tuple(position(1), position(2)),
      fc.tuple(position(1), position(2), position(3)),
    ),
    addresses: fc.subarray([...new Set(all.map(({ address }) => address))]),
  });
  await fc.assert(
    fc.asyncProperty(query, async (wanted) => {
      const expected = await pool.getLogs(wanted);
      const read = await readLogs(source, wanted);
      expect(read.logs).toEqual(expected.logs);
      expect(read.to).toBe(wanted.range.to);
    }),
    { numRuns: atDepth(200) },
  );
});
