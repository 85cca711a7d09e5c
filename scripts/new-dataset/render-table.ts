import type { NewDataset } from './dataset-names.ts';
import type { EventParameter, ParameterType } from './parse-event.ts';

const COLUMN_TYPES: Readonly<Record<ParameterType, string>> = {
  address: 'address',
  uint: 'uint256',
  bool: 'boolean',
  bytes32: 'hash',
};

/** `schema.ts`: table, key, index and storage. */
export function renderSchema({ camel, pascal, table, event, account, others }: NewDataset): string {
  const own = new Set(['address', 'hash', 'int8Text', 'logPlace', ...others.map(({ type }) => COLUMN_TYPES[type])]);
  const ofDrizzle = own.delete('boolean') ? "import { boolean } from 'drizzle-orm/pg-core';\n" : '';
  return `/** ${event.name} events, one row an event, by ${account === undefined ? 'the contract that emits them' : `their ${account.name}`}. Hash and time of a row's block are in \`blocks\`. */
import { ${[...own].toSorted().join(', ')} } from '@chainstead/db/column-types';
import { distributedBy, LOG_PLACE, storedTable } from '@chainstead/db/table-storage';
${ofDrizzle}
// Columns of fixed width come first: nothing is lost to alignment.
export const ${camel} = storedTable(
  '${table}',
  {
    /** Of \`account\` (\`addressKey\`): what the key begins with, and the distribution column on Citus. */
    accountKey: int8Text('account_key').notNull(),
    ...logPlace(),
    account: address('account').notNull(),
${account === undefined ? '' : "    contract: address('contract').notNull(),\n"}${others.map(({ name, column, type }) => `    ${name}: ${COLUMN_TYPES[type]}('${column}').notNull(),\n`).join('')}    transactionHash: hash('transaction_hash').notNull(),
  },
  {
    writes: 'append',
    placement: distributedBy('account', 'account_key'),
    isPartitioned: true,
    key: ['accountKey', ...LOG_PLACE],
  },
);

/** One row of the table. Hexadecimal text is lower case. */
export type ${pascal}Row = Readonly<typeof ${camel}.$inferSelect>;
`;
}

/** `analytics.sql`: the view for SQL clients. */
export function renderView({ table, event, account, others }: NewDataset): string {
  const shown = others.map(({ column, type }) =>
    type === 'address' || type === 'bytes32' ? `analytics.hex(moved.${column}) AS ${column}` : `moved.${column}`,
  );
  return `-- ${event.name} events. Find them by account_key and account_bytes.
CREATE VIEW analytics.${table} AS
SELECT
  moved.chain_id,
  -- Not converted to bigint: a converted column uses no index.
  moved.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(moved.transaction_hash) AS transaction_hash,
  moved.transaction_index,
  moved.log_index,
  analytics.hex(moved.account) AS ${account?.column ?? 'account'},
${account === undefined ? '' : '  analytics.hex(moved.contract) AS contract,\n'}${shown.map((line) => `  ${line},\n`).join('')}  moved.account AS account_bytes,
  -- Index key of accounts. Use it together with the bytes.
  moved.account_key
FROM public.${table} AS moved
LEFT JOIN public.blocks AS block ON block.chain_id = moved.chain_id AND block.block_number = moved.block_number;
`;
}

/** `decode.ts`: topic0 and what of a log is read. */
export function renderDecoder({ event, topic, topicName }: NewDataset): string {
  const data = event.parameters.filter(({ isIndexed }) => !isIndexed);
  const indexed = event.parameters.filter(({ isIndexed }) => isIndexed);
  const sourceOf = (parameter: EventParameter): string => {
    const at = indexed.indexOf(parameter);
    return at >= 0 ? `topics[${at + 1}]` : `data, ${data.indexOf(parameter)}`;
  };
  const { parameters } = event;
  const addresses = parameters.filter(({ type }) => type === 'address');
  const readers = new Set(
    parameters.map(({ type }) => (type === 'address' ? 'addressAt' : type === 'bytes32' ? '' : 'decimalAt')),
  );
  readers.delete('');
  const used = indexed.filter(({ type }) => type !== 'address');
  const names =
    used.length === 0 ? '' : indexed.map((one, index) => (used.includes(one) ? `topic${index + 1}` : '')).join(', ');
  const reads = (parameter: EventParameter): string => {
    const at = indexed.indexOf(parameter);
    const text = at >= 0 ? `topic${at + 1}` : sourceOf(parameter);
    if (parameter.type === 'uint') return `decimalAt(${text})`;
    if (parameter.type === 'bool') return `decimalAt(${text}) !== '0'`;
    const start = 2 + 64 * data.indexOf(parameter);
    return at >= 0 ? text : `\`0x\${data.slice(${start}, ${start + 64})}\` as Hash`;
  };
  const absent = [
    ...addresses.map(({ name }) => `${name} === null`),
    ...used.map((one) => `topic${indexed.indexOf(one) + 1} === undefined`),
  ];
  const types = { address: 'Address', uint: 'string', bool: 'boolean', bytes32: 'Hash' } as const;
  return `${readers.size === 0 ? '' : `import { ${[...readers].toSorted().join(', ')} } from '@chainstead/events/abi';\n`}import type { ${[...(addresses.length > 0 ? ['Address'] : []), 'Hash', 'Log'].join(', ')} } from '@chainstead/core';

/** keccak256 of \`${event.signature}\`. */
export const ${topicName} = '${topic}' as Hash;

/** \`0x\` and ${data.length} words. */
const DATA_LENGTH = ${2 + 64 * data.length};

export interface ${event.name}Event {
${parameters.map(({ name, type }) => `${type === 'uint' ? '  /** Decimal digits. */\n' : ''}  readonly ${name}: ${types[type]};\n`).join('')}}

/** The event that a log is; null for any other log. */
export function decode${event.name}({ topics, data }: Pick<Log, 'topics' | 'data'>): ${event.name}Event | null {
  if (topics[0] !== ${topicName} || topics.length !== ${indexed.length + 1} || data.length !== DATA_LENGTH) return null;
${names === '' ? '' : `  const [, ${names}] = topics;\n`}${addresses.map((one) => `  const ${one.name} = addressAt(${sourceOf(one)});\n`).join('')}${absent.length === 0 ? '' : `  if (${absent.join(' || ')}) return null;\n`}  return { ${parameters.map((one) => (one.type === 'address' ? one.name : `${one.name}: ${reads(one)}`)).join(', ')} };
}
`;
}
