/** One line makes a dataset: its table, view, list, document and GraphQL field. */
import { createChainRegistry } from '@chainstead/chains';
import { type Log, parseHash } from '@chainstead/core';
import { rawSql, sql } from '@chainstead/db';
import { defineEvent } from '@chainstead/events/decoding';
import { EXAMPLE_KEY, exampleApi } from '@chainstead/http/testing';
import { addressOf, hashOf, timestampOf } from '@chainstead/testkit';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, test } from 'vitest';
import { accountEvents } from '../../apps/chainstead/src/datasets/account-events/account-events.ts';
import { accountEventsRoute } from '../../apps/chainstead/src/datasets/account-events/account-events-route.ts';
import { exampleLog, seedLogs } from '../../apps/chainstead/src/datasets/testing/seed-logs.ts';
import { openGraphqlStage } from '../../packages/products/graphql/src/testing/graphql-stage.ts';
import { accountEventsView } from './account-events-view.ts';
import { tableStatements } from './table-statements.ts';

const BURN =
  'event Burn(address indexed owner, address indexed spender, int24 tick, uint256 amount, bool forced, bytes32 ref)';
const ROUND_ENDED = 'event RoundEnded(uint256 round)';
const burns = accountEvents('burn-events', BURN);
const received = accountEvents('received-burns', BURN, { account: 'spender' });
const rounds = accountEvents('round-ends', ROUND_ENDED);

const [CONTRACT, OWNER, SPENDER, REF] = [addressOf(0xc0), addressOf(1), addressOf(2), hashOf(3, 4)];
const AMOUNT = 2n ** 255n;
const chain = createChainRegistry().get('eth');
const scratch = scratchOfFile();

function logOf(line: string, indexed: readonly (bigint | string)[], values: readonly (bigint | string)[]): Log {
  const wordOf = (value: bigint | string): string =>
    BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0');
  const topics = [defineEvent(line).topic, ...indexed.map((value) => parseHash(`0x${wordOf(value)}`))];
  return exampleLog({ address: CONTRACT, topics, data: `0x${values.map(wordOf).join('')}` });
}

const burn = logOf(BURN, [OWNER, SPENDER], [-5n, AMOUNT, 1n, REF]);
const round = logOf(ROUND_ENDED, [], [12n]);

const OWN = { tick: '-5', amount: AMOUNT.toString(), forced: true, ref: REF };
const ofBurns = { dataset: burns, log: burn, path: `wallets/${OWNER}/burn-events` };
const ofReceived = { dataset: received, log: burn, path: `wallets/${SPENDER}/received-burns` };
const ofRounds = { dataset: rounds, log: round, path: `contracts/${CONTRACT}/round-ends` };

const CASES = [
  { ...ofBurns, block: 7, account: OWNER, own: { contract: CONTRACT, spender: SPENDER, ...OWN } },
  { ...ofReceived, block: 8, account: SPENDER, own: { contract: CONTRACT, owner: OWNER, ...OWN } },
  { ...ofRounds, block: 9, account: CONTRACT, own: { round: '12' } },
];

beforeAll(async () => {
  for (const { dataset, log, block } of CASES) {
    for (const statement of [...tableStatements(dataset.definition), accountEventsView(dataset).text])
      await scratch.database.query(rawSql(statement));
    await seedLogs(scratch.database, dataset, chain, [{ ...log, blockNumber: block }]);
  }
});

describe.each(CASES)('the dataset $dataset.name has', ({ dataset, path, block, account, own }) => {
  test('a list with a field per parameter', async () => {
    const api = await exampleApi(scratch.database, [accountEventsRoute(dataset)]);
    const response = await api.request(`/api/v2.2/${path}`, { headers: { 'X-API-Key': EXAMPLE_KEY } });
    expect(await response.json()).toMatchObject({
      page: 0,
      result: [
        {
          ...{
            account,
            ...own,
            block_number: String(block),
            log_index: 9,
            transaction_hash: burn.transactionHash,
          },
          block_timestamp: new Date(timestampOf(block) * 1_000).toISOString(),
        },
      ],
    });
  });

  test('a place in the document, with a description of each field', async () => {
    const api = await exampleApi(scratch.database, [accountEventsRoute(dataset)]);
    const { paths, components } = (await (await api.request('/openapi.json')).json()) as {
      readonly paths: Readonly<Record<string, { readonly get: { readonly summary: string } }>>;
      readonly components: { readonly schemas: Readonly<Record<string, object>> };
    };
    expect(paths[`/api/v2.2/${path.replace(account, '{address}')}`]?.get.summary).toBe(dataset.endpoint.summary);
    const described = Object.fromEntries(
      Object.keys(own).map((name) => [name, { description: expect.any(String) }]),
    );
    expect(components.schemas[dataset.endpoint.schema]).toMatchObject({
      properties: { result: { items: { properties: described } } },
    });
  });

  test('a view', async () => {
    const view = rawSql(accountEventsView(dataset).name);
    const [row] = await scratch.database.query(sql`SELECT * FROM ${view}`);
    expect(row).toMatchObject({ chainId: 1, blockNumber: block, account, ...own });
  });
});

test('GraphQL has a field of each dataset, which finds rows by the account', async () => {
  const stage = await openGraphqlStage(scratch);
  const fieldOf = ({ dataset }: (typeof CASES)[number]) => accountEventsView(dataset).name.replace('.', '_');
  const queries = CASES.map(
    (one) =>
      `${fieldOf(one)}(chain: "eth", where: { account: "${one.account}" }) { nodes { account ${Object.keys(one.own).join(' ')} } }`,
  );
  const data = await stage.data(`{ ${queries.join(' ')} }`);
  await stage.close();
  for (const one of CASES) expect(data[fieldOf(one)]?.nodes).toEqual([{ account: one.account, ...one.own }]);
});

test('logs of another shape are no rows', () => {
  const context = { chain, timestampOf };
  expect(
    burns.decode([{ ...burn, data: '0x' }, { ...burn, topics: burn.topics.slice(0, 2) }, round], context),
  ).toEqual([]);
  expect(rounds.decode([{ ...round, data: `${round.data}00` }, burn], context)).toEqual([]);
});

test('parameters longer than a word are refused, and accounts that the event has not', () => {
  expect(() => accountEvents('notes', 'event Note(address who, string text)')).toThrow(
    'text is longer than a word',
  );
  expect(() => accountEvents('moves', 'event Move(address indexed, uint256 a)')).toThrow('needs a name');
  expect(() => accountEvents('rounds', ROUND_ENDED, { account: 'who' })).toThrow('no parameter who');
});
