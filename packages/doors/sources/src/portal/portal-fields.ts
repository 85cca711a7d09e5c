/** Names of the Portal (evm), which are those of JSON-RPC. */
export type FieldTable = 'block' | 'transaction' | 'log';
export type PortalFields = Readonly<Record<FieldTable, readonly string[]>>;

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** The last two: Amsterdam. A portal without them says so once. */
const BLOCK = words(`
  number hash parentHash timestamp transactionsRoot receiptsRoot stateRoot logsBloom sha3Uncles extraData miner nonce
  mixHash size gasLimit gasUsed difficulty totalDifficulty baseFeePerGas uncles withdrawals withdrawalsRoot blobGasUsed
  excessBlobGas parentBeaconBlockRoot requestsHash l1BlockNumber blockAccessListHash slotNumber`);
const TRANSACTION = words(`
  transactionIndex hash nonce from to input value gas gasPrice maxFeePerGas maxPriorityFeePerGas v r s yParity accessList
  chainId maxFeePerBlobGas blobVersionedHashes authorizationList contractAddress gasUsed logsBloom cumulativeGasUsed
  effectiveGasPrice type status blobGasUsed blobGasPrice l1Fee l1FeeScalar l1GasPrice l1GasUsed l1BlobBaseFee
  l1BlobBaseFeeScalar l1BaseFeeScalar`);
const LOG = words('logIndex transactionIndex transactionHash address data topics');

export const BLOCK_FIELDS: PortalFields = { block: BLOCK, transaction: TRANSACTION, log: LOG };
export const LOG_FIELDS: PortalFields = {
  block: ['number', 'hash', 'parentHash', 'timestamp'],
  transaction: [],
  log: LOG,
};

/** Without these no row has a place. */
const NEEDED: ReadonlySet<string> = new Set([
  ...['block.number', 'block.hash', 'block.parentHash', 'block.timestamp'],
  ...['transaction.transactionIndex', 'transaction.hash', 'log.logIndex', 'log.transactionIndex'],
  ...['log.transactionHash', 'log.address', 'log.data', 'log.topics'],
]);

export interface RefusedField {
  readonly tables: readonly FieldTable[];
  readonly name: string;
  /** No portal of this version has it; otherwise these blocks lack it. */
  readonly isUnknown: boolean;
}

const TABLES: Readonly<Record<string, FieldTable>> = {
  blocks: 'block',
  block: 'block',
  transactions: 'transaction',
  transaction: 'transaction',
  logs: 'log',
  log: 'log',
};

/** Read from the text of a 400; null: another problem, or a field that every block needs. */
export function refusedField(text: string, fields: PortalFields): RefusedField | null {
  const column = /column [`'"](\w+)[`'"] is not found in [`'"](\w+)[`'"]/.exec(text);
  const unknown = /unknown field [`'"](\w+)[`'"]/.exec(text);
  const name = camelCase(column?.[1] ?? unknown?.[1] ?? '');
  const table = TABLES[column?.[2] ?? ''];
  const candidates: readonly FieldTable[] = table === undefined ? ['block', 'transaction', 'log'] : [table];
  const tables = candidates.filter((key) => fields[key].includes(name) && !NEEDED.has(`${key}.${name}`));
  return tables.length === 0 ? null : { tables, name, isUnknown: column === null };
}

export function withoutField(fields: PortalFields, { tables, name }: RefusedField): PortalFields {
  const left = (table: FieldTable) =>
    tables.includes(table) ? fields[table].filter((field) => field !== name) : fields[table];
  return { block: left('block'), transaction: left('transaction'), log: left('log') };
}

function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
