import { alternate, type Side } from '../alternate.ts';
import {
  type BackfillPlan,
  type BackfillRun,
  requireSameWork,
  runBareHistory,
  runChainstead,
} from '../backfill-run.ts';
import type { Benchmark, BenchmarkContext, BenchmarkReport, Comparison, Target } from '../benchmark.ts';
import { BenchmarkError } from '../benchmark-error.ts';
import type { HistoryUpstream } from '../history-upstream.ts';
import { installPonder, runPonder } from '../ponder-project.ts';
import { median } from '../statistics.ts';
import { withHistory } from '../with-history.ts';
import { estimateYear } from '../year-of-mainnet.ts';

const LATENCY_MS = 50;
const SIGNERS = 2_000;
/** A usual plan of a provider: there a source is worth it. */
const CALLS_PER_SECOND = 25;
/** Share of the blocks: the limited node takes minutes for all. */
const LIMITED_SHARE = 1 / 10;
const SCARCE = { atLeast: 5 };
/** A call of the node has 20,000 logs, so it needs few. */
const SCARCE_SPARSE = { atLeast: 2 };
/** One Transfer in each of 13 out of 100 blocks. */
const SPARSE = { emptyShare: 0.87, transactionsPerBlock: 1, logsPerTransaction: 1, transferShare: 1 };
const SPARSE_SECONDS_MAX = 15;
const MEMORY_MB_MAX = 500;
/** Its rate limit per URL binds no longer. */
const PONDER_URLS = 8;

/** A local Portal and era files against a node with latency, a bare script over the same stream, and Ponder over the same node. */
export const history: Benchmark = {
  name: 'history',
  title: `Backfill from a Portal and era files against a node with ${LATENCY_MS} ms of latency, a script and Ponder`,
  async run(context) {
    const { historyBlocks, sparseBlocks } = context.sizes;
    const version = await installPonder(context.say);
    const faults = { latencyMs: LATENCY_MS };
    const dense = await withHistory(
      historyBlocks,
      { isWhole: true, callsPerSecond: CALLS_PER_SECOND, signers: SIGNERS, faults },
      (upstream) => compareDense(context, upstream),
    );
    const sparse = await withHistory(
      sparseBlocks,
      { isWhole: false, callsPerSecond: CALLS_PER_SECOND, ...SPARSE, faults },
      (upstream) => compareSparse(context, upstream),
    );
    const fromPortal = sparse.comparison.ours.map((blocksPerSecond) => sparseBlocks / blocksPerSecond);
    return {
      comparisons: [...dense.comparisons, sparse.comparison, sparse.scarce],
      measures: [
        ...dense.measures,
        {
          name: `${sparseBlocks} blocks with 0.13 events each`,
          unit: 's',
          samples: fromPortal,
          target: { atMost: SPARSE_SECONDS_MAX },
        },
        peakMemory('sparse logs from the Portal', sparse.runs),
      ],
      notes: [
        `${historyBlocks} blocks of 50 signed transactions and 100 logs. Times include the start of the program.`,
        'The Portal sends lines made beforehand, without compression or latency. Nodes confirm era files, as those of the bench are in no public list.',
        `Ponder ${version} reads no Portal: it reads the node, with ${PONDER_URLS} URLs and without its start-up time.`,
        ...dense.notes,
      ],
    };
  },
};

