import type { Chain } from '@chainstead/chains';
import { type Hex, InvalidPrimitiveError, isLowerHex } from '@chainstead/core';
import type { ExecutedTransaction, WholeBlock } from '@chainstead/sync/datasets';
import { transactionOutcome } from '../records/transaction-record.ts';
import type { TransactionRow } from './schema.ts';
import { transactionKey } from './transaction-key.ts';

/** @throws InvalidPrimitiveError for calldata that is not bytes (unproven blocks) */
export function transactionRow(
  executed: ExecutedTransaction,
  header: WholeBlock['header'],
  chain: Pick<Chain, 'id' | 'transactions'>,
): TransactionRow {
  const { id, transactions } = chain;
  const { hash, input } = executed;
  const { gasPrice, l1Fee, blobGasUsed, blobGasPrice, root, status } = transactionOutcome(
    executed,
    header,
    chain,
  );
  const isBytes = (input.length % 2 === 0 && isLowerHex(input, input.length)) || BYTES.test(input);
  if (!isBytes) throw new InvalidPrimitiveError('calldata', input);
  return {
    transactionKey: transactionKey(hash),
    chainId: id,
    nonce: storedUint64(executed.nonce),
    gas: storedUint64(executed.gas),
    gasUsed: storedUint64(executed.gasUsed),
    cumulativeGasUsed: storedUint64(executed.receipt.cumulativeGasUsed),
    blockNumber: header.number,
    transactionIndex: executed.index,
    type: Math.min(executed.type, TYPE_MAX),
    status,
    senderRecovered: transactions.verifiesSenders,
    transactionHash: hash,
    fromAddress: executed.from,
    toAddress: executed.to,
    contractAddress: executed.contractAddress,
    value: amount(executed.value),
    gasPrice: amount(gasPrice),
    l1Fee: amountOrNull(l1Fee),
    blobGasUsed: amountOrNull(blobGasUsed),
    blobGasPrice: amountOrNull(blobGasPrice),
    root,
    selector:
      executed.to === null || input.length < SELECTOR_LENGTH ? null : (input.slice(0, SELECTOR_LENGTH) as Hex),
    input: transactions.input === 'full' || input.length <= SELECTOR_LENGTH ? input : null,
  };
}

const BYTES = /^0x(?:[0-9a-f]{2})*$/i;

const SELECTOR_LENGTH = 10;
const TYPE_MAX = 2 ** 15 - 1;

/** The largest become negative. */
function storedUint64(value: bigint): string {
  return BigInt.asIntN(64, value).toString();
}

export function readUint64(stored: string): bigint {
  return BigInt.asUintN(64, BigInt(stored));
}

function amount(value: bigint): string {
  return BigInt.asUintN(256, value).toString();
}

function amountOrNull(value: bigint | null): string | null {
  return value === null ? null : amount(value);
}
