import { afterAll, beforeAll, beforeEach, vi } from 'vitest';
import { type ConsoleBrowser, openConsoleBrowser } from './console-browser.ts';
import type { ConsoleStage } from './console-stage.ts';

/** Chromium and axe take their time beside other tests. Milliseconds. */
const TEST_TIMEOUT_MS = 150_000;

/** A console before a browser, for the tests of one file. */
export interface BrowserStage<Stage extends ConsoleStage> {
  /** From the first test on. */
  readonly stage: Stage;
  readonly browser: ConsoleBrowser;
}

/** Opens it before the tests of a file, and closes it after them. Where the machine has no Chromium, they are skipped, and that is said. */
export function stageInBrowser<Stage extends ConsoleStage>(open: () => Promise<Stage>): BrowserStage<Stage> {
  let stage: Stage | undefined;
  let browser: ConsoleBrowser | undefined;
  beforeAll(async () => {
    stage = await open();
    browser = await openConsoleBrowser(stage);
  });
  afterAll(async () => {
    await browser?.close();
    await stage?.close();
  });
  beforeEach(({ skip }) => {
    if (browser === undefined) skip();
  });
  vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });
  return {
    get stage() {
      if (stage === undefined) throw new Error('The stage is opened before the first test');
      return stage;
    },
    get browser() {
      if (browser === undefined) throw new Error('The machine has no Chromium');
      return browser;
    },
  };
}
