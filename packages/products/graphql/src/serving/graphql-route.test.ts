/** The route as clients meet it: a login with the rights of readers, on a real server. */

import { readFile } from 'node:fs/promises';
import { parseChainId } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { EXAMPLE_KEY } from '@chainstead/http/testing';
import { createPartitions } from '@chainstead/testkit';
import { scratchOfFile, stageOfFile } from '@chainstead/testkit/hooks';
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery } from 'graphql/index.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { type GraphqlStage, openGraphqlStage, type RowPage, RPC_KEY } from '../testing/graphql-stage.ts';
import { addEvents, OTHER, OWNER, seedVault, VAULT, writeDeposits } from '../testing/seeded-vault.ts';

const LARGEST = String(2n ** 256n - 1n);
const scratch = scratchOfFile();
const stage: GraphqlStage = stageOfFile(() => openGraphqlStage(scratch));

beforeAll(async () => {
  await seedVault(scratch.database);
  await writeDeposits(scratch.database, [
    { block: 10, assets: LARGEST },
    { block: 11, log: 1, owner: OTHER, assets: '0', note: 'é"\\' },
    { block: 11, log: 0 },
    { block: 12, assets: '77' },
    { block: 13, owner: OTHER },
    { block: 12, chainId: 10, assets: '5' },
  ]);
});

const FIELDS = `nodes { chain_id block_number transaction_index log_index block_time transaction_hash contract owner assets is_first note parts undecoded }`;

async function places(args: string): Promise<string[]> {
  const { contracts_vault_deposit } = await stage.data(
    `{ contracts_vault_deposit(chain: "1", ${args}) { nodes { block_number log_index } } }`,
  );
  return placesOf(contracts_vault_deposit);
}

function placesOf(page: RowPage | undefined): string[] {
  return (page?.nodes ?? []).map(({ block_number, log_index }) => `${block_number}/${log_index}`);
}

