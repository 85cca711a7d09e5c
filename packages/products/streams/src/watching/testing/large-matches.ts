/** Matches of streams that each show large logs of one block, and the sizes of the statements that store them. For tests. */
import { type Database, statementOf } from '@chainstead/db';
import { numberedHash, STAGE_CHAIN, stageMatch } from '../../delivery/testing/delivery-stage.ts';
import { recordMatches } from '../record-matches.ts';

export interface LargeLogs {
  readonly logs: number;
  /** Hexadecimal digits of each log's data. */
  readonly digits: number;
}

/** Returns matches of a block: each stream matches all of its logs. */
export function largeMatches(streamIds: readonly string[], number: number, { logs: count, digits }: LargeLogs) {
  const header = { number, hash: numberedHash(number), timestamp: 1_700_000_000 };
  const data = Array.from({ length: count }, (_, logIndex) => `0x${String(logIndex).repeat(digits)}` as const);
  return streamIds.map((streamId) => {
    const match = stageMatch(streamId, number);
    const logs = match.logs.flatMap((log) => data.map((one, logIndex) => ({ ...log, logIndex, data: one })));
    return { block: { header }, match: { ...match, logs } };
  });
}

/** Records matches as the commit of their block does. @returns the characters of the largest statement and of all */
export async function recordMeasured(database: Database, matches: Parameters<typeof recordMatches>[2]) {
  const sizes: number[] = [];
  await database.transaction((transaction) =>
    recordMatches(
      {
        ...transaction,
        query(statement) {
          sizes.push(JSON.stringify(statementOf(statement).values ?? []).length);
          return transaction.query(statement);
        },
      },
      STAGE_CHAIN,
      matches,
    ),
  );
  return { largest: Math.max(...sizes), all: sizes.reduce((sum, size) => sum + size, 0) };
}
