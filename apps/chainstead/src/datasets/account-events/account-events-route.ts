import type { Chain } from '@chainstead/chains';
import type { Address, Hash } from '@chainstead/core';
import { addressBytes, expectedTrue, rawSql, sql, where } from '@chainstead/db';
import { addressKey } from '@chainstead/db/column-types';
import {
  boolean,
  digits,
  hex,
  int4,
  int8,
  type PackedColumn,
  type PackedRows,
  packedRows,
} from '@chainstead/db/packed-rows';
import {
  blockBoundsSchema,
  chainQueryOf,
  defineListRoute,
  givenBlockBounds,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import {
  type ChainQuery,
  chainPage,
  chainRange,
  indexedSchema,
  LOG_COLUMNS_ORDER,
  type LogColumnsPosition,
  newestOfRun,
  showIndexed,
} from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { type AccountEvents, type AccountField, pathOf } from './account-events.ts';

/** The list of an account's rows. */
export function accountEventsRoute(dataset: AccountEvents): RouteModule {
  const { name, endpoint, fields } = dataset;
  const { subject, schema, noun, operationId, summary, description } = endpoint;
  return (app, dependencies) => {
    const { parameters, reads } = dependencies;
    defineListRoute(app, dependencies, {
      ...{ path: pathOf(endpoint), operationId, summary },
      tags: [subject === 'wallet' ? 'Wallets' : 'Contracts'],
      description,
      params: z.object({ address: parameters.address }),
      query: querySchema({
        chain: parameters.chain,
        ...parameters.blockBounds,
        limit: parameters.limit,
        order: parameters.order,
        cursor: parameters.cursor,
      }),
      response: { description: `A page of ${noun}`, schema: pageSchema(fields).openapi(schema) },
      datasets: [name],
      cursorName: `${subject}-${endpoint.name}`,
      filter: z.object({ address: z.string(), chain: z.string().default('eth'), ...blockBoundsSchema }),
      filterOf: ({ address, chain, ...given }) => ({ address, chain: chain?.key, ...givenBlockBounds(given) }),
      position: z.object(LOG_COLUMNS_ORDER.fields),
      firstPage: 0,
      read: (page) =>
        accountRowsPage(page.chain, dataset, {
          account: page.filter.address as Address,
          ...chainQueryOf(page),
        }).read(reads),
      present: ({ indexed, rows, blockOf }, envelope) => ({
        ...envelope,
        indexed: showIndexed(indexed),
        result: rows.map((row) => ({
          ...Object.fromEntries(
            fields.map(({ name: field, column, words }) => [
              field,
              words === undefined ? row[column] : words[row[column] === true ? 0 : 1],
            ]),
          ),
          block_number: String(row.block_number),
          block_timestamp: blockOf(row).block_timestamp,
          transaction_hash: row.transaction_hash,
          log_index: row.log_index,
        })),
      }),
    });
  };
}

function pageSchema(fields: readonly AccountField[]) {
  const row = z.object({
    ...Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field)])),
    block_number: z.string(),
    block_timestamp: z.string(),
    transaction_hash: z.string(),
    log_index: z.int(),
  });
  return z.object({
    page: z.int().min(0).openapi({ description: 'Page number, from 0' }),
    page_size: z.int().min(1),
    cursor: z.string().nullable().openapi({ description: 'Cursor of the next page. null on the last page' }),
    indexed: indexedSchema,
    result: z.array(row),
  });
}

function fieldSchema({ type, words, description }: AccountField): z.ZodType {
  const schema = words !== undefined ? z.enum(words) : type === 'boolean' ? z.boolean() : z.string();
  return description === undefined ? schema : schema.openapi({ description });
}

interface AccountRow extends LogColumnsPosition {
  readonly transaction_hash: Hash;
  /** Columns of fields. */
  readonly [column: string]: unknown;
}

export interface AccountRowsQuery extends ChainQuery<LogColumnsPosition> {
  readonly account: Address;
}

type AccountTable = Pick<AccountEvents, 'name' | 'table' | 'fields'>;

/**
 * One range of the primary key per partition. The whole address is expected true: the planner
 * never sorts all rows of an account.
 */
export function accountRowsPage(chain: Chain, dataset: AccountTable, query: AccountRowsQuery) {
  const table = dataset.table.name;
  const range = chainRange(chain, dataset.name, query, LOG_COLUMNS_ORDER);
  const ofAccount = [
    sql`account_key = ${addressKey(query.account)}`,
    expectedTrue(sql`account = ${addressBytes(query.account)}`),
    sql`chain_id = ${chain.id}`,
  ];
  const conditions = where([...ofAccount, ...range.scan]);
  return chainPage({
    ...{ chain, query, range, order: LOG_COLUMNS_ORDER, rows: packedRowsOf(dataset), related: {} },
    scan: sql`SELECT * FROM ${rawSql(table)} ${conditions} ${LOG_COLUMNS_ORDER.by(query.order)} LIMIT ${query.limit + 1}`,
    newest: newestOfRun(query.order, [{ from: table, of: ofAccount }]),
  });
}

function packedRowsOf({ fields }: AccountTable): PackedRows<AccountRow> {
  const columns = fields.map(({ column, type, width = ADDRESS_BYTES }): [string, PackedColumn<unknown>] => {
    if (type === 'bytes') return [column, hex(column, width)];
    return [column, type === 'boolean' ? boolean(column) : digits(column)];
  });
  return packedRows({
    ...Object.fromEntries(columns),
    block_number: int8('block_number'),
    transaction_index: int4('transaction_index'),
    log_index: int4('log_index'),
    transaction_hash: hex<Hash>('transaction_hash', 32),
  });
}

const ADDRESS_BYTES = 20;
