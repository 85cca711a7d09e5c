import type { Log } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import { deployments, type Marketplace } from '../marketplace.ts';
import { type NetOrder, netOrderFills } from '../net-order.ts';
import { lowerCase, tradedItem } from '../traded-item.ts';

const V1 = 'address maker, address taker, address erc20Token, uint256 amount, address token, uint256 tokenId';
const V1_ERC721_SELL = defineEvent(`event ERC721SellOrderFilled(${V1}, bytes32 orderHash)`);
const V1_ERC721_BUY = defineEvent(`event ERC721BuyOrderFilled(${V1}, bytes32 orderHash)`);
const V1_ERC1155_SELL = defineEvent(`event ERC1155SellOrderFilled(${V1}, uint128 filled, bytes32 orderHash)`);
const V1_ERC1155_BUY = defineEvent(`event ERC1155BuyOrderFilled(${V1}, uint128 filled, bytes32 orderHash)`);
const V2 =
  'bytes32 orderHash, address maker, address taker, uint256 nonce, address erc20Token, uint256 amount, (address recipient, uint256 amount)[] fees, address token, uint256 tokenId';
const V2_ERC721_SELL = defineEvent(`event ERC721SellOrderFilled(${V2})`);
const V2_ERC721_BUY = defineEvent(`event ERC721BuyOrderFilled(${V2})`);
const V2_ERC1155_SELL = defineEvent(`event ERC1155SellOrderFilled(${V2}, uint128 filled)`);
const V2_ERC1155_BUY = defineEvent(`event ERC1155BuyOrderFilled(${V2}, uint128 filled)`);

const CONTRACTS = {
  1: '0x20f780a973856b93f63670377900c1d2a50a77c4',
  10: '0x2317d8b224328644759319dffa2a5da77c72e0e9',
  56: '0xb3e3dfcb2d9f3dde16d78b9e6eb3538eb32b5ae1',
  137: '0xeaf5453b329eb38be159a872a6ce91c9a8fb0260',
  8453: '0xa39a5f160a1952ddf38781bd76e402b0006912a9',
  42161: '0x18cd9270dbdca86d470cfb3be1b156241fffa9de',
  43114: '0x18cd9270dbdca86d470cfb3be1b156241fffa9de',
};

/** Like 0x v4: the amount excludes the fees, which are paid on top. */
export const elementV1: Marketplace = {
  name: 'element',
  protocol: 'element-v1',
  topics: [V1_ERC721_SELL, V1_ERC721_BUY, V1_ERC1155_SELL, V1_ERC1155_BUY].map(({ topic }) => topic),
  addresses: deployments('element-v1', CONTRACTS),
  fills: (own, transaction) =>
    netOrderFills(own, transaction, (log) => {
      const sold = V1_ERC721_SELL.read(log) ?? V1_ERC1155_SELL.read(log);
      return orderOf(log, sold, V1_ERC721_BUY.read(log) ?? V1_ERC1155_BUY.read(log));
    }),
};

/** The amount includes the event's fees; matched orders emit two events here too. */
export const elementV2: Marketplace = {
  name: 'element',
  protocol: 'element-v2',
  topics: [V2_ERC721_SELL, V2_ERC721_BUY, V2_ERC1155_SELL, V2_ERC1155_BUY].map(({ topic }) => topic),
  addresses: deployments('element-v2', CONTRACTS),
  fills: (own, transaction) =>
    netOrderFills(own, { ...transaction, payments: [] }, (log) => {
      const sold = V2_ERC721_SELL.read(log) ?? V2_ERC1155_SELL.read(log);
      return orderOf(log, sold, V2_ERC721_BUY.read(log) ?? V2_ERC1155_BUY.read(log));
    }),
};

interface FilledOrder {
  readonly maker: `0x${string}`;
  readonly taker: `0x${string}`;
  readonly erc20Token: `0x${string}`;
  readonly amount: bigint;
  readonly token: `0x${string}`;
  readonly tokenId: bigint;
  readonly filled?: bigint;
}

function orderOf(log: Log, sold: FilledOrder | null, bought: FilledOrder | null): NetOrder | null {
  const order = sold ?? bought;
  if (order === null) return null;
  const [maker, taker] = [lowerCase(order.maker), lowerCase(order.taker)];
  return {
    log,
    side: sold === null ? 1 : 0,
    seller: sold === null ? taker : maker,
    buyer: sold === null ? maker : taker,
    item: tradedItem(order.token, order.tokenId, order.filled),
    payment: order.erc20Token,
    amount: order.amount,
    matched: null,
  };
}
