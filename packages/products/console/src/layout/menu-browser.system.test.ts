/** The menu in a real browser. Skipped with a message if the machine has none. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { PAGES } from '../pages/registry.ts';
import { stageInBrowser } from '../testing/browser-stage.ts';
import { openConsoleStage } from '../testing/console-stage.ts';
import { DEVICES } from '../testing/examine-looks.ts';

const [[, DESK], [, TELEPHONE]] = DEVICES;

const shown = stageInBrowser(async () => {
  const stage = await openConsoleStage();
  return stage;
});
const focused = (page: Page): Promise<unknown> => page.evaluate('document.activeElement?.textContent');
const groups = (page: Page): Promise<unknown> =>
  page.evaluate("[...document.querySelectorAll('nav details[open] > summary')].map((one) => one.textContent)");

describe('the menu', () => {
  test('leads to every page, and stands in one line beside the rest at 1280 pixels', async () => {
    const { page, context } = await shown.browser.open('/console/jobs', DESK);
    const links = await page.evaluate(
      "[...document.querySelectorAll('nav a')].map((one) => one.getAttribute('href'))",
    );
    const paths = PAGES.filter(({ inMenu = true }) => inMenu).map(({ path }) => `/console${path}`);
    expect(links).toEqual(paths);
    const tops =
      "[...document.querySelectorAll('.top > :not(.menu, #menu), #menu > *, nav > ul > li')].map((one) => one.getBoundingClientRect())";
    const spots = await page.evaluate<{ top: number; bottom: number }[]>(
      `${tops}.map(({ top, bottom }) => ({ top, bottom }))`,
    );
    // Entries that start above each other's end are next to each other.
    expect(Math.max(...spots.map(({ top }) => top))).toBeLessThan(Math.min(...spots.map(({ bottom }) => bottom)));
    expect(await page.locator('nav summary[aria-current]').textContent()).toBe('Data');
    await context.close();
  });

  test('is used by the keyboard: a group opens, closes by Escape and by going on, one at a time', async () => {
    const { page, context } = await shown.browser.open('/console/jobs', DESK);
    await page.locator('nav summary', { hasText: 'Data' }).focus();
    await page.keyboard.press('Enter');
    expect(await groups(page)).toEqual(['Data']);
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Datasets');
    await page.keyboard.press('Escape');
    expect([await groups(page), await focused(page)]).toEqual([[], 'Data']);
    await page.keyboard.press('Enter');
    for (const _ of ['Datasets', 'Contracts', 'Pools', 'SQL', 'GraphQL', 'Tables', 'Jobs', 'On demand', 'Access'])
      await page.keyboard.press('Tab');
    expect([await groups(page), await focused(page)]).toEqual([[], 'Access']);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/console/keys');
    await context.close();
  });

  test('opens on a telephone without script, within its width', async () => {
    const options = { ...TELEPHONE, javaScriptEnabled: false };
    const { page, context } = await shown.browser.open('/console/sessions', options);
    expect((await page.locator('header').boundingBox())?.height).toBeLessThanOrEqual(80);
    await page.getByRole('button', { name: 'Menu' }).click();
    for (const [name, first] of [
      ['RPC', 'Upstreams'],
      ['Access', 'Keys'],
    ] as const) {
      await page.locator('nav summary', { hasText: name }).click();
      const link = page.getByRole('link', { name: first, exact: true });
      const place = await link.boundingBox();
      expect(place?.x).toBeGreaterThanOrEqual(0);
      expect((place?.x ?? 0) + (place?.width ?? 0)).toBeLessThanOrEqual(360);
    }
    // One is open at a time.
    expect(await page.getByRole('link', { name: 'Upstreams', exact: true }).isVisible()).toBe(false);
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.waitForURL('**/console/keys');
    await context.close();
  });

  test('is on the page of an address that does not exist', async () => {
    const { page, context } = await shown.browser.open('/console/none', DESK);
    await page.getByRole('heading', { name: 'Not found' }).waitFor();
    await page.getByRole('navigation').getByRole('link', { name: 'Overview' }).click();
    await page.waitForURL('**/console');
    await context.close();
  });
});

test('a link with a key after # fills the field of the key, and its address keeps no key', async () => {
  const { key } = await shown.stage.signIn();
  const context = await shown.browser.browser.newContext({ baseURL: shown.browser.url });
  const page = await context.newPage();
  await page.goto(`/console/sign-in#key=${key}`);
  await page.waitForURL('**/console/sign-in');
  expect(page.url()).not.toContain(key);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/console');
  await context.close();
});
