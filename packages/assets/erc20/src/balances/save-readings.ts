import type { Address } from '@chainstead/core';
import { type StateReadingContext, StateUnavailableError } from '@chainstead/node-reads';
import type { UpstreamPool } from '@chainstead/rpc';
import { type Readings, saveBalanceReadings } from './save-balance-readings.ts';

/**
 * One transaction at a time per process and chain: many waiters for the commit lock would delay the
 * follower. Calls that arrive meanwhile share the next one. @returns tokens to read elsewhere
 * @throws StateUnavailableError if a reorg removed the block meanwhile
 */
export function saveReadings(context: StateReadingContext, readings: Readings): Promise<readonly Address[]> {
  const line = lines.get(context.pool) ?? { waiting: [], isAtWork: false };
  lines.set(context.pool, line);
  const disputed = Promise.withResolvers<readonly Address[]>();
  line.waiting.push({ context, readings, disputed });
  if (!line.isAtWork) void workOff(line);
  return disputed.promise;
}

/** Per transaction: bounds the follower's wait. */
const TOGETHER_MAX = { wallets: 100, tokens: 2_000 };

interface Waiting {
  readonly context: StateReadingContext;
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

/** Each wallet once: two reads may have the same token. */
function takeSome({ waiting }: Line): readonly Waiting[] {
  const wallets = new Set<Address>();
  let tokens = 0;
  const some = waiting.filter(({ context, readings: { wallet, first } }, index) => {
    const isRoom = wallets.size < TOGETHER_MAX.wallets && tokens + first.size <= TOGETHER_MAX.tokens;
    const isBeside = isRoom && !wallets.has(wallet) && context.database === waiting[0]?.context.database;
    if (index > 0 && !isBeside) return false;
    wallets.add(wallet);
    tokens += first.size;
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
    const saved = await saveBalanceReadings(first.context, all);
    for (const [index, { readings, disputed }] of some.entries()) {
      const tokens = saved[index] ?? null;
      if (tokens === null) disputed.reject(reorganised(readings.block.number));
      else disputed.resolve(tokens);
    }
  } catch (error) {
    // One of them may be the cause: the others must not fail with it.
    if (some.length > 1) for (const call of some) await saveSome([call]);
    else first.disputed.reject(error);
  }
}

export function reorganised(block: number): StateUnavailableError {
  return new StateUnavailableError(`Block ${block} was reorganised away while balances were read at it: try again`);
}
