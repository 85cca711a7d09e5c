import { alternate } from '../alternate.ts';
import { requireSameWork, runChainstead } from '../backfill-run.ts';
import { startNode } from '../bench-chain.ts';
import type { Benchmark, Comparison } from '../benchmark.ts';
import { installPonder, runPonder } from '../ponder-project.ts';

/** Upstream URLs, and the multiple of Ponder's rate. With eight, its limiter binds no longer. */
const VARIANTS = [
  { urls: 1, atLeast: 10 },
  { urls: 8, atLeast: 5 },
] as const;

/** Fast backfill against Ponder: same events, same node, same Postgres, cold. */
export const backfillPonder: Benchmark = {
  name: 'backfill-ponder',
  title: 'Backfill against Ponder, same node and Postgres, cold',
  async run({ server, sizes, runs, say }) {
    const version = await installPonder(say);
    const node = await startNode(sizes.blocks);
    try {
      const plan = { server, node, blocks: sizes.blocks };
      const comparisons: Comparison[] = [];
      const notes: string[] = [];
      for (const { urls, atLeast } of VARIANTS) {
        const { first, second } = await alternate(
          runs,
          { name: `chainstead, ${urls} URL`, run: () => runChainstead({ ...plan, urls }) },
          { name: `Ponder, ${urls} URL`, run: () => runPonder({ ...plan, urls, seconds: sizes.ponderSeconds }) },
          say,
        );
        requireSameWork(...first);
        const name = urls === 1 ? 'one URL' : `${urls} URLs`;
        comparisons.push({
          name,
          unit: 'transfers/s',
          ours: first.map((run) => run.transfersPerSecond),
          peer: second.map((run) => run.eventsPerSecond),
          target: { atLeast },
        });
        comparisons.push({
          name: `${name}, peak memory`,
          unit: 'MB',
          ours: first.map((run) => Math.max(0, ...run.memory.map((sample) => sample.bytes)) / 1e6),
          peer: second.map((run) => run.peakMemoryBytes / 1e6),
        });
        const cut = second.filter((run) => !run.complete).length;
        if (cut > 0)
          notes.push(
            `${name}: ${cut} Ponder runs were ended after ${sizes.ponderSeconds} s; their rate is that of this time.`,
          );
        notes.push(
          `${name}: ${first[0]?.transfers} transfers by Chainstead, ${second.map((run) => run.events).join(', ')} events by Ponder.`,
        );
      }
      return { comparisons, measures: [], notes: [`Ponder ${version}.`, ...notes] };
    } finally {
      await node.stop();
    }
  },
};
