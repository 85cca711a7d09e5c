/** Posts the bodies of webhooks with undici, so many at once, and nothing else: no signature, no record, no retry. */
import { Pool } from 'undici';
import { sentBody } from '../webhook-body.ts';

/** The input of the script, as its one argument in JSON. */
export interface BareWebhooksPlan {
  readonly url: string;
  /** Each body names one of these, in turn. */
  readonly streamIds: readonly string[];
  readonly webhooks: number;
  readonly atOnce: number;
}

const plan = JSON.parse(process.argv[2] ?? '{}') as BareWebhooksPlan;
const { origin, pathname } = new URL(plan.url);
const pool = new Pool(origin, { connections: plan.atOnce });
const bodies = Array.from({ length: plan.webhooks }, (_, number) =>
  sentBody(plan.streamIds[number % plan.streamIds.length] ?? '', number),
);
const left = bodies.values();
await Promise.all(Array.from({ length: plan.atOnce }, work));
await pool.close();

async function work(): Promise<void> {
  for (const body of left) {
    const answer = await pool.request({
      path: pathname,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    await answer.body.dump();
    if (answer.statusCode !== 200) throw new Error(`A webhook was answered ${answer.statusCode}`);
  }
}
