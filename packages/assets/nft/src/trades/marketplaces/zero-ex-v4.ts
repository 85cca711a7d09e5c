import { type Log, ZERO_ADDRESS } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import { deployments, type Marketplace } from '../marketplace.ts';
import { type NetOrder, netOrderFills } from '../net-order.ts';
import { lowerCase, tradedItem } from '../traded-item.ts';

const ORDER = 'uint8 direction, address maker, address taker, uint256 nonce, address erc20Token';
const ERC721_FILLED = defineEvent(
  `event ERC721OrderFilled(${ORDER}, uint256 erc20TokenAmount, address erc721Token, uint256 erc721TokenId, address matcher)`,
);
const ERC1155_FILLED = defineEvent(
  `event ERC1155OrderFilled(${ORDER}, uint256 erc20FillAmount, address erc1155Token, uint256 erc1155TokenId, uint128 erc1155FillAmount, address matcher)`,
);

const PROTOCOL = '0x-v4';
const EXCHANGE_PROXY = '0xdef1c0ded9bec7f1a1670819833240f027b25eff';

/** Fees are paid on top of the event's amount: see `netOrderFills`. */
export const zeroExV4: Marketplace = {
  name: '0xprotocol',
  protocol: PROTOCOL,
  topics: [ERC721_FILLED, ERC1155_FILLED].map(({ topic }) => topic),
  addresses: deployments(PROTOCOL, {
    1: EXCHANGE_PROXY,
    10: '0xdef1abe32c034e558cdd535791643c58a13acc10',
    56: EXCHANGE_PROXY,
    137: EXCHANGE_PROXY,
    8453: EXCHANGE_PROXY,
    42161: EXCHANGE_PROXY,
    43114: EXCHANGE_PROXY,
  }),
  fills: (own, transaction) => netOrderFills(own, transaction, readOrder),
};

function readOrder(log: Log): NetOrder | null {
  const order = ERC721_FILLED.read(log) ?? ERC1155_FILLED.read(log);
  if (order === null) return null;
  const [maker, taker] = [lowerCase(order.maker), lowerCase(order.taker)];
  const makerSells = order.direction === 0;
  return {
    log,
    side: makerSells ? 0 : 1,
    seller: makerSells ? maker : taker,
    buyer: makerSells ? taker : maker,
    item:
      'erc721Token' in order
        ? tradedItem(order.erc721Token, order.erc721TokenId)
        : tradedItem(order.erc1155Token, order.erc1155TokenId, order.erc1155FillAmount),
    payment: order.erc20Token,
    amount: 'erc20TokenAmount' in order ? order.erc20TokenAmount : order.erc20FillAmount,
    matched: order.matcher !== ZERO_ADDRESS,
  };
}
