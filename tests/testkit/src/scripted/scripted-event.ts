import { type Address, type Hash, type Hex, ZERO_ADDRESS } from '@chainstead/core';
import type { SeededRandom } from '../seeded-random.ts';
import type { ScriptedToken } from './scripted-tokens.ts';

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

/** One token (or an amount of one) that a scripted NFT contract meant to move. */
export interface NftMoveFact {
  readonly token: Address;
  readonly tokenId: bigint;
  readonly from: Address;
  readonly to: Address;
  readonly amount: bigint;
}

/** One NFT that was sold for the chain's native currency. */
export interface NftSaleFact {
  readonly token: Address;
  readonly tokenId: bigint;
  readonly seller: Address;
  readonly buyer: Address;
  /** Wei, fees included. */
  readonly price: bigint;
}

/** An event as a contract emits it, and what it means when something moves by it. */
export interface ScriptedEvent {
  readonly address: Address;
  readonly topics: readonly Hash[];
  readonly data: Hex;
  readonly transfer: TransferFact | null;
  /** In the event's order. */
  readonly nftMoves: readonly NftMoveFact[];
  readonly nftSale: NftSaleFact | null;
}

/** keccak256 of `Transfer(address,address,uint256)`, shared by ERC-20 and ERC-721. */
export const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef' as Hash;

export const MAX_UINT256 = 2n ** 256n - 1n;

/** What events are made from: who is there, and what the NFT contracts hold in their books. */
export interface EventCast {
  readonly random: SeededRandom;
  readonly wallets: readonly Address[];
  readonly tokens: readonly ScriptedToken[];
  readonly nftOwners: NftOwners;
}

/** Last state of each NFT contract; it changes as events are made, and no reorg takes it back. */
export interface NftOwners {
  /** Holdings of each contract. */
  readonly holdings: Map<Address, { owner: Address; readonly tokenId: bigint; amount: bigint }[]>;
  /** Ids given out by each contract. */
  readonly minted: Map<Address, bigint>;
}

/** An unsigned integer as 32 bytes, without `0x`. */
export function word(value: bigint | number): string {
  return value.toString(16).padStart(64, '0');
}

/** An unsigned integer as a topic. */
export function numberTopic(value: bigint | number): Hash {
  return `0x${word(value)}` as Hash;
}

/** An address as a topic. */
export function addressTopic(address: Address): Hash {
  return `0x${'0'.repeat(24)}${address.slice(2)}` as Hash;
}

/** An event by which nothing moves unless `nftMoves` says so. `data` comes without `0x`. */
export function plainEvent(
  address: Address,
  topics: readonly Hash[],
  data: string,
  nftMoves: readonly NftMoveFact[] = [],
): ScriptedEvent {
  return { address, topics, data: `0x${data}`, transfer: null, nftMoves, nftSale: null };
}

/** Few wallets do most: the first 1 % of the wallets are drawn in 21 % of the cases. */
export function pickWallet({ random, wallets }: Pick<EventCast, 'random' | 'wallets'>): Address {
  return wallets[random.skewedIndex(wallets.length, 3)] ?? ZERO_ADDRESS;
}

export function pickToken(
  { random, tokens }: Pick<EventCast, 'random' | 'tokens'>,
  kind: ScriptedToken['kind'],
): ScriptedToken {
  const ofKind = tokens.filter((token) => token.kind === kind);
  return ofKind[random.skewedIndex(ofKind.length, 2)] ?? random.pick(tokens);
}
