/** Operations that try to read, cost or learn more than they may. Each is refused with a code, and the next operation works. */
import { sql } from '@chainstead/db';
import { scratchOfFile, stageOfFile } from '@chainstead/testkit/hooks';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type GraphqlStage, openGraphqlStage } from '../testing/graphql-stage.ts';
import { OWNER, seedVault, writeDeposits } from '../testing/seeded-vault.ts';

const scratch = scratchOfFile();
const stage: GraphqlStage = stageOfFile(() => openGraphqlStage(scratch));

beforeAll(async () => {
  await seedVault(scratch.database);
  await writeDeposits(scratch.database, [{ block: 10 }, { block: 11, owner: OWNER }]);
});

const ROWS = 'contracts_vault_deposit(chain: 1)';

async function refusal(
  query: string,
  variables?: object,
): Promise<{ code: string; message: string; status: number }> {
  const { status, body } = await stage.request(query, variables);
  const [error, ...others] = body.errors ?? [];
  expect(others).toEqual([]);
  if (error === undefined) throw new Error(`Not refused: ${JSON.stringify(body).slice(0, 500)}`);
  expect(error.extensions.remedy).not.toBe('');
  expect(JSON.stringify(body)).not.toMatch(/postgres:\/\/|secret|select\s|::/i);
  return { code: error.extensions.code, message: error.message, status };
}

afterEach(async () => {
  expect(
    (await stage.data(`{ ${ROWS} { nodes { block_number } } }`)).contracts_vault_deposit?.nodes,
  ).toHaveLength(2);
});

