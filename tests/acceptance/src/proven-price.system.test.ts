/** Prices of the running program with proofs, verified offline by the command line: without a node, a database or settings. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Address } from '@chainstead/core';
import { deployExchanges, type ExchangePool } from '@chainstead/testkit';
import { runCaptured } from 'chainstead/src/testing/captured-context.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type DevnetProgramStage, openDevnetProgramStage } from './devnet-program.ts';
import { waitUntil } from './indexed-chain.ts';

const KEY = 'acceptance-key-0123456789';
const CHAIN_ID = 1_337_077;
const UNIT = 10n ** 18n;
const DOLLAR = 10n ** 6n;

let stage: DevnetProgramStage;
let settings: Readonly<Record<string, string>>;
let url: string;
let folder: string;
let usd: Address;
let cats: Address;
let dogs: Address;
let pools: readonly ExchangePool[];
let hopPool: ExchangePool;

/** Amounts in the order of the pool's tokens. */
const ordered = (
  { tokens: [token0] }: ExchangePool,
  token: bigint,
  other: bigint,
  second = usd,
): [bigint, bigint] => (token0 === second ? [other, token] : [token, other]);

beforeAll(async () => {
  stage = await openDevnetProgramStage(CHAIN_ID);
  await stage.devnet.client.setBlockTimestampInterval({ interval: 1 });
  folder = await mkdtemp(join(tmpdir(), 'proven-price-'));
  const exchanges = await deployExchanges(stage.devnet);
  const { number } = await stage.devnet.client.getBlock();
  usd = await exchanges.deployToken('USD', 6);
  cats = await exchanges.deployToken('CATS');
  const v2 = await exchanges.createPool({ version: 'v2', tokens: [cats, usd] });
  pools = [v2];
  await exchanges.addLiquidity(v2, ordered(v2, 10_000n * UNIT, 30_000n * DOLLAR));
  for (const pool of pools) {
    await exchanges.swap(pool, { token: usd, amount: 20n * DOLLAR });
    await exchanges.swap(pool, { token: cats, amount: 3n * UNIT });
  }
  dogs = await exchanges.deployToken('DOGS');
  hopPool = await exchanges.createPool({ version: 'v2', tokens: [dogs, cats] });
  await exchanges.addLiquidity(hopPool, ordered(hopPool, 8_000n * UNIT, 2_000n * UNIT, cats));
  await exchanges.swap(hopPool, { token: dogs, amount: UNIT });
  settings = {
    ...{ CHAINS: 'devnet', CHAIN_ID_DEVNET: String(CHAIN_ID), RPC_URLS_DEVNET: stage.devnet.url },
    ...{ START_BLOCK_DEVNET: String(number), DOLLAR_TOKENS_DEVNET: usd, DATABASE_URL: stage.scratch.url },
    EXCHANGES_DEVNET: `v2:${exchanges.factories.v2.address},v3:${exchanges.factories.v3.address}`,
    // The chain is younger than the usual window.
    ...{ PRICE_WINDOW_SECONDS: '1', PRICE_HOP_MIN_USD: '20000' },
    // A busy machine is slow.
    ON_DEMAND_WAIT_MS: '30000',
  };
  const program = stage.start(KEY, settings);
  url = await program.url;
  await waitUntil(async () => {
    const { status, body } = await get('&explain=true');
    const counted = body.explanation?.candidates.filter(({ role }) => role === 'chosen' || role === 'counted');
    const { status: ofDogs, body: other } = await get('', dogs);
    return status === 200 && ofDogs === 200 && (counted?.length ?? 0) > 0 ? null : JSON.stringify([body, other]);
  });
});
afterAll(async () => {
  await stage?.close();
  await rm(folder, { recursive: true, force: true });
});

interface PriceReply {
  readonly status: number;
  readonly body: {
    readonly usdPriceFormatted?: string;
    readonly explanation?: {
      readonly block: string;
      readonly hops: readonly { readonly token_address: string }[];
      readonly candidates: readonly { readonly role: string; readonly pair_address: string }[];
    };
    readonly proof?: { readonly block_hash: string };
  };
}

