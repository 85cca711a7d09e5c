/** What `/docs` fills in works: every example of the running program's OpenAPI document is sent and answered as it says. */

import { sql } from '@chainstead/db';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createNftStage, type IndexedNfts, NFT_STAGE_KEY, type NftStage } from './nft-stage.ts';

// Processes start slowly on a busy machine.
const refusalShape = z.object({
  message: z.string(),
  details: z.object({ errors: z.array(z.object({ parameter: z.string(), given: z.string() })).length(1) }),
});
const exampleShape = z.looseObject({ example: z.unknown().optional() });
const operationShape = z.object({
  parameters: z
    .array(
      z.object({
        name: z.string(),
        in: z.enum(['path', 'query']),
        required: z.boolean().optional(),
        example: z.union([z.string(), z.number(), z.tuple([z.string()])]).optional(),
        schema: z.looseObject({ default: z.unknown().optional() }),
      }),
    )
    .default([]),
  responses: z.record(z.string(), z.object({ content: z.record(z.string(), exampleShape.partial()).optional() })),
});
const documentShape = z.object({ paths: z.record(z.string(), z.record(z.string(), operationShape)) });
type Operation = z.infer<typeof operationShape>;

/** Empty while no webhook was sent. */
const OF_WEBHOOKS = /^\/(?:history|historical-jobs)/;

/** The stage's only token is its wrapped native token, whose deposits are no transfers: its contract is called for balances, and it has no history of holders. */
const OF_HOLDERS = /\/holders\/historical$/;

/** The first request has them read. */
const OF_EMITTERS = /\/\{address\}\/logs$/;

/** The stage has no vault. */
const OF_VAULTS = /\/vaults$/;

/** The stage has no exchange: its pair is a row of this test, without swaps and states. */
const OF_SWAPS = /\/(?:swaps|ohlcv|profitability|top-gainers|tokens\/search)$/;
const OF_PAIRS = /\/(?:reserves|pairAddress|analytics)$|\{token1_address\}\/price$/;

/** The stage's operator added no contract. */
const OF_CONTRACTS = /\/contracts(?:\/|$)/;

/** Listings are not on the chain. */
const NEVER_ANSWERED = /\/floor-price(?:\/|$)/;

/** They say how far the chains are; the stage's Aptos is nowhere. */
const PROBES = new Set(['/ready', '/synced']);

const CHAIN_ID = 1_337_031;
const WALLET = '0xd8da6bf26964af9d7eed9e03e53415d37aa96045';
const BRAD = '0x8aad44321a86b170879d7a244c1e8d360c99dda8';

let stage: NftStage;
let indexed: IndexedNfts;
let operations: readonly (readonly [path: string, operation: Operation])[];

beforeAll(async () => {
  stage = await createNftStage(CHAIN_ID);
  indexed = await stage.index({
    APTOS_NODE_URL: 'http://127.0.0.1:9/v1',
    TRANSACTIONS_DEVNET: 'all',
    RPC_URLS_ETH: 'http://127.0.0.1:9',
    GATEWAY_CHAINS: 'devnet,eth',
  });
  await indexed.scratch.database.query(
    sql`INSERT INTO resolved_names (service, wanted, subject, answer, off_chain)
     SELECT service, wanted, subject, answer, false FROM jsonb_to_recordset(${JSON.stringify([
       { service: 'ens', wanted: 'address', subject: 'vitalik.eth', answer: WALLET },
       { service: 'ens', wanted: 'name', subject: WALLET, answer: 'vitalik.eth' },
       { service: 'unstoppable', wanted: 'address', subject: 'brad.crypto', answer: BRAD },
       { service: 'unstoppable', wanted: 'name', subject: BRAD, answer: 'brad.crypto' },
     ])}) AS given (service text, wanted text, subject text, answer text)`,
  );
  await indexed.scratch.database.query(
    sql`INSERT INTO aptos_coins (network, coin_type_hash, coin_type, creator_address, name, symbol, decimals, transaction_version, transaction_timestamp)
     VALUES ('mainnet', sha256('coin'), '0xa::m::C', sha256('creator'), 'Coin', 'C', 8, 1, to_timestamp(1600000000))`,
  );
  await indexed.scratch.database.query(
    sql`INSERT INTO aptos_transfers (network, owner_address, transaction_version, event_index, event_account_address, event_creation_number,
       event_sequence_number, activity_type, amount, block_height, coin_type, coin_type_hash, is_gas_fee, is_transaction_success, transaction_timestamp)
     VALUES ('mainnet', sha256('owner'), 1, 0, sha256('owner'), 2, 0, '0x1::coin::DepositEvent', 5, 1, '0xa::m::C', sha256('0xa::m::C'), false, true,
       to_timestamp(1600000000))`,
  );
  for (const [table, prefix] of [
    [sql`aptos_balances`, sql`last_`],
    [sql`aptos_balance_history`, sql``],
  ] as const)
    await indexed.scratch.database.query(
      sql`INSERT INTO ${table} (network, owner_address, coin_type_hash, coin_type, amount, ${prefix}transaction_version, ${prefix}transaction_timestamp)
       VALUES ('mainnet', sha256('owner'), sha256('0xa::m::C'), '0xa::m::C', 5, 1, to_timestamp(1600000000))`,
    );
  await indexed.scratch.database.query(
    sql`WITH stream AS (
       INSERT INTO streams (id, webhook_url, description, tag, chain_ids, all_addresses, include_native_txs, include_contract_logs, include_internal_txs,
         include_all_tx_logs, filter_possible_spam_addresses, get_native_balances, demo, status, status_message, amount_of_addresses)
       VALUES (gen_random_uuid(), 'https://example.com', '', '', '{1337031}', false, true, false, false, false, false, '[]', false, 'active', '', 1)
       RETURNING id
     ), statistics AS (INSERT INTO stream_stats (stream_id) SELECT id FROM stream)
     INSERT INTO stream_addresses (stream_id, address, version) SELECT id, substring(sha256('owner') FOR 20), 1 FROM stream`,
  );
  await indexed.scratch.database.query(
    sql`INSERT INTO pools (pool_key, chain_id, pool, status, proof, is_counted, exchange, factory, token0, token1, due_at)
     SELECT address_key(pool), ${CHAIN_ID}, pool, 'proven', 'creation', true, 'v2', substring(sha256('factory') FOR 20), decode(repeat('0a', 20), 'hex'), decode(repeat('0b', 20), 'hex'), NULL
     FROM substring(sha256('pair') FOR 20) AS pool`,
  );
  await indexed.untilServedAsTheNodeSays();
  const { paths } = documentShape.parse(await (await fetch(`${indexed.api.address}/openapi.json`)).json());
  operations = Object.entries(paths).flatMap(([path, { get }]) =>
    get === undefined ? [] : [[path, get] as const],
  );
});
afterAll(() => stage?.close());

