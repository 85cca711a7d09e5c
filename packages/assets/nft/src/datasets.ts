/** Separate: workers that only fill datasets start faster without the routes. */
export { nftMetadataEvents } from './collections/metadata-events-dataset.ts';
export { nftTrades } from './trades/dataset.ts';
export { punkBids } from './trades/punk-bids.ts';
export { nftTransfers } from './transfers/dataset.ts';
export { nftMalformedLogs } from './transfers/malformed-logs.ts';
