import {
  type Address,
  type Hash,
  type Hex,
  type Log,
  parseHash,
  type Receipt,
  ZERO_HASH,
} from '@chainstead/core';
import { EMPTY_TRIE_ROOT, encodeReceipt, headerHash, logsBloom, orderedTrieRoot } from '@chainstead/proof';
import type { ChainSource, JsonObject, SourceBlock } from '@chainstead/testkit';

/** A log before it has a place. */
export interface LogFacts {
  readonly address: Address;
  readonly topics: readonly Hash[];
  readonly data: Hex;
}

/** Logs by transaction, by block. */
export type LogsByBlock = Readonly<Record<number, readonly (readonly LogFacts[])[]>>;

/** A chain of blocks with these logs, whose hashes, roots and blooms follow from their contents. */
export function sealChain(
  chainId: number,
  head: number,
  timeOf: (block: number) => number,
  logs: LogsByBlock,
): ChainSource {
  const blocks: SourceBlock[] = [];
  for (let number = 0; number <= head; number++)
    blocks.push(
      sealBlock(number, timeOf(number), (blocks.at(-1)?.hash ?? ZERO_HASH) as Hash, logs[number] ?? []),
    );
  return {
    ...{ chainId, clientVersion: 'sealed', firstBlock: 0, head, finalized: head },
    blockAt: (number) => blocks[number],
    blocksIn: ({ from, to }) => blocks.slice(from, to + 1),
    blockByHash: (hash) => blocks.find((block) => block.hash === hash),
    blockOfTransaction: () => undefined,
    call: () => ({ data: '0x' }),
    code: () => '0x',
  };
}

const quantity = (value: number): Hex => `0x${value.toString(16)}`;
const GAS = 50_000;

function sealBlock(
  number: number,
  time: number,
  parentHash: Hash,
  transactions: readonly (readonly LogFacts[])[],
): SourceBlock {
  const bare = transactions.map((logs, index) => encodeReceipt(bareReceipt(logs, index)));
  const bloom = logsBloom(transactions.flat());
  const fields = {
    ...{ number: quantity(number), timestamp: quantity(time), parentHash, nonce: `0x${'00'.repeat(8)}` },
    ...{ mixHash: ZERO_HASH, sha3Uncles: ZERO_HASH, stateRoot: ZERO_HASH, transactionsRoot: ZERO_HASH },
    ...{
      logsBloom: `0x${bloom.toString('hex')}`,
      receiptsRoot: orderedTrieRoot(bare),
      withdrawalsRoot: EMPTY_TRIE_ROOT,
    },
    ...{ miner: `0x${'5e'.repeat(20)}`, difficulty: '0x0', extraData: '0x', baseFeePerGas: '0x7' },
    ...{ gasLimit: quantity(36_000_000), gasUsed: quantity(GAS * transactions.length) },
  };
  const hash = parseHash(headerHash(fields));
  const position = (index: number) => ({
    ...{ blockNumber: quantity(number), blockHash: hash },
    ...{ transactionHash: transactionHash(number, index), transactionIndex: quantity(index) },
  });
  let logIndex = 0;
  const receipts = transactions.map((logs, index): JsonObject => {
    const placed = logs.map((log) => ({
      ...log,
      ...position(index),
      logIndex: quantity(logIndex++),
      removed: false,
    }));
    return {
      ...{ ...position(index), type: '0x2', status: '0x1', cumulativeGasUsed: quantity(GAS * (index + 1)) },
      ...{ logsBloom: `0x${logsBloom(logs).toString('hex')}`, logs: placed },
    };
  });
  return {
    ...{ number, hash, header: { ...fields, hash }, receipts },
    transactions: transactions.map((_, index) => ({ ...position(index), hash: transactionHash(number, index) })),
  };
}

function transactionHash(block: number, index: number): Hash {
  return parseHash(`0x${block.toString(16).padStart(32, '0')}${index.toString(16).padStart(32, '1')}`);
}

function bareReceipt(logs: readonly LogFacts[], index: number): Receipt {
  const place = { blockNumber: 0, blockHash: ZERO_HASH, transactionHash: ZERO_HASH, transactionIndex: index };
  const placed = logs.map((log): Log => ({ ...log, ...place, logIndex: 0, blockTimestamp: null }));
  return {
    ...{ transactionHash: ZERO_HASH, transactionIndex: index, type: 2, logs: placed },
    ...{ cumulativeGasUsed: BigInt(GAS * (index + 1)), raw: { status: '0x1' } },
  };
}
