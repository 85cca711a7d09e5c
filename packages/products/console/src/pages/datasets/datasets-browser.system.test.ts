/** Datasets, tables, jobs and on-demand data in a real browser. Skipped with a message if the machine has none. */
import { sql } from '@chainstead/db';
import { listRangeJobs } from '@chainstead/sync/ingest';
import { expect, test } from 'vitest';
import { stageInBrowser } from '../../testing/browser-stage.ts';
import { openConsoleStage } from '../../testing/console-stage.ts';
import { DESK, DEVICES, examineLooks } from '../../testing/examine-looks.ts';
import { seedChains } from '../../testing/seed-chains.ts';

const HOSTILE = `<img src=x onerror=alert(1)><script>alert(2)</script>\u202e${'x'.repeat(3_000)}`;

const shown = stageInBrowser(async () => {
  const stage = await openConsoleStage({ disk: { diskBytes: 1e12, folder: null } });
  await seedChains(stage.database, [1, 7]);
  await stage.database.query(
    sql`INSERT INTO range_jobs (id, chain, work, dataset, ranges, requested_by, status, done, total, error_code, error_message, outcome)
     VALUES ('000000000000000000000001', ${HOSTILE.slice(0, 200)}, 'verify', ${HOSTILE}, '[{"from":1,"to":20}]', ${HOSTILE}, 'failed', 10, 20, 'X', ${HOSTILE}, '{"levels":{"receipts":10},"repairs":1,"uncovered":2}')`,
  );
  await stage.database.query(
    sql`INSERT INTO projections (chain_id, state, dataset, version, status, position) VALUES (1, ${HOSTILE.slice(0, 1_000)}, 'erc20-transfers', 1, 'clearing', 0)`,
  );
  await stage.database.query(
    sql`INSERT INTO backfill_requests (chain_id, kind, subject, status, error_code, error_message)
     VALUES (1, 'wallet', decode(repeat('ab', 20), 'hex'), 'refused', 'X', ${HOSTILE})`,
  );
  await stage.database.query(
    sql`INSERT INTO nft_collections (chain_id, token_address, status, name) VALUES (1, decode(repeat('cd', 20), 'hex'), 'known', ${HOSTILE})`,
  );
  return stage;
});

const PAGES = [
  '/console/datasets',
  '/console/tables',
  '/console/jobs/estimate?work=backfill&chain=eth&dataset=&from=1000&to=1200',
  '/console/on-demand',
  '/console/on-demand/collections',
];

test.each(DEVICES)(
  'on %s the pages have nothing serious for axe, fit, and run nothing of strangers',
  async (device, options) => {
    await examineLooks(
      shown.browser,
      [device, options],
      PAGES.map((path) => ({ name: path, path })),
    );
  },
);

test('work is asked for with the keyboard alone, seen to get on without reloading, and ended', async () => {
  const { page, context, complaints } = await shown.browser.open('/console/jobs', DESK);
  const form = page.getByRole('form', { name: 'Range job' });
  await form.getByLabel('Work').selectOption('verify');
  await form.getByLabel('From').fill('1200');
  await form.getByLabel('To (inclusive)').fill('99999999');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('can use blocks up to').waitFor();
  await form.getByLabel('To (inclusive)').fill('1299');
  await page.keyboard.press('Enter');
  const start = page.getByRole('button', { name: 'Start' });
  await start.focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/console/jobs');
  const [job] = await listRangeJobs(shown.stage.database, { limit: 1 });
  const row = page.locator(`#job-${job?.id}`);
  await row.getByText('queued').waitFor();
  await shown.stage.database.query(
    sql`UPDATE range_jobs SET done = 42, total = 100 WHERE id = ${job?.id ?? null}`,
  );
  await row.getByText('42.0 %').last().waitFor({ timeout: 60_000 });
  await row.getByRole('button', { name: 'Cancel' }).click();
  await row.getByText('cancelled').waitFor();
  expect((await listRangeJobs(shown.stage.database, { limit: 1 }))[0]).toMatchObject({ status: 'cancelled' });
  expect(complaints).toEqual([]);
  await context.close();
});

test('datasets lead to their ranges, and are chosen without script', async () => {
  const { page, context } = await shown.browser.open('/console/datasets', { ...DESK, javaScriptEnabled: false });
  await page.getByLabel('Chain', { exact: true }).selectOption('eth');
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByRole('link', { name: 'Ranges of erc20-transfers on eth' }).click();
  await page.waitForURL('**/console/chains/eth?dataset=erc20-transfers');
  await page.getByText('Only ranges of').waitFor();
  await context.close();
});
