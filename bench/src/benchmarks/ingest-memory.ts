import { runChainstead } from '../backfill-run.ts';
import type { Benchmark } from '../benchmark.ts';
import type { MemorySample } from '../measured-process.ts';
import { median } from '../statistics.ts';
import { withNode } from '../with-node.ts';

const LIMIT_MB = 400;
/** The last third may use so much more than the first: more is a leak. */
const GROWTH_MAX = 1.15;

/** Resident memory of the ingest process over a long range, fast and proven. */
export const ingestMemory: Benchmark = {
  name: 'ingest-memory',
  title: 'Resident memory of a backfill: peak, and whether it grows',
  run: ({ server, sizes, runs, say }) =>
    withNode(sizes.blocks, {}, async (node) => {
      const measures = [];
      for (const proven of [false, true]) {
        const kind = proven ? 'proven' : 'fast';
        const peaks: number[] = [];
        const growths: number[] = [];
        for (let run = 0; run < runs; run++) {
          say(`  run ${run + 1} of ${runs}: ${kind}`);
          const { memory } = await runChainstead({ server, node, blocks: sizes.blocks, proven });
          peaks.push(Math.max(...memory.map((sample) => sample.bytes)) / 1e6);
          growths.push(growthOf(memory));
        }
        measures.push(
          { name: `${kind}, peak`, unit: 'MB', samples: peaks, target: { atMost: LIMIT_MB } },
          {
            name: `${kind}, last third ÷ middle third`,
            unit: '',
            samples: growths,
            target: { atMost: GROWTH_MAX },
          },
        );
      }
      return { comparisons: [], measures, notes: [`${node.facts.logs} logs in ${sizes.blocks} blocks.`] };
    }),
};

/** The first third holds the start of the process and the first growth of its heap; after it, memory must stay. */
function growthOf(memory: readonly MemorySample[]): number {
  const third = Math.floor(memory.length / 3);
  const level = (samples: readonly MemorySample[]): number => median(samples.map((sample) => sample.bytes));
  return level(memory.slice(2 * third)) / level(memory.slice(third, 2 * third));
}
