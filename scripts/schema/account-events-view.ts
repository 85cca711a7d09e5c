import type {
  AccountEvents,
  AccountField,
} from '../../apps/chainstead/src/datasets/account-events/account-events.ts';

/** The view of a dataset from a line of `apps/chainstead/src/datasets/manifests.ts`. */
export function accountEventsView({ table, description, fields, viewColumns = [] }: AccountEvents) {
  const others = fields.filter(({ column }) => column !== 'account');
  const columns = [
    ...others.filter(({ words }) => words !== undefined).map(columnText),
    'analytics.hex(moved.account) AS account',
    ...others.filter(({ words }) => words === undefined).map(columnText),
    ...viewColumns.map((column) => `moved.${column}`),
  ];
  const name = `analytics.${table.name}`;
  const text = `-- ${description}
CREATE VIEW ${name} AS
SELECT
  moved.chain_id,
  -- Not converted to bigint: a converted column uses no index.
  moved.block_number,
  block.block_timestamp AS block_time,
  analytics.hex(moved.transaction_hash) AS transaction_hash,
  moved.transaction_index,
  moved.log_index,
${columns.map((column) => `  ${column},\n`).join('')}  moved.account AS account_bytes,
  -- Index key of accounts. Use it together with the bytes.
  moved.account_key
FROM public.${table.name} AS moved
LEFT JOIN public.blocks AS block ON block.chain_id = moved.chain_id AND block.block_number = moved.block_number;`;
  return { name, description, tables: [table.name, 'blocks'], text };
}

function columnText({ name, column, type, words }: AccountField): string {
  if (words !== undefined)
    return `CASE WHEN moved.${column} THEN '${words[0]}' ELSE '${words[1]}' END AS ${name}`;
  if (type === 'bytes') return `analytics.hex(moved.${column}) AS ${name}`;
  return name === column ? `moved.${column}` : `moved.${column} AS ${name}`;
}
