import type { Chain } from '@chainstead/chains';
import { type BlockRange, intersectRanges, mergeRanges, rangeSize, subtractRanges } from '@chainstead/core';
import {
  type Database,
  type RiskyWork,
  readCrashedKeys,
  type WorkJournal,
  WorkSetAsideError,
} from '@chainstead/db';
import type { CommitDependencies } from '../commit/commit-followed.ts';
import type { BlockPart } from '../dataset/whole-block.ts';

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
