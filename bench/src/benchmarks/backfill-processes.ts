import type { BenchNode } from '@chainstead/testkit';
import { alternate } from '../alternate.ts';
import { type BackfillPlan, type BackfillRun, requireSameWork, runChainstead } from '../backfill-run.ts';
import type { Benchmark, BenchmarkContext, BenchmarkReport, Measure } from '../benchmark.ts';
import { measureLockTime } from '../lock-time.ts';
import { withNode } from '../with-node.ts';

/** As everywhere: 50 transactions of two logs. */
const LOGS_PER_BLOCK = 100;
const MILLION = 1_000_000;
const ERC20 = ['erc20-transfers'];

/** One chain's history filled by two processes against one, and what a million logs take of the processors: that says what more of them would give. */
export const backfillProcesses: Benchmark = {
  name: 'backfill-processes',
  title: 'Backfill of one chain by two processes against one, the node beside them',
  run: (context) =>
    withNode(context.sizes.blocks, {}, async (node) => {
      const { server, sizes, say } = context;
      const provenBlocks = provenBlocksOf(sizes);
      const fast = await compare(context, 'fast', { server, node, blocks: sizes.blocks });
      const proven = await compare(context, 'proven', { server, node, blocks: provenBlocks, proven: true });
      say("  how long commits hold the chain's lock");
      const locks = await measureLocks(context, node);
      return {
        comparisons: [...fast.comparisons, ...proven.comparisons],
        measures: [...fast.measures, ...proven.measures, ...locks],
        notes: [
          'Here the peer is Chainstead itself with one process. Where node, Postgres and two processes share two processors, two are not expected to be faster.',
          "Processor seconds are of a million logs read, a fifth of which cause no row. The chain's lock is what processes share: no more of them can be faster than it.",
        ],
      };
    }),
};

/** Of the same chain. */
function provenBlocksOf({ blocks, provenBlocks }: BenchmarkContext['sizes']): number {
  return Math.min(blocks, provenBlocks);
}

type Part = Pick<BenchmarkReport, 'comparisons' | 'measures'>;

async function compare({ runs, say }: BenchmarkContext, kind: string, plan: BackfillPlan): Promise<Part> {
  const { first, second } = await alternate(
    runs,
    { name: `${kind}, two processes`, run: () => runChainstead({ ...plan, processes: 2 }) },
    { name: `${kind}, one process`, run: () => runChainstead(plan) },
    say,
  );
  requireSameWork(...first, ...second);
  return {
    comparisons: [
      {
        name: `backfill, ${kind}`,
        unit: 'transfers/s',
        ours: first.map((run) => run.transfersPerSecond),
        peer: second.map((run) => run.transfersPerSecond),
      },
      {
        name: `resident memory of the largest process, ${kind}`,
        unit: 'MB',
        ours: first.map(peakOf),
        peer: second.map(peakOf),
      },
    ],
    measures: [
      ...processorMeasures(`${kind}, one process`, second, plan.blocks),
      ...processorMeasures(`${kind}, two processes`, first, plan.blocks),
    ],
  };
}

function peakOf({ memory }: BackfillRun): number {
  return Math.max(0, ...memory.map(({ bytes }) => bytes)) / 1e6;
}

function processorMeasures(name: string, runs: readonly BackfillRun[], blocks: number): Measure[] {
  const times = runs.flatMap(({ processor }) => (processor === null ? [] : [processor]));
  if (times.length === 0) return [];
  const logs = blocks * LOGS_PER_BLOCK;
  const parts = (['program', 'node', 'postgres'] as const).map((part) => ({
    name: `${name}: ${part}`,
    unit: 'processor s for a million logs',
    samples: times.map((time) => (time[part] / logs) * MILLION),
  }));
  return [
    ...parts,
    { name: `${name}: answers`, unit: 'bytes a log', samples: runs.map((run) => run.counts.bytesSent / logs) },
  ];
}

async function measureLocks({ server, sizes, runs }: BenchmarkContext, node: BenchNode): Promise<Measure[]> {
  const kinds = [
    { name: "the chain's lock, ERC-20 transfers", datasets: ERC20 },
    { name: "the chain's lock, all datasets" },
  ];
  const measures: Measure[] = [];
  for (const { name, ...kind } of kinds) {
    const samples: number[] = [];
    for (let run = 0; run < runs; run += 1)
      samples.push(await measureLockTime({ server, node, blocks: provenBlocksOf(sizes), ...kind }));
    measures.push({ name, unit: 's for a million logs', samples });
  }
  return measures;
}
