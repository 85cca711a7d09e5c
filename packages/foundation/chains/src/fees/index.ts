/** Fees of transactions, by chain and fork. */
export { BLOB_GAS, blobGasPrice } from './blob-price.ts';
export {
  type ExecutedJson,
  type FeeParts,
  feeParts,
  feesOf,
  isDeposit,
  isFeeKnownWithoutHeader,
  isSponsored,
} from './transaction-fee.ts';
