import { silentLogger } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, it } from 'vitest';
import { readIngestState, renderIngestState, withLeftOut } from './connected-processes.ts';

const scratch = scratchOfFile();

it('the state of ingestion is stopped as soon as no process is connected', async () => {
  expect(await readIngestState(scratch.database)).toEqual({ state: 'stopped', since: null });
  const applicationName = 'chainstead ingest-2';
  const ingest = openDatabase({ url: scratch.url, sessionUrl: null, applicationName, logger: silentLogger() });
  await ingest.query(sql`SELECT 1`);
  expect(await readIngestState(scratch.database)).toEqual({ state: 'running', since: expect.any(Date) });
  await ingest.close();
  await expect.poll(async () => (await readIngestState(scratch.database)).state).toBe('stopped');
  expect(renderIngestState({ state: 'stopped', since: null })).toEqual([
    expect.stringMatching(/^stopped: no ingest/),
  ]);
  expect(renderIngestState({ state: 'unknown', since: null })).toEqual([]);
});

it('a chain that running processes leave out asks for a restart, once they had time to report', () => {
  const since = new Date(0);
  const ingest = { state: 'running', since } as const;
  const keys = ['1', '137'];
  const found = (now: number) => withLeftOut(new Map(), keys, { ingest, reported: new Set(['1']), now });
  expect(found(10_000).size).toBe(0);
  expect([...found(20_000)]).toEqual([
    ['137', { since, isSilent: true, reason: expect.stringContaining('restart the program') }],
  ]);
});
