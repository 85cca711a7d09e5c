import { type Address, type Hex, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { parseAbiItem } from 'abitype';
import { deployments } from '../deployments.ts';
import { eventArguments, lowerCase, topicOf } from '../event-arguments.ts';
import type { Marketplace } from '../marketplace.ts';
import { type NetOrder, netOrderFills } from '../net-order.ts';
import { tradedItem } from '../traded-items.ts';

const ERC721_FILLED = parseAbiItem(
  'event ERC721OrderFilled(uint8 direction, address maker, address taker, uint256 nonce, address erc20Token, uint256 erc20TokenAmount, address erc721Token, uint256 erc721TokenId, address matcher)',
);
const ERC1155_FILLED = parseAbiItem(
  'event ERC1155OrderFilled(uint8 direction, address maker, address taker, uint256 nonce, address erc20Token, uint256 erc20FillAmount, address erc1155Token, uint256 erc1155TokenId, uint128 erc1155FillAmount, address matcher)',
);

const PROTOCOL = '0x-v4';
const EXCHANGE_PROXY = '0xdef1c0ded9bec7f1a1670819833240f027b25eff';

/**
 * 0x protocol v4: NFT orders of the exchange proxy. Fees are paid on top of the event's amount: see `netOrderFills`.
 */
export const zeroExV4: Marketplace = {
  name: '0xprotocol',
  protocol: PROTOCOL,
  topics: [ERC721_FILLED, ERC1155_FILLED].map(topicOf),
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
  const single = eventArguments(ERC721_FILLED, log);
  if (single !== null)
    return {
      ...parties(single.direction, lowerCase(single.maker), lowerCase(single.taker)),
      log,
      item: tradedItem(single.erc721Token, single.erc721TokenId),
      payment: single.erc20Token,
      amount: single.erc20TokenAmount,
      matched: isMatched(single.matcher),
    };
  const several = eventArguments(ERC1155_FILLED, log);
  if (several === null) return null;
  return {
    ...parties(several.direction, lowerCase(several.maker), lowerCase(several.taker)),
    log,
    item: tradedItem(several.erc1155Token, several.erc1155TokenId, several.erc1155FillAmount),
    payment: several.erc20Token,
    amount: several.erc20FillAmount,
    matched: isMatched(several.matcher),
  };
}

/** Direction 0: the maker sells; 1: the maker buys. */
function parties(direction: number, maker: Address, taker: Address): Pick<NetOrder, 'side' | 'seller' | 'buyer'> {
  return direction === 0 ? { side: 0, seller: maker, buyer: taker } : { side: 1, seller: taker, buyer: maker };
}

/** The zero address unless a third party matched two orders. */
function isMatched(matcher: Hex): boolean {
  return lowerCase(matcher) !== ZERO_ADDRESS;
}
