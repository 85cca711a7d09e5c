import type { Chain } from '@chainstead/chains';
import { type Address, type BlockHeader, parseBigQuantity, toQuantity } from '@chainstead/core';
import { createdContract, type TransactionJson } from '@chainstead/proof';
import { BLOB_GAS, blobGasPrice } from './blob-price.ts';
import type { DerivedMembers } from './decode-receipts.ts';

/** Wei. Nodes show it as `gasPrice` and `effectiveGasPrice`. */
export function pricePaid(transaction: TransactionJson, header: BlockHeader): bigint {
  if (transaction.maxFeePerGas === undefined) return parseBigQuantity(transaction.gasPrice);
  const [limit, tip] = [transaction.maxFeePerGas, transaction.maxPriorityFeePerGas].map(parseBigQuantity);
  const price = parseBigQuantity(header.raw.baseFeePerGas ?? '0x0') + (tip ?? 0n);
  return limit !== undefined && limit < price ? limit : price;
}

/** Receipt members that a node derives from transaction and header. */
export function derivedMembers(
  transaction: TransactionJson,
  sender: Address | null,
  header: BlockHeader,
  chain: Pick<Chain, 'id'>,
): DerivedMembers {
  const { to, nonce } = transaction;
  const isCreation = to === null && sender !== null;
  return {
    from: sender,
    to,
    contractAddress: isCreation ? createdContract(sender, parseBigQuantity(nonce)) : null,
    effectiveGasPrice: toQuantity(pricePaid(transaction, header)),
    ...blobMembers(transaction, header, chain),
  };
}

/** False: the price of blobs depends on a fork that this version does not know. */
export function knowsBlobPrice(
  transaction: TransactionJson,
  header: BlockHeader,
  chain: Pick<Chain, 'id'>,
): boolean {
  return !Array.isArray(transaction.blobVersionedHashes) || priceOf(header, chain) !== null;
}

function blobMembers(
  { blobVersionedHashes }: TransactionJson,
  header: BlockHeader,
  chain: Pick<Chain, 'id'>,
): DerivedMembers {
  if (!Array.isArray(blobVersionedHashes)) return {};
  const price = priceOf(header, chain);
  return {
    blobGasUsed: toQuantity(BLOB_GAS * BigInt(blobVersionedHashes.length)),
    ...(price === null ? {} : { blobGasPrice: toQuantity(price) }),
  };
}

function priceOf({ raw, timestamp }: BlockHeader, { id }: Pick<Chain, 'id'>): bigint | null {
  return raw.excessBlobGas === undefined
    ? null
    : blobGasPrice(id, timestamp, parseBigQuantity(raw.excessBlobGas));
}