describe('rows of a table', () => {
  test('have all columns, with exact numbers and hex', async () => {
    const { contracts_vault_deposit } = await stage.data(
      `{ contracts_vault_deposit(chain: 1, to_block: 10) { ${FIELDS} } }`,
    );
    expect(contracts_vault_deposit?.nodes).toEqual([
      {
        chain_id: '1',
        block_number: '10',
        transaction_index: 2,
        log_index: 0,
        block_time: '2020-09-13T12:28:40.000000+00:00',
        transaction_hash: `0x${'1f'.repeat(32)}`,
        contract: VAULT,
        owner: OWNER,
        assets: LARGEST,
        is_first: true,
        note: 'hello',
        parts: ['1', '2'],
        undecoded: null,
      },
    ]);
  });

  test.each([
    ['', ['13/0', '12/0', '11/1', '11/0', '10/0']],
    ['order: ASC', ['10/0', '11/0', '11/1', '12/0', '13/0']],
    ['from_block: "11", to_block: 12', ['12/0', '11/1', '11/0']],
    ['from_block: 14', []],
    ['from_block: 12, to_block: 11', []],
    ['first: 2', ['13/0', '12/0']],
    [`where: { owner: "${OTHER}" }`, ['13/0', '11/1']],
    [`where: { owner: "${OTHER.toUpperCase().replace('0X', '0x')}" }, order: ASC`, ['11/1', '13/0']],
    [`where: { owner: "${OWNER}" }, from_block: 11, first: 1`, ['12/0']],
    [`where: { assets: "${LARGEST}" }`, ['10/0']],
    ['where: { assets: 77 }', ['12/0']],
    ['where: { assets: "78" }', []],
    [`where: { owner: "${OWNER}", note: "hello", is_first: true }`, ['12/0', '11/0', '10/0']],
    [`where: { owner: "${OTHER}" }, in: { note: ["hello"] }`, ['13/0']],
    [`in: { owner: ["${OTHER}", "${OWNER}", "${OTHER}"] }, order: ASC, first: 3`, ['10/0', '11/0', '11/1']],
    ['in: { assets: [77, "77.0", "0"] }', ['12/0', '11/1']],
    ['in: { assets: [] }', []],
    ['range: { assets: { gte: "1", lt: "1000" } }', ['12/0']],
    ['range: { block_number: { gt: 10, lte: "12" }, log_index: { lt: 1 } }', ['12/0', '11/0']],
    ['range: { block_time: { gte: "2020-09-13T12:28:52Z", lt: "2020-09-13T12:29:04Z" } }', ['11/1', '11/0']],
    ['orderBy: assets', ['10/0', '13/0', '11/0', '12/0', '11/1']],
    ['orderBy: is_first, order: ASC, from_block: 11', ['11/1', '11/0', '12/0', '13/0']],
    ['order: null, from_block: null', ['13/0', '12/0', '11/1', '11/0', '10/0']],
  ])('with %s are those', async (args, expected) => {
    expect(await places(args)).toEqual(expected);
  });

  test.each([
    ['order: ASC', ['10/0', '11/0', '11/1', '12/0', '13/0']],
    ['order: DESC', ['13/0', '12/0', '11/1', '11/0', '10/0']],
    [`where: { owner: "${OWNER}" }`, ['12/0', '11/0', '10/0']],
    ['orderBy: assets, order: ASC', ['11/1', '12/0', '11/0', '13/0', '10/0']],
    ['orderBy: contract, where: { note: "hello" }', ['13/0', '12/0', '11/0', '10/0']],
  ])('with %s are all in pages of one, once', async (args, expected) => {
    const seen: string[] = [];
    for (let after: string | null = null; seen.length < 10; ) {
      const { contracts_vault_deposit: page } = await stage.data(
        `query ($after: Cursor) { contracts_vault_deposit(chain: 1, first: 1, after: $after, ${args}) {
          nodes { block_number log_index } edges { cursor } pageInfo { hasNextPage endCursor } } }`,
        { after },
      );
      seen.push(...placesOf(page));
      expect(page?.edges.at(-1)?.cursor).toBe(page?.pageInfo.endCursor);
      after = page?.pageInfo.endCursor ?? null;
      if (page?.pageInfo.hasNextPage !== true) break;
    }
    expect(seen).toEqual(expected);
  });

  test('of several lists and chains come together, with variables and aliases', async () => {
    const { one, ten, blocks } = await stage.data(
      `query ($chain: Chain!, $first: Int = 1) {
        one: contracts_vault_deposit(chain: 1, first: $first) { nodes { assets } }
        ten: contracts_vault_deposit(chain: $chain, where: { owner: "${OWNER}" }) { ...page }
        blocks: analytics_blocks(chain: 1, to_block: 11) { nodes { block_number block_time } }
      } fragment page on contracts_vault_depositConnection { nodes { chain_id assets } }`,
      { chain: '10' },
    );
    expect([one?.nodes, ten?.nodes, blocks?.nodes]).toEqual([
      [{ assets: '1000' }],
      [{ chain_id: '10', assets: '5' }],
      [
        { block_number: '11', block_time: '2020-09-13T12:28:52.000000+00:00' },
        { block_number: '10', block_time: '2020-09-13T12:28:40.000000+00:00' },
      ],
    ]);
  });
});

