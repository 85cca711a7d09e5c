import { type Address, type Hash, parseHash } from '@chainstead/core';
import { encodeFunctionData, type Hex, maxUint256, type TransactionReceipt } from 'viem';
import type { Devnet } from '../devnet/devnet.ts';
import type { DeployedContract, Market } from './market.ts';
import { type ConsiderationItem, items, type OfferItem, order, type SignedOrder } from './seaport-order.ts';

export interface ExpectedTrade {
  readonly what: string;
  readonly token: Address;
  readonly tokenIds: readonly string[];
  readonly amounts: readonly string[];
  readonly seller: Address;
  readonly buyer: Address;
  readonly marketplace: Address;
  /** Null: native currency. */
  readonly paymentToken: Address | null;
  /** Paid by the buyer for the whole order, in base units. */
  readonly price: string;
  /** The price is for several tokens, so one token has none. */
  readonly bundle: boolean;
  readonly transactionHash: Hash;
  readonly transactionIndex: number;
  readonly blockNumber: number;
  readonly blockHash: Hash;
  /** Unix seconds. */
  readonly blockTimestamp: number;
}

export type SaleTerms = Pick<ExpectedTrade, 'what' | 'tokenIds' | 'amounts' | 'price'> &
  Partial<Pick<ExpectedTrade, 'token' | 'paymentToken' | 'bundle'>>;

export interface StallOptions {
  readonly devnet: Devnet;
  readonly market: Market;
  readonly seller: Address;
  readonly buyer: Address;
  /** Wei; divisible by 40, so that the fee is whole. */
  readonly price: bigint;
  /** Never repeats, even after reorgs. */
  next(): bigint;
}

export type MarketStall = ReturnType<typeof openStall>;

const FEE_DIVISOR = 40n;

export function openStall(options: StallOptions) {
  const { devnet, market, seller, buyer, price, next } = options;
  const { seaport, cats, prints } = market;
  const fee = price / FEE_DIVISOR;
  const send = (
    to: DeployedContract,
    functionName: string,
    args: readonly unknown[],
    from: Address,
    value = 0n,
  ) => devnet.send({ ...to, functionName, args, from, value });
  const listing = (
    offer: readonly OfferItem[],
    total = price,
    more: readonly ConsiderationItem[] = [],
  ): SignedOrder => {
    const part = total / FEE_DIVISOR;
    const wanted = [
      { ...items.ether(total - part), recipient: seller },
      { ...items.ether(part), recipient: market.feeRecipient },
    ];
    return order({ offerer: seller, offer, consideration: [...wanted, ...more], salt: next() });
  };
  return {
    market,
    seller,
    buyer,
    price,
    fee,
    next,
    async mintCat(id = next()): Promise<bigint> {
      await send(cats, 'mint', [seller, id], seller);
      return id;
    },
    async mintPrints(amount: bigint): Promise<bigint> {
      const id = next();
      await send(prints, 'mint', [seller, id, amount], seller);
      return id;
    },
    longId: (): bigint => maxUint256 - next(),
    listing,
    /** Saves the signatures of orders. */
    validate: (orders: readonly SignedOrder[], offerer: Address) => send(seaport, 'validate', [orders], offerer),
    fill: (functionName: string, args: readonly unknown[], from: Address, value = 0n) =>
      send(seaport, functionName, args, from, value),
    fillThroughRouter(functionName: string, args: readonly unknown[], id: bigint): Promise<TransactionReceipt> {
      const call: Hex = encodeFunctionData({ abi: seaport.abi, functionName, args });
      return send(market.router, 'buy', [seaport.address, call, cats.address, id], buyer, price);
    },
    cancel: (orders: readonly SignedOrder[]) =>
      send(seaport, 'cancel', [orders.map(({ parameters }) => ({ ...parameters, counter: 0n }))], seller),
    async sold(receipt: TransactionReceipt, ...terms: readonly SaleTerms[]): Promise<ExpectedTrade[]> {
      const { timestamp } = await devnet.client.getBlock({ blockHash: receipt.blockHash });
      const place = {
        transactionHash: parseHash(receipt.transactionHash),
        transactionIndex: receipt.transactionIndex,
        blockNumber: Number(receipt.blockNumber),
        blockHash: parseHash(receipt.blockHash),
        blockTimestamp: Number(timestamp),
      };
      const parties = { seller, buyer, marketplace: seaport.address };
      return terms.map((term) => {
        const defaults = { token: cats.address, paymentToken: null, bundle: term.tokenIds.length > 1 };
        return { ...defaults, ...term, ...parties, ...place };
      });
    },
  };
}
