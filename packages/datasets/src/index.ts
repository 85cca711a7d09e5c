/**
 * The datasets: what Chainstead makes of blocks, each a folder with its table, decoder, query, route and tests; beside them
 * token facts, and lists that operators import. Start reading at registry.ts, then erc20-transfers/dataset.ts.
 */

export { decodeMeasured } from './abi/decode-abi.ts';
export { createDatasetRoutes } from './dataset-routes.ts';
export { decimalAmount } from './decimal-amount.ts';
export { erc20Transfers } from './erc20-transfers/dataset.ts';
export { transferParties } from './erc20-transfers/transfer-event.ts';
export { walletTokenTransfersRoute } from './erc20-transfers/wallet-token-transfers-route.ts';
export { createEtherPriceWorker } from './ether-price/ether-price-worker.ts';
export { createHistories } from './histories/histories.ts';
export { importList, type ListKind } from './lists/import-list.ts';
export { type MetadataCounts, type MetadataStatus, readMetadataStatuses } from './nft-collections/metadata-status.ts';
export { createMetadataWorker } from './nft-collections/metadata-worker.ts';
export { createDocumentReader } from './nft-collections/read-document.ts';
export { addressAt, decimalAt } from './nft-events/abi-words.ts';
export { decodeNftMovements } from './nft-events/decode-nft-movements.ts';
export { MOVEMENT_KINDS } from './nft-events/movement.ts';
export { readExamples } from './read-examples.ts';
export { datasets } from './registry.ts';
export { createTokenFactsReader, type TokenFactsReader } from './tokens/facts.ts';
export { saveTokenFacts } from './tokens/pending-facts.ts';
export { createTokenFactsWorker } from './tokens/token-facts-worker.ts';
