import type { BlockRange, Hash, Log } from '@chainstead/core';
import { MalformedAnswerError } from './parse-log.ts';

/** What a getLogs answer must hold. */
export interface LogsExpectation {
  readonly range: BlockRange;
  /** Alternatives for topic0; null where any is wanted. */
  readonly topics: ReadonlySet<string> | null;
  /** Alternatives for topic 1 to 3, by position; null where any is wanted. */
  readonly indexed: readonly (ReadonlySet<string> | null)[];
  /** Lower case; null where any is wanted. */
  readonly addresses: ReadonlySet<string> | null;
}

/**
 * The logs in chain order, each inside the range, of the topics and addresses asked for, those of one block with one block
 * hash; a number may come twice (place-logs.ts). Logs of too few topics are left out: whether a null at the end asks for one is read in two ways.
 * @throws MalformedAnswerError
 */
export function checkLogs(given: Log[], expected: LogsExpectation): Log[] {
  const { range, topics, addresses, indexed } = expected;
  const logs = indexed.length === 0 ? given : given.filter((log) => log.topics.length > indexed.length);
  let isSorted = true;
  let previous: Log | undefined;
  for (const log of logs) {
    if (log.blockNumber < range.from || log.blockNumber > range.to)
      throw new MalformedAnswerError(`A log of block ${log.blockNumber} came for blocks ${range.from} to ${range.to}`);
    const topic0 = log.topics[0];
    if (topics !== null && (topic0 === undefined || !topics.has(topic0)))
      throw new MalformedAnswerError(`A log in block ${log.blockNumber} has a topic that was not asked for`);
    if (!hasIndexed(log, indexed))
      throw new MalformedAnswerError(`A log in block ${log.blockNumber} has an argument that was not asked for`);
    if (addresses !== null && !addresses.has(log.address))
      throw new MalformedAnswerError(`A log in block ${log.blockNumber} is of a contract that was not asked for`);
    if (previous !== undefined && compareLogs(previous, log) > 0) isSorted = false;
    previous = log;
  }
  const ordered = isSorted ? logs : logs.toSorted(compareLogs);
  checkNeighbours(ordered);
  return ordered;
}

/** Whether the log is one that was asked for, wherever it lies. */
export function matchesLog(log: Log, { topics, addresses, indexed }: LogsExpectation): boolean {
  const [topic0] = log.topics;
  return (
    (topics === null || (topic0 !== undefined && topics.has(topic0))) &&
    (addresses === null || addresses.has(log.address)) &&
    log.topics.length > indexed.length &&
    hasIndexed(log, indexed)
  );
}

function hasIndexed(log: Log, indexed: LogsExpectation['indexed']): boolean {
  return indexed.every((wanted, index) => {
    const topic = log.topics[index + 1];
    return wanted === null || (topic !== undefined && wanted.has(topic));
  });
}

function checkNeighbours(logs: readonly Log[]): void {
  let previous: Log | undefined;
  for (const log of logs) {
    if (previous !== undefined && previous.blockNumber === log.blockNumber) {
      if (previous.blockHash !== log.blockHash)
        throw new MalformedAnswerError(`Logs of block ${log.blockNumber} name two block hashes`);
    }
    previous = log;
  }
}

/** By block, transaction, index in the transaction's order. */
export function compareLogs(left: Log, right: Log): number {
  return (
    left.blockNumber - right.blockNumber ||
    left.transactionIndex - right.transactionIndex ||
    left.logIndex - right.logIndex
  );
}

/** Counts at which providers have cut answers without a word. */
const SILENT_CAPS: ReadonlySet<number> = new Set([
  1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 150_000, 200_000,
]);
/** Logs that a missing tail would have held, for a full round number to be suspicious. */
const TAIL_LOGS_MIN = 50;

/** Whether an answer of exactly a usual cap stops where, by its own density, logs should go on. */
export function looksTruncated(logs: readonly Log[], range: BlockRange): boolean {
  const last = logs.at(-1);
  if (last === undefined || !SILENT_CAPS.has(logs.length) || last.blockNumber >= range.to) return false;
  const density = logs.length / (last.blockNumber - range.from + 1);
  return density * (range.to - last.blockNumber) > TAIL_LOGS_MIN;
}

/** Alternatives of topics and addresses as sets in lower case; null for "any". */
export function toExpectation(query: {
  readonly range: BlockRange;
  readonly topics: readonly Hash[];
  readonly indexed?: readonly (readonly Hash[] | null)[] | undefined;
  readonly addresses?: readonly string[] | undefined;
}): LogsExpectation {
  return {
    range: query.range,
    topics: query.topics.length === 0 ? null : new Set(query.topics),
    indexed: (query.indexed ?? []).map((wanted) => (wanted === null ? null : new Set(wanted))),
    addresses:
      query.addresses === undefined || query.addresses.length === 0
        ? null
        : new Set(query.addresses.map((address) => address.toLowerCase())),
  };
}
