/** Events of a story other than its actions, drawn from its seed. Pure. */
import type { SeededRandom } from '@chainstead/testkit';
import type { StoryRoles } from './program.ts';

export type StoryEvent =
  /** Another branch takes the place of so many blocks. */
  | { readonly kind: 'reorg'; readonly depth: number }
  /** A branch of so many blocks that comes to nothing: the chain is shorter for a while. */
  | { readonly kind: 'branch'; readonly blocks: number }
  /** SIGKILL, then a new process. */
  | { readonly kind: 'kill'; readonly roles: StoryRoles }
  /** Postgres breaks every connection of the program. */
  | { readonly kind: 'break-database' }
  /** Once everything is indexed, some of the responses are compared with the node. */
  | { readonly kind: 'compare' };

/** An event, and the action after which it happens. */
export interface PlannedEvent {
  readonly after: number;
  readonly event: StoryEvent;
}

/** Below the limit of the program (64). */
const REORG_DEPTH_MAX = 30;

/** The earliest first. @param span of actions, none of them before the program starts */
export function drawEvents(
  random: SeededRandom,
  span: { readonly from: number; readonly to: number },
): PlannedEvent[] {
  const drawn = (count: number, draw: () => StoryEvent): PlannedEvent[] =>
    Array.from({ length: Math.ceil(count) }, () => ({
      after: random.integer(span.from, span.to),
      event: draw(),
    }));
  return [
    ...drawn(4 + span.to / 150, () => ({ kind: 'reorg', depth: depthOf(random) })),
    ...drawn(2 + span.to / 400, () => ({ kind: 'branch', blocks: random.integer(1, 6) })),
    ...drawn(2 + span.to / 700, () => ({ kind: 'kill', roles: 'ingest' })),
    ...drawn(span.to / 2_500, () => ({ kind: 'kill', roles: 'api,worker' })),
    ...drawn(span.to / 1_000, () => ({ kind: 'break-database' })),
    ...drawn(2 + span.to / 350, () => ({ kind: 'compare' })),
  ].toSorted((one, other) => one.after - other.after);
}

/** Mostly of a few blocks. */
function depthOf(random: SeededRandom): number {
  return 1 + random.skewedIndex(REORG_DEPTH_MAX, 3);
}