test('a chain has its name, its id and an alias, as in all routes', async () => {
  for (const chain of ['"eth"', '"0x1"', '1', '"Ethereum"'])
    expect(
      (
        await stage.data(
          `{ rows: contracts_vault_deposit(chain: ${chain}, first: 1) { nodes { block_number } } }`,
        )
      ).rows?.nodes,
    ).toEqual([{ block_number: '13' }]);
  for (const list of ['analytics_blocks', 'contracts_vault_deposit'])
    expect(await stage.data(`{ rows: ${list}(chain_id: 1, first: 1) { nodes { block_number } } }`)).toEqual(
      await stage.data(`{ rows: ${list}(chain: "eth", first: 1) { nodes { block_number } } }`),
    );
  for (const both of ['first: 1', 'chain: "eth", chain_id: 1'])
    expect(
      (await stage.request(`{ analytics_blocks(${both}) { nodes { block_number } } }`)).body.errors,
    ).toMatchObject([
      { message: 'A list needs either chain or chain_id', extensions: { code: 'GRAPHQL_ARGUMENT_INVALID' } },
    ]);
  const own = await stage.data('{ rows: analytics_blocks(chain: "own chain") { nodes { block_number } } }');
  expect(own.rows?.nodes).toEqual([]);
  const { body } = await stage.request('{ analytics_blocks(chain: "ethh") { nodes { block_number } } }');
  expect(body.errors?.[0]?.message).toContain('"ethh" is no chain: chain must be a known chain by name');
});

test('a list has the number of its rows, whatever the page is', async () => {
  const emitter = sql`${Buffer.alloc(20, 1)}::bytea`;
  await createPartitions(scratch.database, 'contracts.vault_deposit', parseChainId(137));
  await scratch.database.query(
    sql`INSERT INTO contracts.vault_deposit (chain_id, block_number, transaction_index, log_index, block_time, transaction_hash, contract, owner, note)
     SELECT 137, 10, 0, n, now(), '\\x01', ${emitter}, ${emitter}, CASE n WHEN 0 THEN 'rare' END FROM generate_series(0, 10000) AS n`,
  );
  const counted = (chain: string, args = '') =>
    `contracts_vault_deposit(chain: "${chain}", first: 1 ${args}) { totalCount { count isExact } }`;
  const data = await stage.data(`{
    all: ${counted('eth')} some: ${counted('eth', `where: { owner: "${OTHER}" }, order: ASC`)}
    filtered: ${counted('eth', 'range: { assets: { gte: "77" } }, orderBy: note')} none: ${counted('eth', 'in: { note: [] }')}
    many: ${counted('polygon')} few: ${counted('polygon', 'where: { note: "rare" }')}
    view: analytics_blocks(chain: "eth", from_block: 12) { totalCount { count isExact } nodes { block_number } } }`);
  expect(
    Object.entries(data).map(([name, { totalCount }]) => [name, totalCount?.count, totalCount?.isExact]),
  ).toEqual([
    ...[
      ['all', 5, true],
      ['some', 2, true],
      ['filtered', 4, true],
      ['none', 0, true],
    ],
    ...[
      ['many', 10_000, false],
      ['few', 1, true],
      ['view', 2, true],
    ],
  ]);
  await scratch.database.query(sql`DELETE FROM contracts.vault_deposit WHERE chain_id = 137`);
});

test('the queries of the documentation run', async () => {
  const page = await readFile(new URL('../../../../../docs/api/graphql.md', import.meta.url), 'utf8');
  const queries = [...page.matchAll(/```graphql\n([\s\S]*?)```/g)].map(([, query = '']) => query);
  expect(queries.length).toBeGreaterThan(3);
  for (const query of queries) {
    const { body } = await stage.request(query.replaceAll('0x…', OWNER));
    expect([query, body.errors]).toEqual([query, undefined]);
  }
});

