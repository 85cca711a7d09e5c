/** The tutorial docs/start/first-webhook.md, command by command: from an empty folder to verified and refused webhooks. */
import { createScratchDatabase, freePort } from '@chainstead/testkit';
import { expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { createPageReader } from './page-reader.ts';

const webhookShape = z.object({
  confirmed: z.boolean(),
  tag: z.string(),
  erc20Transfers: z.array(z.object({ tokenName: z.string(), valueWithDecimals: z.string() })),
});
const CONTENT = { tag: 'tutorial', erc20Transfers: [{ tokenName: 'Tutorial Token', valueWithDecimals: '2.5' }] };
const WAIT = { timeout: 60_000, interval: 200 };

it('the webhook page leads to verified webhooks on the embedded Postgres', () => follow(''));

it('the webhook page leads to verified webhooks on an own Postgres', async () => {
  const scratch = await createScratchDatabase();
  onTestFinished(() => scratch.drop());
  await follow(`DATABASE_URL=${scratch.url}\n`);
});

/** @param settings further lines of `.env` */
async function follow(settings: string): Promise<void> {
  const reader = await createPageReader();
  onTestFinished(() => reader.close());
  const [node, api, webhooks] = [await freePort(), await freePort(), await freePort()];
  reader.replace('CHAINS=dev', `${settings}PORT=${api}\nCHAINS=dev`);
  reader.replace('--block-time 2', `--block-time 1 --port ${node}`);
  reader.replace('node receiver.mjs', `PORT=${webhooks} node receiver.mjs`);
  reader.replace(':8545', `:${node}`);
  reader.replace(':8080', `:${api}`);
  reader.replace(':3000', `:${webhooks}`);
  await reader.follow('start/first-webhook.md', async (page) => {
    await page.next('mkdir first-webhook');
    await (await page.start('npx anvil')).until(/Listening on/);
    await page.next('CHAINS=dev');
    const program = await page.start('npx chainstead start');
    await program.until(/dev \(31337\)/);
    expect(await page.next('status')).toMatch(/dev \(31337\)[\s\S]*blocks behind/);
    await page.next('createHmac');
    const { secretKey } = z.object({ secretKey: z.string() }).parse(JSON.parse(await page.next('/settings')));
    reader.replace('STREAMS_SECRET=…', `STREAMS_SECRET=${secretKey}`);
    const receiver = await page.start('receiver.mjs');
    await receiver.until(/^Listening on port/);
    const received = (): readonly z.infer<typeof webhookShape>[] =>
      [...receiver.output().matchAll(/^\S+ (\{.*\})$/gm)].map(([, body = '']) => webhookShape.parse(JSON.parse(body)));

    await page.next('contract Token');
    const token = await page.next('deploy.mjs');
    expect(token).toMatch(/^0x[0-9a-f]{40}\n$/);
    // A reader repeats the request until the program has the block.
    const metadata = `http://127.0.0.1:${api}/api/v2.2/erc20/metadata?chain=0x7a69&addresses=${token.trim()}`;
    await vi.waitFor(async () => expect(await (await fetch(metadata)).text()).toContain('Tutorial Token'), WAIT);
    expect(await page.next('erc20/metadata')).toContain('"Tutorial Token"');
    const stream = z.object({ id: z.string(), status: z.literal('active') }).parse(JSON.parse(await page.next('PUT')));
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
  });
}
