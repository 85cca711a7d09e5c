/** The page `/docs` of the whole API in Chromium, behind a path prefix: it filters, opens, and sends a request under its own policy. */
import { createServer, request } from 'node:http';
import { createChainRegistry } from '@chainstead/chains';
import { serveApi } from '@chainstead/http/server';
import { createScratchDatabase, findChromium, listenOnLoopback } from '@chainstead/testkit';
import { createApiUnderTest, TEST_KEY } from 'chainstead/src/testing/api-under-test.ts';
import { createEveryRoute } from 'chainstead/src/testing/every-route.ts';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

const PREFIX = '/some/prefix';

const executablePath = findChromium();
if (executablePath === undefined)
  process.stdout.write('NOT RUN: /docs in a browser (no chromium on this machine)\n');

const parts = new AsyncDisposableStack();
let browser: Browser;
let origin: string;

beforeAll(async () => {
  if (executablePath === undefined) return;
  const { database } = parts.adopt(await createScratchDatabase(), (scratch) => scratch.drop());
  const chains = createChainRegistry();
  const api = await createApiUnderTest(database, chains, createEveryRoute({ database, chains }));
  const server = parts.adopt(await serveApi(api, { host: '127.0.0.1', port: 0 }), (one) => one.close());
  const proxy = createServer((incoming, response) => {
    const { method, headers, url = '' } = incoming;
    incoming.pipe(
      request(`${server.url}${url.slice(PREFIX.length)}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      }),
    );
  });
  const { port } = parts.adopt(await listenOnLoopback(proxy, 0), (one) => one.close());
  origin = `http://127.0.0.1:${port}`;
  // Chromium's own sandbox needs a user that is not root.
  browser = await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
  parts.defer(() => browser.close());
});
afterAll(() => parts.disposeAsync());

test.skipIf(executablePath === undefined)(
  'filters operations, sends a request with a key and shows the response',
  async () => {
    const page = await browser.newPage();
    const complaints: string[] = [];
    const elsewhere: string[] = [];
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('request', (sent) => {
      if (!sent.url().startsWith(`${origin}${PREFIX}/`)) elsewhere.push(sent.url());
    });
    await page.goto(`${origin}${PREFIX}/docs`);
    await page.locator('#getWalletTokenTransfers > summary').waitFor();

    await page.locator('#filter').fill('version of');
    expect(await page.locator('details.operation:visible').count()).toBe(1);
    const operation = page.locator('#web3ApiVersion');
    await operation.locator('summary').first().click();
    await page.locator('#key').fill(TEST_KEY);
    await operation.getByRole('button', { name: 'Send' }).click();
    await operation.getByText('"version": "0.0.0"').waitFor();
    expect(await operation.locator('output').textContent()).toContain(
      `curl '${origin}${PREFIX}/api/v2.2/web3/version'`,
    );
    expect(await operation.locator('output').textContent()).not.toContain(TEST_KEY);
    expect([complaints, elsewhere]).toEqual([[], []]);

    await page.goto(`${origin}${PREFIX}/docs#getTransaction`);
    await page.reload();
    await page.locator('#getTransaction').getByRole('button', { name: 'Send' }).waitFor();
  },
);
