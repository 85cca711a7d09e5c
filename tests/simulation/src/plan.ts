/** From a seed to everything that a simulation does: upstreams and their faults, the chain's story, kills. Pure. */
import { createSeededRandom, type FaultSettings, type SeededRandom } from '@chainstead/testkit';

export type Step =
  | { readonly kind: 'mine'; readonly blocks: number }
  | { readonly kind: 'reorg'; readonly depth: number; readonly blocks: number }
  /** SIGKILL of the ingest process, then a new one. */
  | { readonly kind: 'kill' }
  /** Postgres breaks every connection of the program. */
  | { readonly kind: 'break-database' }
  | { readonly kind: 'wait' };

export interface Plan {
  readonly seed: number;
  /** Blocks before the program starts. */
  readonly history: number;
  readonly startBlock: number;
  readonly backfillProof: 'none' | 'receipts';
  readonly backfillOrder: 'newest-first' | 'oldest-first';
  /** Faults of each upstream; the receipts of the first one are always whole. */
  readonly upstreams: readonly Partial<FaultSettings>[];
  /** Whether what was covered fast must be proven before the tables are compared: some upstream drops logs, or has none of old blocks. */
  readonly needsProof: boolean;
  readonly steps: readonly { readonly afterMs: number; readonly step: Step }[];
}

/** Deepest reorganisation of a story; below the program's limit for chains added by configuration (64). */
const REORG_DEPTH_MAX = 48;

export function planOf(seed: number): Plan {
  const random = createSeededRandom(`simulation/${seed}`);
  const history = random.integer(80, 320);
  const backfillProof = random.chance(0.35) ? 'receipts' : 'none';
  // Its receipts stay whole, so the prover can repair what its filtered logs left out.
  const leavesLogsOut = random.chance(0.3) ? { dropLogsRate: random.pick([0.01, 0.05, 0.2]) } : {};
  const liars = Array.from({ length: random.pick([0, 1, 1, 2]) }, () => lying(random));
  const upstreams = [{ ...truthful(random), ...leavesLogsOut }, ...liars];
  const leavesOut = ({ dropLogsRate = 0, prunedBelow }: Partial<FaultSettings>): boolean =>
    dropLogsRate > 0 || prunedBelow?.style === 'empty';
  return {
    seed,
    history,
    startBlock: random.chance(0.7) ? 1 : random.integer(2, history),
    backfillProof,
    backfillOrder: random.chance(0.7) ? 'newest-first' : 'oldest-first',
    upstreams,
    needsProof: upstreams.some(leavesOut) && backfillProof === 'none',
    steps: Array.from({ length: random.integer(12, 28) }, () => ({
      afterMs: random.integer(5, 160),
      step: stepOf(random),
    })),
  };
}

/** May fail, be slow and have limits, but its responses are true. */
function truthful(random: SeededRandom): Partial<FaultSettings> {
  return {
    latencyMs: random.integer(0, 8),
    errorRate: random.pick([0, 0, 0.02, 0.05]),
    notJsonRate: random.pick([0, 0, 0.01]),
    truncate: random.pick([
      null,
      null,
      { rate: 0.01, style: 'json' as const },
      { rate: 0.01, style: 'connection' as const },
    ]),
    throttle: random.pick([
      null,
      null,
      { style: 'rpc-429-in-200' as const, rate: 0.02 },
      { style: 'http-429' as const, rate: 0.02 },
    ]),
    logLimit: logLimit(random),
    noBatch: random.chance(0.2),
    noBlockReceipts: random.chance(0.2),
    noLogTimestamps: random.chance(0.5),
    beyondHead: random.pick(['error', 'empty'] as const),
  };
}

/** As above, and it lies, lags or leaves things out. */
function lying(random: SeededRandom): Partial<FaultSettings> {
  const lie = random.pick<Partial<FaultSettings>>([
    { dropLogsRate: 0.01 },
    { dropLogsRate: 0.05, dropReceiptLogsRate: 0.02 },
    { dropReceiptLogsRate: 0.02 },
    { lagBlocks: 5, beyondHead: 'empty' },
    { headLieBlocks: 3 },
    { nullForHead: true },
    { prunedBelow: { block: 60, style: 'empty' } },
    { wrongChainId: 5 },
    { hangRate: 0.02 },
    { httpStatus: { rate: 0.2, status: 503 } },
  ]);
  return { ...truthful(random), ...lie };
}

function logLimit(random: SeededRandom): FaultSettings['logLimit'] {
  const kind = random.pick([null, 'range', 'results'] as const);
  if (kind === null) return null;
  const style = random.pick(['infura', 'alchemy', 'reth', 'erigon', 'quicknode', 'coreth'] as const);
  return kind === 'range'
    ? { style, maxRange: random.integer(5, 40) }
    : { style, maxResults: random.integer(60, 400) };
}

function stepOf(random: SeededRandom): Step {
  const roll = random.next();
  if (roll < 0.5) return { kind: 'mine', blocks: random.integer(1, 6) };
  if (roll < 0.66) return shallowReorg(random);
  if (roll < 0.72) return deepReorg(random);
  if (roll < 0.82) return { kind: 'kill' };
  if (roll < 0.88) return { kind: 'break-database' };
  return { kind: 'wait' };
}

/** Now and then the new branch is shorter than the old one for a moment. */
export function shallowReorg(random: SeededRandom): Step {
  const depth = random.integer(1, 4);
  return { kind: 'reorg', depth, blocks: Math.max(1, depth + random.integer(-1, 3)) };
}

function deepReorg(random: SeededRandom): Step {
  const depth = random.integer(8, REORG_DEPTH_MAX);
  return { kind: 'reorg', depth, blocks: depth + random.integer(1, 3) };
}
