import type { Faults } from '../json-rpc/faults.ts';
import type { JsonObject } from './chain-source.ts';

/** The logs without those that the node loses, and without timestamps where it sends none. The same list when nothing changes. */
export function shownLogs(
  faults: Faults,
  from: 'logs' | 'receipts',
  logs: readonly JsonObject[],
): readonly JsonObject[] {
  const { dropLogsRate, dropReceiptLogsRate, noLogTimestamps } = faults.settings;
  const rate = from === 'logs' ? dropLogsRate : dropReceiptLogsRate;
  let shown = logs;
  if (rate > 0) {
    shown = logs.filter((log) => !faults.drops(from, String(log.blockHash), String(log.logIndex)));
    faults.countDropped(from, logs.length - shown.length);
  }
  return noLogTimestamps ? shown.map(({ blockTimestamp: _, ...log }) => log) : shown;
}
