import { afterAll, beforeAll, beforeEach, vi } from 'vitest';
import { type ConsoleBrowser, openConsoleBrowser } from './console-browser.ts';
import type { ConsoleStage } from './console-stage.ts';

/** Chromium and axe are slow next to other tests. Milliseconds. */
const TEST_TIMEOUT_MS = 150_000;

/** A browser connected to a console, for the tests of one file, or of a `describe`. */
export interface StageBrowser {
  /** From the first test on. */
  readonly browser: ConsoleBrowser;
}

/** A console with a browser. */
export interface BrowserStage<Stage extends ConsoleStage> extends StageBrowser {
  /** From the first test on. */
  readonly stage: Stage;
}

/**
 * Opens both before the tests of a file, and closes them after it. If the machine has no Chromium, they are skipped
 * with a message.
 */
export function stageInBrowser<Stage extends ConsoleStage>(open: () => Promise<Stage>): BrowserStage<Stage> {
  let stage: Stage | undefined;
  const opened = (): Stage => {
    if (stage === undefined) throw new Error('The stage is opened before the first test');
    return stage;
  };
  beforeAll(async () => {
    stage = await open();
  });
  afterAll(() => stage?.close());
  const shown = browserBefore(opened);
  return {
    get stage() {
      return opened();
    },
    get browser() {
      return shown.browser;
    },
  };
}

/** Like {@link stageInBrowser}, for a console that other tests use too. @param stage called before the first test */
export function browserBefore(stage: () => ConsoleStage): StageBrowser {
  let browser: ConsoleBrowser | undefined;
  beforeAll(async () => {
    browser = await openConsoleBrowser(stage());
  });
  afterAll(() => browser?.close());
  beforeEach(({ skip }) => {
    if (browser === undefined) skip();
  });
  vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });
  return {
    get browser() {
      if (browser === undefined) throw new Error('The machine has no Chromium');
      return browser;
    },
  };
}
