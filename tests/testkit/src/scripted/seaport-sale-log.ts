import { type Address, type Hash, type Hex, ZERO_ADDRESS } from '@chainstead/core';
import { addressTopic, word } from './scripted-event.ts';

/** Seaport 1.6, the same on every chain. */
export const SEAPORT_ADDRESS = '0x0000000000000068f116a894984e2db1123eb395' as Address;
/** keccak256 of Seaport's `OrderFulfilled(bytes32,address,address,address,(uint8,address,uint256,uint256)[],(uint8,address,uint256,uint256,address)[])`. */
export const ORDER_FULFILLED_TOPIC = '0x9d9af8e38d66c62e2c12f0225249fd9d721c54b83f48d9352c97c6cacdcb6f31' as Hash;

/** Seaport's item types, and its fee in hundredths of a per cent. */
const ITEM = { native: 0, erc721: 2 };
const FEE_BASIS_POINTS = 250n;
const FEE_RECEIVER = '0x0000a26b00c1f0df003000390027140000faa719' as Address;

export interface SeaportSale {
  readonly orderHash: Hex;
  readonly seller: Address;
  readonly buyer: Address;
  /** Of ERC-721. */
  readonly token: Address;
  readonly tokenId: bigint;
  /** Wei, the fee included. */
  readonly price: bigint;
}

/** What Seaport emits when a listing is bought with ether: one token for the seller's part and the marketplace's. */
export function seaportSaleLog({ orderHash, seller, buyer, token, tokenId, price }: SeaportSale) {
  const fee = (price * FEE_BASIS_POINTS) / 10_000n;
  const offer = [1, ITEM.erc721, BigInt(token), tokenId, 1];
  const paid = (amount: bigint, to: Address): (number | bigint)[] => [ITEM.native, 0, 0, amount, BigInt(to)];
  const consideration = [2, ...paid(price - fee, seller), ...paid(fee, FEE_RECEIVER)];
  const head = [BigInt(orderHash), BigInt(buyer), 4 * 32, (4 + offer.length) * 32];
  return {
    address: SEAPORT_ADDRESS,
    topics: [ORDER_FULFILLED_TOPIC, addressTopic(seller), addressTopic(ZERO_ADDRESS)],
    data: `0x${[...head, ...offer, ...consideration].map(word).join('')}` as Hex,
  };
}
