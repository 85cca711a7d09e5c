import type { NewDataset } from './dataset-names.ts';
import type { ParameterType } from './parse-event.ts';

const PACKED: Readonly<
  Record<ParameterType, { readonly reader: string; readonly type: string; readonly width: string }>
> = {
  address: { reader: 'hex', type: '<Address>', width: ', 20' },
  bytes32: { reader: 'hex', type: '<Hash>', width: ', 32' },
  uint: { reader: 'digits', type: '', width: '' },
  bool: { reader: 'boolean', type: '', width: '' },
};

const SHOWN: Readonly<Record<ParameterType, string>> = {
  address: 'z.string()',
  bytes32: 'z.string()',
  uint: "z.string().openapi({ description: 'Decimal digits' })",
  bool: 'z.boolean()',
};

/** `manifest.ts`: the dataset, its endpoints and its routes. */
export function renderManifest({ camel, pascal, event, topicName, account, others }: NewDataset): string {
  const of = event.name;
  return `import { addressKey } from '@chainstead/db/address-key';
import { type DecodeContext, defineTable } from '@chainstead/sync';
import type { Log } from '@chainstead/core';
import type { DatasetManifest } from '../manifest/dataset-manifest.ts';
import { decode${of}, ${topicName} } from './decode.ts';
import { ${camel}Endpoint } from './endpoint.ts';
import { ${camel} as table, type ${pascal}Row } from './schema.ts';

/** ${of} events, one row an event. */
export const ${camel}: DatasetManifest<${pascal}Row> = {
  name: ${camel}Endpoint.dataset,
  summary: '${of} events',
  topics: () => [${topicName}],
  table: defineTable(table),
  decode,
  endpoints: [${camel}Endpoint],
  loadRoutes: () => import('./route.ts'),
};

function decode(logs: readonly Log[], { chain }: DecodeContext): ${pascal}Row[] {
  return logs.flatMap((log) => {
    const event = decode${of}(log);
    if (event === null) return [];
    const account = ${account === undefined ? 'log.address' : `event.${account.name}`};
    return [{
      accountKey: addressKey(account),
      chainId: chain.id,
      blockNumber: log.blockNumber,
      transactionIndex: log.transactionIndex,
      logIndex: log.logIndex,
      account,
${account === undefined ? '' : '      contract: log.address,\n'}${others.map((one) => `      ${one.name}: event.${one.name},\n`).join('')}      transactionHash: log.transactionHash,
    }];
  });
}
`;
}

/** `endpoint.ts`: what documents say of the route. */
export function renderEndpoint({ camel, pascal, name, event, account }: NewDataset): string {
  const subject = account === undefined ? 'contract' : 'wallet';
  return `import type { DatasetEndpoint } from '../manifest/dataset-manifest.ts';

export const ${camel}Endpoint: DatasetEndpoint = {
  dataset: '${name}',
  path: '/api/v2.2/${subject}s/{address}/${name}',
  operationId: 'get${capital(subject)}${pascal}',
  summary: 'List ${event.name} events by ${subject}',
  example: { address: 'account' },
};
`;
}

