import { silentLogger } from '@chainstead/core';
import { sql } from '@chainstead/db';
import { openDatabase } from '@chainstead/db/server';
import { createScratchDatabase } from '@chainstead/testkit';
import { expect, test } from 'vitest';
import { runCaptured } from '../testing/captured-context.ts';
import { readConnectedProcesses, renderConnectedProcesses } from './connected-processes.ts';

test('the processes of roles are told by their sessions, each with its number, and no other session', async () => {
  const scratch = await createScratchDatabase();
  const names = [
    'chainstead api-1',
    'chainstead api-2',
    'chainstead worker',
    'chainstead status',
    'psql',
    'chainstead apiary',
  ];
  const opened = names.map((applicationName) =>
    openDatabase({ url: scratch.url, applicationName, poolSize: 1, logger: silentLogger() }),
  );
  try {
    expect(await readConnectedProcesses(scratch.database)).toEqual([]);
    for (const database of opened) await database.query(sql`SELECT 1`);
    const found = await readConnectedProcesses(scratch.database);
    expect(found.map(({ name, connections }) => [name, connections])).toEqual([
      ['api-1', 1],
      ['api-2', 1],
      ['worker', 1],
    ]);
    const environment = { DATABASE_URL: scratch.url };
    expect((await runCaptured(['status'], environment)).stdout).toMatch(
      /^processes\n {4}api-1.*: 1 connection\n/m,
    );
    const { processes } = JSON.parse((await runCaptured(['status', '--json'], environment)).stdout);
    expect(processes).toEqual(found);
  } finally {
    for (const database of opened) await database.close();
    await scratch.drop();
  }
});

test('the text of processes has one line each, and is none where nothing runs', () => {
  expect(renderConnectedProcesses([])).toEqual([]);
  expect(
    renderConnectedProcesses([
      { name: 'api', address: '10.0.0.2', connections: 3 },
      { name: 'worker-2', address: null, connections: 1 },
    ]),
  ).toEqual(['processes\n    api (10.0.0.2): 3 connections\n    worker-2: 1 connection\n']);
});
