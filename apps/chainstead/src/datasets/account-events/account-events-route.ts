import type { Address } from '@chainstead/core';
import {
  blockBoundsSchema,
  chainQueryOf,
  defineListRoute,
  givenBlockBounds,
  querySchema,
  type RouteModule,
} from '@chainstead/http';
import { indexedSchema, LOG_COLUMNS_ORDER, showIndexed } from '@chainstead/pages';
import { z } from '@hono/zod-openapi';
import { type AccountEvents, type AccountField, pathOf } from './account-events.ts';
import { accountRowsPage } from './account-rows.ts';

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