async function get(query: string, token = cats): Promise<PriceReply> {
  const response = await fetch(`${url}/api/v2.2/erc20/${token}/price?chain=devnet${query}`, {
    headers: { 'x-api-key': KEY },
  });
  return { status: response.status, body: (await response.json()) as PriceReply['body'] };
}

async function save(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

it('proves the price of a route, by receipts of the pools', async () => {
  const { status, body } = await get('&proof=true');
  expect(status).toBe(200);
  const block = Number(body.explanation?.block);
  const { hash } = await stage.devnet.client.getBlock({ blockNumber: BigInt(block) });
  expect(body.proof?.block_hash).toBe(hash);
  const file = await save('route.json', JSON.stringify(body));
  const { exitCode, stdout, stderr } = await runCaptured(['verify-price', file, '--block-hash', hash ?? '']);
  expect([exitCode, stderr]).toEqual([3, expect.stringContaining('facts without a proof and 0 block hashes')]);
  expect(stdout).toContain(
    `${cats} on chain ${CHAIN_ID}: ${body.usdPriceFormatted} US dollars at the end of block ${block}`,
  );
  expect(stdout).toMatch(/\d+ pool states from logs in \d+ receipts/);
  expect(stdout).toContain(`Price of ${usd}: 1 US dollars (assumed)`);
  for (const { pool } of pools) {
    expect(stdout).toContain(`Tokens, exchange and curve of pool ${pool} (no-address-rule)`);
    expect(stdout).not.toContain(`States of pool ${pool}`);
  }
  expect(stdout).not.toContain('Compare these block hashes');
});

it('proves a price through another token, by receipts of the pools of both steps', async () => {
  const { status, body } = await get('&proof=true', dogs);
  expect([status, body.explanation?.hops.map((hop) => hop.token_address)]).toEqual([200, [cats]]);
  const file = await save('hop.json', JSON.stringify(body));
  const { exitCode, stdout, stderr } = await runCaptured(['verify-price', file]);
  expect([exitCode, stderr]).toEqual([3, expect.stringContaining('facts without a proof')]);
  expect(stdout).toContain(
    `${dogs} on chain ${CHAIN_ID}: ${body.usdPriceFormatted} US dollars at the end of block `,
  );
  expect(stdout).toMatch(new RegExp(`Hop ${cats} at 3\\.\\d+ US dollars, by its pools against anchors`));
  for (const { pool } of [hopPool, ...pools]) expect(stdout).not.toContain(`States of pool ${pool}`);
  expect(stdout).toContain('Rules other than the defaults (setting)');
  const args = ['explain-price', '--chain', 'devnet', '--token', dogs, '--proof'];
  const price = await runCaptured(args, settings);
  expect([price.exitCode, price.stderr]).toEqual([0, '']);
  const again = await runCaptured(['verify-price', await save('hop-command.json', price.stdout)]);
  expect(again.exitCode).toBe(3);
  const forged = await save('forged.json', JSON.stringify(body).replaceAll(/"depth_usd":"\d/g, '$&0'));
  const rejected = await runCaptured(['verify-price', forged]);
  expect([rejected.exitCode, rejected.stdout]).toEqual([1, '']);
  expect(rejected.stderr).toContain('The price proof is invalid: explanation.hops[0].depth_usd is ');
});

// Invariant: PRICE-PROOF-ALONE
it('proves the price of the command line, and rejects it after a change', async () => {
  const args = ['explain-price', '--chain', 'devnet', '--token', cats, '--proof'];
  const price = await runCaptured(args, settings);
  expect([price.exitCode, price.stderr]).toEqual([0, '']);
  const file = await save('command.json', price.stdout);
  const verified = await runCaptured(['verify-price', file]);
  expect(verified.exitCode).toBe(3);
  expect(verified.stdout).toContain('Compare these block hashes with a node:\n  block ');
  const changed = await save('changed.json', price.stdout.replace(/"reserve0":"(\d)/, '"reserve0":"$1$1'));
  const rejected = await runCaptured(['verify-price', changed]);
  expect([rejected.exitCode, rejected.stdout]).toEqual([1, '']);
  expect(rejected.stderr).toContain('The price proof is invalid: explanation.candidates[');
});
