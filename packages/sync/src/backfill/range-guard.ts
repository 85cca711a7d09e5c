import type { Chain } from '@chainstead/chains';
import { type BlockRange, intersectRanges, mergeRanges, rangeSize, subtractRanges } from '@chainstead/core';
import { type Database, type RiskyWork, readCrashedKeys, type WorkJournal, WorkSetAsideError } from '@chainstead/db';
import type { BlockPart } from '../dataset/whole-block.ts';

export type RangeJournal = Pick<WorkJournal, 'alone' | 'hold' | 'acquit'>;

/**
 * Finds the block of a backfill that ends its process. Each chunk is recorded while it is read and written. A chunk in
 * which a process died is done again in small parts, each alone, until a part is one block. That block is quarantined
 * after its third death, and the rest of the range continues.
 */
export interface RangeGuard {
  /** Ranges in which a process died. While there are any, chunks must run one at a time, so that a death has one cause. */
  readonly suspects: readonly BlockRange[];
  /** Performs work on a range, in parts if a process died in it. */
  run(range: BlockRange, work: RangeWork): Promise<void>;
  /** Call it when all work on the suspects is done. Later work on them is ordinary, except for quarantined blocks. */
  acquit(): Promise<void>;
}

export interface RangeWork {
  /** Part of blocks that is read: another one of a quarantined block is still done. */
  readonly reads: BlockPart;
  perform(part: BlockRange): Promise<void>;
  /** Called instead for a block that is quarantined. */
  leaveOut(block: number, error: WorkSetAsideError): Promise<void>;
}

/** Parts of a range in which a process died. */
const PARTS = 16;

export interface RangeGuardOptions {
  readonly database: Database;
  readonly chain: Chain;
  /** @default nothing is recorded */
  readonly journal?: RangeJournal;
}

export async function openRangeGuard({ database, chain, journal }: RangeGuardOptions): Promise<RangeGuard> {
  if (journal === undefined)
    return { suspects: [], run: (range, { perform }) => perform(range), acquit: () => Promise.resolve() };
  let suspects = await readSuspects(database, chain);
  const quarantined: BlockRange[] = [];

  async function hold(range: BlockRange, { reads, perform }: RangeWork): Promise<void> {
    const release = await journal?.hold(workOf(chain, range, reads));
    try {
      await perform(range);
    } finally {
      release?.();
    }
  }

  async function alone(part: BlockRange, { reads, perform, leaveOut }: RangeWork): Promise<void> {
    try {
      await journal?.alone(workOf(chain, part, reads), () => perform(part));
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
      for (const part of subtractRanges([range], inside)) await hold(part, work);
      for (const part of inside.flatMap((one) => partsOf(one, deadly))) await alone(part, work);
    },
    async acquit() {
      // A single block ends its own record, unless it is quarantined.
      for (const one of suspects) if (rangeSize(one) > 1) await journal.acquit(rangeWork(chain, one));
      suspects = [];
    },
  };
}

/** Cuts a range in which processes died, so that each part is smaller than the smallest such range around it. */
function partsOf(range: BlockRange, suspects: readonly BlockRange[]): readonly BlockRange[] {
  const parts: BlockRange[] = [];
  for (let from = range.from; from <= range.to; ) {
    const around = suspects.filter((one) => one.from <= from && from <= one.to);
    const size = Math.max(1, Math.ceil(Math.min(...around.map(rangeSize)) / PARTS));
    const next = suspects.flatMap((one) => (one.from > from ? one.from - 1 : []));
    const to = Math.min(range.to, from + size - 1, ...around.map((one) => one.to), ...next);
    parts.push({ from, to });
    from = to + 1;
  }
  return parts;
}

/** A block that may be quarantined is named as those of the follower are. */
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