const nested = (depth: number, inner: string): string =>
  `${`{ ${ROWS} `.repeat(depth)}${inner}${' }'.repeat(depth)}`;
const fragments = (count: number): string =>
  Array.from(
    { length: count },
    (_, index) => `fragment f${index} on Query { a${index}: __typename ...f${index + 1} ...f${index + 1} }`,
  ).join(' ');
const ofTypes = (depth: number): string =>
  `ofType { name ${'ofType { name '.repeat(depth)}${'} '.repeat(depth)}}`;
const typesOfFields = (depth: number): string =>
  `{ __schema { types { ${'fields { type { '.repeat(depth)}name${' } }'.repeat(depth)} } } }`;

describe('is too complex', () => {
  test.each([
    ['deep nesting', nested(20, '{ nodes { note } }')],
    [
      'aliases of a list',
      `{ ${Array.from({ length: 1_000 }, (_, index) => `a${index}: __typename`).join(' ')} x: __typename }`,
    ],
    ['21 lists', `{ ${Array.from({ length: 21 }, (_, n) => `a${n}: ${ROWS} { nodes { note } }`).join(' ')} }`],
    [
      'many rows of several lists',
      `{ ${Array.from({ length: 6 }, (_, n) => `a${n}: contracts_vault_deposit(chain: 1, first: 1000) { nodes { note } }`).join(' ')} }`,
    ],
    [
      'many aliases of a column',
      `{ contracts_vault_deposit(chain: 1, first: 1000) { nodes { ${Array.from({ length: 120 }, (_, n) => `a${n}: note`).join(' ')} } } }`,
    ],
    [
      'eleven lists with conditions that have no index',
      `{ ${Array.from({ length: 11 }, (_, n) => `a${n}: contracts_vault_deposit(chain: 1, first: 1, where: { note: "a" }) { nodes { note } }`).join(' ')} }`,
    ],
    [
      'eleven orders',
      `{ ${Array.from({ length: 11 }, (_, n) => `a${n}: contracts_vault_deposit(chain: 1, first: 1, orderBy: note) { nodes { note } }`).join(' ')} }`,
    ],
    [
      'many counts',
      `{ ${ROWS} { ...counts } } fragment counts on contracts_vault_depositConnection { ${Array.from({ length: 101 }, (_, n) => `a${n}: totalCount { count }`).join(' ')} }`,
    ],
    ['fragments that double', `query { ...f0 } ${fragments(40)} fragment f40 on Query { __typename }`],
    ['deep lists of the schema', typesOfFields(20)],
    [
      'the schema, many times',
      `{ ${Array.from({ length: 3 }, (_, n) => `a${n}: __schema { types { name } }`).join(' ')} }`,
    ],
    ['deep brackets', `{ a(b: ${'['.repeat(3_900)}`],
    ['a deep type', `{ __type(name: "Query") { fields { type { ${ofTypes(30)} } } } }`],
  ])('%s', async (_name, query) => {
    const { code, status } = await refusal(query);
    expect([code, status]).toEqual(['GRAPHQL_TOO_COMPLEX', 400]);
  });
});

describe('is invalid', () => {
  test.each([
    ['no operation', '', 'Syntax Error'],
    ['a text without end', '{ a(b: "', 'Syntax Error'],
    ['many tokens', `{ ${'a '.repeat(5_000)} }`, 'token'],
    ['a fragment of itself', '{ ...a } fragment a on Query { ...a }', 'contains itself'],
    [
      'a circle of fragments',
      '{ ...a } fragment a on Query { ...b } fragment b on Query { ...a }',
      'contains itself',
    ],
    ['a mutation', 'mutation { deleteAll }', 'Mutations are not supported'],
    ['an unknown mutation next to a query', 'query a { __typename } mutation b { deleteAll }', '2 operations'],
    ['a table of another schema', '{ public_api_keys(chain: 1) { nodes { name } } }', 'Cannot query field'],
    ['the table of keys', '{ api_keys { nodes { key_hash } } }', 'Cannot query field'],
    ['a view of the program', '{ analytics_gateway_usage(chain: 1) { nodes { key_id } } }', 'Cannot query field'],
    ['a function', '{ analytics_wallet_key(hex: "0x00") }', 'Cannot query field'],
    ['pg_sleep', '{ pg_sleep(seconds: 60) }', 'Cannot query field'],
    [
      'a filter of a list',
      '{ contracts_vault_deposit(chain: 1, where: { parts: "1" }) { nodes { note } } }',
      'is not defined by type',
    ],
    [
      'a range of texts',
      '{ contracts_vault_deposit(chain: 1, range: { note: { gt: "a" } }) { nodes { note } } }',
      'is not defined by type',
    ],
    [
      'an operator in a name',
      '{ contracts_vault_deposit(chain: 1, where: { assets_gt: "1" }) { nodes { note } } }',
      'is not defined by type',
    ],
    [
      'a value for another chain',
      '{ contracts_vault_deposit(chain: 1, where: { chain_id: "10" }) { nodes { note } } }',
      'is not defined by type',
    ],
    [
      'an offset',
      '{ contracts_vault_deposit(chain: 1, offset: 1000000) { nodes { note } } }',
      'Unknown argument',
    ],
    [
      'an order by a list',
      '{ contracts_vault_deposit(chain: 1, orderBy: parts) { nodes { note } } }',
      'does not exist in',
    ],
    ['a view without its key', '{ analytics_wallet_transfers(chain: 1) { nodes { amount } } }', 'is required'],
    [
      'SQL in a number',
      `{ contracts_vault_deposit(chain: "1 OR 1=1") { nodes { note } } }`,
      'is no chain: chain must be',
    ],
    [
      'SQL in bytes',
      `{ contracts_vault_deposit(chain: 1, where: { owner: "' OR ''='" }) { nodes { note } } }`,
      'is no value of Bytes',
    ],
    [
      'half a byte',
      '{ contracts_vault_deposit(chain: 1, where: { owner: "0x0" }) { nodes { note } } }',
      'is no value of Bytes',
    ],
    [
      'NaN',
      '{ contracts_vault_deposit(chain: 1, where: { assets: "NaN" }) { nodes { note } } }',
      'is no value of BigFloat',
    ],
    ['a null page', '{ contracts_vault_deposit(chain: 1, first: null) { nodes { note } } }', 'found null'],
    ['__proto__', '{ __proto__ { nodes { note } } }', 'Cannot query field'],
  ])('%s', async (_name, query, text) => {
    const { code, message, status } = await refusal(query);
    expect([code, message, status]).toEqual(['GRAPHQL_INVALID', expect.stringContaining(text), 400]);
    expect(message.length).toBeLessThanOrEqual(500);
  });

  test('variables of another type', async () => {
    const query = 'query ($chain: Chain!) { contracts_vault_deposit(chain: $chain) { nodes { note } } }';
    for (const variables of [{}, { chain: null }, { chain: {} }, { chain: 1.5 }, { chain: '1'.repeat(30) }])
      expect((await refusal(query, variables)).code).toBe('GRAPHQL_INVALID');
  });
});

describe('has an invalid argument', () => {
  test.each([
    ['a huge page', 'first: 1000000000'],
    ['a page of none', 'first: 0'],
    ['a negative page', 'first: -5'],
    ['a cursor that is no cursor', 'after: "!!!"'],
    ['a cursor of another order', `after: "${Buffer.from('["natural",1000000000]').toString('base64')}"`],
    ['a cursor with other values', `after: "${Buffer.from('["x","1","2","3","SQL"]').toString('base64')}"`],
    ['a cursor with objects', `after: "${Buffer.from('["x","1",{},"3","4"]').toString('base64')}"`],
    ['a block outside of the range', 'from_block: "9999999999999999999"'],
    [
      'a cursor of another column',
      `orderBy: note, after: "${Buffer.from('["x","assets DESC","1","1","2","3"]').toString('base64')}"`,
    ],
    ['a null in where', 'where: { owner: null }'],
    ['a null in range', 'range: { assets: { gte: null } }'],
    ['a null instead of values', 'in: { owner: null }'],
    ['many values', `in: { assets: [${Array.from({ length: 101 }, (_, n) => n).join()}] }`],
    ['a time that is none', 'range: { block_time: { gte: "never" } }'],
  ])('%s', async (_name, args) => {
    const { code } = await refusal(`{ contracts_vault_deposit(chain: 1, ${args}) { nodes { note } } }`);
    expect(code).toBe('GRAPHQL_ARGUMENT_INVALID');
  });

  test('a huge or missing page in a variable', async () => {
    const query = 'query ($first: Int) { contracts_vault_deposit(chain: 1, first: $first) { nodes { note } } }';
    for (const first of [1_001, null, 0])
      expect((await refusal(query, { first })).code).toBe('GRAPHQL_ARGUMENT_INVALID');
    expect((await stage.request(query, {})).status).toBe(200);
  });
});

describe('reads too much', () => {
  test('a result with more bytes than allowed is refused before it is in memory', async () => {
    await writeDeposits(
      scratch.database,
      Array.from({ length: 20 }, (_, log) => ({ block: 20, log, note: 'x'.repeat(100_000) })),
    );
    const narrow = await openGraphqlStage(scratch, { bytesMax: 1_000_000 });
    try {
      const query = (first: number) =>
        `{ contracts_vault_deposit(chain: 1, from_block: 20, first: ${first}) { nodes { note } } }`;
      const { body } = await narrow.request(query(20));
      expect([body.data, body.errors?.[0]?.extensions.code]).toEqual([
        { contracts_vault_deposit: null },
        'GRAPHQL_RESULT_TOO_LARGE',
      ]);
      expect((await narrow.data(query(5))).contracts_vault_deposit?.nodes).toHaveLength(5);
    } finally {
      await narrow.close();
      await scratch.database.query(sql`DELETE FROM contracts.vault_deposit WHERE block_number = 20`);
    }
  });

  test('a text counts for each alias, with its escapes, also eight times at once', async () => {
    await writeDeposits(scratch.database, [{ block: 21, note: '\u0001'.repeat(100_000) }]);
    const query = (aliases: number) =>
      `{ contracts_vault_deposit(chain: 1, from_block: 21) { nodes { ${Array.from({ length: aliases }, (_, n) => `a${n}: note`).join(' ')} } } }`;
    try {
      const refused = await Promise.all(Array.from({ length: 8 }, () => stage.request(query(450))));
      expect(refused.map(({ body }) => body.errors?.[0]?.extensions.code)).toEqual(
        refused.map(() => 'GRAPHQL_RESULT_TOO_LARGE'),
      );
      expect((await stage.data(query(20))).contracts_vault_deposit?.nodes).toHaveLength(1);
    } finally {
      await scratch.database.query(sql`DELETE FROM contracts.vault_deposit WHERE block_number = 21`);
    }
  });

  test('a list whose conditions or order would read more than 100,000 rows is refused, and works within blocks', async () => {
    const emitter = sql`${Buffer.alloc(20, 1)}::bytea`;
    await scratch.database.query(
      sql`INSERT INTO contracts.vault_deposit (chain_id, block_number, transaction_index, log_index, block_time, transaction_hash, contract, owner, assets, note)
       SELECT 1, 100 + n / 10, 0, n % 10, now(), '\\x01', ${emitter}, ${emitter}, n, 'x' FROM generate_series(0, 100000) AS n`,
    );
    const rows = (args: string) =>
      `{ rows: contracts_vault_deposit(chain: 1, first: 2, from_block: 100, ${args}) { nodes { assets } } }`;
    try {
      for (const args of [
        'where: { note: "absent" }',
        'in: { note: ["absent"] }, orderBy: note',
        'orderBy: transaction_index',
        'where: { note: "absent" }, orderBy: assets',
      ]) {
        const { code, message } = await refusal(rows(args));
        expect([args, code, message]).toEqual([
          args,
          'GRAPHQL_TOO_COMPLEX',
          expect.stringContaining('more than 100000 rows'),
        ]);
      }
      const found = { rows: { nodes: [{ assets: '99999' }, { assets: '99998' }] } };
      expect(await stage.data(rows('to_block: 10099, orderBy: note'))).toEqual(found);
      expect(await stage.data(rows('orderBy: assets, range: { assets: { lt: "100000" } }'))).toEqual(found);
    } finally {
      await scratch.database.query(sql`DELETE FROM contracts.vault_deposit WHERE block_number >= 100`);
    }
  });

  test('an operation that waits for a lock is stopped', async () => {
    const quick = await openGraphqlStage(scratch, { timeoutMs: 500 });
    try {
      await quick.data(`{ ${ROWS} { nodes { note } } }`);
      const { body } = await scratch.database.transaction(async (transaction) => {
        await transaction.query(sql`LOCK TABLE contracts.vault_deposit IN ACCESS EXCLUSIVE MODE`);
        return quick.request(`{ ${ROWS} { nodes { note } } }`);
      });
      expect(body.errors?.[0]?.extensions.code).toBe('GRAPHQL_TIMEOUT');
      await quick.data(`{ ${ROWS} { nodes { note } } }`);
    } finally {
      await quick.close();
    }
  });
});
