import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '@chainstead/testkit';
import { BenchmarkError } from './benchmark-error.ts';
import { startProcess } from './measured-process.ts';

const NGINX = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/opt/homebrew/bin/nginx'];
/** While it starts, its port refuses. Milliseconds. */
const START_PATIENCE_MS = 5_000;
const CHAIN_ID_CALL = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}';

/** nginx in front of an upstream, connections kept alive on both sides, one worker. Does the work and ends it. */
export async function withNginx<T>(upstream: string, work: (url: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'chainstead-nginx-'));
  const port = await freePort();
  const configuration = join(folder, 'nginx.conf');
  await writeFile(configuration, configurationOf(folder, new URL(upstream).host, port));
  const nginx = startProcess({
    command: findNginx(),
    args: ['-e', join(folder, 'error.log'), '-c', configuration],
    env: {},
  });
  const url = `http://127.0.0.1:${port}/`;
  try {
    await untilItAnswers(url);
    return await work(url);
  } finally {
    await nginx.stop();
    await rm(folder, { recursive: true });
  }
}

function configurationOf(folder: string, upstream: string, port: number): string {
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
daemon off;
worker_processes 1;
pid ${folder}/pid;
events { worker_connections 4096; }
http {
  access_log off;
  keepalive_requests 1000000000;
  ${places.map((place) => `${place}_temp_path ${folder}/${place};`).join('\n  ')}
  upstream node { server ${upstream}; keepalive 64; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://node; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
`;
}

function findNginx(): string {
  const found = NGINX.find((path) => existsSync(path));
  if (found === undefined) throw new BenchmarkError('nginx is not installed: on Debian, apt-get install nginx');
  return found;
}

async function untilItAnswers(url: string): Promise<void> {
  const deadline = performance.now() + START_PATIENCE_MS;
  for (;;) {
    try {
      await fetch(url, { method: 'POST', body: CHAIN_ID_CALL });
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await setTimeout(50);
    }
  }
}
