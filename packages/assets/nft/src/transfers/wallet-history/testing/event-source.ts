/** A chain for tests whose blocks contain only the given events: one transaction a block, without proofs. */
import type { Address, Hash } from '@chainstead/core';
import type { ChainSource, JsonObject, SourceBlock } from '@chainstead/testkit';

export interface PlacedEvent {
  readonly address: Address;
  readonly topics: readonly string[];
  readonly data: string;
}

export interface EventSourceOptions {
  readonly chainId: number;
  /** Also the finalized block. */
  readonly head: number;
  /** By block, in order. */
  readonly events: Readonly<Record<number, readonly PlacedEvent[]>>;
}

/** A number as 32 bytes, without prefix. */
export function word(value: number | bigint): string {
  return value.toString(16).padStart(64, '0');
}

/** An address or a number as a log's topic. */
export function topicOf(value: Address | number | bigint): string {
  return typeof value === 'string' ? `0x${value.slice(2).padStart(64, '0')}` : `0x${word(value)}`;
}

export function createEventSource({ chainId, head, events }: EventSourceOptions): ChainSource {
  const blocks = Array.from({ length: head + 1 }, (_, number) => blockOf(number, events[number] ?? []));
  return {
    chainId,
    clientVersion: 'events',
    firstBlock: 0,
    head,
    finalized: head,
    blockAt: (number) => blocks[number],
    blocksIn: ({ from, to }) => blocks.slice(from, to + 1),
    blockByHash: (hash) => blocks.find((block) => block.hash === hash),
    blockOfTransaction: () => undefined,
    call: () => ({ data: '0x' }),
    code: () => '0x',
  };
}

const hashOf = (number: number): Hash => `0x${word(number + 1_000)}` as Hash;
const transactionHashOf = (number: number): Hash => `0x${word(number + 500_000)}` as Hash;
const quantity = (value: number): string => `0x${value.toString(16)}`;

function blockOf(number: number, events: readonly PlacedEvent[]): SourceBlock {
  const transactionHash = transactionHashOf(number);
  const position = {
    blockNumber: quantity(number),
    blockHash: hashOf(number),
    transactionHash,
    transactionIndex: '0x0',
  };
  const logs: readonly JsonObject[] = events.map((event, index) => ({
    ...event,
    ...position,
    logIndex: quantity(index),
    removed: false,
  }));
  return {
    number,
    hash: hashOf(number),
    header: {
      number: quantity(number),
      hash: hashOf(number),
      parentHash: hashOf(number - 1),
      timestamp: quantity(1_600_000_000 + number * 12),
      logsBloom: `0x${'00'.repeat(256)}`,
      receiptsRoot: hashOf(9),
    },
    transactions: logs.length === 0 ? [] : [{ ...position, hash: transactionHash }],
    receipts:
      logs.length === 0
        ? []
        : [
            {
              ...position,
              type: '0x2',
              status: '0x1',
              cumulativeGasUsed: '0x5208',
              logsBloom: `0x${'00'.repeat(256)}`,
              logs,
            },
          ],
  };
}
