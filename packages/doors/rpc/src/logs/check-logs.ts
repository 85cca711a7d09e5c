import { type BlockRange, type Log, toQuantity } from '@chainstead/core';
import { blockCall, checkIdentity } from '../blocks/fetch-blocks.ts';
import { parseHeader } from '../formats/parse-block.ts';
import { MalformedAnswerError } from '../formats/parse-log.ts';
import type { Upstream } from '../upstream/upstream.ts';
import type { LogsQuery } from '../upstream-pool.ts';

export interface LogsExpectation {
  readonly range: BlockRange;
  readonly topics: ReadonlySet<string> | null;
  /** Topics 1 to 3; null: any. */
  readonly indexed: readonly (ReadonlySet<string> | null)[];
  /** Lower case; null: any. */
  readonly addresses: ReadonlySet<string> | null;
}

/** In chain order. Nodes disagree on trailing nulls. @throws MalformedAnswerError */
export function checkLogs(given: Log[], expected: LogsExpectation): Log[] {
  const { range, topics, addresses, indexed } = expected;
  const logs = indexed.length === 0 ? given : given.filter((log) => log.topics.length > indexed.length);
  let isSorted = true;
  let previous: Log | undefined;
  for (const log of logs) {
    if (log.blockNumber < range.from || log.blockNumber > range.to)
      throw new MalformedAnswerError(
        `A log of block ${log.blockNumber} came for blocks ${range.from} to ${range.to}`,
      );
    const topic0 = log.topics[0];
    if (topics !== null && (topic0 === undefined || !topics.has(topic0)))
      throw new MalformedAnswerError(`A log in block ${log.blockNumber} has a topic that was not requested`);
    if (!hasIndexed(log, indexed))
      throw new MalformedAnswerError(`A log in block ${log.blockNumber} has an argument that was not requested`);
    if (addresses !== null && !addresses.has(log.address))
      throw new MalformedAnswerError(
        `A log in block ${log.blockNumber} is from a contract that was not requested`,
      );
    if (previous !== undefined && compareLogs(previous, log) > 0) isSorted = false;
    previous = log;
  }
  const ordered = isSorted ? logs : logs.toSorted(compareLogs);
  checkNeighbours(ordered);
  return ordered;
}

export function matchesLog(log: Log, { topics, addresses, indexed }: LogsExpectation): boolean {
  const [topic0] = log.topics;
  return (
    (topics === null || (topic0 !== undefined && topics.has(topic0))) &&
    (addresses === null || addresses.has(log.address)) &&
    (indexed.length === 0 || log.topics.length > indexed.length) &&
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
    if (previous?.blockNumber === log.blockNumber && previous.blockHash !== log.blockHash)
      throw new MalformedAnswerError(`Logs of block ${log.blockNumber} name two block hashes`);
    previous = log;
  }
}

export function compareLogs(left: Log, right: Log): number {
  return (
    left.blockNumber - right.blockNumber ||
    left.transactionIndex - right.transactionIndex ||
    left.logIndex - right.logIndex
  );
}

/** At these counts, providers silently truncate. */
const SILENT_CAPS = new Set([1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 150_000, 200_000]);
const TAIL_LOGS_MIN = 50;

export function looksTruncated(logs: readonly Log[], range: BlockRange): boolean {
  const last = logs.at(-1);
  if (last === undefined || !SILENT_CAPS.has(logs.length) || last.blockNumber >= range.to) return false;
  const density = logs.length / (last.blockNumber - range.from + 1);
  return density * (range.to - last.blockNumber) > TAIL_LOGS_MIN;
}

/** Empty lists mean any. */
export function toExpectation({ range, topics, indexed = [], addresses = [] }: LogsQuery): LogsExpectation {
  return {
    range,
    topics: topics.length === 0 ? null : new Set(topics),
    indexed: indexed.map((wanted) => (wanted === null ? null : new Set(wanted))),
    addresses: addresses.length === 0 ? null : new Set(addresses.map((address) => address.toLowerCase())),
  };
}

export interface LogTrust {
  readonly misnumbers: Set<string>;
  /** `[]` of a lagging node would look like an empty range. @throws UpstreamFault */
  requireServed(upstream: Upstream, range: BlockRange, logs: readonly Log[], signal?: AbortSignal): Promise<void>;
  /** Without timestamps unless this upstream's proved right. */
  timestamps(upstream: Upstream, logs: readonly Log[], signal?: AbortSignal): Promise<readonly Log[]>;
}

/** Nodes of one load balancer may differ by this many blocks. */
const MARGIN = 16;

export function createLogTrust(): LogTrust {
  const rightTimestamps = new Map<string, boolean>();

  return {
    misnumbers: new Set(),
    async requireServed(upstream, range, logs, signal) {
      const { served } = upstream.state;
      if (served !== null && range.to <= served - MARGIN) return;
      const call = blockCall(range.to);
      const json = await upstream.call(call.method, call.params, { signal });
      if (json === null)
        throw upstream.fault(
          'missing-block',
          'eth_getLogs',
          `has no block ${range.to}, for which it answered logs`,
        );
      const header = parseHeader(json);
      checkIdentity(header, range.to);
      upstream.state.setServed(range.to);
      const last = logs.at(-1);
      if (last?.blockNumber !== range.to || last.blockHash === header.hash) return;
      const text = `logs of block ${toQuantity(range.to)} are of another branch`;
      throw upstream.fault('log-block-hash-mismatch', 'eth_getLogs', text);
    },

    async timestamps(upstream, logs, signal) {
      const first = logs[0];
      if (first === undefined) return logs;
      const { capabilities } = upstream.state;
      if (first.blockTimestamp === null) {
        capabilities.logTimestamps ??= false;
        return logs;
      }
      let isRight = rightTimestamps.get(upstream.name);
      if (isRight === undefined) {
        const call = blockCall(first.blockNumber);
        const header = parseHeader(await upstream.call(call.method, call.params, { signal }));
        isRight = header.timestamp === first.blockTimestamp;
        rightTimestamps.set(upstream.name, isRight);
        capabilities.logTimestamps = isRight;
      }
      return isRight ? logs : logs.map((log) => ({ ...log, blockTimestamp: null }));
    },
  };
}
