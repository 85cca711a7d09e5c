/** GraphiQL in a real browser, over a server with rows. Skipped with a message if the machine has none. */
import { EXAMPLE_KEY } from '@chainstead/http/testing';
import { findChromium } from '@chainstead/testkit';
import { scratchOfFile, stageOfFile } from '@chainstead/testkit/hooks';
import { chromium } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { type GraphqlStage, openGraphqlStage } from '../../testing/graphql-stage.ts';
import { seedVault, writeDeposits } from '../../testing/seeded-vault.ts';

const scratch = scratchOfFile();
const stage: GraphqlStage = stageOfFile(() => openGraphqlStage(scratch));
const BROWSER_MS = 90_000;

beforeAll(async () => {
  await seedVault(scratch.database);
  await writeDeposits(scratch.database, [{ block: 4_711 }]);
});

test(
  'GraphiQL runs a query and shows the schema, without a request to another host',
  async ({ skip }) => {
    const executablePath = findChromium();
    if (executablePath === undefined) {
      process.stdout.write('NOT RUN: GraphiQL in a browser (no chromium on this machine)\n');
      return skip();
    }
    // Chromium's own sandbox needs a user that is not root.
    const browser = await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
    try {
      const page = await browser.newPage({ extraHTTPHeaders: { 'x-api-key': EXAMPLE_KEY } });
      const complaints: string[] = [];
      const hosts = new Set<string>();
      page.on('request', (request) => {
        const { protocol, host } = new URL(request.url());
        if (protocol !== 'data:') hosts.add(host);
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      await page.goto(`${stage.url}/graphql`);
      await page.locator('.graphiql-query-editor .CodeMirror').waitFor();
      await page.locator('.graphiql-execute-button').click();
      await page.locator('.result-window').getByText('"4711"').first().waitFor();
      await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
      await page.locator('.graphiql-doc-explorer').getByText('Query').first().click();
      await page.locator('.graphiql-doc-explorer').getByText('contracts_vault_deposit').first().waitFor();
      expect([complaints, [...hosts]]).toEqual([[], [new URL(stage.url).host]]);
      await page.getByRole('button', { name: 'Open settings dialog' }).click();
      await page.getByText('Adjust how the interface appears.').waitFor();
      // The policy refuses a style of the dialog, which only stops the page behind it from scrolling.
      expect([complaints.filter((text) => !text.includes('style')), [...hosts]]).toEqual([
        [],
        [new URL(stage.url).host],
      ]);
    } finally {
      await browser.close();
    }
  },
  BROWSER_MS,
);
