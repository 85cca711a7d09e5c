import { type Address, type Hash, type Hex, ZERO_ADDRESS } from '@chainstead/core';
import type { ScriptedToken } from './scripted-tokens.ts';
import type { SeededRandom } from './seeded-random.ts';

/** What a scripted contract meant by a Transfer event that has the standard ERC-20 shape. */
export interface TransferFact {
  readonly token: Address;
  readonly from: Address;
  readonly to: Address;
  /** Token units; for an NFT contract with the ERC-20 shape: the token id. */
  readonly value: bigint;
  /** The contract says through ERC-165 that it is an ERC-721. */
  readonly nft: boolean;
}

/** An event as a contract emits it, and what it means when it is a transfer. */
export interface ScriptedEvent {
  readonly address: Address;
  readonly topics: readonly Hash[];
  readonly data: Hex;
  readonly transfer: TransferFact | null;
}

/** keccak256 of `Transfer(address,address,uint256)`, shared by ERC-20 and ERC-721. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef' as Hash;
/** keccak256 of `Approval(address,address,uint256)`. */
export const APPROVAL_TOPIC = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925' as Hash;
/** keccak256 of `Swap(address,uint256,uint256,uint256,uint256,address)`, Uniswap v2. */
export const SWAP_TOPIC = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822' as Hash;
/** keccak256 of `Sync(uint112,uint112)`, Uniswap v2. */
const SYNC_TOPIC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1' as Hash;
/** keccak256 of `TransferSingle(address,address,address,uint256,uint256)`, ERC-1155. */
const TRANSFER_SINGLE_TOPIC = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62' as Hash;

export const MAX_UINT256 = 2n ** 256n - 1n;

/** An unsigned integer as 32 bytes, without `0x`. */
function word(value: bigint | number): string {
  return value.toString(16).padStart(64, '0');
}

/** An address as a topic. */
export function addressTopic(address: Address): Hash {
  return `0x${'0'.repeat(24)}${address.slice(2)}` as Hash;
}

/** The standard event of an ERC-20: three topics, 32 bytes of data. */
function transferEvent(token: ScriptedToken, from: Address, to: Address, value: bigint): ScriptedEvent {
  return {
    address: token.address,
    topics: [TRANSFER_TOPIC, addressTopic(from), addressTopic(to)],
    data: `0x${word(value)}`,
    transfer: { token: token.address, from, to, value, nft: token.kind !== 'erc20' },
  };
}

export interface EventCast {
  readonly random: SeededRandom;
  readonly wallets: readonly Address[];
  readonly tokens: readonly ScriptedToken[];
}

type Emit = (cast: EventCast) => readonly ScriptedEvent[];

/** What contracts do in one step, with how often they do it. */
const SCENES: readonly (readonly [weight: number, emit: Emit])[] = [
  [56, (cast) => [ordinaryTransfer(cast)]],
  [5, mint],
  [4, burn],
  [3, selfTransfer],
  [3, (cast) => [sizedTransfer(cast, 0n)]],
  [1, (cast) => [sizedTransfer(cast, MAX_UINT256)]],
  [10, swap],
  [8, approval],
  [4, nonFungibleTransfer],
  [2, multiTokenTransfer],
  [4, malformedTransfer],
];
const TOTAL_WEIGHT = SCENES.reduce((sum, [weight]) => sum + weight, 0);

/** The events of one step of a transaction: transfers mostly, and everything that looks like them or stands among them. */
export function emitEvents(cast: EventCast): readonly ScriptedEvent[] {
  let draw = cast.random.integer(1, TOTAL_WEIGHT);
  for (const [weight, emit] of SCENES) {
    draw -= weight;
    if (draw <= 0) return emit(cast);
  }
  return [];
}

/** Few wallets do most: the first 1 % of the wallets are drawn in 21 % of the cases. */
export function pickWallet({ random, wallets }: EventCast): Address {
  return wallets[random.skewedIndex(wallets.length, 3)] ?? ZERO_ADDRESS;
}

function pickToken({ random, tokens }: EventCast, kind: ScriptedToken['kind']): ScriptedToken {
  const ofKind = tokens.filter((token) => token.kind === kind);
  return ofKind[random.skewedIndex(ofKind.length, 2)] ?? random.pick(tokens);
}

