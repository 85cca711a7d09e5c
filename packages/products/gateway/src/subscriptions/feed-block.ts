import { type BlockHeader, type Hash, type Hex, type Log, toQuantity } from '@chainstead/core';
import type { SharedText } from './log-criteria.ts';

export interface FeedBlock {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash;
  /** Unix seconds. */
  readonly timestamp: number;
  readonly logsBloom: Hex | null;
  readonly headText: string;
  /** Null while no listener wanted them. */
  logs: readonly FeedLog[] | null;
  readonly bytes: number;
}

const LOG_BYTES = 600;

export function bytesOfLogs(logs: readonly FeedLog[] | null): number {
  return (logs ?? []).reduce((sum, { log }) => sum + LOG_BYTES + log.data.length, 0);
}

/** Characters from which a text is encoded once for all clients. */
const SHARED_FROM_LENGTH = 65_536;

/** Text as in `eth_getLogs`, and as sent when its block is abandoned. */
export class FeedLog {
  readonly log: Log;
  readonly #timestamp: number;
  #text: SharedText | null = null;
  #removedText: SharedText | null = null;

  constructor(log: Log, timestamp: number) {
    this.log = log;
    this.#timestamp = timestamp;
  }

  get text(): SharedText {
    this.#text ??= this.#write({ removed: false });
    return this.#text;
  }

  get removedText(): SharedText {
    this.#removedText ??= this.#write({ removed: true });
    return this.#removedText;
  }

  #write({ removed }: { readonly removed: boolean }): SharedText {
    const { address, topics, data, blockNumber, transactionHash, transactionIndex, blockHash, logIndex } =
      this.log;
    const text = JSON.stringify({
      address,
      topics,
      data,
      blockNumber: toQuantity(blockNumber),
      transactionHash,
      transactionIndex: toQuantity(transactionIndex),
      blockHash,
      blockTimestamp: toQuantity(this.#timestamp),
      logIndex: toQuantity(logIndex),
      removed,
    });
    return text.length < SHARED_FROM_LENGTH ? text : Buffer.from(text);
  }
}

const BODY_MEMBERS: ReadonlySet<string> = new Set([
  'transactions',
  'uncles',
  'withdrawals',
  'size',
  'totalDifficulty',
]);

export function toFeedBlock(header: BlockHeader): FeedBlock {
  const { number, hash, parentHash, timestamp, logsBloom, raw } = header;
  const members = Object.entries(raw).filter(([name]) => !BODY_MEMBERS.has(name));
  return {
    number,
    hash,
    parentHash,
    timestamp,
    logsBloom,
    headText: JSON.stringify(Object.fromEntries(members)),
    logs: null,
    get bytes() {
      return this.headText.length + bytesOfLogs(this.logs);
    },
  };
}
