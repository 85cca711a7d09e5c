import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { TEST_BODY } from './render-body.ts';
import { webhookHeaders } from './signature.ts';

const PAGE = new URL('../../../../../docs/start/first-webhook.md', import.meta.url);
const SECRET = 'a secret';

test('the receiver of docs/start/first-webhook.md accepts genuine webhooks once', async () => {
  const [, snippet = ''] = /receiver\.mjs`\.\n\n```js\n([\s\S]*?)^```/m.exec(await readFile(PAGE, 'utf8')) ?? [];
  const folder = await mkdtemp(join(tmpdir(), 'webhook-receiver-'));
  await writeFile(join(folder, 'receiver.mjs'), snippet);
  const receiver = spawn(process.execPath, ['receiver.mjs'], {
    cwd: folder,
    env: { STREAMS_SECRET: SECRET, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface(receiver.stdout)[Symbol.asyncIterator]();
    const { value: first } = await lines.next();
    const url = `http://127.0.0.1:${String(first).split(' ').at(-1)}`;
    const post = async (id: string, current: string, previous: string | null = null): Promise<number> => {
      const headers = webhookHeaders({
        body: TEST_BODY,
        id,
        sentAt: new Date(),
        secrets: { current, previous },
        queueSize: 0,
        region: 'eu-central-1',
        confirmed: true,
        records: 0,
      });
      return (await fetch(url, { method: 'POST', headers, body: TEST_BODY })).status;
    };
    expect(await post('forged', 'another secret')).toBe(401);
    expect(await post('one', SECRET)).toBe(200);
    expect(await post('one', SECRET)).toBe(200);
    expect(await post('two', 'a new secret', SECRET)).toBe(200);
    expect([(await lines.next()).value, (await lines.next()).value]).toEqual([
      `one ${TEST_BODY}`,
      `two ${TEST_BODY}`,
    ]);
  } finally {
    receiver.kill();
    await once(receiver, 'exit');
    await rm(folder, { recursive: true });
  }
});
