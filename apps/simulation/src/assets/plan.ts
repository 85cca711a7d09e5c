/** From a seed to a story of assets: the chain, where its index begins, and what befalls it after which action. Pure. */
import { createSeededRandom, type SeededRandom } from '@chainstead/testkit';
import { STORY_CHAINS, type StoryChain } from './world.ts';

/** What happens besides actions. */
export type AssetsEvent =
  /** Another branch takes the place of so many blocks. */
  | { readonly kind: 'reorg'; readonly depth: number }
  /** A branch of so many blocks that comes to nothing: the chain is shorter for a while. */
  | { readonly kind: 'branch'; readonly blocks: number }
  /** SIGKILL, then a new process. */
  | { readonly kind: 'kill'; readonly roles: 'ingest' | 'api,worker' }
  /** Postgres breaks every connection of the program. */
  | { readonly kind: 'break-database' }
  /** Once everything is indexed, some of the answers are compared with the node. */
  | { readonly kind: 'compare' };

export interface AssetsPlan {
  readonly seed: number;
  readonly actions: number;
  readonly chain: StoryChain;
  /** Actions before the program starts. */
  readonly history: number;
  /** Whether the index begins with the chain; else in the middle of that history. */
  readonly isWhole: boolean;
  readonly backfillOrder: 'newest-first' | 'oldest-first';
  /** By the action before it, the earliest first. */
  readonly events: readonly { readonly after: number; readonly event: AssetsEvent }[];
}

/** Below the limit of the program (64). */
const REORG_DEPTH_MAX = 30;

export function planAssets(seed: number, actions: number): AssetsPlan {
  const random = createSeededRandom(`assets/${seed}`);
  const history = Math.round(actions * (0.05 + random.next() * 0.15));
  const drawn = (count: number, draw: () => AssetsEvent): { after: number; event: AssetsEvent }[] =>
    Array.from({ length: Math.ceil(count) }, () => ({ after: random.integer(history, actions), event: draw() }));
  return {
    seed,
    actions,
    chain: STORY_CHAINS[seed % STORY_CHAINS.length] ?? random.pick(STORY_CHAINS),
    history,
    isWhole: seed % 3 !== 2,
    backfillOrder: random.chance(0.7) ? 'newest-first' : 'oldest-first',
    events: [
      ...drawn(4 + actions / 150, () => ({ kind: 'reorg', depth: depthOf(random) })),
      ...drawn(2 + actions / 400, () => ({ kind: 'branch', blocks: random.integer(1, 6) })),
      ...drawn(2 + actions / 700, () => ({ kind: 'kill', roles: 'ingest' })),
      ...drawn(actions / 2_500, () => ({ kind: 'kill', roles: 'api,worker' })),
      ...drawn(actions / 1_000, () => ({ kind: 'break-database' })),
      ...drawn(2 + actions / 350, () => ({ kind: 'compare' })),
    ].toSorted((one, other) => one.after - other.after),
  };
}

/** Mostly of a few blocks. */
function depthOf(random: SeededRandom): number {
  return 1 + random.skewedIndex(REORG_DEPTH_MAX, 3);
}
