import type { Log } from '@chainstead/core';
import type { ProvenBlock } from './proven-block.ts';

/** Hexadecimal, per extra log. Ordinary logs and inputs have fewer. */
export const CHARACTERS_PER_LOG = 4_096;

/** Plus one for each 4,096 characters of a log's data. */
export function weighLogs(logs: readonly Log[]): number {
  return logs.reduce((sum, { data }) => sum + Math.floor(data.length / CHARACTERS_PER_LOG), logs.length);
}

export function weighBlock({
  logs,
  block: { transactions },
  internalTransactions,
}: Pick<ProvenBlock, 'logs' | 'block' | 'internalTransactions'>): number {
  const inputs = (transactions ?? []).reduce(
    (sum, { input }) => sum + (typeof input === 'string' ? Math.floor(input.length / CHARACTERS_PER_LOG) : 0),
    0,
  );
  return weighLogs(logs) + inputs + (internalTransactions?.length ?? 0);
}
