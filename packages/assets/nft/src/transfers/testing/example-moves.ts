/** Random histories of NFTs, their rows, and the resulting holdings, for tests of derived balances. */
import { type Address, type Hash, ZERO_ADDRESS } from '@chainstead/core';
import { addressKey } from '@chainstead/db/column-types';
import { NFT_TRANSFER_KINDS, type NftTransferKind } from '@chainstead/events/token-events';
import fc from 'fast-check';
import { nftTransfers } from '../dataset.ts';
import type { NftTransferRow } from '../schema.ts';

/** The transfer in one item of a log. */
export interface Move {
  readonly token: Address;
  readonly id: bigint;
  readonly from: Address;
  readonly to: Address;
  readonly amount: bigint;
  /** Last id of a consecutive mint that is stored as a range. */
  readonly last?: bigint;
}

export const account = (number: number): Address => `0x${(number + 1).toString(16).padStart(40, '0')}` as Address;
export const contract = (number: number): Address => `0xc0${number.toString(16).padStart(38, '0')}` as Address;

const ACCOUNTS = 5;
const ID_MAX = 2n ** 256n - 1n;
const IDS = [0n, 1n, ID_MAX];
/** Each id is a single item. */
export const ERC721 = contract(1);
/** Any amount of each id. */
export const ERC1155 = contract(2);
/** Moves tokens that were never minted, in amounts whose sum has more than 256 bits. */
export const LIAR = contract(3);
/** Each id is a single item that the first account has from the start: its first event is not a mint. */
export const LAZY = contract(4);
const CREATOR = account(0);

interface Wish {
  readonly from: number;
  readonly to: number;
  readonly id: number;
  readonly amount: bigint;
  readonly what: 'mint' | 'move' | 'burn' | 'lie' | 'range' | 'lazy';
  readonly single: boolean;
}

const wishes: fc.Arbitrary<Wish> = fc.record({
  from: fc.nat(ACCOUNTS - 1),
  to: fc.nat(ACCOUNTS - 1),
  id: fc.nat(IDS.length - 1),
  amount: fc.oneof(fc.bigInt({ min: 0n, max: 5n }), fc.bigInt({ min: 0n, max: 2n ** 250n })),
  what: fc.constantFrom(
    'mint',
    'mint',
    'move',
    'move',
    'move',
    'burn',
    'lie',
    'lie',
    'range',
    'lazy',
    'lazy',
    'lazy',
  ),
  single: fc.boolean(),
});

/** Events by block. Three contracts are honest: no account sends more than it has. */
export const histories: fc.Arbitrary<readonly (readonly Move[])[]> = fc
  .array(fc.array(wishes, { maxLength: 12 }), { minLength: 1, maxLength: 12 })
  .map((blocks) => {
    const owned = new Map<string, bigint>();
    return blocks.map((block) =>
      block.flatMap((wish) => {
        const move = granted(wish, owned);
        if (move === null) return [];
        if (move.token !== LIAR && move.last === undefined) applyMove(owned, move);
        return [move];
      }),
    );
  });

/** Returns an honest contract's move for a wish; null if it would revert. */
function granted(wish: Wish, owned: ReadonlyMap<string, bigint>): Move | null {
  const id = IDS[wish.id] ?? 0n;
  const [from, to] = [account(wish.from), account(wish.to)];
  const lie = { token: LIAR, id, from, to, amount: wish.amount * 2n ** 5n };
  if (wish.what === 'lie') return lie;
  if (wish.what === 'range') return { ...lie, from: ZERO_ADDRESS, amount: 1n, last: id + 60_000n };
  if (wish.what === 'lazy') {
    const owner = lazyOwner(id, owned);
    return owner === null
      ? null
      : { token: LAZY, id, from: owner, to: wish.amount === 0n ? ZERO_ADDRESS : to, amount: 1n };
  }
  const token = wish.single ? ERC721 : ERC1155;
  const amount = wish.single ? 1n : wish.amount;
  if (wish.what === 'mint') {
    const exists = wish.single && [...owned].some(([key, held]) => key.endsWith(`${token} ${id}`) && held > 0n);
    return exists ? null : { token, id, from: ZERO_ADDRESS, to, amount };
  }
  if ((owned.get(`${from} ${token} ${id}`) ?? 0n) < amount) return null;
  return { token, id, from, to: wish.what === 'burn' ? ZERO_ADDRESS : to, amount };
}

/** Null if it was burned. */
function lazyOwner(id: bigint, owned: ReadonlyMap<string, bigint>): Address | null {
  const known = [...owned].filter(([key]) => key.endsWith(`${LAZY} ${id}`));
  if (known.length === 0) return CREATOR;
  const held = known.find(([, amount]) => amount > 0n);
  return held === undefined ? null : (held[0].slice(0, held[0].indexOf(' ')) as Address);
}

/** Amounts are sums; a single item belongs to its last receiver. */
function applyMove(balances: Map<string, bigint>, move: Move): void {
  const { token, id, from, to, amount } = move;
  const change = (who: Address, after: (before: bigint) => bigint): void => {
    const key = `${who} ${token} ${id}`;
    if (who !== ZERO_ADDRESS) balances.set(key, after(balances.get(key) ?? 0n));
  };
  change(from, (before) => (isSingle(move) ? 0n : before - amount));
  change(to, (before) => (isSingle(move) ? 1n : before + amount));
}

/**
 * Returns balances and holdings after these moves, which are in chain order, as sorted lines of text, in the format of
 * `storedHoldings`.
 */
export function reportedBy(moves: readonly Move[]): string[] {
  const balances = new Map<string, bigint>();
  for (const move of moves) if (move.last === undefined && move.amount !== 0n) applyMove(balances, move);
  const held = new Map<string, number>();
  for (const [key, amount] of balances) {
    const holder = key.slice(0, key.lastIndexOf(' '));
    if (amount > 0n) held.set(holder, (held.get(holder) ?? 0) + 1);
  }
  return [
    ...[...balances].filter(([, amount]) => amount !== 0n).map(([key, amount]) => `${key} ${amount}`),
    ...[...held].map(([holder, ids]) => `${holder} holds ${ids}`),
  ].sort();
}

/** The lines of a block's rows for COPY. */
export function linesOf(chainId: number, blockNumber: number, moves: readonly Move[]): string[] {
  return moves.map((move, logIndex) => nftTransfers.table.copyLine(rowOf(chainId, blockNumber, logIndex, move)));
}

function rowOf(chainId: number, blockNumber: number, logIndex: number, move: Move): NftTransferRow {
  return {
    collectionKey: addressKey(move.token),
    chainId,
    blockNumber,
    transactionIndex: 0,
    logIndex,
    item: 0,
    kind: kindOf(move),
    tokenAddress: move.token,
    tokenId: move.id.toString(),
    lastTokenId: move.last === undefined ? null : move.last.toString(),
    fromAddress: move.from,
    toAddress: move.to,
    amount: move.amount.toString(),
    operator: null,
    transactionHash: `0x${'77'.repeat(32)}` as Hash,
  };
}

/** Whether its event is for single items. */
export function isSingle(move: Move): boolean {
  return kindOf(move) === NFT_TRANSFER_KINDS.erc721;
}

/** The liar's id 1 moves as a single item does. */
export function kindOf({ token, id, last }: Move): NftTransferKind {
  if (last !== undefined) return NFT_TRANSFER_KINDS.consecutive;
  return token === ERC1155 || (token === LIAR && id !== 1n)
    ? NFT_TRANSFER_KINDS.erc1155Single
    : NFT_TRANSFER_KINDS.erc721;
}
