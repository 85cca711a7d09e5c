/** The Aptos routes of the program: the network of a request, by port, by query, and by the indexed networks. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sql } from '@chainstead/db';
import { createScratchDatabase, type Program, type ScratchDatabase, startProgram } from '@chainstead/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const PATIENCE_MS = 90_000;
const KEY = 'aptos-routes-key';
const NOBODY = 'http://127.0.0.1:9/v1';

let scratch: ScratchDatabase;
let program: Program | undefined;
beforeEach(async () => {
  scratch = await createScratchDatabase();
  await scratch.database.query(
    sql`INSERT INTO aptos_coins (network, coin_type_hash, coin_type, creator_address, name, symbol, decimals, transaction_version, transaction_timestamp)
     SELECT network, sha256('coin'), '0xa::m::C', sha256('creator'), network, network, 8, 1, to_timestamp(1600000000)
     FROM unnest(ARRAY['mainnet', 'testnet']) AS network`,
  );
});
afterEach(async () => {
  await program?.stop();
  await scratch.drop();
});

async function start(environment: Readonly<Record<string, string>>): Promise<string> {
  program = startProgram(['start', '--roles', 'api'], {
    environment: { DATABASE_URL: scratch.url, PORT: '0', API_KEYS: KEY, ...environment },
  });
  return program.url;
}

async function networkAt(url: string, query = ''): Promise<unknown> {
  const response = await fetch(`${url}/coins/latest?limit=1${query}`, {
    headers: { authorization: `Bearer ${KEY}` },
  });
  const { result } = (await response.json()) as { readonly result: readonly { readonly symbol: string }[] };
  return result[0]?.symbol;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('the program', () => {
  it('means testnet on the second port, and mainnet on the first', { timeout: PATIENCE_MS }, async () => {
    const port = await freePort();
    const environment = {
      APTOS_NODE_URL: NOBODY,
      APTOS_TESTNET_NODE_URL: NOBODY,
      APTOS_TESTNET_PORT: String(port),
    };
    const url = await start(environment);
    expect(await networkAt(url)).toBe('mainnet');
    expect(await networkAt(url, '&network=testnet')).toBe('testnet');
    expect(await networkAt(`http://127.0.0.1:${port}`)).toBe('testnet');
    expect(await networkAt(`http://127.0.0.1:${port}`, '&network=mainnet')).toBe('mainnet');
    const synced = await fetch(`${url}/synced`);
    expect(synced.status).toBe(503);
    expect(JSON.stringify(await synced.json())).toContain('aptos-testnet was never ingested');
    // What it has it can serve: a balancer must not drop it.
    expect((await fetch(`${url}/ready`)).status).toBe(200);
    expect((await program?.stop())?.code).toBe(0);
  });

  it('means testnet where it indexes nothing else', { timeout: PATIENCE_MS }, async () => {
    expect(await networkAt(await start({ APTOS_TESTNET_NODE_URL: NOBODY }))).toBe('testnet');
  });
});
