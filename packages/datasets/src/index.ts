/**
 * The datasets: what Chainstead makes of blocks, each a folder with its table, decoder, query, route and tests; beside them
 * token facts, and lists that operators import. Start reading at registry.ts, then erc20-transfers/dataset.ts.
 */

export { type DecodedAbi, decodeMeasured } from './abi/decode-abi.ts';
export { EncodingRefusedError } from './abi/encoding-refused.ts';
export { createDatasetRoutes, type DatasetRoutesOptions, type OnDemandLimits } from './dataset-routes.ts';
export { decimalAmount } from './decimal-amount.ts';
export { type Direction, type Erc20TransferRow, erc20Transfers } from './erc20-transfers/dataset.ts';
export {
  type AddressLabel,
  COUNT_MAX,
  getWalletTokenTransfers,
  type TransferKey,
  type WalletTransfer,
  type WalletTransfersPage,
  type WalletTransfersQuery,
} from './erc20-transfers/get-wallet-token-transfers.ts';
export { transferParties } from './erc20-transfers/transfer-event.ts';
export { walletTokenTransfersSchema } from './erc20-transfers/wallet-token-transfers-response.ts';
export { walletTokenTransfersRoute } from './erc20-transfers/wallet-token-transfers-route.ts';
export { walletTransfersStatement } from './erc20-transfers/wallet-transfers-statement.ts';
export {
  createEtherPriceWorker,
  type EtherPriceWorker,
  type EtherPriceWorkerOptions,
} from './ether-price/ether-price-worker.ts';
export { createHistories } from './histories/histories.ts';
export { type ImportListOptions, type ImportReport, importList, type ListKind } from './lists/import-list.ts';
export { ListError } from './lists/list-error.ts';
export {
  type MetadataCounts,
  type MetadataStatus,
  readMetadataStatuses,
} from './nft-collections/metadata-status.ts';
export {
  createMetadataWorker,
  type MetadataWorker,
  type MetadataWorkerOptions,
} from './nft-collections/metadata-worker.ts';
export {
  createDocumentReader,
  type DocumentReader,
  type DocumentReaderOptions,
} from './nft-collections/read-document.ts';
export type { OnCollection } from './nft-collections/reading-context.ts';
export { addressAt, decimalAt } from './nft-events/abi-words.ts';
export { decodeNftMovements } from './nft-events/decode-nft-movements.ts';
export { MOVEMENT_KINDS } from './nft-events/movement.ts';
export { salePricesSchema } from './nft-prices/sale-prices-response.ts';
export { type SalePricesQuery, salePricesStatement } from './nft-prices/sale-prices-statement.ts';
export { tradesSchema } from './nft-trades/trades-response.ts';
export { type TradesQuery, type TradesSubject, tradesStatement } from './nft-trades/trades-statement.ts';
export { readExamples } from './read-examples.ts';
export { datasets } from './registry.ts';
export type { Statement } from './statement.ts';
export { createTokenFactsReader, type TokenFacts, type TokenFactsReader } from './tokens/facts.ts';
export { saveTokenFacts } from './tokens/pending-facts.ts';
export { looksLikeSpam } from './tokens/spam-rule.ts';
export {
  createTokenFactsWorker,
  type TokenFactsWorker,
  type TokenFactsWorkerOptions,
} from './tokens/token-facts-worker.ts';
