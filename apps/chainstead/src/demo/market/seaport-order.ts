/** Orders of Seaport 1.6 (ConsiderationStructs.sol of `seaport-types`). */
import { type Address, ZERO_ADDRESS } from '@chainstead/core';
import { type Hex, zeroHash } from 'viem';

const ITEM_TYPES = { native: 0, erc20: 1, erc721: 2, erc1155: 3, erc721OfAnyId: 4 } as const;
const FULL_OPEN = 0;
const PARTIAL_OPEN = 1;
/** Unix seconds. */
const FAR_FUTURE = 2n ** 40n;

export interface OfferItem {
  readonly itemType: number;
  readonly token: Address;
  readonly identifierOrCriteria: bigint;
  readonly startAmount: bigint;
  readonly endAmount: bigint;
}

export interface ConsiderationItem extends OfferItem {
  readonly recipient: Address;
}

interface OrderParameters {
  readonly offerer: Address;
  readonly zone: Address;
  readonly offer: readonly OfferItem[];
  readonly consideration: readonly ConsiderationItem[];
  readonly orderType: number;
  readonly startTime: bigint;
  readonly endTime: bigint;
  readonly zoneHash: Hex;
  readonly salt: bigint;
  readonly conduitKey: Hex;
  readonly totalOriginalConsiderationItems: bigint;
}

export interface SignedOrder {
  readonly parameters: OrderParameters;
  readonly signature: Hex;
}

export interface AdvancedOrder extends SignedOrder {
  readonly numerator: bigint;
  readonly denominator: bigint;
  readonly extraData: Hex;
}

export interface Fulfillment {
  readonly offerComponents: readonly Component[];
  readonly considerationComponents: readonly Component[];
}

export interface Component {
  readonly orderIndex: bigint;
  readonly itemIndex: bigint;
}

const item = (itemType: number, token: Address, identifierOrCriteria: bigint, amount: bigint): OfferItem => ({
  itemType,
  token,
  identifierOrCriteria,
  startAmount: amount,
  endAmount: amount,
});

export const items = {
  ether: (amount: bigint): OfferItem => item(ITEM_TYPES.native, ZERO_ADDRESS, 0n, amount),
  erc20: (token: Address, amount: bigint): OfferItem => item(ITEM_TYPES.erc20, token, 0n, amount),
  erc721: (token: Address, id: bigint): OfferItem => item(ITEM_TYPES.erc721, token, id, 1n),
  erc1155: (token: Address, id: bigint, amount: bigint): OfferItem => item(ITEM_TYPES.erc1155, token, id, amount),
  anyErc721: (token: Address): OfferItem => item(ITEM_TYPES.erc721OfAnyId, token, 0n, 1n),
};

export function order(options: {
  readonly offerer: Address;
  readonly offer: readonly OfferItem[];
  readonly consideration: readonly ConsiderationItem[];
  readonly salt: bigint;
  readonly partial?: boolean;
}): SignedOrder {
  const { offerer, offer, consideration, salt, partial = false } = options;
  const parameters: OrderParameters = {
    offerer,
    zone: ZERO_ADDRESS,
    offer,
    consideration,
    orderType: partial ? PARTIAL_OPEN : FULL_OPEN,
    startTime: 0n,
    endTime: FAR_FUTURE,
    zoneHash: zeroHash,
    salt,
    conduitKey: zeroHash,
    totalOriginalConsiderationItems: BigInt(consideration.length),
  };
  return { parameters, signature: '0x' };
}

export function advanced(plain: SignedOrder, numerator = 1n, denominator = 1n): AdvancedOrder {
  return { ...plain, numerator, denominator, extraData: '0x' };
}

export function component(orderIndex: number, itemIndex: number): Component {
  return { orderIndex: BigInt(orderIndex), itemIndex: BigInt(itemIndex) };
}

export function fulfillment(offered: readonly [number, number], wanted: readonly [number, number]): Fulfillment {
  return { offerComponents: [component(...offered)], considerationComponents: [component(...wanted)] };
}
