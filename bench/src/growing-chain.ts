import { type Chain, createChainRegistry } from '@chainstead/chains';
import { type Address, type Hash, type Log, parseAddress, parseHash } from '@chainstead/core';
import type { UpstreamPool } from '@chainstead/rpc';
import { createSeededRandom, type SeededRandom, TRANSFER_TOPIC } from '@chainstead/testkit';
import { CHAIN_ID } from './bench-chain.ts';
import { createGeneratedPool, placeOf, sha256 } from './generated-pool.ts';

export const TRANSFERS_PER_BLOCK = 100;
/** Rows of an ordinary wallet: less than a page. */
export const ORDINARY_ROWS = 50;

/** How long the chain becomes. */
export interface GrowingChainPlan {
  readonly blocks: number;
  /** The first measurement of pages stands here. */
  readonly referenceBlocks: number;
}

/** Wallets to ask for, by what they have. */
export interface GrowingWallets {
  /** The sender of every fiftieth transfer. */
  readonly whale: readonly Address[];
  /** 15 % of the sides that belong to no particular wallet. */
  readonly busy: readonly Address[];
  /** {@link ORDINARY_ROWS} rows each, spread over the blocks up to the reference. */
  readonly ordinaryAtReference: readonly Address[];
  /** The same number of rows, spread over all blocks. */
  readonly ordinaryAtEnd: readonly Address[];
  readonly empty: readonly Address[];
}

/** A chain of ERC-20 transfers whose wallets become more with its height, and a pool that responds from it without a node. */
export interface GrowingChain {
  readonly chain: Chain;
  readonly pool: UpstreamPool;
  readonly tokens: readonly Address[];
  readonly wallets: GrowingWallets;
}

const TOKENS = 200;
const WALLETS_AT_FIRST = 1_000;
/** One transfer in so many goes to a new wallet. */
const NEW_WALLET_EVERY = 5;
const WHALE_EVERY = 50;
const BUSY_SHARE = 0.15;
const TRANSFERS_PER_TRANSACTION = 1.6;
const ASKED_WALLETS = 60;

/** The same plan returns the same chain. Blocks are made on request: no chain of any length is held in memory. */
export function createGrowingChain(plan: GrowingChainPlan): GrowingChain {
  const chain = createChainRegistry().get(CHAIN_ID);
  const some = (kind: string): Address[] =>
    Array.from({ length: ASKED_WALLETS }, (_, number) => addressOf(`${kind} ${number}`));
  const wallets: GrowingWallets = {
    whale: [addressOf('whale')],
    busy: some('busy'),
    ordinaryAtReference: some('early'),
    ordinaryAtEnd: some('lasting'),
    empty: some('empty'),
  };
  const tokens = Array.from({ length: TOKENS }, (_, number) => addressOf(`token ${number}`));
  return {
    chain,
    pool: createGeneratedPool(chain, plan.blocks, (block) => logsOf(plan, wallets, tokens, block)),
    tokens,
    wallets,
  };
}

function logsOf(
  plan: GrowingChainPlan,
  wallets: GrowingWallets,
  tokens: readonly Address[],
  block: number,
): Log[] {
  const random = createSeededRandom(`block ${block}`);
  const place = placeOf(block);
  return Array.from({ length: TRANSFERS_PER_BLOCK }, (_, logIndex) => {
    const transfer = (block - 1) * TRANSFERS_PER_BLOCK + logIndex;
    const from = senderOf(plan, wallets, transfer, random);
    let to = receiverOf(plan, wallets, transfer, random);
    while (to === from) to = anyWallet(wallets, transfer, random);
    const transactionIndex = Math.floor(logIndex / TRANSFERS_PER_TRANSACTION);
    return {
      ...place,
      address: tokens[random.skewedIndex(TOKENS, 2)] ?? from,
      topics: [TRANSFER_TOPIC, topicOf(from), topicOf(to)],
      data: `0x${amountOf(random).toString(16).padStart(64, '0')}`,
      transactionHash: sha256(`transaction ${block} ${transactionIndex}`),
      transactionIndex,
      logIndex,
    };
  });
}

/** Wallets of the reference are senders and those of the whole chain receivers, so neither takes the other's place. */
function senderOf(
  { referenceBlocks }: GrowingChainPlan,
  wallets: GrowingWallets,
  transfer: number,
  random: SeededRandom,
): Address {
  const [whale] = wallets.whale;
  return (
    spread(wallets.ordinaryAtReference, referenceBlocks, transfer) ??
    (transfer % WHALE_EVERY === 0 && whale !== undefined ? whale : anyWallet(wallets, transfer, random))
  );
}

function receiverOf(
  { blocks }: GrowingChainPlan,
  wallets: GrowingWallets,
  transfer: number,
  random: SeededRandom,
): Address {
  return (
    spread(wallets.ordinaryAtEnd, blocks, transfer) ??
    (transfer % NEW_WALLET_EVERY === 2 ? wallet(walletsBefore(transfer)) : anyWallet(wallets, transfer, random))
  );
}

/** Whose turn it is, when each of the wallets gets {@link ORDINARY_ROWS} transfers at even distances within the blocks. */
function spread(wallets: readonly Address[], blocks: number, transfer: number): Address | undefined {
  const turns = wallets.length * ORDINARY_ROWS;
  const every = Math.floor((blocks * TRANSFERS_PER_BLOCK) / turns);
  const turn = Math.floor(transfer / every);
  return transfer % every === 0 && turn < turns ? wallets[turn % wallets.length] : undefined;
}

/** A busy one, or one of those that exist by then: the younger, the likelier. */
function anyWallet({ busy }: GrowingWallets, transfer: number, random: SeededRandom): Address {
  if (random.chance(BUSY_SHARE)) return random.pick(busy);
  const existing = walletsBefore(transfer);
  return wallet(existing - 1 - random.skewedIndex(existing, 3));
}

function walletsBefore(transfer: number): number {
  return WALLETS_AT_FIRST + Math.floor(transfer / NEW_WALLET_EVERY);
}

function wallet(number: number): Address {
  return addressOf(`wallet ${number}`);
}

/** Base units, half of tokens with 6 decimals and half of such with 18. */
function amountOf(random: SeededRandom): bigint {
  const digits = BigInt(random.integer(1, 999_999_999));
  return random.chance(0.5) ? digits : digits * 1_000_000_007n * BigInt(random.integer(1, 5_000));
}

function addressOf(name: string): Address {
  return parseAddress(sha256(name).slice(0, 42));
}

function topicOf(address: Address): Hash {
  return parseHash(`0x${address.slice(2).padStart(64, '0')}`);
}
