/** A marketplace's events for one sale, for tests: the logs of a transaction, and the expected trades. */
import { type Address, parseAddress, ZERO_ADDRESS } from '@chainstead/core';
import { type AbiEvent, parseAbi } from 'viem';
import type { tradesOf } from '../../testing/example-trades.ts';
import { type ExampleLog, exampleAddress, exampleLog } from '../../testing/example-transaction.ts';

type Trade = Omit<ReturnType<typeof tradesOf>[number], 'logIndex'>;

export interface ExampleSale {
  readonly what: string;
  readonly protocol: string;
  readonly chainId: number;
  readonly logs: readonly ExampleLog[];
  /** Without the position of the log. */
  readonly trades: readonly Trade[];
}

export const seller = exampleAddress(1);
export const buyer = exampleAddress(2);
export const feeWallet = exampleAddress(3);
export const artist = exampleAddress(4);
export const router = exampleAddress(5);
export const other = exampleAddress(6);
/** ERC-721. */
export const cats = exampleAddress(11);
/** ERC-1155. */
export const prints = exampleAddress(12);
export const weth = exampleAddress(13);
export const NATIVE_CURRENCY = ZERO_ADDRESS;
export const HASH = `0x${'5'.repeat(64)}`;

/** One cat, from seller to buyer, for 1000 of the native token, unless specified otherwise. */
export function trade(facts: Partial<Trade> = {}): Trade {
  return {
    token: cats,
    ids: ['7'],
    amounts: ['1'],
    seller,
    buyer,
    side: 0,
    paymentToken: null,
    price: '1000',
    ...facts,
  };
}

/** A sale of one trade. @param facts differences from {@link trade} */
export function sale(
  protocol: string,
  what: string,
  logs: readonly ExampleLog[],
  facts: Partial<Trade> = {},
  chainId = 1,
): ExampleSale {
  return { what, protocol, chainId, logs, trades: [trade(facts)] };
}

/** Returns a factory for logs of one contract's event. */
export function emitter(
  contract: string,
  signature: string | readonly string[],
): (args: Readonly<Record<string, unknown>>) => ExampleLog {
  const [event] = parseAbi([signature].flat()) as readonly AbiEvent[];
  if (event === undefined) throw new RangeError(`not an event: ${signature}`);
  const address: Address = parseAddress(contract);
  return (args) => exampleLog(address, event, args);
}
