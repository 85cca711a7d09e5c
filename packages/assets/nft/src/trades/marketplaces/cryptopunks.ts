import type { Chain } from '@chainstead/chains';
import { type Address, type Log, ZERO_ADDRESS } from '@chainstead/core';
import { defineEvent } from '@chainstead/events/decoding';
import { TRANSFER_TOPIC } from '@chainstead/events/token-events';
import { deployments, type Fill, type Marketplace, type TradeTransaction } from '../marketplace.ts';
import { lowerCase, tradedItem } from '../traded-item.ts';

const BOUGHT = defineEvent(
  'event PunkBought(uint256 indexed punkIndex, uint256 value, address indexed fromAddress, address indexed toAddress)',
);
/** One unit, in the format of ERC-20. */
const TRANSFER = defineEvent('event Transfer(address indexed from, address indexed to, uint256 value)');

const PROTOCOL = 'cryptopunks';
const added = deployments(PROTOCOL, {});

/**
 * PunkBought has neither buyer nor price: the buyer is in the Transfer before it, the price in an
 * earlier bid (`punk_bids`).
 */
export const cryptoPunks: Marketplace = {
  name: 'cryptopunks',
  protocol: PROTOCOL,
  topics: [BOUGHT.topic],
  addresses: (chain: Chain) => [...(chain.cryptoPunks === null ? [] : [chain.cryptoPunks]), ...added(chain)],
  fills: (own, transaction) => own.flatMap((log) => readFill(log, transaction) ?? []),
};

function readFill(log: Log, transaction: TradeTransaction): Fill | null {
  const bought = BOUGHT.read(log);
  if (bought === null) return null;
  const { punkIndex, value } = bought;
  const seller = lowerCase(bought.fromAddress);
  const named = lowerCase(bought.toAddress);
  const items = [tradedItem(log.address, punkIndex)];
  if (named !== ZERO_ADDRESS)
    return { log, side: 0, seller, buyer: named, items, paymentToken: null, price: value };
  const buyer = bidderOf(log, seller, transaction);
  if (buyer === null) return null;
  return { log, side: 1, seller, buyer, items, paymentToken: null, price: null, partiesFinal: true };
}

function bidderOf(bought: Log, seller: Address, { logs }: TradeTransaction): Address | null {
  const transfer = logs.findLast(
    (log) => log.address === bought.address && log.topics[0] === TRANSFER_TOPIC && log.logIndex < bought.logIndex,
  );
  const moved = transfer === undefined ? null : TRANSFER.read(transfer);
  return moved !== null && lowerCase(moved.from) === seller ? lowerCase(moved.to) : null;
}
