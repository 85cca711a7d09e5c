import { sql } from '@chainstead/db';
import { scratchOfFile } from '@chainstead/testkit/hooks';
import { expect, test } from 'vitest';
import { readHostQueues } from './host-queues.ts';
import { addMatches, addStream } from './testing/delivery-stage.ts';

const scratch = scratchOfFile();

test('what waits is counted by host, the longest queue first, and told apart from what is not sent', async () => {
  const { database } = scratch;
  const one = await addStream(database, { webhookUrl: 'https://a.example/one?key=secret' });
  const two = await addStream(database, { webhookUrl: 'https://a.example/two' });
  const other = await addStream(database, { webhookUrl: 'https://b.example:8443/hook' });
  const gone = await addStream(database, { webhookUrl: 'https://c.example' });
  await addMatches(database, one, { blocks: [1, 2] });
  await addMatches(database, two, { blocks: [1] });
  await addMatches(database, other, { blocks: [1] });
  await addMatches(database, gone, { blocks: [1] });
  await database.query(sql`UPDATE streams SET status = 'paused' WHERE id = ${two}`);
  await database.query(sql`UPDATE streams SET deleted_at = now() WHERE id = ${gone}`);
  await database.query(
    sql`UPDATE stream_deliveries SET due_at = '2030-01-01Z' WHERE stream_id = ${one} AND block_number = 1`,
  );
  await database.query(
    sql`UPDATE stream_deliveries SET due_at = '2029-01-01Z' WHERE stream_id = ${one} AND block_number = 2`,
  );
  await database.query(
    sql`INSERT INTO webhook_host_leases (host, holder, held_until) VALUES ('https://b.example:8443', gen_random_uuid(), now() + interval '1 hour'), ('https://a.example', gen_random_uuid(), now() - interval '1 s')`,
  );
  expect(await readHostQueues(database)).toEqual([
    {
      host: 'https://a.example',
      streams: 2,
      waiting: 3,
      held: 1,
      dueAt: new Date('2029-01-01Z'),
      isServed: false,
    },
    { host: 'https://b.example:8443', streams: 1, waiting: 1, held: 0, dueAt: expect.any(Date), isServed: true },
  ]);
});
