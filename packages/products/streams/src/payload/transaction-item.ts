import type { Chain } from '@chainstead/chains';
import { decimalAmount } from '@chainstead/core';
import type { MatchedTransaction } from '../matching/match.ts';
import type { WebhookTransaction } from '../webhook.ts';

export function transactionItem(matched: MatchedTransaction, chain: Chain): WebhookTransaction {
  const { transaction, receipt } = matched;
  return {
    hash: matched.hash,
    gas: decimal(transaction.gas),
    gasPrice: decimal(transaction.gasPrice ?? receipt.effectiveGasPrice),
    nonce: decimal(transaction.nonce),
    input: hexadecimal(transaction.input),
    transactionIndex: String(matched.index),
    fromAddress: matched.from,
    toAddress: matched.to,
    value: decimal(transaction.value),
    type: decimal(transaction.type),
    v: decimal(transaction.v ?? transaction.yParity),
    r: decimal(transaction.r),
    s: decimal(transaction.s),
    receiptCumulativeGasUsed: decimal(receipt.cumulativeGasUsed),
    receiptGasUsed: decimal(receipt.gasUsed),
    receiptContractAddress: hexadecimal(receipt.contractAddress),
    // After Byzantium some nodes return an empty root.
    receiptRoot: receipt.root === '0x' ? null : hexadecimal(receipt.root),
    receiptStatus: decimal(receipt.status),
    transactionFee: typeof matched.fee === 'string' ? decimalAmount(matched.fee, chain.native.decimals) : null,
    triggered_by: matched.triggeredBy.length === 0 ? null : matched.triggeredBy,
  };
}

function decimal(value: unknown): string | null {
  return quantity(value)?.toString() ?? null;
}

/** Hexadecimal; some nodes return small ones as numbers. */
function quantity(value: unknown): bigint | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : null;
  return typeof value === 'string' && /^(?:0x[0-9a-f]+|\d+)$/i.test(value) ? BigInt(value) : null;
}

function hexadecimal(value: unknown): string | null {
  return typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value) ? value.toLowerCase() : null;
}
