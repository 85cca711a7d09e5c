import type { RequestCounts } from '@chainstead/testkit';
import { runChainstead } from '../backfill-run.ts';
import type { Benchmark } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import { installPonder, runPonder } from '../ponder-project.ts';
import { withNode } from '../with-node.ts';

/** Enough for the counts to be those of a long run, few enough for Ponder to finish. */
const BLOCKS_MAX = 2_000;
const PATIENCE_SECONDS = 600;
const PER = 1_000_000;

/** What a node is asked for a million events. Counts, not times: one run of each side says all. */
export const nodeTraffic: Benchmark = {
  name: 'node-traffic',
  title: 'Node calls and bytes for a million events, beside Ponder',
  async run({ server, sizes, say }) {
    await installPonder(say);
    const blocks = Math.min(sizes.blocks, BLOCKS_MAX);
    return withNode(blocks, {}, async (node) => {
      say('  chainstead');
      const ours = await runChainstead({ server, node, blocks });
      say('  Ponder');
      const ponder = await runPonder({ server, node, blocks, urls: 8, seconds: PATIENCE_SECONDS });
      if (!ponder.complete) throw new BenchmarkError(`Ponder did not finish ${blocks} blocks in ${PATIENCE_SECONDS} s`);
      if (ponder.events !== ours.transfers)
        throw new BenchmarkError(`Ponder indexed ${ponder.events} events, Chainstead ${ours.transfers}`);
      const perMillion = (amount: number): number[] => [(amount / ours.transfers) * PER];
      return {
        comparisons: [
          {
            name: 'node calls for a million events',
            unit: 'calls',
            ours: perMillion(callsOf(ours.counts)),
            peer: perMillion(callsOf(ponder.counts)),
            target: { atMost: 0.2 },
          },
          {
            name: 'HTTP requests for a million events',
            unit: 'requests',
            ours: perMillion(ours.counts.httpRequests),
            peer: perMillion(ponder.counts.httpRequests),
          },
          {
            name: 'bytes for a million events',
            unit: 'MB',
            ours: perMillion(ours.counts.bytesSent / 1e6),
            peer: perMillion(ponder.counts.bytesSent / 1e6),
          },
        ],
        measures: [],
        notes: [`${blocks} blocks, ${ours.transfers} transfers, indexed to the end by both.`],
      };
    });
  },
};

function callsOf(counts: RequestCounts): number {
  return Object.values(counts.calls).reduce((sum, count) => sum + count, 0);
}
