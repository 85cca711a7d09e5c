import { defineEvent } from '@chainstead/events/decoding';
import { eventDataset, eventRows } from '@chainstead/sync/datasets';
import { punkBids as table } from './schema.ts';

const BID = '(uint256 indexed tokenId, uint256 value, address indexed bidder)';
const ENTERED = defineEvent(`event PunkBidEntered${BID}`);
const WITHDRAWN = defineEvent(`event PunkBidWithdrawn${BID}`);

/** The price of an accepted bid, whose event has none (trade-price-statement.ts). */
export const punkBids = eventDataset({
  name: 'punk-bids',
  table,
  isRead: (chain) => chain.cryptoPunks !== null && chain.nftTrades,
  events: [ENTERED, WITHDRAWN].map((event) =>
    eventRows(event, (bid, { address: tokenAddress }, { chain }) =>
      tokenAddress === chain.cryptoPunks ? { tokenAddress, ...bid, entered: event === ENTERED } : [],
    ),
  ),
});
