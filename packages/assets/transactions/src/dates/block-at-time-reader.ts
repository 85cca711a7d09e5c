import type { Chain } from '@chainstead/chains';
import { type Hash, isLowerHex } from '@chainstead/core';
import type { StateKind, StateReader } from '@chainstead/node-reads';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import type { UpstreamPool } from '@chainstead/rpc';
import { z } from 'zod';
import { CLOSEST, closestBlock, knownAround, searchTimes, type TimedBlock } from './search-times.ts';

const HASH_LENGTH = 66;
const hash = z.custom<Hash>((value) => typeof value === 'string' && isLowerHex(value, HASH_LENGTH));

const questionSchema = z.object({
  /** Unix seconds, with milliseconds. */
  time: z.number(),
  closest: z.enum(CLOSEST),
});
const answerSchema = z.object({
  /** Milliseconds since the epoch. */
  readAt: z.number(),
  block: z.object({ number: z.int(), hash, parentHash: hash.nullable(), timestamp: z.int() }),
  isHead: z.boolean(),
});

type Question = z.infer<typeof questionSchema>;
export type BlockAtTimeAnswer = z.infer<typeof answerSchema>;

export const blockAtTimeKind: StateKind<Question, BlockAtTimeAnswer> = {
  name: 'block-at-time',
  question: questionSchema,
  answer: answerSchema,
};

export const blockAtTimeReader: StateReader<Question, BlockAtTimeAnswer> = {
  kind: blockAtTimeKind,
  async read({ chain, pool, database, clock }, question, signal) {
    const readAt = clock.now();
    const known = (at: number) => knownAround(database, chain, at);
    return { readAt, ...(await blockAtTime({ chain, pool, known }, question, signal)) };
  },
};

interface TimeReading {
  readonly chain: Chain;
  readonly pool: Pick<UpstreamPool, 'getHead' | 'getHeaders'>;
  /** Indexed blocks around a time, in Unix seconds. */
  known(at: number): Promise<readonly TimedBlock[]>;
}

/** By reads of headers. @throws StateUnavailableError if nodes lack the first block */
export async function blockAtTime(
  { chain, pool, known: knownAt }: TimeReading,
  { time, closest }: Question,
  signal: AbortSignal,
): Promise<Pick<BlockAtTimeAnswer, 'block' | 'isHead'>> {
  const read = async (numbers: readonly number[]): Promise<readonly TimedBlock[]> =>
    (await pool.getHeaders(numbers, { signal })).map(({ value: { number, hash, parentHash, timestamp } }) => ({
      ...{ number, hash, parentHash, timestamp },
    }));
  const head = (await pool.getHead({ signal })).value;
  const block = await closestBlock(time, closest, async (at) => {
    if (head.timestamp < at) return { below: head, from: null };
    const known = await knownAt(at);
    const first = known.find(({ timestamp }) => timestamp < at) ?? (await firstBlock(chain, read));
    return searchTimes(at, { chain: chain.key, first, head, known, read });
  });
  if (block === null) throw new StateUnavailableError(`No block of ${chain.name} was found by its time`);
  return { block, isHead: block.number >= head.number };
}

async function firstBlock(
  { name, firstBlock: number }: Chain,
  read: (numbers: readonly number[]) => Promise<readonly TimedBlock[]>,
): Promise<TimedBlock> {
  const [first] = await read([number]);
  if (first === undefined) throw new StateUnavailableError(`No node of ${name} has block ${number}`);
  return first;
}