async function compareDense(
  context: BenchmarkContext,
  { url, limited, portal, era }: HistoryUpstream,
): Promise<BenchmarkReport> {
  if (era === null) throw new BenchmarkError('There are no era files');
  const plan: BackfillPlan = { server: context.server, node: { url }, blocks: context.sizes.historyBlocks };
  const proven: BackfillPlan = { ...plan, proven: true };
  const fromPortal = { name: 'logs from the Portal', run: () => runChainstead({ ...plan, portal }) };
  const blocksFromPortal = { name: 'blocks from the Portal', run: () => runChainstead({ ...proven, portal }) };
  const logs = await compare(context, 'filtered logs, Portal against fast node', undefined, [
    fromPortal,
    { name: 'logs from the node', run: () => runChainstead(plan) },
  ]);
  const blocks = await compare(context, 'proven blocks, Portal against fast node', undefined, [
    blocksFromPortal,
    { name: 'blocks from the node', run: () => runChainstead(proven) },
  ]);
  const few = Math.ceil(plan.blocks * LIMITED_SHARE);
  const ofLimited: BackfillPlan = { ...proven, node: { url: limited }, blocks: few };
  const scarce = await compare(
    context,
    `proven blocks, Portal against node of ${CALLS_PER_SECOND} calls/s`,
    SCARCE,
    [
      { name: 'few blocks from the Portal', run: () => runChainstead({ ...ofLimited, portal }) },
      { name: 'blocks from the limited node', run: () => runChainstead(ofLimited) },
    ],
  );
  const files = await compare(context, 'proven blocks, era files against Portal', undefined, [
    { name: 'blocks from era files', run: () => runChainstead({ ...proven, era }) },
    blocksFromPortal,
  ]);
  const bare = await compare(context, 'filtered logs, against a bare script', { atLeast: 0.7 }, [
    fromPortal,
    { name: 'bare script', run: () => runBareHistory({ ...plan, portal }) },
  ]);
  const cores = files.runs.map(({ cpuSeconds }) => plan.blocks / cpuSeconds);
  return {
    comparisons: [
      ...[logs, blocks, scarce, files, bare].map(({ comparison }) => comparison),
      await comparePonder(context, plan, portal),
    ],
    measures: [
      { name: 'proven blocks from era files per second of CPU', unit: 'blocks', samples: cores },
      peakMemory('proven blocks from era files', files.runs),
      peakMemory('proven blocks from the Portal', blocks.runs),
      peakMemory('logs from the Portal', logs.runs),
    ],
    notes: [await estimateYear(era, median(files.comparison.ours))],
  };
}

async function comparePonder(
  { runs, sizes, say }: BenchmarkContext,
  plan: BackfillPlan,
  portal: string,
): Promise<Comparison> {
  const peer = { ...plan, urls: PONDER_URLS, seconds: sizes.ponderSeconds };
  const { first, second } = await alternate(
    runs,
    { name: 'logs from the Portal', run: () => runChainstead({ ...plan, portal }) },
    { name: 'Ponder', run: () => runPonder(peer) },
    say,
  );
  return {
    name: 'transfers, Portal against Ponder over the node',
    unit: 'transfers/s',
    ours: first.map((run) => run.transfersPerSecond),
    peer: second.map((run) => run.eventsPerSecond),
  };
}

function peakMemory(name: string, runs: readonly BackfillRun[]): BenchmarkReport['measures'][number] {
  const samples = runs.map(({ memory }) => Math.max(0, ...memory.map(({ bytes }) => bytes)) / 1e6);
  return { name: `${name}, peak memory`, unit: 'MB', samples, target: { atMost: MEMORY_MB_MAX } };
}

async function compareSparse(
  context: BenchmarkContext,
  { url, limited, portal }: HistoryUpstream,
): Promise<Compared & { readonly scarce: Comparison }> {
  const plan: BackfillPlan = { server: context.server, node: { url }, blocks: context.sizes.sparseBlocks };
  const ofLimited = { ...plan, node: { url: limited } };
  const name = `sparse logs, Portal against node of ${CALLS_PER_SECOND} calls/s`;
  const { comparison: scarce } = await compare(context, name, SCARCE_SPARSE, [
    { name: 'sparse logs from the Portal', run: () => runChainstead({ ...ofLimited, portal }) },
    { name: 'sparse logs from the limited node', run: () => runChainstead(ofLimited) },
  ]);
  const fast = await compare(context, 'sparse logs, Portal against fast node', undefined, [
    { name: 'sparse logs from the Portal', run: () => runChainstead({ ...plan, portal }) },
    { name: 'sparse logs from the node', run: () => runChainstead(plan) },
  ]);
  return { ...fast, scarce };
}

interface Compared {
  readonly comparison: Comparison;
  /** Runs of the first side. */
  readonly runs: readonly BackfillRun[];
}

async function compare(
  { runs, say }: BenchmarkContext,
  name: string,
  target: Target | undefined,
  [ours, peer]: readonly [Side<BackfillRun>, Side<BackfillRun>],
): Promise<Compared> {
  const { first, second } = await alternate(runs, ours, peer, say);
  requireSameWork(...first, ...second);
  const rates = (side: readonly BackfillRun[]): number[] => side.map((run) => run.blocksPerSecond);
  const comparison: Comparison = {
    name,
    unit: 'blocks/s',
    ours: rates(first),
    peer: rates(second),
    ...(target !== undefined && { target }),
  };
  return { comparison, runs: first };
}
