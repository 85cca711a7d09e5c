/** The tutorial docs/start/first-webhook.md, step by step, with its own commands and files: from an empty folder to verified and refused webhooks. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createScratchDatabase, startDevnet, startProgram } from '@chainstead/testkit';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { spawnReceiver } from './documented-receiver.ts';
import { waitUntil } from './indexed-chain.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const webhookShape = z.object({
  confirmed: z.boolean(),
  tag: z.string(),
  erc20Transfers: z.array(z.object({ tokenName: z.string(), valueWithDecimals: z.string() })),
});

it('docs/start/first-webhook.md leads to verified webhooks', async () => {
  const page = await readFile(join(ROOT, 'docs/start/first-webhook.md'), 'utf8');
  // Packages are found from below the root alone, as in the tutorial's folder.
  await mkdir(join(ROOT, 'node_modules/.cache'), { recursive: true });
  const folder = await mkdtemp(join(ROOT, 'node_modules/.cache/first-webhook-'));
  onTestFinished(() => rm(folder, { recursive: true }));

  const [, anvil = ''] = /^npx anvil (.*)$/m.exec(page) ?? [];
  const devnet = await startDevnet({ args: anvil.split(' ') });
  onTestFinished(() => devnet.stop());
  const scratch = await createScratchDatabase();
  onTestFinished(() => scratch.drop());
  const places = new Map([['http://127.0.0.1:8545', devnet.url]]);
  const placed = (text: string): string =>
    [...places].reduce((current, [documented, real]) => current.replaceAll(documented, real), text);
  for (const [, name = '', code = ''] of page.matchAll(/^Save this script as `(.*?)`[\s\S]*?```js\n([\s\S]*?)^```/gm))
    await writeFile(join(folder, name), placed(code));
  /** Runs the block of the page that contains a text. */
  const run = async (part: string): Promise<string> => {
    const blocks = [...page.matchAll(/^```bash\n([\s\S]*?)^```/gm)].map(([, block = '']) => block);
    const [block, ...others] = blocks.filter((one) => one.includes(part));
    expect([part, block !== undefined, others]).toEqual([part, true, []]);
    const { stdout } = await promisify(execFile)('bash', ['-ec', placed(block ?? '')], { cwd: folder });
    return stdout;
  };

  const exported = [...page.matchAll(/^export (.*)$/gm)].flatMap(([, line = '']) => line.split(' '));
  const environment = Object.fromEntries(exported.map((one) => placed(one).split('=', 2)));
  expect(Object.keys(environment)).toHaveLength(5);
  const program = startProgram(['start'], { environment: { ...environment, DATABASE_URL: scratch.url, PORT: '0' } });
  onTestFinished(() => program.kill());
  places.set('http://127.0.0.1:8080', await program.url);

  const { secretKey } = z.object({ secretKey: z.string() }).parse(JSON.parse(await run('/settings')));
  const receiver = await spawnReceiver(page, folder, secretKey);
  onTestFinished(() => receiver.stop());
  places.set('http://127.0.0.1:3000', receiver.url);

  expect(await run('deploy.mjs')).toMatch(/^0x[0-9a-f]{40}\n$/);
  await waitUntil(async () => {
    const metadata = await run('erc20/metadata');
    return metadata.includes('"Tutorial Token"') ? null : `${metadata}\n${program.output()}`;
  });
  const stream = z.object({ id: z.string(), status: z.literal('active') }).parse(JSON.parse(await run('webhookUrl')));
  places.set('<id>', stream.id);
  await run('/address');
  await run('transfer.mjs');
  await waitUntil(() => (receiver.lines.length >= 3 ? null : program.output()));
  const [test, ...webhooks] = receiver.lines.map((line) =>
    webhookShape.parse(JSON.parse(line.slice(line.indexOf(' ')))),
  );
  expect(test).toMatchObject({ tag: '', erc20Transfers: [] });
  const content = { tag: 'tutorial', erc20Transfers: [{ tokenName: 'Tutorial Token', valueWithDecimals: '2.5' }] };
  expect(webhooks.toSorted((a, b) => Number(a.confirmed) - Number(b.confirmed))).toEqual([
    { confirmed: false, ...content },
    { confirmed: true, ...content },
  ]);

  expect(await run('curl -i')).toMatch(/^HTTP\/1.1 401 Unauthorized\r\n/);
  expect(receiver.lines).toHaveLength(3);
});
