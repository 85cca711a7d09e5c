import type { Address } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { type StateReadingContext, StateUnavailableError } from '@chainstead/state';
import { type Readings, saveTogether } from './save-together.ts';

/**
 * Keeps what contracts said as what balances are told from. One transaction at a time of a process and chain: who waits for the chain's commit lock
 * gets it in turn, and many at once would hold up the follower. Whoever comes meanwhile shares the next one with all who wait.
 * @returns the tokens of which another upstream is to be asked
 * @throws StateUnavailableError when the block was reorganised away meanwhile
 */
export function saveReadings(context: StateReadingContext, readings: Readings): Promise<readonly Address[]> {
  const line = lines.get(context.pool) ?? { waiting: [], isAtWork: false };
  lines.set(context.pool, line);
  const one = { context, readings, disputed: Promise.withResolvers<readonly Address[]>() };
  line.waiting.push(one);
  if (!line.isAtWork) void workOff(line);
  return one.disputed.promise;
}

/** Of one transaction: what the follower waits for at most. */
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

/** A pool is of one chain and process. */
const lines = new WeakMap<UpstreamPool, Line>();

async function workOff(line: Line): Promise<void> {
  line.isAtWork = true;
  for (let some = takeSome(line); some.length > 0; some = takeSome(line)) await saveSome(some);
  line.isAtWork = false;
}

/** The first that waits, and who fits beside it. A wallet once: two readings of it may be of the same token. */
function takeSome({ waiting }: Line): readonly Waiting[] {
  const wallets = new Set<Address>();
  let tokens = 0;
  const some = waiting.filter(({ context, readings: { wallet, first } }, place) => {
    const isRoom = wallets.size < TOGETHER_MAX.wallets && tokens + first.size <= TOGETHER_MAX.tokens;
    const isBeside = isRoom && !wallets.has(wallet) && context.database === waiting[0]?.context.database;
    if (place > 0 && !isBeside) return false;
    wallets.add(wallet);
    tokens += first.size;
    return true;
  });
  const taken = new Set(some);
  waiting.splice(0, waiting.length, ...waiting.filter((one) => !taken.has(one)));
  return some;
}

async function saveSome(some: readonly Waiting[]): Promise<void> {
  const [first] = some;
  if (first === undefined) return;
  try {
    const saved = await saveTogether(
      first.context,
      some.map(({ readings }) => readings),
    );
    for (const [place, { readings, disputed }] of some.entries()) {
      const tokens = saved[place] ?? null;
      if (tokens === null) disputed.reject(reorganised(readings.block.number));
      else disputed.resolve(tokens);
    }
  } catch (error) {
    // One of them may be to blame: the others are not to fail with it.
    if (some.length > 1) for (const one of some) await saveSome([one]);
    else first.disputed.reject(error);
  }
}

/** That a block is gone at which balances were read. */
export function reorganised(block: number): StateUnavailableError {
  return new StateUnavailableError(`Block ${block} was reorganised away while balances were read at it: try again`);
}
