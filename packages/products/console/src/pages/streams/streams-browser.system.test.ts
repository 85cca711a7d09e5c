/** The stream pages in a real browser. Skipped with a message if the machine has none. */
import { sql } from '@chainstead/db';
import { startWebhookReceiver, type WebhookReceiver } from '@chainstead/testkit';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { stageInBrowser } from '../../testing/browser-stage.ts';
import { openConsoleStage } from '../../testing/console-stage.ts';
import { DESK, DEVICES, examineLooks } from '../../testing/examine-looks.ts';
import { seedStream, seedWebhook } from '../../testing/seed-streams.ts';

const HOSTILE = `<img src=x onerror=alert(1)><script>alert(2)</script>\u202etxt`;
const ABI = JSON.stringify([
  { type: 'event', name: 'Paid', inputs: [{ indexed: true, name: 'by', type: 'address' }] },
  { type: 'event', name: 'Refunded', inputs: [{ indexed: true, name: 'to', type: 'address' }] },
]);

let receiver: WebhookReceiver;
let id: string;
let webhook: string;

const shown = stageInBrowser(async () => {
  const stage = await openConsoleStage();
  receiver = await startWebhookReceiver();
  id = await seedStream(stage.database, {
    tag: HOSTILE,
    description: HOSTILE,
    webhookUrl: `${receiver.url}/hook`,
  });
  const body = JSON.stringify({ tag: HOSTILE, logs: Array(200).fill({ data: `0x${'ab'.repeat(400)}` }) });
  webhook = await seedWebhook(stage.database, id, {
    block: 1,
    status: 'failed',
    errors: [HOSTILE, 'crash'],
    body,
  });
  await seedWebhook(stage.database, id, { block: 2, status: 'delivered', errors: [null] });
  await seedWebhook(stage.database, id, { block: 3, status: 'pending', errors: [] });
  return stage;
});
afterAll(() => receiver?.close());
test.each(DEVICES)(
  'on %s the pages of streams have nothing serious for axe, fit, and run nothing of strangers',
  async (device, options) => {
    const paths = {
      list: '',
      form: '/new',
      stream: `/${id}`,
      waiting: `/${id}?show=waiting`,
      edit: `/${id}/edit`,
      addresses: `/${id}/addresses`,
      delivery: `/${id}/deliveries/${webhook}`,
    };
    const pages = Object.entries(paths).map(([name, path]) => ({
      name: `streams ${name}`,
      path: `/console/streams${path}`,
      unfold: openDetails,
    }));
    await examineLooks(shown.browser, [device, options], pages);
  },
);

async function openDetails(page: Page): Promise<void> {
  for (const summary of await page.locator('main summary').all()) await summary.click();
}

describe('a stream', () => {
  test('is made in the form: errors beside their fields, events of the ABI to tick, then saved', async () => {
    const { page, context, complaints } = await shown.browser.open('/console/streams/new', DESK);
    await page.getByLabel('URL', { exact: true }).fill('nonsense');
    await page.getByLabel('Description').fill('Payments');
    await page.getByLabel('Tag').fill('payments');
    await page.getByLabel('eth').check();
    await page.getByLabel('ABI', { exact: true }).fill(ABI);
    await page.getByRole('button', { name: 'Check' }).click();
    await page.locator('#webhookUrl-problem').waitFor();
    expect(await page.getByLabel('URL', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('URL', { exact: true }).fill(`${receiver.url}/payments`);
    await page.getByLabel('Paid(address)').check();
    await page.getByLabel('Addresses', { exact: true }).fill(`0x${'12'.repeat(20)}`);
    await page.getByRole('button', { name: 'Send test webhook' }).click();
    await page.getByText('The endpoint accepted the test webhook').waitFor();
    await page.getByRole('button', { name: 'Create stream' }).click();
    await page.getByRole('heading', { name: 'payments' }).waitFor();
    const [made] = await shown.stage.database.query(
      sql`SELECT topic0, amount_of_addresses, include_contract_logs FROM streams WHERE tag = 'payments'`,
    );
    expect(made).toEqual({ topic0: ['Paid(address)'], amountOfAddresses: 1, includeContractLogs: true });
    await page.getByRole('link', { name: 'Edit' }).click();
    expect(await page.getByLabel('Paid(address)').isChecked()).toBe(true);
    expect(await page.getByLabel('Refunded(address)').isChecked()).toBe(false);
    // The browser reports the page's own status.
    expect(complaints.filter((text) => !text.includes('400'))).toEqual([]);
    await context.close();
  });

  test('is copied and deleted without script, after a tick', async () => {
    const twin = await seedStream(shown.stage.database, { tag: 'twin', webhookUrl: `${receiver.url}/twin` });
    const options = { ...DESK, javaScriptEnabled: false };
    const { page, context } = await shown.browser.open(`/console/streams/${twin}`, options);
    await page.getByRole('button', { name: 'Duplicate' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(twin));
    await page.getByText('Delete', { exact: true }).first().click();
    await page.getByRole('checkbox', { name: /^Delete the stream/ }).check();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL('**/console/streams');
    const left = await shown.stage.database.query(
      sql`SELECT id FROM streams WHERE tag = 'twin' AND deleted_at IS NULL`,
    );
    expect(left).toEqual([{ id: twin }]);
    await context.close();
  });

  test('is paused, and what failed is chosen and sent once more; its facts move by themselves', async () => {
    const { page, context, complaints } = await shown.browser.open(`/console/streams/${id}`, DESK);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Stream was paused by the user').waitFor();
    await shown.stage.database.query(
      sql`UPDATE streams SET status_message = 'paused once more' WHERE id = ${id}`,
    );
    await page.getByText('paused once more').waitFor({ timeout: 60_000 });
    await page
      .getByRole('checkbox', { name: /^Select the attempt/ })
      .first()
      .check();
    await page.getByRole('button', { name: 'Resend selected' }).click();
    await page.getByText('1 webhook is queued to be resent').waitFor();
    await page.getByRole('link', { name: 'Waiting webhooks' }).click();
    expect(await page.getByRole('region', { name: 'Waiting webhooks' }).locator('tbody tr').count()).toBe(2);
    expect(complaints).toEqual([]);
    await context.close();
  });
});
