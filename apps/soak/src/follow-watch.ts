import { setTimeout as sleep } from 'node:timers/promises';
import type { Stage } from './stage.ts';
import type { Look } from './world.ts';

/** Looks several times a second how far the follower is behind. */
export interface FollowWatch {
  /** The newest look. */
  readonly checkpoint: number;
  /** Lags since it was last asked. Milliseconds. */
  take(): number[];
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 250;

export function watchFollower(stage: Stage): FollowWatch {
  const stopping = new AbortController();
  let checkpoint = -1;
  let lags: number[] = [];
  const failure: { error?: unknown } = {};
  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      const seen = await lookAtFollower(stage);
      checkpoint = seen.checkpoint;
      lags.push(seen.lagMs);
      await sleep(LOOK_EVERY_MS);
    }
  }
  const watching = watch().catch((error: unknown) => {
    failure.error = error;
  });
  return {
    get checkpoint() {
      return checkpoint;
    },
    take() {
      if (failure.error !== undefined) throw failure.error;
      const taken = lags;
      lags = [];
      return taken;
    },
    async stop() {
      stopping.abort();
      await watching;
    },
  };
}

/** Where the follower stands, and how late it is. */
export async function lookAtFollower(
  stage: Stage,
): Promise<Look & { readonly checkpoint: number; readonly hash: string }> {
  const [row] = await stage.database.query<{ checkpoint: number | null; hash: string | null }>(
    "SELECT checkpoint, encode(checkpoint_hash, 'hex') AS hash FROM sync_chains",
  );
  const checkpoint = row?.checkpoint ?? -1;
  return { ...(await stage.tell<Look>('look', { checkpoint })), checkpoint, hash: `0x${row?.hash ?? ''}` };
}

/** Waits until the follower is at the head. @returns whether it came there in time */
export async function reachHead(stage: Stage, patienceMs: number): Promise<boolean> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const { head, headHash, checkpoint, hash } = await lookAtFollower(stage);
    if (checkpoint === head && hash === headHash) return true;
    if (performance.now() > deadline) return false;
    await sleep(LOOK_EVERY_MS);
  }
}
