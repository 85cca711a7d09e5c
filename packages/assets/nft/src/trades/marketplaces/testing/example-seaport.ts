/** Seaport's logs for tests. */
import { type Address, type Hash, parseAddress, parseHash, ZERO_ADDRESS } from '@chainstead/core';
import { parseAbiItem } from 'viem';
import { type ExampleLog, exampleLog } from '../../testing/example-transaction.ts';

const ORDER_FULFILLED = parseAbiItem([
  'event OrderFulfilled(bytes32 orderHash, address indexed offerer, address indexed zone, address recipient, SpentItem[] offer, ReceivedItem[] consideration)',
  'struct SpentItem { uint8 itemType; address token; uint256 identifier; uint256 amount; }',
  'struct ReceivedItem { uint8 itemType; address token; uint256 identifier; uint256 amount; address recipient; }',
]);
const ORDERS_MATCHED = parseAbiItem('event OrdersMatched(bytes32[] orderHashes)');

export const SEAPORT_1_1 = parseAddress('0x00000000006c3852cbef3e08e8df289169ede581');
export const SEAPORT_1_6 = parseAddress('0x0000000000000068f116a894984e2db1123eb395');

export interface ExampleItem {
  readonly itemType: number;
  readonly token: Address;
  readonly identifier: bigint;
  readonly amount: bigint;
  readonly recipient: Address;
}

export const native = (amount: bigint, recipient: Address = ZERO_ADDRESS): ExampleItem => ({
  itemType: 0,
  token: ZERO_ADDRESS,
  identifier: 0n,
  amount,
  recipient,
});

export const erc20 = (token: Address, amount: bigint, recipient: Address = ZERO_ADDRESS): ExampleItem => ({
  itemType: 1,
  token,
  identifier: 0n,
  amount,
  recipient,
});

export const erc721 = (token: Address, identifier: bigint, recipient: Address = ZERO_ADDRESS): ExampleItem => ({
  itemType: 2,
  token,
  identifier,
  amount: 1n,
  recipient,
});

export const erc1155 = (
  token: Address,
  identifier: bigint,
  amount: bigint,
  recipient: Address = ZERO_ADDRESS,
): ExampleItem => ({ itemType: 3, token, identifier, amount, recipient });

export interface ExampleOrder {
  readonly hash?: Hash;
  readonly offerer: Address;
  readonly recipient: Address;
  readonly offer: readonly ExampleItem[];
  readonly consideration: readonly ExampleItem[];
}

export function orderHash(number: number): Hash {
  return parseHash(`0x${number.toString(16).padStart(64, '0')}`);
}

export function orderFulfilled(order: ExampleOrder, seaport: Address = SEAPORT_1_6): ExampleLog {
  const { hash: hashOfOrder = orderHash(1), ...terms } = order;
  return exampleLog(seaport, ORDER_FULFILLED, { ...terms, orderHash: hashOfOrder, zone: ZERO_ADDRESS });
}

export function ordersMatched(hashes: readonly Hash[], seaport: Address = SEAPORT_1_6): ExampleLog {
  return exampleLog(seaport, ORDERS_MATCHED, { orderHashes: hashes });
}
