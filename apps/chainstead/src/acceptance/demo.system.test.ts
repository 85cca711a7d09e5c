/** The demo as a newcomer runs it, and the commands that it suggests. */

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { silentLogger } from '@chainstead/core';
import { openDatabase } from '@chainstead/db';
import { type Program, startOfficialSdk, startProgram } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { runCaptured } from '../testing/captured-context.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

// Processes start slowly on a busy machine.
let demo: Program;
let invitation: string;

beforeAll(async () => {
  demo = startProgram(['demo'], { environment: { PORT: '0', LOG_LEVEL: '' } });
  [invitation] = await demo.waitFor(/Chainstead indexes a local chain[\s\S]*--webhooks shows one line each\):\n/);
});

afterAll(async () => {
  demo?.signal('SIGTERM');
  await demo?.exited;
});

describe('the demo', () => {
  it('gives curl lines that answer with rows', async () => {
    const lists = [...invitation.matchAll(/curl '(http\S+\/api\/v2\.2\/\S+)'/g)].map((match) => match[1] ?? '');
    expect(lists.length).toBeGreaterThan(5);
    for (const url of lists) expect([url, (await fetch(url)).status]).toEqual([url, 200]);
  });

  it('returns the owner of an NFT to the curl line and to the SDK script of docs/start/demo.md', async () => {
    const page = await readFile(join(ROOT, 'docs/start/demo.md'), 'utf8');
    const [, address = '', collection = ''] =
      /curl '(http:[^']*?)\/api\/v2\.2\/nft\/(0x\w+)\/owners/.exec(invitation) ?? [];
    const placed = (text: string): string =>
      text.replaceAll('http://127.0.0.1:8080', address).replaceAll('<collection>', collection);
    const [, url = ''] = /^curl '(.*\/1\/owners.*)'$/m.exec(page) ?? [];
    const owners = z.object({ result: z.array(z.object({ owner_of: z.string() })).length(1) });
    const { result } = owners.parse(await (await fetch(placed(url))).json());
    const [, script = ''] = /owner\.mjs`:\n\n```js\n([\s\S]*?)^```/m.exec(page) ?? [];
    await mkdir(join(ROOT, 'node_modules/.cache'), { recursive: true });
    const folder = await mkdtemp(join(ROOT, 'node_modules/.cache/demo-'));
    try {
      await writeFile(join(folder, 'owner.mjs'), placed(script));
      const { stdout } = await promisify(execFile)(process.execPath, ['owner.mjs', collection], { cwd: folder });
      expect(stdout.trim()).toBe(`[ '${result[0]?.owner_of}' ]`);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('returns the ether price to the SDK, for one token and for several', async () => {
    const [, address = '', token = ''] = /curl '(http:[^']*?)\/api\/v2\.2\/erc20\/(0xe+)\/price/.exec(invitation) ?? [];
    const { Moralis } = await startOfficialSdk({ apiKey: 'any', address });
    const one = await Moralis.EvmApi.token.getTokenPrice({ chain: '0x7a69', address: token });
    expect(one.result).toMatchObject({ tokenSymbol: 'ETH', usdPrice: expect.any(Number) });
    expect(one.result.usdPrice).toBeGreaterThan(1_000);
    const several = await Moralis.EvmApi.token.getMultipleTokenPrices(
      { chain: '0x7a69' },
      { tokens: [{ tokenAddress: token }, { tokenAddress: token, toBlock: '60' }] },
    );
    expect(several.result.map(({ tokenSymbol, toBlock }) => [tokenSymbol, toBlock])).toEqual([
      ['ETH', undefined],
      ['ETH', '60'],
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
    expect(explanation.anchors.map(({ source }) => source).sort()).toEqual(['assumed', 'feed']);
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
    const database = openDatabase({ url: databaseUrl, applicationName: 'test', poolSize: 1, logger: silentLogger() });
    const { rows } = await database.pool.query(query).finally(() => database.close());
    expect(rows.length).toBeGreaterThan(0);
    const [, url = ''] = /curl '(http:\S+\/contracts\/market\/\S+&offerer=\S+)'/.exec(invitation) ?? [];
    const seller = new URL(url).searchParams.get('offerer');
    const orders = z.object({ result: z.array(z.object({ params: z.object({ offerer: z.literal(seller) }) })).min(1) });
    orders.parse(await (await fetch(url)).json());
    expect(rows.map(({ offerer }) => offerer)).toContain(seller);
  });

  it('is what status and gaps look at, by its DATA_DIR or where there is no other database', async () => {
    const [, folder = ''] = /DATA_DIR=(\S+) npx chainstead status/.exec(invitation) ?? [];
    const status = await runCaptured(['status'], { DATA_DIR: folder });
    expect(status.stdout).toContain('devnet (31337), as of');
    expect(status.stdout).toMatch(/^streams\n {2}1 active; \d+ webhooks? pending$/m);
    expect(status.stdout).not.toMatch(/blocked {5}|STOPPED/);
    expect((await runCaptured(['gaps'], { DATA_DIR: folder })).stdout).toMatch(/devnet +erc20-transfers/);
    const elsewhere = join(await mkdtemp(join(tmpdir(), 'nothing-')), 'data');
    const found = await runCaptured(['status', '--json'], { DATA_DIR: elsewhere });
    expect(found.stderr).toContain('Using the running demo (DATA_DIR=');
    expect(JSON.parse(found.stdout).chains).toMatchObject([{ chain: 'devnet', stop: null }]);
    const shown = await runCaptured(['status'], { DATA_DIR: elsewhere });
    expect(shown.stdout).toMatch(/^There is no database in .* Using the running demo \(DATA_DIR=/);
  });

  it('writes no log lines and few lines of webhooks', async () => {
    await demo.waitFor(/webhook {2}demo-dollars {2}block \d+ .* record\(s\), [\d.]+ DUSD from/);
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
