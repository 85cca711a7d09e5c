import { type Address, type BlockRange, type Hash, parseAddress, ZERO_HASH } from '@chainstead/core';
import type { ChainSource } from '../nodes/chain-source.ts';
import { type ChainNode, type ServeChainOptions, serveChain } from '../nodes/serve-chain.ts';
import { createSeededRandom, type SeededRandom } from '../seeded-random.ts';
import { TestkitError } from '../testkit-error.ts';
import {
  buildBlock,
  type ExpectedNftMove,
  type ExpectedNftSale,
  type ExpectedTransfer,
  type ScriptedBlock,
} from './scripted-block.ts';
import { pickWallet } from './scripted-event.ts';
import { emitEvents } from './scripted-events.ts';
import { createNftOwners } from './scripted-nft-events.ts';
import { createScriptedSigners } from './scripted-signers.ts';
import {
  createScriptedTokens,
  createTokenCalls,
  MULTICALL3_ADDRESS,
  type ScriptedToken,
} from './scripted-tokens.ts';
import { buildTransaction, type ScriptedTransaction, type TransactionPlan } from './scripted-transaction.ts';

const FIRST_TIMESTAMP = 1_700_000_000;
const BLOCK_TIME_SECONDS = 12;

export interface ScriptedChainOptions {
  /** The same seed and the same calls give the same chain. */
  readonly seed: number;
  /** Default 31337. */
  readonly chainId?: number;
  /** Number of the first block. Default 0. */
  readonly firstBlock?: number;
  /** Most transactions in a block. Default 6. */
  readonly transactionsMax?: number;
  /** Most steps (of one to four events) in a transaction. Default 3. */
  readonly stepsMax?: number;
  /** Share of blocks without transactions. Default 0.1. */
  readonly emptyShare?: number;
  /** Share of transactions that create contracts. Default 0. */
  readonly creationShare?: number;
  /** Default 200. */
  readonly wallets?: number;
  /** Wallets have keys and sign. Default: signatures are random. */
  readonly isSigned?: boolean;
  /** Blocks from the head to the finalized block; null: no finalized tag. Default 64. */
  readonly finalityDepth?: number | null;
}

/** Effects of a reorg. */
export interface ScriptedReorg {
  readonly commonAncestor: ScriptedBlock;
  readonly orphaned: readonly ScriptedBlock[];
  readonly added: readonly ScriptedBlock[];
}

/** An EVM chain in memory that moves only on demand. */
export interface ScriptedChain extends ChainSource {
  readonly tokens: readonly ScriptedToken[];
  /** Busiest first. */
  readonly wallets: readonly Address[];
  blockAt(number: number): ScriptedBlock | undefined;
  blocksIn(range: BlockRange): ScriptedBlock[];
  /** Adds blocks to the head. */
  mine(count?: number): readonly ScriptedBlock[];
  /**
   * Replaces the last `depth` blocks by `newLength` others (default as many). Most transactions of the orphaned blocks
   * are included again, in another order. @throws TestkitError when the first block would have to go.
   */
  reorg(depth: number, newLength?: number): ScriptedReorg;
  /** Every transfer of the canonical chain in order, known from what the contracts meant, not by decoding. */
  expectedTransfers(range?: BlockRange): ExpectedTransfer[];
  /** As above, of every NFT that moves. */
  expectedNftMoves(range?: BlockRange): ExpectedNftMove[];
  /** As above, of every NFT that is sold, on Seaport 1.6. */
  expectedNftSales(range?: BlockRange): ExpectedNftSale[];
}

/** Share of an orphaned block's transactions that are included again. */
const REINCLUDED_SHARE = 0.7;
const FAILING_SHARE = 0.04;
const SKIPPED_SLOT_SHARE = 0.05;

