import {
  type Address,
  defineError,
  type Hash,
  type Hex,
  isLowerHex,
  type Log,
  parseAddress,
  parseHash,
  parsePlace,
  type Receipt,
} from '@chainstead/core';

/** A node returned a response with missing or malformed fields. */
export class MalformedAnswerError extends defineError(
  'MALFORMED_ANSWER',
  (what: string, facts: Readonly<Record<string, unknown>> = {}) => ({ message: what, facts, retryable: true }),
) {}

const BYTES = /^0x(?:[0-9a-f]{2})*$/;
const NO_TOPICS: readonly Hash[] = [];

/** @throws MalformedAnswerError, InvalidPrimitiveError */
export function parseLogs(json: unknown): Log[] {
  return createLogsParser()(json);
}

/** For a block's lists: a repeated value is checked and stored once. */
export function createLogsParser(): (json: unknown) => Log[] {
  const parse = createLogParser();
  return (json) => {
    if (!Array.isArray(json))
      throw new MalformedAnswerError('The response is not a list of logs', { type: typeof json });
    const logs = new Array<Log>(json.length);
    for (let index = 0; index < json.length; index++) logs[index] = parse(json[index]);
    return logs;
  };
}

/** Shared strings are kept once (a third of a page's memory). */
function createLogParser(): (json: unknown) => Log {
  let blockHash = '' as Hash;
  let transactionHash = '' as Hash;
  let address = '' as Address;
  let topic0 = '' as Hash;
  let blockNumberGiven: unknown;
  let blockNumber = 0;
  let transactionIndexGiven: unknown;
  let transactionIndex = 0;
  let timestampText = '';
  let timestamp: number | null = null;

  return (json) => {
    if (typeof json !== 'object' || json === null) throw new MalformedAnswerError('A log is not an object');
    const raw = json as Record<string, unknown>;
    if (raw.removed === true) throw new MalformedAnswerError('A log is marked as removed');
    if (raw.blockHash !== blockHash) blockHash = parseHash(raw.blockHash);
    if (raw.transactionHash !== transactionHash) transactionHash = parseHash(raw.transactionHash);
    if (raw.address !== address) address = parseAddress(raw.address);
    if (raw.blockNumber !== blockNumberGiven || blockNumberGiven === undefined) {
      blockNumber = parsePlace(raw.blockNumber, 'block number');
      blockNumberGiven = raw.blockNumber;
    }
    if (raw.transactionIndex !== transactionIndexGiven || transactionIndexGiven === undefined) {
      transactionIndex = parsePlace(raw.transactionIndex, 'transaction index');
      transactionIndexGiven = raw.transactionIndex;
    }
    if (raw.blockTimestamp === undefined || raw.blockTimestamp === null) timestamp = null;
    else if (raw.blockTimestamp !== timestampText || timestamp === null) {
      timestamp = toTimestamp(raw.blockTimestamp);
      timestampText = typeof raw.blockTimestamp === 'string' ? raw.blockTimestamp : '';
    }
    // Some nodes return null for no topics.
    const rawTopics = raw.topics === null ? NO_TOPICS : raw.topics;
    if (!Array.isArray(rawTopics) || rawTopics.length > 4)
      throw new MalformedAnswerError("A log's topics are not a list of at most four");
    let topics = NO_TOPICS;
    if (rawTopics.length > 0) {
      if (rawTopics[0] !== topic0) topic0 = parseHash(rawTopics[0]);
      const parsed = new Array<Hash>(rawTopics.length);
      parsed[0] = topic0;
      for (let index = 1; index < rawTopics.length; index++) parsed[index] = parseHash(rawTopics[index]);
      topics = parsed;
    }
    return {
      address,
      topics,
      data: toBytes(raw.data),
      blockNumber,
      blockHash,
      transactionHash,
      transactionIndex,
      logIndex: parsePlace(raw.logIndex, 'log index'),
      blockTimestamp: timestamp,
    };
  };
}

function toBytes(value: unknown): Hex {
  if (typeof value === 'string') {
    if (value.length % 2 === 0 && isLowerHex(value, value.length)) return value;
    const lower = value.toLowerCase();
    if (BYTES.test(lower)) return lower as Hex;
    // Some old nodes return an empty string for no data.
    if (value === '') return '0x';
  }
  throw new MalformedAnswerError("A log's data is not hexadecimal");
}

/** Forks shipped zero and wrong units: only a positive quantity counts. */
function toTimestamp(value: unknown): number | null {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,10}$/i.test(value)) return null;
  const seconds = Number(value);
  return seconds > 0 ? seconds : null;
}

/** Some clients number logs from 0 in each transaction. @param receipts all of a block, in order */
export function placeLogs(receipts: readonly Receipt[]): {
  readonly receipts: readonly Receipt[];
  readonly misplaced: number;
} {
  let next = 0;
  let misplaced = 0;
  const placed = receipts.map((receipt) => {
    const from = next;
    next += receipt.logs.length;
    const wrong = receipt.logs.filter((log, index) => log.logIndex !== from + index).length;
    misplaced += wrong;
    if (wrong === 0) return receipt;
    return { ...receipt, logs: receipt.logs.map((log, index) => ({ ...log, logIndex: from + index })) };
  });
  return misplaced === 0 ? { receipts, misplaced } : { receipts: placed, misplaced };
}

export function repeatsIndexes(receipts: readonly Receipt[]): boolean {
  return receipts.some(({ logs }) => new Set(logs.map(({ logIndex }) => logIndex)).size < logs.length);
}

/** A number repeats in a transaction, or (`risesInBlock`) does not rise. Logs in chain order. */
export function misnumberedBlocks(
  logs: readonly Log[],
  { risesInBlock }: { readonly risesInBlock: boolean },
): Set<number> {
  const blocks = new Set<number>();
  let previous: Log | undefined;
  for (const log of logs) {
    if (previous?.blockNumber === log.blockNumber && log.logIndex <= previous.logIndex) {
      if (risesInBlock || previous.transactionIndex === log.transactionIndex) blocks.add(log.blockNumber);
    }
    previous = log;
  }
  return blocks;
}
