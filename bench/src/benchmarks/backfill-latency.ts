import { alternate } from '../alternate.ts';
import { requireSameWork, runBareScript, runChainstead } from '../backfill-run.ts';
import type { Benchmark } from '../benchmark.ts';
import { installPonder, runPonder } from '../ponder-project.ts';
import { withNode } from '../with-node.ts';

const LATENCY_MS = 50;
const PONDER_URLS = 8;

/** The same with a node that is 50 ms away. */
export const backfillLatency: Benchmark = {
  name: 'backfill-latency',
  title: `Backfill with ${LATENCY_MS} ms before every answer`,
  async run({ server, sizes, runs, say }) {
    await installPonder(say);
    return withNode(sizes.blocks, { faults: { latencyMs: LATENCY_MS } }, async (node) => {
      const fast = { server, node, blocks: sizes.blocks };
      const proven = { server, node, blocks: sizes.provenBlocks, proven: true };
      const againstBare = await alternate(
        runs,
        { name: 'chainstead', run: () => runChainstead(fast) },
        { name: 'bare script', run: () => runBareScript(fast) },
        say,
      );
      const provenAgainstBare = await alternate(
        runs,
        { name: 'chainstead, proven', run: () => runChainstead(proven) },
        { name: 'bare receipts script', run: () => runBareScript(proven) },
        say,
      );
      const againstPonder = await alternate(
        runs,
        { name: `chainstead, ${PONDER_URLS} URLs`, run: () => runChainstead({ ...fast, urls: PONDER_URLS }) },
        {
          name: `Ponder, ${PONDER_URLS} URLs`,
          run: () => runPonder({ ...fast, urls: PONDER_URLS, seconds: sizes.ponderSeconds }),
        },
        say,
      );
      requireSameWork(...againstBare.first, ...againstBare.second, ...againstPonder.first);
      requireSameWork(...provenAgainstBare.first, ...provenAgainstBare.second);
      return {
        comparisons: [
          {
            name: 'fast, against the bare script',
            unit: 'transfers/s',
            ours: againstBare.first.map((run) => run.transfersPerSecond),
            peer: againstBare.second.map((run) => run.transfersPerSecond),
            target: { atLeast: 0.6 },
          },
          {
            name: 'proven, against the bare script',
            unit: 'blocks/s',
            ours: provenAgainstBare.first.map((run) => run.blocksPerSecond),
            peer: provenAgainstBare.second.map((run) => run.blocksPerSecond),
            target: { atLeast: 0.6 },
          },
          {
            name: `fast, against Ponder, ${PONDER_URLS} URLs`,
            unit: 'transfers/s',
            ours: againstPonder.first.map((run) => run.transfersPerSecond),
            peer: againstPonder.second.map((run) => run.eventsPerSecond),
            target: { atLeast: 5 },
          },
        ],
        measures: [],
        notes: [],
      };
    });
  },
};
