import { type DueEntry, TOKEN_FACTS_WORK } from '@chainstead/jobs';
import { DUE_POOLS, POOL_WORK } from '@chainstead/markets';
import { nftDueEntries } from '@chainstead/nft';
import { DUE_QUESTIONS } from '@chainstead/node-reads';
import { DUE_HISTORICAL_JOBS, HISTORICAL_JOB_WORK } from '@chainstead/streams';
import { DUE_HISTORIES, HISTORY_WORK } from '@chainstead/sync/requests';
import { CHANGED_DECIMALS, CHANGED_DECIMALS_WORK, TOKEN_FACTS } from '@chainstead/tokens';

export const dueEntries: readonly DueEntry[] = [
  { kind: TOKEN_FACTS_WORK, table: TOKEN_FACTS },
  { kind: CHANGED_DECIMALS_WORK, table: CHANGED_DECIMALS },
  ...nftDueEntries,
  { kind: HISTORY_WORK, table: DUE_HISTORIES },
  { kind: HISTORICAL_JOB_WORK, table: DUE_HISTORICAL_JOBS },
  { kind: POOL_WORK, table: DUE_POOLS },
  { kind: 'state', table: DUE_QUESTIONS },
];
