import { type JsonObject, logsOf, type SourceBlock } from '../nodes/chain-source.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Every name that a Portal of August 2026 accepts, by table. */
export const PORTAL_FIELDS: Readonly<Record<string, ReadonlySet<string>>> = {
  block: words(`
    number hash parentHash timestamp transactionsRoot receiptsRoot stateRoot logsBloom sha3Uncles extraData miner nonce
    mixHash size gasLimit gasUsed difficulty totalDifficulty baseFeePerGas uncles withdrawals withdrawalsRoot
    blobGasUsed excessBlobGas parentBeaconBlockRoot requestsHash l1BlockNumber timestampMillisPart
    mainBlockGeneralGasLimit sharedGasLimit`),
  transaction: words(`
    transactionIndex hash nonce from to input value gas gasPrice maxFeePerGas maxPriorityFeePerGas v r s yParity
    accessList chainId sighash maxFeePerBlobGas blobVersionedHashes authorizationList contractAddress gasUsed logsBloom
    cumulativeGasUsed effectiveGasPrice type status blobGasUsed blobGasPrice l1Fee l1FeeScalar l1GasPrice l1GasUsed
    l1BlobBaseFee l1BlobBaseFeeScalar l1BaseFeeScalar`),
  log: words('logIndex transactionIndex transactionHash address data topics'),
  trace: words('transactionIndex traceAddress subtraces type error revertReason'),
  stateDiff: words('transactionIndex address key kind prev next'),
};

const NUMBERS = words(`
  number timestamp size l1BlockNumber transactionIndex nonce type status chainId yParity logIndex l1BlobBaseFeeScalar
  l1BaseFeeScalar`);

export interface PortalBlock {
  readonly header: JsonObject;
  readonly transactions: readonly JsonObject[];
  readonly logs: readonly JsonObject[];
}

/** All fields, in the Portal's forms. */
export function portalBlock(block: SourceBlock): PortalBlock {
  const header = formed(block.header, 'block', block.header);
  return {
    header: { ...header, nonce: block.header.nonce ?? null },
    transactions: block.transactions.map((transaction, index) => {
      // The type and the price paid are columns of the transaction, the rest of the receipt follows.
      const row = formed({ ...block.receipts[index], ...transaction }, 'transaction', transaction);
      return { ...row, authorizationList: authorizations(transaction.authorizationList) };
    }),
    logs: logsOf(block).map((log) => formed(log, 'log', log)),
  };
}

/** Only the selected fields; a header always has number and hash. */
export function selected(row: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, row[name] ?? null]));
}

function formed(from: JsonObject, table: string, own: JsonObject): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (const name of PORTAL_FIELDS[table] ?? []) {
    const value = own[name] ?? from[name] ?? null;
    row[name] = NUMBERS.has(name) && typeof value === 'string' ? Number(value) : value;
  }
  return row;
}

function authorizations(list: unknown): unknown {
  if (!Array.isArray(list)) return null;
  return list.map((item: JsonObject) => ({
    ...item,
    nonce: BigInt(String(item.nonce)).toString(),
    yParity: Number(item.yParity),
  }));
}
