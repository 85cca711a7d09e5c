/**
 * Events of NFT contracts: mints, transfers and burns of their tokens, one at a time, in batches and in ranges. Some
 * of the events have a well-known name and a shape that no reader can decode.
 */
import { type Address, type Hash, ZERO_ADDRESS } from '@chainstead/core';
import {
  addressTopic,
  type EventCast,
  MAX_UINT256,
  type NftMoveFact,
  type NftOwners,
  numberTopic,
  pickToken,
  pickWallet,
  plainEvent,
  type ScriptedEvent,
  TRANSFER_TOPIC,
  word,
} from './scripted-event.ts';
import { seaportSaleLog } from './seaport-sale-log.ts';

/** keccak256 of `TransferSingle(address,address,address,uint256,uint256)`, ERC-1155. */
export const TRANSFER_SINGLE_TOPIC = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62' as Hash;
/** keccak256 of `TransferBatch(address,address,address,uint256[],uint256[])`, ERC-1155. */
export const TRANSFER_BATCH_TOPIC = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb' as Hash;
/** keccak256 of `ConsecutiveTransfer(uint256,uint256,address,address)`, ERC-2309. */
export const CONSECUTIVE_TRANSFER_TOPIC =
  '0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d' as Hash;

const BATCH_IDS_MAX = 6;
const CONSECUTIVE_IDS_MAX = 9;
const AMOUNT_MAX = 20;

type Holding = NonNullable<ReturnType<NftOwners['holdings']['get']>>[number];

/** No contract has given anything out yet. */
export function createNftOwners(): NftOwners {
  return { holdings: new Map(), minted: new Map() };
}

/** One token of an ERC-721 contract is minted, changes hands, goes back to its owner or is burnt. */
export function nonFungibleMove(cast: EventCast): readonly ScriptedEvent[] {
  const { random } = cast;
  const { address } = pickToken(cast, 'erc721');
  const held = holdingsOf(cast, address);
  const holding = random.chance(0.3) ? undefined : held[random.skewedIndex(held.length, 1)];
  if (holding === undefined) {
    const owner = pickWallet(cast);
    const tokenId = nextId(cast, address);
    held.push({ owner, tokenId, amount: 1n });
    return [erc721Transfer(address, ZERO_ADDRESS, owner, tokenId)];
  }
  const from = holding.owner;
  if (random.chance(0.1)) {
    held.splice(held.indexOf(holding), 1);
    return [erc721Transfer(address, from, ZERO_ADDRESS, holding.tokenId)];
  }
  holding.owner = random.chance(0.08) ? from : pickWallet(cast);
  return [erc721Transfer(address, from, holding.owner, holding.tokenId)];
}

/** A token of an ERC-721 contract is sold on Seaport; without a token, one is minted. */
export function nonFungibleSale(cast: EventCast): readonly ScriptedEvent[] {
  const { random } = cast;
  const { address } = pickToken(cast, 'erc721');
  const held = holdingsOf(cast, address);
  const holding = held[random.skewedIndex(held.length, 1)];
  if (holding === undefined) return nonFungibleMove(cast);
  const { owner: seller, tokenId } = holding;
  const buyer = pickWallet(cast);
  if (buyer === seller) return nonFungibleMove(cast);
  holding.owner = buyer;
  const price = BigInt(random.integer(1, 500)) * 10n ** 15n;
  const nftSale = { token: address, tokenId, seller, buyer, price };
  const sold = {
    ...seaportSaleLog({ ...nftSale, orderHash: random.hex(32) }),
    transfer: null,
    nftMoves: [],
    nftSale,
  };
  return [sold, erc721Transfer(address, seller, buyer, tokenId)];
}

/** A range of tokens is minted by one event (ERC-2309). */
export function consecutiveMint(cast: EventCast): readonly ScriptedEvent[] {
  const { address } = pickToken(cast, 'erc721');
  const to = pickWallet(cast);
  const ids = Array.from({ length: cast.random.integer(1, CONSECUTIVE_IDS_MAX) }, () =>
    nextId(cast, address, false),
  );
  const first = ids[0] ?? 0n;
  holdingsOf(cast, address).push(...ids.map((tokenId) => ({ owner: to, tokenId, amount: 1n })));
  const topics = [CONSECUTIVE_TRANSFER_TOPIC, numberTopic(first), addressTopic(ZERO_ADDRESS), addressTopic(to)];
  const moves = ids.map((tokenId) => ({ token: address, tokenId, from: ZERO_ADDRESS, to, amount: 1n }));
  return [plainEvent(address, topics, word(ids.at(-1) ?? first), moves)];
}