describe('the schema', () => {
  test('is what common clients read, and has no mutations and no other schemas', async () => {
    const { body } = await stage.request(getIntrospectionQuery({ oneOf: true }));
    expect(body.errors).toBeUndefined();
    const schema = buildClientSchema(body.data as unknown as IntrospectionQuery);
    expect(schema.getMutationType()).toBeNull();
    const fields = Object.keys(schema.getQueryType()?.getFields() ?? {});
    expect(fields.filter((name) => name.startsWith('contracts_'))).toEqual(['contracts_vault_deposit']);
    expect(fields.filter((name) => !/^(?:contracts|analytics)_/.test(name))).toEqual([]);
    expect(fields).toContain('analytics_wallet_transfers');
    expect(Object.keys(schema.getSubscriptionType()?.getFields() ?? {})).toEqual(['contracts_vault_deposit']);
    expect(Object.keys(schema.getQueryType()?.getFields().contracts_vault_deposit?.args ?? {})).toHaveLength(11);
  });

  test('has new tables within seconds, whatever their names are', async () => {
    const transfer = { type: 'event', name: 'Sent', inputs: [{ name: 'first', type: 'uint8' }] };
    const names = ['a1B', 'a_1_b', 'page_info', 'depositConnection', 'Deposits', 'Deposit', 'Input', 'Patch'];
    await addEvents(
      scratch.database,
      'vault_2',
      names.map((name) => ({ ...transfer, name })),
    );
    const query =
      '{ contracts_vault_2_deposit(chain: 1) { nodes { first } } contracts_vault_2_deposits(chain: 1) { nodes { first } } }';
    await expect
      .poll(async () => (await stage.request(query)).body)
      .toEqual({ data: { contracts_vault_2_deposit: { nodes: [] }, contracts_vault_2_deposits: { nodes: [] } } });
    // The column has the name of an argument.
    const filtered =
      '{ contracts_vault_2_deposit(chain: 1, where: { first: 3 }, range: { first: { lt: 9 } }, orderBy: first) { nodes { first } } }';
    expect((await stage.request(filtered)).body).toEqual({ data: { contracts_vault_2_deposit: { nodes: [] } } });
  });
});

describe('a request', () => {
  test.each([
    ['no key', { 'x-api-key': '' }, 401],
    ['a wrong key', { 'x-api-key': 'wrong-key-000' }, 401],
    ['a key without the scope data', { 'x-api-key': RPC_KEY }, 403],
  ])('with %s is refused', async (_name, headers, status) => {
    expect((await stage.post('{"query":"{ __typename }"}', headers)).status).toBe(status);
  });

  test.each([
    ['no JSON', '{', 400],
    ['a batch', '[{"query":"{ __typename }"}]', 400],
    ['no query', '{"variables":{}}', 400],
    ['a query that is no text', '{"query":7}', 400],
    ['deep variables', `{"query":"{ __typename }","variables":{"a":${'['.repeat(500)}${']'.repeat(500)}}}`, 400],
    ['a large body', `{"query":"${' '.repeat(70_000)}"}`, 413],
    ['many values', `{"query":"","variables":{"a":[${'1,'.repeat(20_000)}1]}}`, 413],
  ])('with %s is refused', async (_name, body, status) => {
    expect((await stage.post(body)).status).toBe(status);
  });

  test.each(['GET', 'PUT'])('by %s is none', async (method) => {
    const response = await fetch(`${stage.url}/graphql?query={__typename}`, {
      method,
      headers: { 'x-api-key': EXAMPLE_KEY },
    });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
  });

  test('of a browser shows GraphiQL, whose files are here', async () => {
    const page = await fetch(`${stage.url}/graphql`, { headers: { accept: 'text/html,*/*' } });
    const html = await page.text();
    const policy = page.headers.get('content-security-policy') ?? '';
    expect([page.status, /https?:|<script>|<style/.test(html), policy.includes('unsafe')]).toEqual([
      200,
      false,
      false,
    ]);
    for (const [, path] of html.matchAll(/(?:src|href)="([^"]+)"/g))
      expect([path, (await fetch(`${stage.url}${path}`)).status]).toEqual([path, 200]);
  });

  test('chooses one of several operations by name', async () => {
    const query = 'query one { __typename } query two { two: __typename }';
    const body = await stage.post(JSON.stringify({ query, operationName: 'two' }));
    expect(await body.json()).toEqual({ data: { two: 'Query' } });
    expect((await stage.request(query)).body.errors?.[0]?.message).toBe('The request has 2 operations');
  });
});
