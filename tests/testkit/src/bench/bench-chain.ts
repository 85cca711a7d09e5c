import { type Address, type BlockRange, type Hash, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import type { ChainSource, JsonObject, SourceBlock } from '../nodes/chain-source.ts';
import { TRANSFER_TOPIC } from '../scripted/scripted-event.ts';
import { createOrdinaryTokens, createTokenCalls, MULTICALL3_ADDRESS } from '../scripted/scripted-tokens.ts';
import { createSeededRandom, type SeededRandom } from '../seeded-random.ts';
import { type BenchBlock, blockOfTransactionHash, buildBenchBlock } from './bench-block.ts';
import { type BenchChildren, createBenchChildren } from './bench-children.ts';
import { type BenchLogs, createBenchLogs } from './bench-logs.ts';
import { type BenchMarketOptions, createBenchMarket } from './bench-market.ts';
import { createBenchNfts } from './bench-nfts.ts';
import { createBenchSigners } from './bench-signers.ts';
import { createJsonSlab, type JsonSlab } from './json-slab.ts';

export interface BenchChainOptions {
  readonly seed?: number;
  /** Default 31337. */
  readonly chainId?: number;
  /** Blocks after block 0. */
  readonly blocks: number;
  /** Default 50. */
  readonly transactionsPerBlock?: number;
  /** Default 2. */
  readonly logsPerTransaction?: number;
  /**
   * Share of logs (about) that NFT contracts and their marketplace emit: mints and transfers of ERC-721 and ERC-1155 tokens by
   * those who own them, and Seaport's sales. Default 0.
   */
  readonly nftShare?: number;
  /** Pools and a price feed. Default none. */
  readonly market?: BenchMarketOptions;
  /** Share of the other logs that are ERC-20 transfers; the rest are NFT transfers, approvals and swaps. Default 0.8. */
  readonly transferShare?: number;
  /** Share of blocks without transactions. Default 0. */
  readonly emptyShare?: number;
  /** Default 50,000. */
  readonly wallets?: number;
  /** Default 200. */
  readonly tokens?: number;
  /** Children of a factory, which emit logs like the tokens from the block after their creation on. Default 0. */
  readonly children?: number;
  /** Accounts that sign the transactions, so that their root and their senders can be proven. Default 0: made up. */
  readonly signers?: number;
  /** `blockTimestamp` in logs. Default true. */
  readonly logTimestamps?: boolean;
  /** Blocks from the head to the finalized block. Default 64. */
  readonly finalityDepth?: number;
}

/** What a benchmark has to know of its chain. */
export interface BenchChainFacts {
  readonly chainId: number;
  /** Number of the last block; the first with content is 1. */
  readonly head: number;
  readonly logs: number;
  /** Logs that a filter for Transfer's topic gives: ERC-20's and ERC-721's. */
  readonly transferLogs: number;
  readonly erc20Transfers: number;
  /** Transfers of NFTs of every standard, and sales. */
  readonly nftLogs: number;
  /** The NFT contracts. */
  readonly collections: readonly Address[];
  readonly tokens: readonly Address[];
  /** Emits {@link BENCH_CREATION_EVENT} for each child; null: there are no children. */
  readonly factory: Address | null;
}

/** Where each block's text of one kind lies. */
interface TextColumn {
  readonly slab: JsonSlab;
  readonly starts: Float64Array;
  readonly ends: Float64Array;
}

/** A long chain whose responses are serialized beforehand. */
export interface BenchChain extends ChainSource {
  readonly facts: BenchChainFacts;
  /** Every address that a log may have. */
  readonly emitters: ReadonlySet<string>;
  /** Topics that every log has. */
  readonly topicsMin: number;
  readonly logs: Pick<BenchLogs, 'select'>;
  /** The ready JSON of a block or of its receipts. Undefined for blocks that do not exist. */
  textOf(kind: 'light' | 'full' | 'receipts', number: number): Uint8Array[] | undefined;
  numberOf(blockHash: string): number | undefined;
}

/** A quarter of them ERC-1155. */
const NFT_CONTRACTS = 80;
const FIRST_TIMESTAMP = 1_700_000_000;
const BLOCK_TIME_SECONDS = 12;
const LOGS_PER_TRANSACTION = 2;

/** Builds the whole chain in one go: about 15 s and 3 GB outside the heap per million logs. Best in a separate process. */
export function createBenchChain(options: BenchChainOptions): BenchChain {
  const { seed = 1, chainId = 31_337, blocks, emptyShare = 0, nftShare = 0, finalityDepth = 64 } = options;
  const random = createSeededRandom(`bench-chain/${seed}`);
  const tokens = createOrdinaryTokens(random.fork('tokens'), options.tokens ?? 200);
  const walletRandom = random.fork('wallets');
  const wallets = Array.from({ length: options.wallets ?? 50_000 }, () => parseAddress(walletRandom.hex(20)));
  const nftRandom = random.fork('nfts');
  const nfts = createBenchNfts(
    nftRandom,
    nftShare > 0 ? NFT_CONTRACTS : 0,
    () => wallets[nftRandom.skewedIndex(wallets.length, 3)] ?? ZERO_ADDRESS,
  );
  const [tokenAddresses, children] = [tokens.map((token) => token.address), childrenOf(options, random)];
  const cast = {
    random,
    chainId,
    wallets,
    nfts,
    nftShare,
    market: options.market === undefined ? null : createBenchMarket(random.fork('market'), options.market),
    marketShare: options.market?.share ?? 0,
    transactionsPerBlock: options.transactionsPerBlock ?? 50,
    logsPerTransaction: options.logsPerTransaction ?? LOGS_PER_TRANSACTION,
    transferShare: options.transferShare ?? 0.8,
    logTimestamps: options.logTimestamps ?? true,
    sign: (options.signers ?? 0) > 0 ? createBenchSigners(seed, options.signers ?? 0) : null,
  };
  const store = createStore(blocks + 1, cast.transactionsPerBlock * cast.logsPerTransaction);
  let parentHash = random.hex(32) as Hash;
  for (let number = 0; number <= blocks; number++) {
    const empty = number === 0 || random.chance(emptyShare);
    const timestamp = FIRST_TIMESTAMP + number * BLOCK_TIME_SECONDS;
    const created = children?.children.slice(0, children.createdBefore(number)) ?? [];
    const ofBlock = { tokens: [...created, ...tokenAddresses], opening: children?.creationsIn(number) ?? [] };
    const block = buildBenchBlock({ ...cast, ...ofBlock }, { number, parentHash, timestamp, empty });
    store.add(number, block);
    parentHash = block.hash;
  }
  const emitters = new Set<string>([
    ...tokenAddresses,
    ...(nftShare > 0 ? nfts.emitters : []),
    ...(children === null ? [] : [children.factory, ...children.children]),
    ...(options.market === undefined ? [] : [...options.market.pools, options.market.aggregator]),
  ]);
  const collections = nfts.contracts.map(({ address }) => address);
  const contracts = new Set<string>([MULTICALL3_ADDRESS, ...emitters, ...collections]);
  return {
    ...store.source,
    chainId,
    clientVersion: 'chainstead-testkit/bench-chain',
    firstBlock: 0,
    head: blocks,
    finalized: Math.max(0, blocks - finalityDepth),
    emitters,
    topicsMin: children === null ? 3 : 2,
    facts: {
      chainId,
      head: blocks,
      ...store.totals(),
      collections,
      tokens: tokenAddresses,
      factory: children?.factory ?? null,
    },
    call: createTokenCalls([...tokens, ...nfts.contracts]),
    code: (address) => (contracts.has(address) ? '0x60806040' : '0x'),
  };
}

/** A chain without children draws nothing for them: its contents stay the same. */
function childrenOf(
  { children = 0, blocks, logsPerTransaction = LOGS_PER_TRANSACTION }: BenchChainOptions,
  random: SeededRandom,
): BenchChildren | null {
  return children === 0
    ? null
    : createBenchChildren(random.fork('children'), { count: children, blocks, logsMax: logsPerTransaction });
}

type StoredSource = Pick<
  BenchChain,
  'textOf' | 'numberOf' | 'logs' | 'blockAt' | 'blocksIn' | 'blockByHash' | 'blockOfTransaction'
>;

interface Store {
  readonly source: StoredSource;
  totals(): Pick<BenchChainFacts, 'logs' | 'transferLogs' | 'erc20Transfers' | 'nftLogs'>;
  add(number: number, block: BenchBlock): void;
}

function createStore(length: number, logsPerBlock: number): Store {
  const column = (): TextColumn => ({
    slab: createJsonSlab(),
    starts: new Float64Array(length),
    ends: new Float64Array(length),
  });
  const columns = { light: column(), full: column(), receipts: column() };
  const logs = createBenchLogs(length, length * logsPerBlock);
  const numbers = new Map<string, number>();
  const counts = { logs: 0, erc20Transfers: 0, nftLogs: 0 };

  function add(number: number, block: BenchBlock): void {
    appendText(columns.light, number, block.light);
    appendText(columns.full, number, block.full);
    appendText(columns.receipts, number, block.receipts);
    logs.add(number, block.logs);
    counts.logs += block.logs.length;
    counts.erc20Transfers += block.erc20Count;
    counts.nftLogs += block.nftCount;
    numbers.set(block.hash, number);
  }

  const textOf = (kind: 'light' | 'full' | 'receipts', number: number): Uint8Array[] | undefined =>
    number < 0 || number >= length ? undefined : sliceText(columns[kind], { from: number, to: number });
  const blockAt = (number: number): SourceBlock | undefined =>
    parseBlock(textOf('full', number), textOf('receipts', number));
  return {
    totals: () => ({ ...counts, transferLogs: logs.total(TRANSFER_TOPIC) }),
    add,
    source: {
      textOf,
      numberOf: (hash) => numbers.get(hash),
      logs,
      blockAt,
      *blocksIn({ from, to }) {
        for (let number = Math.max(0, from); number <= to; number++) {
          const block = blockAt(number);
          if (block !== undefined) yield block;
        }
      },
      blockByHash: (hash) => blockAt(numbers.get(hash) ?? -1),
      blockOfTransaction: (hash) => {
        const block = blockAt(blockOfTransactionHash(hash));
        return block?.transactions.some((one) => one.hash === hash) ? block : undefined;
      },
    },
  };
}

function appendText(column: TextColumn, number: number, text: string): void {
  const start = column.slab.append(text);
  column.starts[number] = start;
  column.ends[number] = start + text.length;
}

function sliceText(column: TextColumn, range: BlockRange): Uint8Array[] {
  return column.slab.slice(column.starts[range.from] ?? 0, column.ends[range.to] ?? 0);
}

function parseBlock(full: Uint8Array[] | undefined, receipts: Uint8Array[] | undefined): SourceBlock | undefined {
  if (full === undefined || receipts === undefined) return undefined;
  const { transactions, ...header }: JsonObject = JSON.parse(Buffer.concat(full).toString('latin1'));
  return {
    number: Number(header.number),
    hash: header.hash as Hash,
    header,
    transactions: transactions as readonly JsonObject[],
    receipts: JSON.parse(Buffer.concat(receipts).toString('latin1')),
  };
}
