import { type BlockRange, rangeSize } from '@chainstead/core';
import { readChainState } from '../checkpoint.ts';
import { createClaimOwner } from '../coverage/claims.ts';
import { datasetsOf } from '../dataset/datasets-of.ts';
import { registerProjections } from '../projections/projection-record.ts';
import { createKnownContracts } from '../rows/known-contracts.ts';
import { backfill } from './backfill.ts';
import type { BackfillOptions, BackfillProgress } from './backfill-options.ts';
import { planRanges } from './backfill-ranges.ts';

export type HelpOptions = Omit<BackfillOptions, 'owner' | 'knownContracts' | 'kind' | 'purpose'>;

type PlannedHelp = Pick<HelpOptions, 'chain' | 'database' | 'datasets' | 'retention' | 'order' | 'proof'>;

const HELPED_BLOCKS_MIN = 100;

export async function helpBackfill(
  help: HelpOptions,
  ranges: readonly BlockRange[],
  signal: AbortSignal,
): Promise<BackfillProgress> {
  const datasets = datasetsOf(help.chain, help.datasets);
  await registerProjections(help.database, help.chain, datasets);
  const owner = await createClaimOwner(help.database);
  const database = help.database.until(owner.lost);
  const knownContracts = createKnownContracts();
  try {
    const options = { ...help, database, datasets, owner, knownContracts, kind: 'add', purpose: 'help' } as const;
    return await backfill(options, ranges, signal);
  } finally {
    await owner.close();
  }
}

/** None if few blocks are left. */
export async function readHelpable(help: PlannedHelp, endBlock: number | null): Promise<readonly BlockRange[]> {
  const { chain, database } = help;
  const state = await readChainState(database, chain.id);
  if (state === null) return [];
  const { firstFollowed, checkpoint, historyStart } = state;
  const from = Math.max(historyStart, chain.firstBlock);
  // Settled blocks followed without a dataset count too.
  const settled = checkpoint === null ? -1 : checkpoint.number - chain.reorgDepthMax;
  const to = Math.min(Math.max(firstFollowed - 1, settled), endBlock ?? Number.MAX_SAFE_INTEGER);
  if (from > to) return [];
  const datasets = datasetsOf(chain, help.datasets);
  const left = await planRanges({ ...help, datasets, kind: 'add' }, [{ from, to }]);
  return left.reduce((sum, { range }) => sum + rangeSize(range), 0) < HELPED_BLOCKS_MIN ? [] : [{ from, to }];
}
