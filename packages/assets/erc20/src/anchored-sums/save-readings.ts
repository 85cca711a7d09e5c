import type { Address } from '@chainstead/core';
import type { StateReadingContext } from '@chainstead/node-reads';
import { StateUnavailableError } from '@chainstead/node-reads/requests';
import type { UpstreamPool } from '@chainstead/rpc';
import type { Axis } from './axes.ts';
import type { Readings } from './readings-in-sql.ts';
import { storeReadings } from './store-readings.ts';

/**
 * One transaction at a time per process and chain: many waiters for the commit lock would delay the
 * follower. Calls that arrive meanwhile share the next one. @returns keys to read elsewhere
 * @throws StateUnavailableError if a reorg removed the block meanwhile
 */
export function saveReadings(
  context: StateReadingContext,
  axis: Axis,
  readings: Readings,
): Promise<readonly Address[]> {
  const line = lines.get(context.pool) ?? { waiting: [], isAtWork: false };
  lines.set(context.pool, line);
  const disputed = Promise.withResolvers<readonly Address[]>();
  line.waiting.push({ context, axis, readings, disputed });
  if (!line.isAtWork) void workOff(line);
  return disputed.promise;
}

/** Per transaction: bounds the follower's wait. */
const KEYS_MAX = 2_000;

interface Waiting {
  readonly context: StateReadingContext;
  readonly axis: Axis;
  readonly readings: Readings;
  readonly disputed: PromiseWithResolvers<readonly Address[]>;
}

interface Line {
  readonly waiting: Waiting[];
  isAtWork: boolean;
}

/** A pool belongs to one chain and process. */
const lines = new WeakMap<UpstreamPool, Line>();

async function workOff(line: Line): Promise<void> {
  line.isAtWork = true;
  for (let some = takeSome(line); some.length > 0; some = takeSome(line)) await saveSome(some);
  line.isAtWork = false;
}

/** Each subject once: two reads may have the same key. */
function takeSome({ waiting }: Line): readonly Waiting[] {
  const [oldest] = waiting;
  const subjects = new Set<Address>();
  let keys = 0;
  const some = waiting.filter(({ context, axis, readings: { subject, first } }) => {
    const isRoom = subjects.size < axis.togetherMax && keys + first.size <= KEYS_MAX;
    const isAlike = axis === oldest?.axis && context.database === oldest.context.database;
    if (subjects.size > 0 && (!isRoom || !isAlike || subjects.has(subject))) return false;
    subjects.add(subject);
    keys += first.size;
    return true;
  });
  waiting.splice(0, waiting.length, ...new Set(waiting).difference(new Set(some)));
  return some;
}

async function saveSome(some: readonly Waiting[]): Promise<void> {
  const [first] = some;
  if (first === undefined) return;
  try {
    const all = some.map(({ readings }) => readings);
    const saved = await storeReadings(first.context, first.axis, all);
    for (const [index, { readings, disputed }] of some.entries()) {
      const keys = saved[index] ?? null;
      if (keys === null) disputed.reject(reorganised(readings.block.number));
      else disputed.resolve(keys);
    }
  } catch (error) {
    // One of them may be the cause: the others must not fail with it.
    if (some.length > 1) for (const call of some) await saveSome([call]);
    else first.disputed.reject(error);
  }
}

function reorganised(block: number): StateUnavailableError {
  return new StateUnavailableError(
    `Block ${block} was reorganised away while balances were read at it: try again`,
  );
}
