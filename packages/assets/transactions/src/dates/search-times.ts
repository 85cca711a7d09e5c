import { ReorgedWhileReadingError } from '@chainstead/sync';
import type { Neighbours, TimedBlock } from './closest-block.ts';

export interface TimeSearch {
  readonly chain: string;
  readonly first: TimedBlock;
  readonly head: TimedBlock;
  readonly known?: readonly TimedBlock[];
  read(numbers: readonly number[]): Promise<readonly TimedBlock[]>;
}

const GUESS_PART = 64;

/** Interpolates: three reads leave a thirtieth of the range. @throws ReorgedWhileReadingError */
export async function searchTimes(
  time: number,
  { chain, first, head, known = [], read }: TimeSearch,
): Promise<Neighbours> {
  if (first.timestamp >= time) return { below: null, from: first };
  if (head.timestamp < time) return { below: head, from: null };
  let below = first;
  let from = head;
  const narrow = (blocks: readonly TimedBlock[]): void => {
    for (const block of blocks)
      if (block.timestamp < time && block.number > below.number) below = block;
      else if (block.timestamp >= time && block.number < from.number) from = block;
  };
  narrow(known);
  // On some chains the first block is older than the chain: its time is no measure.
  if (below === first && from.number - first.number > 1) narrow(await read([first.number + 1]));
  for (let halves = false; from.number - below.number > 1; ) {
    const width = from.number - below.number;
    narrow(await read(guesses(time, below, from, halves)));
    halves = from.number - below.number > width / 2;
  }
  if (from.parentHash !== null && from.parentHash !== below.hash)
    throw new ReorgedWhileReadingError({
      chain,
      what: `block ${from.number} does not follow the one found before it`,
    });
  return { below, from };
}

function guesses(time: number, below: TimedBlock, from: TimedBlock, halves: boolean): number[] {
  const width = from.number - below.number;
  const share = (time - below.timestamp) / (from.timestamp - below.timestamp);
  const guess = below.number + Math.round(width * share);
  const step = Math.max(1, Math.ceil(width / GUESS_PART));
  const numbers = [guess - step, guess, guess + step, ...(halves ? [below.number + Math.floor(width / 2)] : [])];
  const within = numbers.map((number) => Math.min(Math.max(number, below.number + 1), from.number - 1));
  return [...new Set(within)];
}