function amount(random: SeededRandom): bigint {
  return BigInt(random.hex(random.integer(1, 12)));
}

function ordinaryTransfer(cast: EventCast): ScriptedEvent {
  // One contract in twenty is an NFT whose Transfer has the shape of ERC-20's.
  const token = pickToken(cast, cast.random.chance(0.05) ? 'erc721-three-topics' : 'erc20');
  return transferEvent(token, pickWallet(cast), pickWallet(cast), amount(cast.random));
}

function mint(cast: EventCast): readonly ScriptedEvent[] {
  return [transferEvent(pickToken(cast, 'erc20'), ZERO_ADDRESS, pickWallet(cast), amount(cast.random))];
}

function burn(cast: EventCast): readonly ScriptedEvent[] {
  return [transferEvent(pickToken(cast, 'erc20'), pickWallet(cast), ZERO_ADDRESS, amount(cast.random))];
}

function selfTransfer(cast: EventCast): readonly ScriptedEvent[] {
  const wallet = pickWallet(cast);
  return [transferEvent(pickToken(cast, 'erc20'), wallet, wallet, amount(cast.random))];
}

function sizedTransfer(cast: EventCast, value: bigint): ScriptedEvent {
  return transferEvent(pickToken(cast, 'erc20'), pickWallet(cast), pickWallet(cast), value);
}

/** A decentralised exchange's trade: one token in, another out, and the pool's own two events. */
function swap(cast: EventCast): readonly ScriptedEvent[] {
  const trader = pickWallet(cast);
  const pool = cast.wallets[0] ?? ZERO_ADDRESS;
  const paid = amount(cast.random);
  const got = amount(cast.random);
  return [
    transferEvent(pickToken(cast, 'erc20'), trader, pool, paid),
    transferEvent(pickToken(cast, 'erc20'), pool, trader, got),
    other(pool, [SYNC_TOPIC], word(paid) + word(got)),
    other(pool, [SWAP_TOPIC, addressTopic(trader), addressTopic(trader)], word(paid) + word(0) + word(0) + word(got)),
  ];
}

function approval(cast: EventCast): readonly ScriptedEvent[] {
  const topics = [APPROVAL_TOPIC, addressTopic(pickWallet(cast)), addressTopic(pickWallet(cast))];
  return [other(pickToken(cast, 'erc20').address, topics, word(MAX_UINT256))];
}

function nonFungibleTransfer(cast: EventCast): readonly ScriptedEvent[] {
  const id = `0x${word(cast.random.integer(1, 10_000))}` as Hash;
  const topics = [TRANSFER_TOPIC, addressTopic(pickWallet(cast)), addressTopic(pickWallet(cast)), id];
  return [other(pickToken(cast, 'erc721').address, topics, '')];
}

function multiTokenTransfer(cast: EventCast): readonly ScriptedEvent[] {
  const operator = addressTopic(pickWallet(cast));
  const topics = [TRANSFER_SINGLE_TOPIC, operator, addressTopic(pickWallet(cast)), addressTopic(pickWallet(cast))];
  return [other(pickToken(cast, 'erc721').address, topics, word(7) + word(1))];
}

/** Transfers by name that are none by shape: every way to get topics and data wrong that chains have shown. */
function malformedTransfer(cast: EventCast): readonly ScriptedEvent[] {
  const { address } = pickToken(cast, 'erc20');
  const from = pickWallet(cast);
  const to = pickWallet(cast);
  const value = word(amount(cast.random));
  const fromTo = [addressTopic(from), addressTopic(to)];
  return [
    cast.random.pick([
      other(address, [TRANSFER_TOPIC, ...fromTo], value + value),
      other(address, [TRANSFER_TOPIC, ...fromTo], ''),
      other(address, [TRANSFER_TOPIC, ...fromTo], value.slice(2)),
      other(address, [TRANSFER_TOPIC, addressTopic(from)], addressTopic(to).slice(2) + value),
      other(address, [TRANSFER_TOPIC], addressTopic(from).slice(2) + addressTopic(to).slice(2) + value),
      other(address, [], value),
    ]),
  ];
}

function other(address: Address, topics: readonly Hash[], data: string): ScriptedEvent {
  return { address, topics, data: `0x${data}`, transfer: null };
}
