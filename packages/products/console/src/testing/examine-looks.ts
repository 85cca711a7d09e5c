import { AxeBuilder } from '@axe-core/playwright';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { ConsoleBrowser } from './console-browser.ts';
import { takePicture } from './take-picture.ts';

export const DESK: BrowserContextOptions = { viewport: { width: 1280, height: 900 } };
const TELEPHONE: BrowserContextOptions = {
  viewport: { width: 360, height: 740 },
  isMobile: true,
  hasTouch: true,
};
/** Devices on which pages are checked. */
export const DEVICES = [
  ['a desk', DESK],
  ['a telephone', TELEPHONE],
] as const;

export interface ExaminedPage {
  readonly name: string;
  readonly path: string;
  /** Opens parts that are not visible at first. @default none */
  readonly unfold?: (page: Page) => Promise<void>;
  /** Whether pictures belong on the page. @default none do */
  readonly hasPictures?: boolean;
  /** The page's own status, which the browser reports as an error; absent: 200. */
  readonly status?: number;
}

/**
 * Fails the test for serious axe findings in either theme, sideways scrolling, pictures and browser errors. All pages
 * are checked one after the other in one window: opening a window takes longer than the check. Themes differ only in
 * colors, so the second one is checked only for contrast.
 */
export async function examineLooks(
  browser: ConsoleBrowser,
  [device, options]: (typeof DEVICES)[number],
  pages: readonly ExaminedPage[],
): Promise<void> {
  const { page, context, complaints } = await browser.open('/console/sessions', options);
  for (const { name, path, unfold, hasPictures = false, status } of pages) {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(path, { waitUntil: 'load' });
    await unfold?.(page);
    expect(await seriousFor(axeOf(page)), `${name}, light on ${device}`).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth'), `${name} fits`).toBe(
      true,
    );
    if (!hasPictures) expect(await page.locator('img').count(), `pictures of ${name}`).toBe(0);
    await takePicture(page, `${name}, light on ${device}`);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await seriousFor(axeOf(page).withRules('color-contrast')), `${name}, dark on ${device}`).toEqual([]);
    await takePicture(page, `${name}, dark on ${device}`);
    const own = complaints.splice(0).filter((text) => status === undefined || !text.includes(String(status)));
    expect(own, `complaints about ${name}`).toEqual([]);
  }
  await context.close();
}

/** Only in the page itself, which has no frames: another page to merge their findings would take as long again. */
function axeOf(page: Page): AxeBuilder {
  return new AxeBuilder({ page }).setLegacyMode();
}

async function seriousFor(axe: AxeBuilder): Promise<string[]> {
  const { violations } = await axe.analyze();
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}
