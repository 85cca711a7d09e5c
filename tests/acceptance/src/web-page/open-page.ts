/** A web page of another origin than the API's, in Chromium, with clients of the API. */
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { type Closable, closeOf, findChromium, listenOnLoopback, officialSdkScript } from '@chainstead/testkit';
import { build } from 'esbuild';
import { chromium } from 'playwright-core';

export interface ClientPage extends Closable {
  /** Such as `http://localhost:40123`. */
  readonly origin: string;
  /** Calls a function of `page-clients.ts` in the page. @param given as JSON */
  call(name: string, ...given: readonly unknown[]): Promise<unknown>;
}

export interface ClientPageOptions {
  /** URL of the API, for the SDK. */
  readonly address: string;
  readonly apiKey: string;
  /** Name of the page's host, which leads to this machine. */
  readonly host?: string;
  /** Port of the page's server. Default: any free one. */
  readonly port?: number;
}

/** @throws {Error} where the machine has no Chromium */
export async function openClientPage(options: ClientPageOptions): Promise<ClientPage> {
  const { address, apiKey, host = 'localhost', port = 0 } = options;
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('The machine has no Chromium');
  await using parts = new AsyncDisposableStack();
  const scripts = `${officialSdkScript(address)}\n${await bundledClients()}`;
  const origin = `http://${host}:${await servePage(parts, scripts, port)}`;
  const browser = await chromium.launch({
    executablePath,
    // Chromium's own sandbox needs a user that is not root.
    chromiumSandbox: process.getuid?.() !== 0,
    args: ['--host-resolver-rules=MAP *.example 127.0.0.1'],
  });
  parts.defer(() => browser.close());
  const page = await browser.newPage();
  await page.goto(origin);
  const call: ClientPage['call'] = (name, ...given) =>
    page.evaluate(`clients.${name}(${given.map((value) => JSON.stringify(value)).join()})`);
  await call('start', apiKey, `${address}/api/v2.2`);
  return { origin, call, ...closeOf(parts) };
}

async function bundledClients(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('page-clients.ts', import.meta.url))],
    bundle: true,
    platform: 'browser',
    format: 'iife',
    write: false,
    logLevel: 'silent',
  });
  return outputFiles.map(({ text }) => text).join('\n');
}

/** @returns the port that the page is served at */
async function servePage(parts: AsyncDisposableStack, script: string, port: number): Promise<number> {
  const server = createServer(({ url }, response) => {
    const isScript = url === '/clients.js';
    response.setHeader('content-type', isScript ? 'text/javascript; charset=utf-8' : 'text/html; charset=utf-8');
    response.end(isScript ? script : '<!doctype html><title>Clients</title><script src="/clients.js"></script>');
  });
  const listening = parts.adopt(await listenOnLoopback(server, port), (one) => one.close());
  return listening.port;
}
