/** A process that only fills datasets loads no routes and starts in two thirds of the time. */
export { nftMetadataEvents } from './collections/metadata-events-dataset.ts';
export { nftTrades } from './trades/dataset.ts';
export { punkBids } from './trades/punk-bids.ts';
export { nftTransfers } from './transfers/dataset.ts';
export { nftMalformedLogs } from './transfers/malformed-logs.ts';
