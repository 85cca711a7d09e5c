/**
 * Filling history beside the process that has begun to: what is covered and what is held is in the database, so helpers need to be told
 * nothing, and nobody waits for one that dies longer than for its claims, which end with its session.
 */
import { type BlockRange, rangeSize } from '@chainstead/core';
import { type BackfillOptions, type BackfillProgress, backfill } from './backfill.ts';
import { planStretches } from './backfill-stretches.ts';
import { readChainState } from './checkpoint.ts';
import { createClaimOwner } from './claims.ts';
import { datasetsOf } from './datasets-of.ts';
import { registerDerivedStates } from './derived/derived-record.ts';
import { createKnownContracts } from './known-contracts.ts';

/** What the helper of a backfill is given. */
export type HelpOptions = Omit<BackfillOptions, 'owner' | 'knownContracts' | 'kind' | 'purpose'>;

/** What of it a plan depends on. */
type PlannedHelp = Pick<HelpOptions, 'chain' | 'database' | 'datasets' | 'keep' | 'order' | 'proof'>;

/** With less to do, it is done before a helper has got to know the nodes. */
const HELPED_BLOCKS_MIN = 100;

/** Takes part in filling the ranges; resolves when they are covered, by whomever. */
export async function helpBackfill(
  given: HelpOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<BackfillProgress> {
  const datasets = datasetsOf(given.chain, given.datasets);
  await registerDerivedStates(given.database, given.chain, datasets);
  const owner = await createClaimOwner(given.database);
  const database = given.database.until(owner.lost);
  const knownContracts = createKnownContracts();
  try {
    const options = { ...given, database, datasets, owner, knownContracts, kind: 'add', purpose: 'help' } as const;
    return await backfill(options, ranges, signal);
  } finally {
    await owner.close();
  }
}

/**
 * The blocks in which the leader of a chain that fills history can be helped: none where little is left.
 * @param endBlock last block of a bounded run
 */
export async function readHelpable(given: PlannedHelp, endBlock: number | null): Promise<readonly BlockRange[]> {
  const { chain, database } = given;
  const state = await readChainState(database, chain.id);
  if (state === null) return [];
  const { firstFollowed, checkpoint, historyStart } = state;
  const from = Math.max(historyStart, chain.firstBlock);
  // What was followed without a dataset is filled as well, where it can't be reorganised any more.
  const settled = checkpoint === null ? -1 : checkpoint.number - chain.reorgDepthMax;
  const to = Math.min(Math.max(firstFollowed - 1, settled), endBlock ?? Number.MAX_SAFE_INTEGER);
  if (from > to) return [];
  const datasets = datasetsOf(chain, given.datasets);
  const left = await planStretches({ ...given, datasets, kind: 'add' }, [{ from, to }]);
  return left.reduce((sum, { range }) => sum + rangeSize(range), 0) < HELPED_BLOCKS_MIN ? [] : [{ from, to }];
}
