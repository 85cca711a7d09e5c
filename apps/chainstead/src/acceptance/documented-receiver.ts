/** The receiver that docs/start/first-webhook.md prints, as a process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface DocumentedReceiver {
  readonly url: string;
  /** A line for each webhook that it accepted: its id and its body. */
  readonly lines: readonly string[];
  stop(): Promise<void>;
}

/** Writes the receiver into a folder and starts it on a free port. */
export async function spawnReceiver(page: string, folder: string, secret: string): Promise<DocumentedReceiver> {
  const [, code = ''] = /receiver\.mjs`\.\n\n```js\n([\s\S]*?)^```/m.exec(page) ?? [];
  await writeFile(join(folder, 'receiver.mjs'), code);
  const child = spawn(process.execPath, ['receiver.mjs'], {
    cwd: folder,
    env: { STREAMS_SECRET: secret, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const output = createInterface(child.stdout);
  const [first] = await once(output, 'line');
  const lines: string[] = [];
  output.on('line', (line) => lines.push(line));
  return {
    url: `http://127.0.0.1:${String(first).split(' ').at(-1)}`,
    lines,
    async stop() {
      child.kill();
      await once(child, 'exit');
    },
  };
}
