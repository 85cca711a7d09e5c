import { type Address, type Hash, type Hex, ZERO_ADDRESS } from '@chainstead/core';
import { addressTopic, numberTopic, TRANSFER_TOPIC, word } from '../scripted/scripted-event.ts';
import { TRANSFER_BATCH_TOPIC, TRANSFER_SINGLE_TOPIC } from '../scripted/scripted-nft-events.ts';
import { createOrdinaryCollections, type ScriptedToken } from '../scripted/scripted-tokens.ts';
import { ORDER_FULFILLED_TOPIC, SEAPORT_ADDRESS, seaportSaleLog } from '../scripted/seaport-sale-log.ts';
import type { SeededRandom } from '../seeded-random.ts';

/** Every topic0 of these logs. */
export const NFT_TOPICS: readonly Hash[] = [
  TRANSFER_TOPIC,
  TRANSFER_SINGLE_TOPIC,
  TRANSFER_BATCH_TOPIC,
  ORDER_FULFILLED_TOPIC,
];

/** A log before it has a place. */
export interface EmittedLog {
  readonly address: Address;
  readonly topics: readonly Hash[];
  readonly data: Hex;
}

/** NFT contracts that remember who owns what, so that tokens are moved by their owners. */
export interface BenchNfts {
  readonly contracts: readonly ScriptedToken[];
  /** Every contract that emits something, the marketplace included. */
  readonly emitters: readonly Address[];
  /** What happens next: one log, or two where a sale fits. @param room logs that the transaction may still hold */
  next(room: number): readonly EmittedLog[];
}

/** Events of NFT contracts. As on Ethereum in 2021 to 2024: an eighth of the logs is sales, two fifths of ERC-721 moves are mints. */
const SALE_SHARE = 0.15;
const ERC1155_SHARE = 0.2;
const BATCH_SHARE = 0.2;
const MINT_SHARE = 0.4;
/** Collections whose ids are hashes, as those of names are. */
const HASHED_IDS_SHARE = 0.1;
const ERC1155_CONTRACTS_SHARE = 0.25;
const BATCH_IDS = { min: 2, max: 20 };
const ERC1155_IDS = 50;
const AMOUNT_MAX = 10;
/** Holdings of an account in a collection; ids of ERC-1155 that came together stay together. */
interface Holding {
  owner: Address;
  readonly ids: readonly Hex[];
  readonly amounts: readonly number[];
}

interface Collection {
  readonly address: Address;
  readonly hashedIds: boolean;
  readonly holdings: Holding[];
}

/** @param wallet draws one */
export function createBenchNfts(random: SeededRandom, count: number, wallet: () => Address): BenchNfts {
  const erc1155Count = Math.floor(count * ERC1155_CONTRACTS_SHARE);
  const contracts = createOrdinaryCollections(random.fork('contracts'), {
    erc721: count - erc1155Count,
    erc1155: erc1155Count,
  });
  const collectionsOf = (kind: ScriptedToken['kind']): Collection[] =>
    contracts
      .filter((contract) => contract.kind === kind)
      .map(({ address }) => ({ address, hashedIds: random.chance(HASHED_IDS_SHARE), holdings: [] }));
  const erc721 = collectionsOf('erc721');
  const erc1155 = collectionsOf('erc1155');
  const pick = (collections: readonly Collection[]): Collection =>
    collections[random.skewedIndex(collections.length, 2)] ?? {
      address: ZERO_ADDRESS,
      hashedIds: false,
      holdings: [],
    };

  /** A token that is minted, or of an account. */
  function erc721Move(minting: boolean): {
    readonly from: Address;
    readonly holding: Holding;
    readonly token: Address;
  } {
    const { address: token, hashedIds, holdings } = pick(erc721);
    const held = minting ? undefined : holdings[random.skewedIndex(holdings.length, 1)];
    if (held !== undefined) return { ...moveOn(held, wallet()), token };
    const id = hashedIds ? random.hex(32) : (numberTopic(holdings.length + 1) as Hex);
    const holding: Holding = { owner: wallet(), ids: [id], amounts: [1] };
    holdings.push(holding);
    return { from: ZERO_ADDRESS, holding, token };
  }

  function erc1155Move(): EmittedLog {
    const { address, holdings } = pick(erc1155);
    const held = random.chance(MINT_SHARE) ? undefined : holdings[random.skewedIndex(holdings.length, 1)];
    if (held !== undefined) {
      const { from, holding } = moveOn(held, wallet());
      return erc1155Log(address, from, from, holding);
    }
    const ids = random.chance(BATCH_SHARE) ? random.integer(BATCH_IDS.min, BATCH_IDS.max) : 1;
    const first = random.integer(1, ERC1155_IDS);
    const holding: Holding = {
      owner: wallet(),
      ids: Array.from({ length: ids }, (_, index) => numberTopic(first + index)),
      amounts: Array.from({ length: ids }, () => random.integer(1, AMOUNT_MAX)),
    };
    holdings.push(holding);
    return erc1155Log(address, wallet(), ZERO_ADDRESS, holding);
  }

  function sale(): readonly EmittedLog[] {
    const { from, holding, token } = erc721Move(false);
    const transfer = erc721Log(token, from, holding);
    // No account sells a token before its mint.
    if (from === ZERO_ADDRESS) return [transfer];
    const price = BigInt(random.integer(1, 9_999)) * 10n ** 15n;
    const tokenId = BigInt(holding.ids[0] ?? '0x0');
    return [
      seaportSaleLog({ orderHash: random.hex(32), seller: from, buyer: holding.owner, token, tokenId, price }),
      transfer,
    ];
  }

  return {
    contracts,
    emitters: [...contracts.map(({ address }) => address), SEAPORT_ADDRESS],
    next(room) {
      const draw = random.next();
      if (draw < SALE_SHARE && room > 1) return sale();
      if (draw > 1 - ERC1155_SHARE && erc1155.length > 0) return [erc1155Move()];
      const { from, holding, token } = erc721Move(random.chance(MINT_SHARE));
      return [erc721Log(token, from, holding)];
    },
  };
}

function moveOn(holding: Holding, to: Address): { readonly from: Address; readonly holding: Holding } {
  const from = holding.owner;
  holding.owner = to;
  return { from, holding };
}

function erc721Log(address: Address, from: Address, { owner, ids: [id] }: Holding): EmittedLog {
  return { address, topics: [TRANSFER_TOPIC, addressTopic(from), addressTopic(owner), id as Hash], data: '0x' };
}

function erc1155Log(
  address: Address,
  operator: Address,
  from: Address,
  { owner, ids, amounts }: Holding,
): EmittedLog {
  const parties = [operator, from, owner].map(addressTopic);
  const numbers = [...ids.map(digits), ...amounts.map(word)];
  if (ids.length === 1)
    return { address, topics: [TRANSFER_SINGLE_TOPIC, ...parties], data: `0x${numbers.join('')}` };
  const lists = [64, 96 + 32 * ids.length, ids.length].map(word).join('');
  const data = [lists, ...numbers.slice(0, ids.length), word(ids.length), ...numbers.slice(ids.length)].join('');
  return { address, topics: [TRANSFER_BATCH_TOPIC, ...parties], data: `0x${data}` };
}

function digits(id: Hex): string {
  return id.slice(2);
}
