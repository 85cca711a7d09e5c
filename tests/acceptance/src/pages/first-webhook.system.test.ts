/** The tutorial docs/start/first-webhook.md, command by command: from an empty folder to verified and refused webhooks. */
import { createScratchDatabase, freePort } from '@chainstead/testkit';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createPageReader, type FollowedPage, type PageReader } from './page-reader.ts';
import type { StartedCommand } from './page-terminal.ts';

const webhookShape = z.object({
  confirmed: z.boolean(),
  tag: z.string(),
  erc20Transfers: z.array(z.object({ tokenName: z.string(), valueWithDecimals: z.string() })),
});
const CONTENT = { tag: 'tutorial', erc20Transfers: [{ tokenName: 'Tutorial Token', valueWithDecimals: '2.5' }] };
const WAIT = { timeout: 60_000, interval: 200 };

describe.each(['the embedded Postgres', 'an own Postgres'])('the webhook page, on %s', (kind) => {
  const parts = new AsyncDisposableStack();
  let reader: PageReader;
  let page: FollowedPage;
  let program: StartedCommand;
  let api: number;

  beforeAll(async () => {
    reader = parts.use(await createPageReader());
    api = await freePort();
    const [node, webhooks] = [await freePort(), await freePort()];
    let database = '';
    if (kind === 'an own Postgres') {
      const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
      database = `DATABASE_URL=${scratch.url}\n`;
    }
    reader.replace('CHAINS=dev', `${database}PORT=${api}\nCHAINS=dev`);
    reader.replace('--block-time 2', `--block-time 1 --port ${node}`);
    reader.replace('node receiver.mjs', `PORT=${webhooks} node receiver.mjs`);
    reader.replace(':8545', `:${node}`);
    reader.replace(':8080', `:${api}`);
    reader.replace(':3000', `:${webhooks}`);
    page = await reader.open('start/first-webhook.md');
  });
  // The program ends before its database is dropped.
  afterAll(async () => {
    await reader?.close();
    await parts.disposeAsync();
  });

  it('indexes a local chain', async () => {
    await page.next('mkdir first-webhook');
    await (await page.start('npx anvil')).until(/Listening on/);
    await page.next('CHAINS=dev');
    program = await page.start('npx chainstead start');
    await program.until(/dev \(31337\)/);
    expect(await page.next('status')).toMatch(/dev \(31337\)[\s\S]*blocks behind/);
  });

  it('leads to verified webhooks, and to refused ones', async () => {
    await page.next('createHmac');
    const { secretKey } = z.object({ secretKey: z.string() }).parse(JSON.parse(await page.next('/settings')));
    reader.replace('STREAMS_SECRET=…', `STREAMS_SECRET=${secretKey}`);
    const receiver = await page.start('receiver.mjs');
    await receiver.until(/^Listening on port/);
    const received = (): readonly z.infer<typeof webhookShape>[] =>
      [...receiver.output().matchAll(/^\S+ (\{.*\})$/gm)].map(([, body = '']) =>
        webhookShape.parse(JSON.parse(body)),
      );

    await page.next('contract Token');
    const token = await page.next('deploy.mjs');
    expect(token).toMatch(/^0x[0-9a-f]{40}\n$/);
    // A reader repeats the request until the program has the block.
    const metadata = `http://127.0.0.1:${api}/api/v2.2/erc20/metadata?chain=0x7a69&addresses=${token.trim()}`;
    await vi.waitFor(async () => expect(await (await fetch(metadata)).text()).toContain('Tutorial Token'), WAIT);
    expect(await page.next('erc20/metadata')).toContain('"Tutorial Token"');
    const stream = z
      .object({ id: z.string(), status: z.literal('active') })
      .parse(JSON.parse(await page.next('PUT')));
    reader.replace('<id>', stream.id);
    await page.next('/address');
    await page.next('writeContract');
    await page.next('transfer.mjs');
    await vi.waitFor(() => expect(received(), program.output()).toHaveLength(3), WAIT);
    const [test, ...others] = received();
    expect(test).toMatchObject({ tag: '', erc20Transfers: [] });
    expect(others.toSorted((a, b) => Number(a.confirmed) - Number(b.confirmed))).toEqual([
      { confirmed: false, ...CONTENT },
      { confirmed: true, ...CONTENT },
    ]);
    expect(await page.next('curl -i')).toMatch(/^HTTP\/1.1 401 Unauthorized\r\n/);
    expect(received()).toHaveLength(3);
    page.close();
  });
});
