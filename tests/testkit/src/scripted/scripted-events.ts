import { type Address, type Hash, ZERO_ADDRESS } from '@chainstead/core';
import type { SeededRandom } from '../seeded-random.ts';
import {
  addressTopic,
  type EventCast,
  MAX_UINT256,
  pickToken,
  pickWallet,
  plainEvent,
  type ScriptedEvent,
  TRANSFER_TOPIC,
  word,
} from './scripted-event.ts';
import {
  consecutiveMint,
  malformedMove,
  multiTokenMove,
  nonFungibleMove,
  nonFungibleSale,
} from './scripted-nft-events.ts';
import type { ScriptedToken } from './scripted-tokens.ts';

/** keccak256 of `Approval(address,address,uint256)`. */
export const APPROVAL_TOPIC = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925' as Hash;
/** keccak256 of `Swap(address,uint256,uint256,uint256,uint256,address)`, Uniswap v2. */
export const SWAP_TOPIC = '0xd78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822' as Hash;
/** keccak256 of `Sync(uint112,uint112)`, Uniswap v2. */
const SYNC_TOPIC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1' as Hash;

/** The standard event of an ERC-20: three topics, 32 bytes of data. */
function transferEvent(token: ScriptedToken, from: Address, to: Address, value: bigint): ScriptedEvent {
  return {
    address: token.address,
    topics: [TRANSFER_TOPIC, addressTopic(from), addressTopic(to)],
    data: `0x${word(value)}`,
    transfer: { token: token.address, from, to, value, nft: token.kind !== 'erc20' },
    nftMoves: [],
    nftSale: null,
  };
}

type Emit = (cast: EventCast) => readonly ScriptedEvent[];

/** What contracts do in one step, with how often they do it. */
const SCENES: readonly (readonly [weight: number, emit: Emit])[] = [
  [46, (cast) => [ordinaryTransfer(cast)]],
  [5, mint],
  [4, burn],
  [3, selfTransfer],
  [3, (cast) => [sizedTransfer(cast, 0n)]],
  [1, (cast) => [sizedTransfer(cast, MAX_UINT256)]],
  [10, swap],
  [8, approval],
  [6, nonFungibleMove],
  [3, nonFungibleSale],
  [1, consecutiveMint],
  [5, multiTokenMove],
  [1, malformedMove],
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
    plainEvent(pool, [SYNC_TOPIC], word(paid) + word(got)),
    plainEvent(
      pool,
      [SWAP_TOPIC, addressTopic(trader), addressTopic(trader)],
      word(paid) + word(0) + word(0) + word(got),
    ),
  ];
}

function approval(cast: EventCast): readonly ScriptedEvent[] {
  const topics = [APPROVAL_TOPIC, addressTopic(pickWallet(cast)), addressTopic(pickWallet(cast))];
  return [plainEvent(pickToken(cast, 'erc20').address, topics, word(MAX_UINT256))];
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
      plainEvent(address, [TRANSFER_TOPIC, ...fromTo], value + value),
      plainEvent(address, [TRANSFER_TOPIC, ...fromTo], ''),
      plainEvent(address, [TRANSFER_TOPIC, ...fromTo], value.slice(2)),
      plainEvent(address, [TRANSFER_TOPIC, addressTopic(from)], addressTopic(to).slice(2) + value),
      plainEvent(address, [TRANSFER_TOPIC], addressTopic(from).slice(2) + addressTopic(to).slice(2) + value),
      plainEvent(address, [], value),
    ]),
  ];
}
