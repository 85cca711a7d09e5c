import type { Database } from '@chainstead/db';
import type { AuditActor } from '@chainstead/http';
import { auditStream } from '../records/audit-stream.ts';
import { changeStreamStatus, type StatusChange } from '../records/change-status.ts';
import { ACTIVE_MESSAGE, createStreamStore } from '../records/stream-store.ts';
import type { Stream } from '../stream.ts';
import type { StreamChecks } from './stream-checks.ts';
import { existing, StreamTerminatedError } from './stream-errors.ts';

/** The API allows the first two. */
export type WantedStatus = 'active' | 'paused' | 'terminated';

interface StatusRequest {
  readonly status: WantedStatus;
  readonly resumeTerminated?: boolean | undefined;
}

const MESSAGES: Readonly<Record<WantedStatus, string>> = {
  active: ACTIVE_MESSAGE,
  paused: 'Stream was paused by the user',
  terminated: 'Stream was terminated by an operator',
};
const ACTIONS = { active: 'stream.resume', paused: 'stream.pause', terminated: 'stream.terminate' } as const;

/** Tests the webhook first. @throws NotFoundError, StreamTerminatedError, WebhookTestError */
export async function setStreamStatus(
  database: Database,
  checks: Pick<StreamChecks, 'requireWebhook'>,
  id: string,
  wanted: StatusRequest,
  by: AuditActor,
): Promise<Stream> {
  const current = existing(await createStreamStore(database).get(id));
  if (statusChangeOf(current, wanted)?.status === 'active') await checks.requireWebhook(current, by.id);
  return database.transaction(async (transaction) => {
    let before: Stream['status'] | null = null;
    const changed = existing(
      await changeStreamStatus(transaction, id, (locked) => {
        const change = statusChangeOf(locked, wanted);
        if (change !== null) before = locked.status;
        return change;
      }),
    );
    if (before !== null) await auditStream(transaction, by, ACTIONS[wanted.status], id, { before });
    return changed;
  });
}

/** Null: already has the status. @throws StreamTerminatedError */
function statusChangeOf(
  current: Stream,
  { status, resumeTerminated = false }: StatusRequest,
): StatusChange | null {
  if (current.status === status) return null;
  if (current.status === 'terminated' && !(resumeTerminated && status === 'active'))
    throw new StreamTerminatedError();
  return { status, statusMessage: MESSAGES[status] };
}
