import { createMetricsRegistry, silentLogger, systemClock } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { listAudit } from '@chainstead/http';
import { createDueWork } from '@chainstead/jobs/worker';
import { addRangeJobs, listRangeJobs, type RangeJobSite } from '@chainstead/sync/ingest';
import { madeForFile, stageOfFile } from '@chainstead/testkit/hooks';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openConsoleStage } from '../../testing/console-stage.ts';
import { seedChains } from '../../testing/seed-chains.ts';

const stage = stageOfFile(openConsoleStage);
const visitor = madeForFile(() => stage.signIn());
beforeAll(async () => {
  await seedChains(stage.database, [1]);
});
beforeEach(() => stage.database.query(sql`TRUNCATE range_jobs`));

const FORM = { work: 'backfill', chain: 'eth', dataset: '', from: '1000', to: '1499' };
const query = (form: Partial<typeof FORM>): string => String(new URLSearchParams({ ...FORM, ...form }));

describe('the page of jobs', () => {
  test('tells what work costs before it is asked for', async () => {
    const page = await (await stage.get(`/console/jobs/estimate?${query({})}`, visitor)).text();
    expect(page).toContain('of which <data class="n" value="300">300</data> are already covered');
    expect(page).toContain('<dd>from <data class="n" value="1">');
    expect(page).toContain('unknown: no such job of this chain has finished yet');
    await stage.database.query(
      sql`INSERT INTO range_jobs (id, chain, work, ranges, requested_by, status, done, taken_at, updated_at)
       VALUES ('000000000000000000000000', '1', 'backfill', '[{"from":1,"to":2}]', 'Ann', 'done', 600, now() - interval '6 minutes', now())`,
    );
    const known = await (await stage.get(`/console/jobs/estimate?${query({})}`, visitor)).text();
    // 200 blocks at 100 a minute.
    expect(known).toContain('about 2 min, at the speed of recent jobs');
    const verify = await (await stage.get(`/console/jobs/estimate?${query({ work: 'verify' })}`, visitor)).text();
    expect(verify).toContain('are not covered: backfill them first');
    expect(await listRangeJobs(stage.database, { limit: 5, state: 'open' })).toEqual([]);
  });

  test('has work done, shows how far it is, and what came of it', async () => {
    const answer = await stage.post('/console/jobs/create', { ...FORM, dataset: 'erc20-transfers' }, visitor);
    expect(answer.headers.get('location')).toBe('/console/jobs');
    const [job] = await listRangeJobs(stage.database, { limit: 1 });
    expect(job).toMatchObject({
      chain: '1',
      work: 'backfill',
      dataset: 'erc20-transfers',
      ranges: [{ from: 1_000, to: 1_499 }],
      status: 'queued',
      requestedBy: 'Ann',
    });
    expect(await listAudit(stage.database, null, 1)).toMatchObject([
      { action: 'job.create', target: job?.id, id: visitor.prefix, details: { chain: 'eth', work: 'backfill' } },
    ]);
    const working = Promise.withResolvers<void>();
    const site: RangeJobSite = {
      chain: '1',
      name: 'eth',
      open: async () => ({
        async perform(_job, _ranges, report) {
          report({ done: 125, total: 500, logs: 42 });
          await working.promise;
          return { logs: 42, outcome: null, lacking: null };
        },
        close: async () => undefined,
      }),
    };
    const shared = { database: stage.database, clock: systemClock, logger: silentLogger() };
    const worker = createDueWork({ ...shared, metrics: createMetricsRegistry(), sweepEveryMs: 20 });
    addRangeJobs(worker, { ...shared, sites: [site] });
    worker.start();
    const shows = (text: string | RegExp): Promise<void> =>
      vi.waitFor(async () => expect(await (await stage.get('/console/jobs', visitor)).text()).toMatch(text), {
        timeout: 15_000,
        interval: 200,
      });
    await shows(/<strong>running<\/strong>.*25\.0 %.*about/s);
    working.resolve();
    await shows(/<strong>done<\/strong>.*100 %/s);
    await worker.close(0);
  });

  test('ends a job, and says when there was nothing to end', async () => {
    await stage.post('/console/jobs/create', FORM, visitor);
    const [job] = await listRangeJobs(stage.database, { limit: 1 });
    const id = job?.id ?? '';
    const ended = await stage.post('/console/jobs/cancel', { id }, visitor);
    expect(ended.status).toBe(303);
    expect(await listAudit(stage.database, null, 1)).toMatchObject([{ action: 'job.cancel', target: id }]);
    const again = await stage.post('/console/jobs/cancel', { id }, visitor);
    expect(await again.text()).toContain('had ended before it was cancelled');
    expect(await (await stage.get('/console/jobs?state=finished', visitor)).text()).toContain('cancelled');
    expect(await (await stage.get('/console/jobs?state=open', visitor)).text()).toContain('No jobs found.');
  });

  test.each([
    [{ chain: 'nowhere' }, 'Choose a chain: eth'],
    [{ work: 'delete' }, 'choose backfill, verify, reindex'],
    [{ dataset: '<b>' }, 'This dataset is not stored for eth'],
    [{ from: 'x' }, 'whole numbers such as'],
    [{ from: '5', to: '4' }, 'below the first'],
    [{ to: '1991' }, 'jobs can use blocks up to 1990'],
  ])('says on the page what is wrong with %j, and asks for nothing', async (form, problem) => {
    for (const answer of [
      await stage.get(`/console/jobs/estimate?${query(form)}`, visitor),
      await stage.post('/console/jobs/create', { ...FORM, ...form }, visitor),
    ]) {
      expect(answer.status).toBe(200);
      expect(await answer.text()).toContain(problem);
    }
    expect(await listRangeJobs(stage.database, { limit: 1 })).toEqual([]);
  });

  test('refuses the same twice, by the name of the first', async () => {
    await stage.post('/console/jobs/create', FORM, visitor);
    const [job] = await listRangeJobs(stage.database, { limit: 1 });
    const page = await (await stage.post('/console/jobs/create', FORM, visitor)).text();
    expect(page).toContain(`already, as job ${job?.id}`);
    expect(await listRangeJobs(stage.database, { limit: 5 })).toHaveLength(1);
  });

  test('shows the due work of each kind and chain, and no empty kinds', async () => {
    const empty = await (await stage.get('/console/jobs', visitor)).text();
    expect(empty).toContain('No work is due.');
    await stage.database.query(
      sql`INSERT INTO nft_collection_traits (token_address, chain_id, work, due_at, lease_until, holder, error_code, error_message, requested_by)
       SELECT decode(lpad(number::text, 40, '0'), 'hex'), 1, 'full', now() + due * interval '1 hour', now() + lease * interval '1 hour', holder, code, message, 'open'
         FROM (VALUES (1, -2, NULL, NULL, NULL, NULL), (2, -1, NULL, NULL, NULL, NULL), (3, NULL, 1, 'somebody', NULL, NULL),
           (4, 1, NULL, NULL, 'NO_UPSTREAM', '<b>No</b> usable upstream'), (5, 24, NULL, NULL, 'WORK_SET_ASIDE', 'Work quarantined'),
           (6, NULL, NULL, NULL, NULL, NULL)) AS given (number, due, lease, holder, code, message)`,
    );
    onTestFinished(async () => void (await stage.database.query(sql`TRUNCATE nft_collection_traits`)));
    const page = await (await stage.get('/console/jobs', visitor)).text();
    const table = /aria-label="Due work".*?<tbody>(.*?)<\/tbody>/s.exec(page)?.[1] ?? '';
    expect(table.match(/<tr>/g)).toHaveLength(1);
    const text = table
      .replaceAll(/<time.*?<\/time>/g, 'TIME')
      .replaceAll(/<[^>]*>|\n/g, ' ')
      .replaceAll(/ +/g, ' ')
      .trim();
    expect(text).toBe('nft-traits eth 2 1 1 1 TIME WORK_SET_ASIDE Work quarantined');
  });

  test('is paged from the newest on', async () => {
    await stage.database.query(
      sql`INSERT INTO range_jobs (id, chain, work, ranges, requested_by, status)
       SELECT lpad(number::text, 24, '0'), '1', 'verify', '[{"from":1,"to":2}]', 'Ann', 'done' FROM generate_series(1, 120) AS number`,
    );
    const found: string[] = [];
    for (let path: string | undefined = '/console/jobs?of=eth'; path !== undefined; ) {
      const page = await (await stage.get(path, visitor)).text();
      found.push(...[...page.matchAll(/id="job-(\d+)"/g)].map(([, id = '']) => id));
      path = /href="([^"]*)" rel="next"/.exec(page)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(found).toHaveLength(120);
    expect(found).toEqual(found.toSorted().toReversed());
    expect((await stage.get('/console/jobs?before=x', visitor)).status).toBe(400);
  });
});