/** Amounts of one or several tokens of an ERC-1155 contract are minted, moved or burnt. */
export function multiTokenMove(cast: EventCast): readonly ScriptedEvent[] {
  const { random } = cast;
  const { address } = pickToken(cast, 'erc1155');
  const count = random.chance(0.5) ? 1 : random.integer(1, BATCH_IDS_MAX);
  const giver = random.chance(0.4) ? undefined : random.pick([...holdingsOf(cast, address), undefined])?.owner;
  const from = giver ?? ZERO_ADDRESS;
  const to = giver !== undefined && random.chance(0.1) ? ZERO_ADDRESS : pickWallet(cast);
  const moves = Array.from({ length: count }, () => moveAmount(cast, address, from, to));
  const operator = random.chance(0.5) && from !== ZERO_ADDRESS ? from : pickWallet(cast);
  const [only] = moves;
  if (moves.length === 1 && only !== undefined && random.chance(0.8))
    return [multiTokenEvent(TRANSFER_SINGLE_TOPIC, operator, moves, word(only.tokenId) + word(only.amount))];
  const ids = moves.map(({ tokenId }) => tokenId);
  const amounts = moves.map(({ amount }) => amount);
  return [multiTokenEvent(TRANSFER_BATCH_TOPIC, operator, moves, numberLists(ids, amounts))];
}

/** Events named like those of NFTs that can't be read as such. Nothing moves by them. */
export function malformedMove(cast: EventCast): readonly ScriptedEvent[] {
  const { address } = pickToken(cast, 'erc1155');
  const parties = [pickWallet(cast), pickWallet(cast), pickWallet(cast)].map(addressTopic);
  const batch = [TRANSFER_BATCH_TOPIC, ...parties];
  const lists = numberLists([1n, 2n, 3n], [5n, 5n, 5n]);
  return [
    cast.random.pick([
      plainEvent(address, batch, numberLists([1n, 2n, 3n], [5n])),
      plainEvent(address, batch, lists.slice(0, -64)),
      plainEvent(address, batch, word(MAX_UINT256) + lists.slice(64)),
      plainEvent(address, batch.slice(0, 3), lists),
      plainEvent(address, [TRANSFER_SINGLE_TOPIC, ...parties], word(1)),
      plainEvent(address, [CONSECUTIVE_TRANSFER_TOPIC, numberTopic(9), ...parties.slice(1)], word(3)),
    ]),
  ];
}

function holdingsOf({ nftOwners: { holdings } }: EventCast, token: Address): Holding[] {
  const known = holdings.get(token);
  if (known !== undefined) return known;
  const empty: Holding[] = [];
  holdings.set(token, empty);
  return empty;
}

/** IDs count up from 1; now and then, if allowed, one counts down from the highest possible ID. */
function nextId({ random, nftOwners: { minted } }: EventCast, token: Address, mayBeHuge = true): bigint {
  const count = (minted.get(token) ?? 0n) + 1n;
  minted.set(token, count);
  return mayBeHuge && random.chance(0.03) ? MAX_UINT256 - count : count;
}

/** Takes an amount from what the giver has, or mints it. A giver that ran out within a batch gives what it never had. */
function moveAmount(cast: EventCast, token: Address, from: Address, to: Address): NftMoveFact {
  const { random } = cast;
  const held = holdingsOf(cast, token);
  const own = held.filter(({ owner }) => owner === from);
  const given = own[random.skewedIndex(own.length, 1)];
  const wanted = random.chance(0.05) ? 0n : BigInt(random.integer(1, AMOUNT_MAX));
  const tokenId = given?.tokenId ?? (random.chance(0.3) ? nextId(cast, token) : BigInt(random.integer(1, 12)));
  const amount = given === undefined || wanted < given.amount ? wanted : given.amount;
  if (given !== undefined) given.amount -= amount;
  if (given?.amount === 0n) held.splice(held.indexOf(given), 1);
  if (to !== ZERO_ADDRESS && amount > 0n) held.push({ owner: to, tokenId, amount });
  return { token, tokenId, from, to, amount };
}

function erc721Transfer(token: Address, from: Address, to: Address, tokenId: bigint): ScriptedEvent {
  const topics = [TRANSFER_TOPIC, addressTopic(from), addressTopic(to), numberTopic(tokenId)];
  return plainEvent(token, topics, '', [{ token, tokenId, from, to, amount: 1n }]);
}

function multiTokenEvent(
  topic: Hash,
  operator: Address,
  moves: readonly NftMoveFact[],
  data: string,
): ScriptedEvent {
  const { token = ZERO_ADDRESS, from = ZERO_ADDRESS, to = ZERO_ADDRESS } = moves[0] ?? {};
  return plainEvent(token, [topic, addressTopic(operator), addressTopic(from), addressTopic(to)], data, moves);
}

/** The ABI encoding of two lists of numbers. */
function numberLists(first: readonly bigint[], second: readonly bigint[]): string {
  const offset = 64 + 32 * (1 + first.length);
  return [64, offset, first.length, ...first, second.length, ...second].map(word).join('');
}