/** `route.ts`: the list of an account's rows, and its response. */
export function renderRoute({ camel, pascal, name, table, event, account, others }: NewDataset): string {
  const subject = account === undefined ? 'contract' : 'wallet';
  const packed = new Set(['hex', 'int4', 'int8', 'packedRows', ...others.map(({ type }) => PACKED[type].reader)]);
  const columns = others.map(({ column, type }) => {
    const { reader, type: parameter, width } = PACKED[type];
    return `  ${column}: ${reader}${parameter}('${column}'${width}),\n`;
  });
  const fields = others.map(({ column, type }) => `  ${column}: ${SHOWN[type]},\n`);
  return `import type { Address, Hash } from '@chainstead/core';
import { indexedSchema, showIndexed } from '@chainstead/pages';
import { ${[...packed].toSorted().join(', ')}, type RowOf } from '@chainstead/db/packed-rows';
import {
  blockBoundsSchema,
  boundsOfRows,
  defineListRoute,
  givenBlockBounds,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import { z } from '@hono/zod-openapi';
import { type AccountRows, type AccountRowsPage, getAccountRows } from '../manifest/account-rows.ts';
import { ${camel}Endpoint as endpoint } from './endpoint.ts';

const ROWS = packedRows({
  block_number: int8('block_number'),
  transaction_index: int4('transaction_index'),
  log_index: int4('log_index'),
  account: hex<Address>('account', 20),
${account === undefined ? '' : "  contract: hex<Address>('contract', 20),\n"}${columns.join('')}  transaction_hash: hex<Hash>('transaction_hash', 32),
});

type Row = RowOf<typeof ROWS>;

/** What the route reads of the table. */
export const ${camel}Rows: AccountRows<Row> = { dataset: endpoint.dataset, table: '${table}', rows: ROWS };

const rowSchema = z.object({
  ${account?.column ?? 'account'}: z.string(),
${account === undefined ? '' : '  contract: z.string(),\n'}${fields.join('')}  block_number: z.string(),
  block_timestamp: z.string(),
  transaction_hash: z.string(),
  log_index: z.int(),
});

const pageSchema = z
  .object({
    page: z.int().min(0).openapi({ description: 'Page number, from 0' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(rowSchema),
  })
  .openapi('${pascal}');

/** The list of the endpoint: newest first by default, page by page. */
const ${camel}Route: RouteModule = (app, dependencies) => {
  const { parameters, reads } = dependencies;
  defineListRoute(app, dependencies, {
    path: endpoint.path,
    operationId: endpoint.operationId,
    summary: endpoint.summary,
    tags: ['${capital(subject)}s'],
    description: '${event.name} events of a ${subject}, by block number, newest first by default. Chainstead extension: the hosted API has no such route.',
    params: z.object({ address: parameters.address }),
    query: querySchema({
      chain: parameters.chain,
      ...parameters.blockBounds,
      limit: parameters.limit,
      order: parameters.order,
      cursor: parameters.cursor,
    }),
    response: { description: 'A page of ${event.name} events', schema: pageSchema },
    datasets: [endpoint.dataset],
    cursorName: '${subject}-${name}',
    filter: z.object({ address: z.string(), chain: z.string().default('eth'), ...blockBoundsSchema }),
    filterOf: ({ address, chain, ...given }) => ({ address, chain: chain?.key, ...givenBlockBounds(given) }),
    position: z.object({ block_number: z.int(), transaction_index: z.int(), log_index: z.int() }),
    firstPage: 0,
    read: ({ chain, filter, order, limit, position, upperBound }) =>
      getAccountRows(reads, chain, ${camel}Rows, {
        account: filter.address as Address,
        ...{ order, limit, after: position },
        ...boundsOfRows(filter),
        pinnedBlock: upperBound,
      }),
    present: ({ indexed, rows }, envelope) => ({
      ...envelope,
      indexed: showIndexed(indexed),
      result: rows.map(showRow),
    }),
  });
};

export const routes: readonly RouteModule[] = [${camel}Route];

function showRow(row: AccountRowsPage<Row>['rows'][number]): z.infer<typeof rowSchema> {
  return {
    ${account === undefined || account.column === 'account' ? 'account: row.account' : `${account.column}: row.account`},
${account === undefined ? '' : '    contract: row.contract,\n'}${others.map(({ column }) => `    ${column}: row.${column},\n`).join('')}    block_number: String(row.block_number),
    block_timestamp: row.block.block_timestamp,
    transaction_hash: row.transaction_hash,
    log_index: row.log_index,
  };
}

`;
}

export function capital(word: string): string {
  return word.replace(/^./, (letter) => letter.toUpperCase());
}
