/** No log makes it throw. Start at `erc20-transfer.ts` and `decode-nft-transfers.ts`. */

export { decodeNftTransfers, readNftLogs } from './decode-nft-transfers.ts';
export {
  APPROVAL_FOR_ALL_TOPIC,
  APPROVAL_TOPIC,
  type Approval,
  decodeApproval,
  decodeErc20Transfer,
  type Erc20Transfer,
} from './erc20-transfer.ts';
export {
  MALFORMED_REASONS,
  type MalformedNftLog,
  type MalformedReason,
  NFT_TRANSFER_KINDS,
  type NftTransfer,
  type NftTransferKind,
} from './nft-transfer.ts';
export {
  CONSECUTIVE_TRANSFER_TOPIC,
  isNativeTransferLog,
  nftTransferTopics,
  PUNK_ASSIGN_TOPIC,
  PUNK_BOUGHT_TOPIC,
  PUNK_TRANSFER_TOPIC,
  TRANSFER_BATCH_TOPIC,
  TRANSFER_SINGLE_TOPIC,
  TRANSFER_TOPIC,
  topicOf,
} from './topics.ts';
