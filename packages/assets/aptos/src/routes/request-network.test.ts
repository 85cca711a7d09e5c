import type { ApiApp } from '@chainstead/http';
import { type ApiServer, serveApi } from '@chainstead/http/server';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { ask, EXAMPLE_KEY, exampleApi } from '../testing/example-api.ts';
import { seedCoins } from '../testing/seeded-rows.ts';
import type { NetworkChoice } from './parameter.ts';

const scratch = scratchOfFile();
beforeAll(async () => {
  await seedCoins(scratch.database, [
    { version: 1, symbol: 'MAIN' },
    { version: 2, symbol: 'TEST', network: 'testnet' },
  ]);
});

async function networkOf(response: Response): Promise<string | undefined> {
  const { result } = (await response.json()) as { result: { symbol: string }[] };
  return result[0]?.symbol;
}

async function requested(choice: NetworkChoice, path: string, host?: string): Promise<string | undefined> {
  const app: ApiApp = await exampleApi(scratch.database, choice);
  return networkOf(await ask(app, path, host === undefined ? {} : { host }));
}

const BOTH: NetworkChoice = { indexed: ['mainnet', 'testnet'] };
const LATEST = '/coins/latest?limit=1';

describe('the network of a request', () => {
  it.each([
    [undefined, 'MAIN'],
    ['testnet-aptos-api.example.com', 'TEST'],
    ['aptos-testnet.aws-prod-api-1.example.com', 'TEST'],
    ['Testnet-aptos-api.example.com:8080', 'TEST'],
    ['mainnet-aptos-api.example.com', 'MAIN'],
    ['aptos.testnet-example.com', 'MAIN'],
  ])('with host %s is %s', async (host, symbol) => {
    expect(await requested(BOTH, LATEST, host)).toBe(symbol);
  });

  it('is the one that the query says, whatever the host', async () => {
    expect(await requested(BOTH, `${LATEST}&network=testnet`, 'mainnet-aptos-api.example.com')).toBe('TEST');
    expect(await requested(BOTH, `${LATEST}&network=mainnet`, 'testnet-aptos-api.example.com')).toBe('MAIN');
  });

  it('is testnet by default where only testnet is indexed', async () => {
    expect(await requested({ indexed: ['testnet'] }, LATEST)).toBe('TEST');
    expect(await requested({ indexed: ['testnet'] }, LATEST, 'mainnet-aptos-api.example.com')).toBe('MAIN');
    expect(await requested({ indexed: [] }, LATEST)).toBe('MAIN');
  });

  it('is that of the port it came to', async () => {
    const ports: Record<number, 'testnet'> = {};
    const app = await exampleApi(scratch.database, { indexed: ['mainnet', 'testnet'], ports });
    const servers: ApiServer[] = [];
    try {
      for (let index = 0; index < 2; index += 1)
        servers.push(await serveApi(app, { host: '127.0.0.1', port: 0 }));
      const [mainnet, testnet] = servers.map(({ url }) => url);
      ports[Number(new URL(testnet ?? '').port)] = 'testnet';
      const headers = { 'x-api-key': EXAMPLE_KEY };
      expect(await networkOf(await fetch(`${mainnet}${LATEST}`, { headers }))).toBe('MAIN');
      expect(await networkOf(await fetch(`${testnet}${LATEST}`, { headers }))).toBe('TEST');
    } finally {
      await Promise.all(servers.map((server) => server.close()));
    }
  });

  it('stays that of the cursor', async () => {
    await seedCoins(scratch.database, [{ version: 3, symbol: 'TEST2', network: 'testnet' }]);
    const app = await exampleApi(scratch.database, BOTH);
    const first = await ask(app, `${LATEST}&network=testnet`);
    const { cursor } = (await first.json()) as { cursor: string };
    expect(await networkOf(await ask(app, `${LATEST}&cursor=${cursor}`))).toBe('TEST');
    expect((await ask(app, `${LATEST}&network=mainnet&cursor=${cursor}`)).status).toBe(400);
  });
});
