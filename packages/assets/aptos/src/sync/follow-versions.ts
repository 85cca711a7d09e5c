import type { LedgerReach } from '../fullnode/fullnodes.ts';
import { type BatchCommit, commitBatch } from './commit-batch.ts';
import type { AptosSyncOptions } from './options.ts';
import { readRange } from './read-range.ts';
import { confirmRoot, type EndOfBatch, saveConfirmation } from './roots.ts';

export interface FollowOptions extends AptosSyncOptions {
  onReach(reach: LedgerReach): void;
}

const POLL_MS = 500;
const FOLLOW_VERSIONS = 5_000;
const CONFIRM_INTERVAL_MS = 10_000;

export async function followVersions(options: FollowOptions, first: number, signal: AbortSignal): Promise<void> {
  const { clock, datasets, fullnodes, settings } = options;
  const names = datasets.map(({ name }) => name);
  const end = settings.endVersion ?? Number.MAX_SAFE_INTEGER;
  const comparison = compareRoots(options, signal);
  for (let next = first; next <= end; ) {
    const reach = await fullnodes.ledger(signal);
    options.onReach(reach);
    const last = Math.min(reach.head, end, next + FOLLOW_VERSIONS - 1);
    if (last >= next)
      for await (const batch of readRange(options, datasets, { from: next, to: last }, signal)) {
        const compared = await comparison(batch);
        await commitBatch(options, { batch, datasets: names, kind: 'follow', ...compared });
        options.metrics.checkpointBlock.set({ chain: fullnodes.chain }, batch.range.to);
        next = batch.range.to + 1;
      }
    if (next > reach.head) await clock.sleep(settings.pollMs ?? POLL_MS, signal);
  }
}

/** A lagging fullnode never has the newest version: one is kept. @throws RootMismatchError */
function compareRoots({ clock, database, fullnodes }: FollowOptions, signal: AbortSignal) {
  let confirmedAt = Number.NEGATIVE_INFINITY;
  let awaited: EndOfBatch | null = null;

  return async ({
    range,
    root,
    fullnode,
  }: EndOfBatch): Promise<Pick<BatchCommit, 'confirmedBy' | 'keptRoot'>> => {
    if (clock.now() - confirmedAt < CONFIRM_INTERVAL_MS) return { confirmedBy: null };
    const batch = { range, root, fullnode };
    const confirmedBy = await confirmRoot(fullnodes, batch, signal);
    const before =
      confirmedBy === null && awaited !== null ? await confirmRoot(fullnodes, awaited, signal) : null;
    if (before !== null && awaited !== null)
      await saveConfirmation(database, fullnodes.network, awaited.range.to, before);
    if (confirmedBy === null && before === null) {
      awaited ??= batch;
      return { confirmedBy, keptRoot: awaited.range.to };
    }
    confirmedAt = clock.now();
    awaited = null;
    return { confirmedBy };
  };
}
