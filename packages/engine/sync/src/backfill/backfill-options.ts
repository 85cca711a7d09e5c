import type { Chain, ProofPolicy } from '@chainstead/chains';
import {
  type BlockRange,
  type Clock,
  intersectRanges,
  type Logger,
  mergeRanges,
  rangeSize,
  subtractRanges,
} from '@chainstead/core';
import {
  type Database,
  type RiskyWork,
  readCrashedKeys,
  type WorkJournal,
  WorkSetAsideError,
} from '@chainstead/db';
import type { RecoverSigners } from '@chainstead/proof';
import type { UpstreamPool } from '@chainstead/rpc';
import type { HistorySources } from '@chainstead/sources';
import type { CommitDependencies } from '../commit/commit-followed.ts';
import type { ClaimOwner } from '../coverage/claims.ts';
import type { RetentionSettings } from '../coverage/retained-from.ts';
import type { BlockPart } from '../dataset/whole-block.ts';
import type { UnavailableBlocksError } from '../errors.ts';
import type { DatasetFailedError } from '../read/dataset-failures.ts';
import type { DecodedRange } from '../read/read-range.ts';
import type { Rereads } from '../read/rereads.ts';
import type { SyncMetrics } from '../sync-metrics.ts';

/** Proves logs by whole blocks that are read and committed for other datasets. */
type ProveRead = (options: BackfillOptions, read: DecodedRange, signal: AbortSignal) => Promise<void>;

export interface BackfillOptions extends CommitDependencies {
  readonly pool: UpstreamPool;
  /** Read before nodes, in order. @default none */
  readonly sources?: HistorySources | undefined;
  readonly owner: ClaimOwner;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: SyncMetrics;
  readonly order: 'newest-first' | 'oldest-first';
  /** `receipts` proves blocks before they are served; `none` leaves that to the prover. */
  readonly proof: 'none' | 'receipts';
  readonly policy: ProofPolicy;
  readonly recoverSigners?: RecoverSigners | undefined;
  readonly rereads?: Rereads;
  /** @default all blocks are retained */
  readonly retention?: RetentionSettings | undefined;
  /** `replace` also reads covered blocks again (reindex). */
  readonly kind: 'add' | 'replace';
  /** @default logs are left to the prover, which reads their blocks again */
  readonly proveRead?: ProveRead | undefined;
  /** A reorg may still replace the blocks: their hashes are checked. @default false */
  readonly isUnsettled?: boolean;
  /** `help`: another process fills the same blocks. @default 'backfill' */
  readonly purpose?: 'backfill' | 'help';
  /** @default no work is quarantined */
  readonly journal?: RangeJournal;
  onProgress?(progress: BackfillProgress): void;
}

export interface BackfillProgress {
  readonly done: number;
  readonly total: number;
  readonly logs: number;
  /** The first gap; null: none. */
  readonly unavailable: UnavailableBlocksError | DatasetFailedError | null;
}

export type RangeJournal = Pick<WorkJournal, 'alone' | 'hold' | 'acquit'>;

/** Finds the block that ends the process: parts of a deadly chunk run alone, ever smaller. */
export interface RangeGuard {
  /** Run one at a time, so that a death has one cause. */
  readonly suspects: readonly BlockRange[];
  run(range: BlockRange, work: GuardedWork): Promise<void>;
  acquit(): Promise<void>;
}

/** Records blocks as under way: if the process dies, they become suspects. @returns ends the record */
export type HoldBlocks = (range: BlockRange) => Promise<() => void>;

export interface GuardedWork {
  /** Other parts of a quarantined block are still read. */
  readonly reads: BlockPart;
  /** Holds the blocks that it reads, decodes or commits: few of those of a long stream. */
  perform(part: BlockRange, hold: HoldBlocks): Promise<void>;
  /** Called instead for a quarantined block. */
  leaveOut(block: number, error: WorkSetAsideError): Promise<void>;
}

const PARTS = 16;
/** The whole part is recorded already, or nothing is: smaller records would make more suspects of the same blocks. */
export const NOT_HELD: HoldBlocks = async () => () => undefined;

/** @param options without `journal`, nothing is recorded */
export async function openRangeGuard(
  options: Pick<CommitDependencies, 'database' | 'chain'> & { readonly journal?: RangeJournal },
): Promise<RangeGuard> {
  const { database, chain, journal } = options;
  if (journal === undefined)
    return {
      suspects: [],
      run: (range, { perform }) => perform(range, NOT_HELD),
      acquit: () => Promise.resolve(),
    };
  let suspects = await readSuspects(database, chain);
  const quarantined: BlockRange[] = [];

  async function alone(part: BlockRange, { reads, perform, leaveOut }: GuardedWork): Promise<void> {
    try {
      await journal?.alone(workOf(chain, part, reads), () => perform(part, NOT_HELD));
    } catch (error) {
      if (!(error instanceof WorkSetAsideError)) throw error;
      quarantined.push(part);
      await leaveOut(part.from, error);
    }
  }

  return {
    get suspects() {
      return mergeRanges(suspects);
    },
    async run(range, work) {
      const deadly = [...suspects, ...quarantined];
      const inside = intersectRanges([range], mergeRanges(deadly));
      for (const part of subtractRanges([range], inside))
        await work.perform(part, (held) => journal.hold(workOf(chain, held, work.reads)));
      for (const part of inside.flatMap((suspect) => partsOf(suspect, deadly))) await alone(part, work);
    },
    async acquit() {
      // A single block ends its own record, unless it is quarantined.
      for (const suspect of suspects) if (rangeSize(suspect) > 1) await journal.acquit(rangeWork(chain, suspect));
      suspects = [];
    },
  };
}

/** Smaller than the smallest range around it in which a process died. */
function partsOf(range: BlockRange, suspects: readonly BlockRange[]): readonly BlockRange[] {
  const parts: BlockRange[] = [];
  for (let from = range.from; from <= range.to; ) {
    const around = suspects.filter((suspect) => suspect.from <= from && from <= suspect.to);
    const size = Math.max(1, Math.ceil(Math.min(...around.map(rangeSize)) / PARTS));
    const next = suspects.flatMap((suspect) => (suspect.from > from ? suspect.from - 1 : []));
    const to = Math.min(range.to, from + size - 1, ...around.map((suspect) => suspect.to), ...next);
    parts.push({ from, to });
    from = to + 1;
  }
  return parts;
}

/** Single blocks are named as the follower's. */
function workOf(chain: Chain, range: BlockRange, reads: BlockPart): RiskyWork {
  return range.from === range.to
    ? { kind: 'block', keys: [`${chain.key} ${range.from} ${BACKFILL} ${reads}`] }
    : rangeWork(chain, range);
}

const BACKFILL = 'backfill';

function rangeWork({ key }: Chain, { from, to }: BlockRange): RiskyWork {
  return { kind: 'range', keys: [`${key} ${from}-${to}`] };
}

async function readSuspects(database: Database, { key }: Chain): Promise<readonly BlockRange[]> {
  const ranges = (await readCrashedKeys(database, 'range', `${key} `)).map((name) => {
    const [from = '', to = ''] = name.slice(key.length + 1).split('-');
    return { from: Number(from), to: Number(to) };
  });
  const blocks = (await readCrashedKeys(database, 'block', `${key} `)).flatMap((name) => {
    const [, block = '', work] = name.split(' ');
    return work === BACKFILL ? [{ from: Number(block), to: Number(block) }] : [];
  });
  return [...ranges, ...blocks];
}
