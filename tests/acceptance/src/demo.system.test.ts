/** The demo as a newcomer runs it, and the commands that it suggests. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import { silentLogger } from '@chainstead/core';
import { openDatabase } from '@chainstead/db/server';
import { startOfficialSdk, startProgram } from '@chainstead/testkit';
import { runCaptured } from 'chainstead/src/testing/captured-context.ts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createPageReader, type FollowedPage, type PageReader } from './pages/page-reader.ts';
import type { StartedCommand } from './pages/page-terminal.ts';

let reader: PageReader;
let page: FollowedPage;
let demo: StartedCommand;
let invitation: string;

beforeAll(async () => {
  reader = await createPageReader();
  reader.replace('npm run demo', 'PORT=0 npm run demo');
  page = await reader.open('start/demo.md');
  page.skip('The checkout is there, and so are its packages', 'npx chainstead demo', 'npm ci');
  demo = await page.start('npm run demo');
  [invitation] = await demo.until(/Chainstead indexes a local chain[\s\S]*--webhooks shows one line each\):\n/);
});
afterAll(() => reader?.close());

describe('the demo', () => {
  it('is what docs/start/demo.md leads through', async () => {
    page.skip('The same demo on another port', 'PORT=9000');
    const [, address = '', collection = ''] =
      /curl '(http:[^']*?)\/api\/v2\.2\/nft\/(0x\w+)\/owners/.exec(invitation) ?? [];
    reader.replace('http://127.0.0.1:8080', address);
    reader.replace('<collection>', collection);
    const owners = z.object({ result: z.array(z.object({ owner_of: z.string() })).length(1) });
    const { result } = owners.parse(JSON.parse(await page.next('/1/owners')));
    await page.next('getNFTTokenIdOwners');
    expect((await page.next('node owner.mjs')).trim()).toBe(`[ '${result[0]?.owner_of}' ]`);
    page.skip('The same demo with more lines: webhook-display.test.ts', 'demo --webhooks');
    const progress = await page.next('status');
    expect(progress).toMatch(/^There is no database in .* Using the running demo \(DATA_DIR=/);
    expect(progress).toContain('devnet (31337), as of');
    expect(progress).toMatch(/^streams\n {2}1 active; \d+ webhooks? pending$/m);
    expect(progress).toMatch(/devnet +erc20-transfers/);
    expect(progress).toMatch(/^aptos/m);
    expect(progress).not.toMatch(/blocked {5}|STOPPED/);
    page.close();
  });

  it('gives curl lines that answer with rows', async () => {
    const lists = [...invitation.matchAll(/curl '(http\S+\/api\/v2\.2\/\S+)'/g)].map((match) => match[1] ?? '');
    expect(lists.length).toBeGreaterThan(5);
    // The first request for a proof begins to read it, and says to try again.
    for (const url of lists)
      await vi.waitFor(async () => expect([url, (await fetch(url)).status]).toEqual([url, 200]));
  });

  it('answers its GraphQL query with orders, and shows GraphiQL', async () => {
    const [, url = '', body = ''] = /curl '(http:\S+\/graphql)' .* -d '(.*)'/.exec(invitation) ?? [];
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body });
    expect(await response.json()).toMatchObject({
      data: {
        contracts_market_order_fulfilled: {
          nodes: Array.from({ length: 3 }, () => ({ offerer: expect.stringMatching(/^0x/) })),
        },
      },
    });
    expect(await (await fetch(url, { headers: { accept: 'text/html' } })).text()).toContain('GraphiQL');
  });

  it('returns the ether price to the SDK, for one token and for several', async () => {
    const [, address = '', token = ''] =
      /curl '(http:[^']*?)\/api\/v2\.2\/erc20\/(0xe+)\/price/.exec(invitation) ?? [];
    const { Moralis } = await startOfficialSdk({ apiKey: 'any', address });
    const one = await Moralis.EvmApi.token.getTokenPrice({ chain: '0x7a69', address: token });
    expect(one.result).toMatchObject({ tokenSymbol: 'WETH', usdPrice: expect.any(Number) });
    expect(one.result.usdPrice).toBeGreaterThan(1_000);
    const several = await Moralis.EvmApi.token.getMultipleTokenPrices(
      { chain: '0x7a69' },
      { tokens: [{ tokenAddress: token }, { tokenAddress: token, toBlock: '60' }] },
    );
    expect(several.result.map(({ tokenSymbol, toBlock }) => [tokenSymbol, toBlock])).toEqual([
      ['WETH', undefined],
      ['WETH', '60'],
    ]);
  });

  it('returns the price of a token from its pool with a dollar token, and not from the fake pair', async () => {
    const [, url = ''] = /curl '(http:\S+\/erc20\/0x\w+\/price\S*explain=true)'/.exec(invitation) ?? [];
    const anchor = z.object({ token_address: z.string(), price_usd: z.string(), source: z.string() });
    const price = z.object({
      ...{ tokenSymbol: z.string(), usdPrice: z.number(), exchangeName: z.string() },
      explanation: z.object({ anchors: z.array(anchor) }),
    });
    const { tokenSymbol, usdPrice, explanation } = price.parse(await (await fetch(url)).json());
    expect(tokenSymbol).toBe('DETH');
    // Trades of a minute move the pool by some percent. The fake pair has a thousand times its price.
    expect(Math.abs(usdPrice / 2_500 - 1)).toBeLessThan(0.2);
    // The dollar, and the feed of ether, also for its wrapped form.
    expect(explanation.anchors.map(({ source }) => source).sort()).toEqual(['assumed', 'feed', 'feed']);
  });

  it('shows the profit of a wallet that bought low and sold high, also as the top gainer', async () => {
    // The pair starts with 250,000.000000 DUSD and 100 DETH. A sale to it gives its fee of 0.3 % to the pair.
    let [dollars, ethers] = [250_000_000_000n, 100n * 10n ** 18n];
    const buy = (paid: bigint): bigint => {
      const bought = (paid * 997n * ethers) / (dollars * 1_000n + paid * 997n);
      [dollars, ethers] = [dollars + paid, ethers - bought];
      return bought;
    };
    const bought = buy(2_500_000_000n);
    buy(10_000_000_000n);
    const received = (bought * 997n * dollars) / (ethers * 1_000n + bought * 997n);
    expect(received).toBe(2_684_562_733n);
    const profit = { realized_profit_usd: '184.562733' };
    const urlOf = (name: string) => new RegExp(`curl '(http:\\S+/${name}\\?\\S*)'`).exec(invitation)?.[1] ?? '';
    const url = urlOf('profitability');
    const [, gainer] = /wallets\/(0x\w+)/.exec(url) ?? [];
    expect(await (await fetch(url)).json()).toMatchObject({ result: [{ symbol: 'DETH', ...profit }] });
    const gainers = z.object({ result: z.array(z.unknown()) });
    const { result } = gainers.parse(await (await fetch(urlOf('top-gainers'))).json());
    expect(result).toContainEqual(expect.objectContaining({ address: gainer, ...profit }));
  });

  it('serves transfers and holders of an Aptos coin to its curl lines', async () => {
    const urls = [...invitation.matchAll(/curl '(http:\S+\/coins\/(?:transfers|owners)\/\S+)'/g)];
    expect(urls).toHaveLength(2);
    const page = z.object({ result: z.array(z.object({ amount: z.string() })).length(3) });
    for (const [, url = ''] of urls) page.parse(await (await fetch(url)).json());
  });

  it('shows the marketplace as a contract of the operator, by SQL and by API', async () => {
    const [, databaseUrl = '', query = ''] = /psql '(\S+)' -c '(SELECT [^']+)'/.exec(invitation) ?? [];
    const database = openDatabase({
      url: databaseUrl,
      applicationName: 'test',
      poolSize: 1,
      logger: silentLogger(),
    });
    const { rows } = await database.pool.query(query).finally(() => database.close());
    expect(rows.length).toBeGreaterThan(0);
    const [, url = ''] = /curl '(http:\S+\/contracts\/market\/\S+&offerer=\S+)'/.exec(invitation) ?? [];
    const seller = new URL(url).searchParams.get('offerer');
    const orders = z.object({
      result: z.array(z.object({ params: z.object({ offerer: z.literal(seller) }) })).min(1),
    });
    orders.parse(await (await fetch(url)).json());
    expect(rows.map(({ offerer }) => offerer)).toContain(seller);
  });

  it('prints commands that use its settings', async () => {
    const lines = [...invitation.matchAll(/npx chainstead (--config \S+) (.+)/g)];
    expect(lines.map(([, , command]) => command?.split(' ')[0])).toEqual(['status', 'gaps', 'explain-price']);
    for (const [, config = '', command = ''] of lines) {
      const { exitCode, stdout, stderr } = await runCaptured([
        ...config.split(' '),
        ...command.split(' '),
        '--json',
      ]);
      expect([command, exitCode, stderr]).toEqual([command, 0, '']);
      expect(stdout).toContain(command.startsWith('explain-price') ? 'usdPrice' : 'devnet');
    }
  });

  it('verifies blocks again with its settings', async () => {
    const [, config = ''] = /--config (\S+) status/.exec(invitation) ?? [];
    const range = ['verify', '--chain', 'devnet', '--from', '1', '--to', '20'];
    expect(await runCaptured(['--config', config, ...range])).toMatchObject({ exitCode: 0 });
  });

  it('shows supplies and pictures in its first responses, and a price of the wrapped coin', async () => {
    const [, wallet = ''] = /\/(0x\w+)\/nft\/collections/.exec(invitation) ?? [];
    const [, address = ''] = /curl '(http:[^']*?)\/api\/v2\.2/.exec(invitation) ?? [];
    const read = async (path: string) => (await fetch(`${address}/api/v2.2/${path}?chain=devnet`)).text();
    expect(await read(`${wallet}/erc20`)).not.toContain('"total_supply":null');
    // The founders have none.
    expect((await read(`${wallet}/nft/collections`)).match(/"collection_logo":"data:image/g)).toHaveLength(2);
    const tokens = z.object({
      result: z.array(z.object({ symbol: z.string(), usd_price: z.number().nullable() })),
    });
    const { result } = tokens.parse(JSON.parse(await read(`wallets/${wallet}/tokens`)));
    const priced = result.filter(({ usd_price }) => usd_price !== null).map(({ symbol }) => symbol);
    expect(priced).toEqual(expect.arrayContaining(['ETH', 'WETH', 'DUSD', 'DETH']));
  });

  it('writes no log lines and few lines of webhooks', async () => {
    await demo.until(/webhook {2}demo-dollars {2}block \d+ .* record\(s\), [\d.]+ DUSD from/);
    expect(demo.output()).not.toContain('{"level"');
    expect(demo.output().match(/^webhook /gm)?.length).toBeLessThan(5);
  });

  it('finds a port in use before it starts anything', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? String(address.port) : '';
    const second = startProgram(['demo'], { environment: { PORT: port } });
    expect(await second.exited).toBe(2);
    expect(second.output()).toMatch(/^chainstead: Can't listen on .*\(PORT\).*\[LISTEN_FAILED\]\n$/);
    other.close();
  });
});