/** The request that the page sends when nothing is changed. @param changed parameters with other values */
function targetOf(
  path: string,
  { parameters }: Operation,
  changed: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams();
  let target = path;
  for (const parameter of parameters) {
    const value = changed[parameter.name] ?? parameter.example ?? parameter.schema.default;
    if (value === undefined) continue;
    if (parameter.in === 'path')
      target = target.replace(`{${parameter.name}}`, encodeURIComponent(String(value)));
    else query.set(parameter.name, String(value));
  }
  return `${indexed.api.address}${target}?${query}`;
}

async function ask(target: string, headers: Readonly<Record<string, string>> = { 'x-api-key': NFT_STAGE_KEY }) {
  const answer = await fetch(target, { headers });
  const text = await answer.text();
  return {
    status: answer.status,
    body: (text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text) as unknown,
  };
}

function exampleOf({ responses }: Operation, status: number): unknown {
  return responses[status]?.content?.['application/json']?.example;
}

describe('the examples of the documentation', () => {
  it('are there for every required parameter of what anybody may ask', () => {
    const missing = operations.flatMap(([path, { parameters }]) =>
      parameters.some(
        ({ required, example, schema }) => required && example === undefined && schema.default === undefined,
      )
        ? [path]
        : [],
    );
    expect(missing).toEqual([]);
  });

  it('are answered, lists with rows', async () => {
    const requested: string[] = [];
    for (const [path, operation] of operations) {
      const target = targetOf(path, operation);
      if (PROBES.has(path) || [NEVER_ANSWERED, OF_PAIRS, OF_CONTRACTS].some((one) => one.test(path))) continue;
      const { status, body } = await ask(target);
      expect([path, status < 300, body]).toEqual([path, true, body]);
      const rows = z.object({ result: z.array(z.unknown()) }).safeParse(body).data?.result;
      const isUnread =
        OF_WEBHOOKS.test(path) ||
        OF_HOLDERS.test(path) ||
        OF_EMITTERS.test(path) ||
        OF_SWAPS.test(path) ||
        OF_VAULTS.test(path);
      if (rows !== undefined && !isUnread) {
        requested.push(path);
        expect([path, rows.length > 0]).toEqual([path, true]);
      }
      if (/\/nft\/.*\/price$/.test(path))
        expect(body).toMatchObject({ last_sale: { price: expect.any(String) } });
    }
    expect(requested.length).toBeGreaterThan(16);
  });

  it('of errors are what the server says', async () => {
    let refused = 0;
    for (const [path, operation] of operations) {
      const missing = exampleOf(operation, 401);
      const target = targetOf(path, operation);
      expect([path, 401 in operation.responses]).toEqual([path, 403 in operation.responses]);
      if (missing !== undefined && !target.includes('{')) expect((await ask(target, {})).body).toEqual(missing);
      const refusal = refusalShape.safeParse(exampleOf(operation, 400)).data;
      const [problem] = refusal?.details.errors ?? [];
      if (problem === undefined) continue;
      refused += 1;
      const answer = await ask(targetOf(path, operation, { [problem.parameter]: problem.given }));
      expect([path, answer]).toMatchObject([path, { status: 400, body: refusal }]);
    }
    expect(refused).toBeGreaterThan(8);
  });
});

it('the root leads to the documentation, for browsers and for others', async () => {
  const { address } = indexed.api;
  expect((await ask(`${address}/`, {})).body).toMatchObject({ name: 'Chainstead', documentation: '/docs' });
  const page = await fetch(`${address}/`, { headers: { accept: 'text/html,*/*' } });
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<a href="docs">')]);
  expect((await fetch(`${address}/docs/`)).url).toBe(`${address}/docs`);
  const icon = await fetch(`${address}/favicon.ico`);
  expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
});
