import type { BlockHeader, Hash, Log, Receipt } from '@chainstead/core';
import { toQuantity } from '@chainstead/core';
import {
  type DecodedReceipt,
  decodeReceipt,
  decodeSlimReceipt,
  eachOf,
  logsBloom,
  readRlpItem,
} from '@chainstead/proof';
import { damage } from './era-damage.ts';
import type { EraReceipts } from './era-file.ts';

/** @throws EraDamage */
export function decodeReceipts({ rlp, isSlim }: EraReceipts): readonly DecodedReceipt[] {
  const receipts = eachOf(readRlpItem(rlp) ?? undefined, ({ isList, encoded, payload }) =>
    isSlim ? decodeSlimReceipt(encoded) : decodeReceipt(isList ? encoded : payload),
  );
  return receipts ?? damage('receipts have another form');
}

/** Members that follow from the transaction: sender, recipient, price. */
export type DerivedMembers = Readonly<Record<string, unknown>>;

/** As `parseReceipt` returns them; `raw` lacks `logs`. @throws EraDamage */
export function toReceipts(
  decoded: readonly DecodedReceipt[],
  header: BlockHeader,
  hashes: readonly Hash[],
  derived: readonly DerivedMembers[] | null,
): readonly Receipt[] {
  if (decoded.length !== hashes.length)
    damage(`block ${header.number} has ${hashes.length} transactions and ${decoded.length} receipts`);
  const place = { blockHash: header.hash, blockNumber: toQuantity(header.number) };
  let logIndex = 0;
  let gasBefore = 0n;
  return decoded.map((receipt, transactionIndex) => {
    const { cumulativeGasUsed, outcome, type } = receipt;
    const transactionHash = hashes[transactionIndex] ?? damage('a receipt has no transaction');
    if (cumulativeGasUsed < gasBefore) damage(`the gas of receipt ${transactionIndex} falls`);
    const raw = {
      ...place,
      ...{ transactionHash, transactionIndex: toQuantity(transactionIndex), type: toQuantity(type), ...outcome },
      cumulativeGasUsed: toQuantity(cumulativeGasUsed),
      gasUsed: toQuantity(cumulativeGasUsed - gasBefore),
      logsBloom: receipt.logsBloom ?? `0x${logsBloom(receipt.logs).toString('hex')}`,
      ...derived?.[transactionIndex],
    };
    const logs = placedLogs(receipt, header, { transactionHash, transactionIndex, logIndex });
    gasBefore = cumulativeGasUsed;
    logIndex += logs.length;
    return { transactionHash, transactionIndex, type, cumulativeGasUsed, logs, raw };
  });
}

export function placedLogs(
  { logs }: DecodedReceipt,
  { number, hash, timestamp }: BlockHeader,
  at: Pick<Log, 'transactionHash' | 'transactionIndex' | 'logIndex'>,
): Log[] {
  const { transactionHash, transactionIndex, logIndex } = at;
  return logs.map(({ address, topics, data }, index) => ({
    address,
    topics,
    data,
    blockNumber: number,
    blockHash: hash,
    transactionHash,
    transactionIndex,
    logIndex: logIndex + index,
    blockTimestamp: timestamp,
  }));
}