/** A chain with its first block, which is empty. */
export function createScriptedChain(options: ScriptedChainOptions): ScriptedChain {
  const { seed, chainId = 31_337, firstBlock = 0, finalityDepth = 64 } = options;
  const random = createSeededRandom(`scripted-chain/${seed}`);
  const walletRandom = random.fork('wallets');
  const signers = createScriptedSigners();
  const wallets = Array.from({ length: options.wallets ?? 200 }, () =>
    options.isSigned === true ? signers.add(walletRandom.hex(32)) : parseAddress(walletRandom.hex(20)),
  );
  const tokens = createScriptedTokens(random.fork('tokens'));
  const traffic = createTraffic({
    ...{ ...options, chainId, wallets, tokens },
    sign: options.isSigned === true ? signers.sign : undefined,
  });
  const contracts = new Set<string>([MULTICALL3_ADDRESS, ...tokens.map((token) => token.address)]);

  const canonical: ScriptedBlock[] = [];
  const byHash = new Map<string, ScriptedBlock>();
  const byTransaction = new Map<string, ScriptedBlock>();
  /** Transactions that a reorganisation threw out and that wait to be included again. */
  const mempool: ScriptedTransaction[] = [];
  let branch = 0;
  let finalized = firstBlock;

  function append(): ScriptedBlock {
    const parent = canonical.at(-1);
    const number = parent === undefined ? firstBlock : parent.number + 1;
    const blockRandom = random.fork(`block/${branch}/${number}`);
    const slots = blockRandom.chance(SKIPPED_SLOT_SHARE) ? 2 : 1;
    const block = buildBlock({
      number,
      parentHash: parent?.hash ?? (firstBlock === 0 ? ZERO_HASH : (blockRandom.hex(32) as Hash)),
      timestamp: parent === undefined ? FIRST_TIMESTAMP : parent.timestamp + slots * BLOCK_TIME_SECONDS,
      mixHash: blockRandom.hex(32),
      transactions: parent === undefined ? [] : traffic(blockRandom, mempool),
    });
    canonical.push(block);
    byHash.set(block.hash, block);
    for (const { hash } of block.scripted) byTransaction.set(hash, block);
    if (finalityDepth !== null) finalized = Math.max(finalized, number - finalityDepth);
    return block;
  }

  function reorg(depth: number, newLength = depth): ScriptedReorg {
    if (depth < 0 || depth >= canonical.length)
      throw new TestkitError(`A chain of ${canonical.length} blocks cannot be reorganised ${depth} blocks deep`, {
        depth,
      });
    branch += 1;
    const orphaned = canonical.splice(canonical.length - depth);
    const commonAncestor = canonical.at(-1);
    if (commonAncestor === undefined) throw new TestkitError('A reorganisation left no block', { depth });
    finalized = Math.min(finalized, commonAncestor.number);
    for (const block of orphaned) for (const { hash } of block.scripted) byTransaction.delete(hash);
    const choice = random.fork(`reorg/${branch}`);
    mempool.push(...orphaned.flatMap((block) => block.scripted.filter(() => choice.chance(REINCLUDED_SHARE))));
    const added = Array.from({ length: newLength }, append);
    return { commonAncestor, orphaned, added };
  }

  const blocksIn = (range: BlockRange): ScriptedBlock[] =>
    canonical.slice(Math.max(0, range.from - firstBlock), Math.max(0, range.to - firstBlock + 1));
  append();
  return {
    chainId,
    clientVersion: 'chainstead-testkit/scripted-chain',
    firstBlock,
    tokens,
    wallets,
    get head() {
      return firstBlock + canonical.length - 1;
    },
    get finalized() {
      return finalityDepth === null ? null : finalized;
    },
    blockAt: (number) => canonical[number - firstBlock],
    blocksIn,
    blockByHash: (hash) => byHash.get(hash),
    blockOfTransaction: (hash) => byTransaction.get(hash),
    call: createTokenCalls(tokens),
    code: (address) => (contracts.has(address) ? '0x60806040' : '0x'),
    mine: (count = 1) => Array.from({ length: count }, append),
    reorg,
    expectedTransfers: (range) =>
      (range === undefined ? canonical : blocksIn(range)).flatMap((block) => block.transfers),
    expectedNftMoves: (range) =>
      (range === undefined ? canonical : blocksIn(range)).flatMap((block) => block.nftMoves),
    expectedNftSales: (range) =>
      (range === undefined ? canonical : blocksIn(range)).flatMap((block) => block.nftSales),
  };
}

/** Serves the chain over JSON-RPC. Any number of nodes may serve it, each with its own faults and seed. */
export async function serveScriptedChain(
  chain: ScriptedChain,
  options: ServeChainOptions = {},
): Promise<ChainNode> {
  return serveChain(chain, options);
}

interface TrafficOptions extends Omit<ScriptedChainOptions, 'wallets' | 'chainId'> {
  readonly chainId: number;
  readonly wallets: readonly Address[];
  readonly tokens: readonly ScriptedToken[];
  readonly sign: TransactionPlan['sign'];
}

/** Makes a block's transactions; most of those that wait come in before new ones and are taken out of the mempool. */
function createTraffic(
  options: TrafficOptions,
): (random: SeededRandom, mempool: ScriptedTransaction[]) => ScriptedTransaction[] {
  const {
    chainId,
    wallets,
    tokens,
    sign,
    transactionsMax = 6,
    stepsMax = 3,
    emptyShare = 0.1,
    creationShare = 0,
  } = options;
  let nonce = 0;
  const nftOwners = createNftOwners();
  return (random, mempool) => {
    if (random.chance(emptyShare)) return [];
    const cast = { random, wallets, tokens, nftOwners };
    return Array.from({ length: random.integer(1, transactionsMax) }, () => {
      const [waiting] = random.chance(0.8) ? mempool.splice(random.integer(0, mempool.length - 1), 1) : [];
      if (waiting !== undefined) return waiting;
      const events = Array.from({ length: random.integer(1, stepsMax) }, () => emitEvents(cast)).flat();
      nonce += 1;
      // Nothing is drawn for chains without this option: their contents stay the same.
      const creates = creationShare > 0 && random.chance(creationShare);
      return buildTransaction({
        chainId,
        nonce,
        from: pickWallet(cast),
        to: creates ? null : (events[0]?.address ?? pickWallet(cast)),
        events,
        succeeds: !random.chance(FAILING_SHARE),
        random,
        sign,
      });
    });
  };
}
