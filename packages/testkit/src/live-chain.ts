import { type Address, type Hash, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { type BenchCast, blockOfTransactionHash, buildBenchBlock } from './bench-block.ts';
import type { BenchLog } from './bench-logs.ts';
import { type BlockTexts, blockTextMethods } from './bench-methods.ts';
import { createBenchNfts } from './bench-nfts.ts';
import type { ChainSource, JsonObject, SourceBlock } from './chain-source.ts';
import { createOrdinaryTokens, createTokenCalls, MULTICALL3_ADDRESS } from './scripted-tokens.ts';
import { createSeededRandom } from './seeded-random.ts';
import { type ChainNode, type ServeChainOptions, serveChain } from './serve-chain.ts';
import { TestkitError } from './testkit-error.ts';

export interface LiveChainOptions {
  /** Default 1. The same seed and the same calls give the same chain. */
  readonly seed?: number;
  readonly chainId: number;
  readonly transactionsPerBlock: number;
  readonly logsPerTransaction: number;
  /** Share of logs (about) that NFT contracts and their marketplace emit. */
  readonly nftShare: number;
  /** Share of the other logs that are ERC-20 transfers. */
  readonly transferShare: number;
  /** Blocks below the head that can still be asked for; older ones are forgotten. */
  readonly keptBlocks: number;
  /** Default 50,000. */
  readonly wallets?: number;
  /** Default 200. */
  readonly tokens?: number;
  /** NFT contracts. Default 80. */
  readonly collections?: number;
}

/** A block that was just made. */
export interface LiveBlock {
  readonly number: number;
  readonly hash: Hash;
  /** In order. */
  readonly logs: readonly BenchLog[];
}

/** A chain that grows block by block for any length of time: only its last blocks are held, as text outside the heap. */
export interface LiveChain extends ChainSource, BlockTexts {
  /** ERC-20 contracts, busiest first. */
  readonly tokens: readonly Address[];
  readonly collections: readonly Address[];
  /** Busiest first. */
  readonly wallets: readonly Address[];
  mine(): LiveBlock;
  /** Takes the last blocks away. @returns the number of the lowest. @throws TestkitError beyond what is kept */
  dropBlocks(depth: number): number;
}

interface KeptBlock {
  readonly hash: Hash;
  readonly light: Buffer;
  readonly full: Buffer;
  readonly receipts: Buffer;
}

const FIRST_TIMESTAMP = 1_700_000_000;
const BLOCK_TIME_SECONDS = 12;
const FINALITY_DEPTH = 64;

/** A chain with its first block, which is empty. What NFT contracts remember of owners is not taken back with dropped blocks. */
export function createLiveChain(options: LiveChainOptions): LiveChain {
  const { chainId, keptBlocks } = options;
  const { cast, tokens, nfts } = createCast(options);
  const contracts = new Set<string>([MULTICALL3_ADDRESS, ...cast.tokens, ...nfts.emitters]);
  const kept = new Map<number, KeptBlock>();
  const numbers = new Map<string, number>();
  let parentHash = cast.random.hex(32) as Hash;
  let head = -1;
  let finalized = 0;

  function forget(number: number): KeptBlock | undefined {
    const block = kept.get(number);
    if (block !== undefined) numbers.delete(block.hash);
    kept.delete(number);
    return block;
  }

  function mine(): LiveBlock {
    const number = ++head;
    const timestamp = FIRST_TIMESTAMP + number * BLOCK_TIME_SECONDS;
    const block = buildBenchBlock(cast, { number, parentHash, timestamp, empty: number === 0 });
    const { hash, light, full, receipts, logs } = block;
    kept.set(number, { hash, light: bytes(light), full: bytes(full), receipts: bytes(receipts) });
    numbers.set(hash, number);
    forget(number - keptBlocks);
    finalized = Math.max(finalized, number - FINALITY_DEPTH);
    parentHash = hash;
    return { number, hash, logs };
  }

  function dropBlocks(depth: number): number {
    const ancestor = kept.get(head - depth);
    if (ancestor === undefined || head - depth < finalized)
      throw new TestkitError(`The last ${depth} blocks cannot be taken away`, { depth, head, finalized });
    for (let gone = 0; gone < depth; gone++) forget(head--);
    parentHash = ancestor.hash;
    return head + 1;
  }

  const textOf: BlockTexts['textOf'] = (kind, number) => {
    const block = kept.get(number);
    return block === undefined ? undefined : [block[kind]];
  };
  const blockAt = (number: number): SourceBlock | undefined => parseBlock(number, kept.get(number));
  mine();
  return {
    chainId,
    clientVersion: 'chainstead-testkit/live-chain',
    firstBlock: 0,
    tokens: cast.tokens,
    collections: nfts.contracts.map(({ address }) => address),
    wallets: cast.wallets,
    get head() {
      return head;
    },
    get finalized() {
      return finalized;
    },
    textOf,
    numberOf: (hash) => numbers.get(hash),
    blockAt,
    *blocksIn({ from, to }) {
      for (let number = from; number <= to; number++) {
        const block = blockAt(number);
        if (block !== undefined) yield block;
      }
    },
    blockByHash: (hash) => blockAt(numbers.get(hash) ?? -1),
    blockOfTransaction: (hash) => {
      const block = blockAt(blockOfTransactionHash(hash));
      return block?.transactions.some((one) => one.hash === hash) ? block : undefined;
    },
    call: createTokenCalls([...tokens, ...nfts.contracts]),
    code: (address) => (contracts.has(address) ? '0x60806040' : '0x'),
    mine,
    dropBlocks,
  };
}

/** Serves the chain over JSON-RPC from this process. */
export function serveLiveChain(chain: LiveChain, options: ServeChainOptions = {}): Promise<ChainNode> {
  return serveChain(chain, { ...options, methods: blockTextMethods(chain) });
}

function createCast(options: LiveChainOptions) {
  const { seed = 1, chainId, nftShare } = options;
  const random = createSeededRandom(`live-chain/${seed}`);
  const tokens = createOrdinaryTokens(random.fork('tokens'), options.tokens ?? 200);
  const walletRandom = random.fork('wallets');
  const wallets = Array.from({ length: options.wallets ?? 50_000 }, () => parseAddress(walletRandom.hex(20)));
  const nftRandom = random.fork('nfts');
  const nfts = createBenchNfts(
    nftRandom,
    options.collections ?? 80,
    () => wallets[nftRandom.skewedIndex(wallets.length, 3)] ?? ZERO_ADDRESS,
  );
  const cast: BenchCast = {
    random,
    chainId,
    tokens: tokens.map((token) => token.address),
    wallets,
    nfts,
    nftShare,
    transactionsPerBlock: options.transactionsPerBlock,
    logsPerTransaction: options.logsPerTransaction,
    transferShare: options.transferShare,
    logTimestamps: true,
    sign: null,
  };
  return { cast, tokens, nfts };
}

function bytes(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

function parseBlock(number: number, block: KeptBlock | undefined): SourceBlock | undefined {
  if (block === undefined) return undefined;
  const { transactions, ...header }: JsonObject = JSON.parse(block.full.toString('latin1'));
  return {
    number,
    hash: block.hash,
    header,
    transactions: transactions as readonly JsonObject[],
    receipts: JSON.parse(block.receipts.toString('latin1')),
  };
}
