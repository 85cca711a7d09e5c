import { type ApiServer, serveApi } from '@chainstead/http/server';
import { findChromium, freePort } from '@chainstead/testkit';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import type { ConsoleStage } from './console-stage.ts';

/** Chromium connected to a console on a port. */
export interface ConsoleBrowser {
  readonly url: string;
  readonly browser: Browser;
  /** Opens a page as a signed-in user. Errors that the browser reports fail the test. */
  open(path: string, options?: BrowserContextOptions): Promise<OpenPage>;
  /** Stops the server and frees its port. */
  stopServing(): Promise<void>;
  startServing(): Promise<void>;
  close(): Promise<void>;
}

export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of scripts, and violations of the Content-Security-Policy. */
  readonly complaints: string[];
}

/** @returns undefined if the machine has no Chromium, with a message */
export async function openConsoleBrowser(stage: ConsoleStage): Promise<ConsoleBrowser | undefined> {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    process.stdout.write('NOT RUN: the console in a browser (no chromium on this machine)\n');
    return undefined;
  }
  const port = await freePort();
  const serve = (): Promise<ApiServer> => serveApi(stage.app, { host: '127.0.0.1', port, closeDeadlineMs: 200 });
  let server: ApiServer | undefined = await serve();
  // Chromium's own sandbox needs a user that is not root.
  const browser = await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    browser,
    async open(path, options = {}) {
      const visitor = await stage.signIn();
      const context = await browser.newContext({ baseURL: url, ...options });
      const [name = '', ...value] = visitor.cookie.split('=');
      await context.addCookies([
        { name, value: value.join('='), domain: '127.0.0.1', path: '/console', sameSite: 'Strict' },
      ]);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      page.on('dialog', (dialog) => {
        complaints.push(`a dialog: ${dialog.message()}`);
        void dialog.dismiss();
      });
      await page.goto(path);
      return { page, context, complaints };
    },
    async stopServing() {
      await server?.close();
      server = undefined;
    },
    async startServing() {
      server = await serve();
    },
    async close() {
      await browser.close();
      await server?.close();
    },
  };
}
