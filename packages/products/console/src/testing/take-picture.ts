import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** A folder for screenshots of pages; absent: none are taken. */
const PICTURES = process.env.CONSOLE_PICTURES;

export async function takePicture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  await mkdir(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name.replaceAll(/[^a-z]+/g, '-')}.png`), fullPage: true });
}
