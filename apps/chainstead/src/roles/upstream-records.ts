import { countFullnodeCalls } from '@chainstead/aptos';
import { type Clock, errorText, type Logger, type Registry, sleepUnlessAborted } from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { createFlushedCounts } from '@chainstead/http/server';
import type { OnWrongAnswer } from '@chainstead/rpc';
import { countUpstreamCalls, type UpstreamCallCounts } from '@chainstead/rpc/pool';
import {
  addUpstreamCalls,
  addWrongAnswers,
  CALLS_SLOT_MS,
  type CountedWrongAnswers,
  type UpstreamCalls,
} from '@chainstead/sync/ingest';

export interface UpstreamRecordsOptions {
  readonly role: string;
  readonly database: Database;
  readonly metrics: Registry;
  readonly logger: Logger;
  readonly clock: Clock;
}

export interface UpstreamRecords {
  readonly onWrongAnswer: OnWrongAnswer;
  /** Never rejects. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

const LOOK_MS = 20_000;
const DAY_MS = 86_400_000;

/** Reads metrics of calls, which adds no cost to them. */
export function keepUpstreamRecords(options: UpstreamRecordsOptions): UpstreamRecords {
  const { role, metrics, logger, clock } = options;
  const closing = new AbortController();
  const calls = createFlushedCounts<UpstreamCalls[]>({
    ...options,
    empty: () => [],
    add: (to, from) => void to.push(...from),
    write: (database, counted, slot) => addUpstreamCalls(database, slot, together(counted)),
    periodMs: CALLS_SLOT_MS,
    what: 'Upstream calls',
  });
  const wrong = createFlushedCounts<Map<string, CountedWrongAnswers>>({
    ...options,
    empty: () => new Map(),
    add: (to, from) => {
      for (const answer of from.values()) noteWrong(to, answer);
    },
    write: (database, counted, day) => addWrongAnswers(database, day, [...counted.values()]),
    periodMs: DAY_MS,
    what: 'Incorrect upstream responses',
  });
  let last: readonly UpstreamCallCounts[] = [];
  let looking: Promise<void> = Promise.resolve();

  function look(): Promise<void> {
    looking = looking.then(async () => {
      try {
        const counts = (await Promise.all([countUpstreamCalls(metrics), countFullnodeCalls(metrics)])).flat();
        const since = countsSince(last, counts, role);
        last = counts;
        if (since.length > 0) calls.current().push(...since);
      } catch (error) {
        logger.error({ error: errorText(error) }, 'Upstream calls could not be read from the metrics');
      }
    });
    return looking;
  }

  async function keepLooking(): Promise<void> {
    while (!closing.signal.aborted) {
      await sleepUnlessAborted(clock, LOOK_MS, closing.signal);
      await look();
    }
  }

  const stopped = keepLooking();
  return {
    onWrongAnswer: ({ chain, upstream, kind, method, text, at }) =>
      noteWrong(wrong.current(), {
        ...{ chain, upstream, kind, method, description: text },
        occurrences: 1,
        seenAt: new Date(at),
      }),
    async flush() {
      await look();
      await Promise.all([calls.flush(), wrong.flush()]);
    },
    async close() {
      closing.abort();
      await stopped;
      await Promise.all([calls.close(), wrong.close()]);
    },
  };
}

function noteWrong(to: Map<string, CountedWrongAnswers>, answer: CountedWrongAnswers): void {
  const name = JSON.stringify([answer.chain, answer.upstream, answer.kind]);
  const known = to.get(name);
  if (known === undefined) to.set(name, answer);
  else {
    const newest = known.seenAt > answer.seenAt ? known : answer;
    to.set(name, { ...newest, occurrences: known.occurrences + answer.occurrences });
  }
}

function countsSince(
  former: readonly UpstreamCallCounts[],
  counts: readonly UpstreamCallCounts[],
  role: string,
): UpstreamCalls[] {
  return counts.flatMap(({ chain, upstream, outcomes, latency, busyMs }) => {
    const before = former.find((one) => one.chain === chain && one.upstream === upstream);
    const since = latency.map((answers, place) => answers - (before?.latency[place] ?? 0));
    const busySince = busyMs - (before?.busyMs ?? 0);
    const all = new Map([['ok', 0], ...outcomes]);
    return [...all].flatMap(([outcome, value]) => {
      const requested = value - (before?.outcomes.get(outcome) ?? 0);
      const times = outcome === 'ok' ? { busyMs: busySince, latency: since } : { busyMs: 0, latency: [] };
      return requested === 0 && times.busyMs === 0
        ? []
        : [{ chain, upstream, role, outcome, calls: requested, ...times }];
    });
  });
}

/** A statement may write a row only once. */
function together(rows: readonly UpstreamCalls[]): UpstreamCalls[] {
  const sums = new Map<string, UpstreamCalls>();
  for (const row of rows) {
    const name = JSON.stringify([row.chain, row.upstream, row.outcome]);
    const sum = sums.get(name);
    if (sum === undefined) sums.set(name, row);
    else
      sums.set(name, {
        ...row,
        calls: sum.calls + row.calls,
        busyMs: sum.busyMs + row.busyMs,
        latency: row.latency.map((answers, place) => answers + (sum.latency[place] ?? 0)),
      });
  }
  return [...sums.values()];
}
